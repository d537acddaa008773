// Mixed precision: products are computed in halves, whose kernels add up in f32; everything else
// stays as it is.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/error.h"
#include "pdl/passes.h"

namespace pdl {
namespace {

enum class Rule {
  kKeep,
  kProduct,  // of halves, in halves
  kMove,     // of halves where there are some: its results are elements of its operands
};

Rule RuleOf(const Op& op) {
  return llvm::StringSwitch<Rule>(op.type())
      .Cases("matmul", "attention", "attention_gradient", Rule::kProduct)
      .Cases("conv1d", "conv2d", "conv3d", "conv_weight_grad", Rule::kProduct)
      .Cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", Rule::kProduct)
      .Cases("reshape", "flatten", "squeeze", "unsqueeze", "transpose", Rule::kMove)
      .Cases("slice", "split", "concat", "stack", "broadcast_to", Rule::kMove)
      .Cases("flip", "roll", "tile", "depth_to_space", "space_to_depth", Rule::kMove)
      .Default(Rule::kKeep);
}

class Halves {
 public:
  Halves(Graph& graph, const OpRegistry& registry, DType half)
      : graph_(graph), half_(half), cast_(registry.Find("cast")) {
    if (cast_ == nullptr) InternalError("there is no operator that casts");
  }

  void Run() {
    const std::vector<Op*> ops = graph_.ops().vec();
    for (Op* op : ops) {
      const Rule rule = RuleOf(*op);
      const bool is_changed =
          rule == Rule::kProduct || (rule == Rule::kMove && HasHalvesOfAll(*op));
      if (!is_changed || !Rewrite(*op)) order_.push_back(op);
    }
    order_.insert(order_.end(), replaced_.begin(), replaced_.end());
    graph_.SetBlockOps({}, std::move(order_));
    graph_.EraseOps({}, [&](const Op& op) { return replaced_set_.contains(&op); });
    EliminateDeadCode(graph_);
  }

 private:
  static bool IsSingle(const Value* value) { return value->type().dtype == DType::kF32; }
  std::string NameFor(const Value* value) {
    return graph_.NewName(value->name() + "_" + DTypeName(half_).str());
  }

  bool HasHalvesOfAll(const Op& op) const {
    bool some = false;
    for (const Value* operand : op.operands()) {
      if (!IsSingle(operand)) continue;
      if (!halves_.contains(operand)) return false;
      some = true;
    }
    return some;
  }

  Op* Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
           std::vector<AttributeValue> attributes, llvm::ArrayRef<std::string> names,
           const Op& at) {
    CallOptions options;
    options.location = at.location();
    options.layer_path = at.layer_path();
    options.recompute = at.recompute();
    llvm::Expected<Op*> call =
        graph_.AddOpWithValues(def, operands, std::move(attributes), names, std::move(options));
    if (!call) InternalError("'" + def.name() + "' of halves: " + llvm::toString(call.takeError()));
    order_.push_back(*call);
    return *call;
  }

  /// Cast once, where it is first asked for.
  Value* HalfOf(Value* value, const Op& at) {
    Value*& half = halves_[value];
    if (half == nullptr) half = Emit(*cast_, value, {half_}, NameFor(value), at)->result();
    return half;
  }

  /// False where there is nothing to rewrite.
  bool Rewrite(Op& op) {
    const OpSignature& signature = op.def().signature;
    llvm::SmallVector<Value*, 4> operands;
    bool has_halves = false;
    for (size_t i = 0; i < op.operands().size(); ++i) {
      Value* operand = op.operands()[i];
      // Statistics beside the operands stay what they are.
      const DTypeSet accepted = signature.InputOf(i, op.attribute_values()).dtypes;
      const bool becomes_half = IsSingle(operand) && accepted.Contains(half_);
      operands.push_back(becomes_half ? HalfOf(operand, op) : operand);
      has_halves |= becomes_half;
    }
    if (!has_halves) return false;
    std::vector<std::string> names;
    for (const Value* result : op.results()) names.push_back(NameFor(result));
    Op* call = Emit(op.def(), operands, op.attribute_values().vec(), names, op);
    if (op.results().size() == 1) {
      // It keeps its name.
      graph_.RewriteOp(&op, *cast_, call->result(), {DType::kF32});
      halves_[op.result()] = call->result();
      order_.push_back(&op);
      return true;
    }
    for (auto [before, after] : llvm::zip_equal(op.results(), call->results())) {
      Value* result = after;
      if (after->type().dtype == half_) {
        result = Emit(*cast_, after, {DType::kF32}, graph_.NewName(before->name() + "_f32"), op)
                     ->result();
        halves_[result] = after;
      }
      graph_.ReplaceAllUses(before, result);
    }
    replaced_.push_back(&op);
    replaced_set_.insert(&op);
    return true;
  }

  Graph& graph_;
  const DType half_;
  const OpDef* cast_;
  llvm::DenseMap<const Value*, Value*> halves_;  // by the f32 value
  std::vector<Op*> order_;
  std::vector<Op*> replaced_;
  llvm::DenseSet<const Op*> replaced_set_;
};

}  // namespace

void ComputeProductsInHalves(Graph& graph, const OpRegistry& registry, DType half) {
  Halves(graph, registry, half).Run();
}

}  // namespace pdl
