// Mixed precision: products are computed in halves, whose kernels add up in f32; everything else
// stays as it is.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

ReducedPrecision RuleOf(const Op& op) { return op.def().properties().reduced_precision; }

class Halves {
 public:
  Halves(Graph& graph, const OpRegistry& registry, DType half)
      : graph_(graph), half_(half), cast_(registry.Find("cast")) {
    if (cast_ == nullptr) InternalError("there is no operator that casts");
  }

  void Run() {
    RewriteBlock({});
    EliminateDeadCode(graph_);
  }

 private:
  void RewriteBlock(BlockId block) {
    const BlockId outer_block = std::exchange(block_, block);
    std::vector<Op*> outer_order = std::exchange(order_, {});
    std::vector<Op*> outer_replaced = std::exchange(replaced_, {});
    const std::vector<Op*> ops = graph_.block(block).ops;
    for (Op* op : ops) {
      const ReducedPrecision rule = RuleOf(*op);
      const bool is_changed = rule == ReducedPrecision::kCompute ||
                              (rule == ReducedPrecision::kFollow && IsMadeOfHalves(*op));
      if (is_changed && Rewrite(*op)) continue;
      if (op->def().body) GiveHalvesToBody(*op);
      order_.push_back(op);
    }
    order_.insert(order_.end(), replaced_.begin(), replaced_.end());
    graph_.SetBlockOps(block, std::exchange(order_, std::move(outer_order)));
    const llvm::DenseSet<const Op*> replaced(replaced_.begin(), replaced_.end());
    graph_.EraseOps(block, [&](const Op& op) { return replaced.contains(&op); });
    replaced_ = std::move(outer_replaced);
    block_ = outer_block;
  }

  /// A loop casts what all its steps use once, in front of it.
  void GiveHalvesToBody(Op& loop) {
    llvm::SmallVector<Value*, 8> operands(loop.operands().begin(), loop.operands().end());
    const llvm::SmallVector<unsigned, 4>& inputs = HalfInputs(loop);
    for (const unsigned i : inputs) operands[i] = HalfOf(operands[i], loop);
    if (!inputs.empty())
      graph_.RewriteOp(&loop, loop.def(), operands, loop.attribute_values().vec());
  }

  /// Rewrites the body of a loop, which others may have too, and says which of its inputs are
  /// halves then: those that products alone use. What is carried stays in f32.
  const llvm::SmallVector<unsigned, 4>& HalfInputs(const Op& loop) {
    const BlockId body = std::get<BlockId>(Attribute(loop, "body"));
    const auto [found, is_new] = half_inputs_.try_emplace(body.index);
    if (!is_new) return found->second;
    const unsigned first_init = static_cast<unsigned>(Integer(loop, "num_xs"));
    const unsigned first_captured = first_init + static_cast<unsigned>(Integer(loop, "num_init"));
    std::vector<Value*> inputs = graph_.block(body).inputs;
    llvm::SmallVector<unsigned, 4> halves;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (i >= first_init && i < first_captured) continue;
      Value* input = inputs[i];
      if (!IsForProductsAlone(input, graph_.block(body))) continue;
      Type type = input->type();
      type.dtype = half_;
      inputs[i] = halves_[input] =
          graph_.AddBlockInput(body, NameFor(input), std::move(type), input->location());
      halves.push_back(i);
    }
    RewriteBlock(body);
    if (!halves.empty()) graph_.SetBlockInputs(body, std::move(inputs));
    return half_inputs_[body.index] = std::move(halves);
  }

  bool IsForProductsAlone(const Value* value, const Block& block) const {
    return IsSingle(value) && !value->uses().empty() && !llvm::is_contained(block.outputs, value) &&
           llvm::all_of(value->uses(), [&](const Value::Use& use) {
             return RuleOf(*use.op) == ReducedPrecision::kCompute &&
                    AcceptedBy(*use.op, use.operand).Contains(half_);
           });
  }

  static const AttributeValue& Attribute(const Op& op, llvm::StringRef name) {
    return op.attribute_values()[static_cast<size_t>(op.def().signature.FindAttribute(name))];
  }
  static int64_t Integer(const Op& op, llvm::StringRef name) {
    return std::get<int64_t>(Attribute(op, name));
  }
  static DTypeSet AcceptedBy(const Op& op, size_t operand) {
    return op.def().signature.InputOf(operand, op.attribute_values()).dtypes;
  }

  static bool IsSingle(const Value* value) { return value->type().dtype == DType::kF32; }
  std::string NameFor(const Value* value) {
    return graph_.NewName(value->name() + "_" + DTypeName(half_).str());
  }

  /// Whether all that it moves are halves, written as f32.
  bool IsMadeOfHalves(const Op& op) const {
    bool some = false;
    for (const Value* operand : op.operands()) {
      if (!IsSingle(operand)) continue;
      if (!exact_.contains(operand)) return false;
      some = true;
    }
    return some;
  }

  Op* Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
           std::vector<AttributeValue> attributes, llvm::ArrayRef<std::string> names,
           const Op& at) {
    CallOptions options;
    options.block = block_;
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
    llvm::SmallVector<Value*, 4> operands;
    bool has_halves = false;
    for (size_t i = 0; i < op.operands().size(); ++i) {
      Value* operand = op.operands()[i];
      // Statistics beside the operands stay what they are.
      const bool becomes_half = IsSingle(operand) && AcceptedBy(op, i).Contains(half_);
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
      exact_.insert(op.result());
      order_.push_back(&op);
      return true;
    }
    graph_.AddChecks(call, op.checks());
    for (auto [before, after] : llvm::zip_equal(op.results(), call->results())) {
      Value* result = after;
      if (after->type().dtype == half_) {
        result = Emit(*cast_, after, {DType::kF32}, graph_.NewName(before->name() + "_f32"), op)
                     ->result();
        halves_[result] = after;
        exact_.insert(result);
      }
      graph_.ReplaceAllUses(before, result);
    }
    replaced_.push_back(&op);
    return true;
  }

  Graph& graph_;
  const DType half_;
  const OpDef* cast_;
  llvm::DenseMap<const Value*, Value*> halves_;  // by the f32 value
  /// F32 values that are halves, cast back: others lose digits where they are cast.
  llvm::DenseSet<const Value*> exact_;
  /// Of the bodies that were rewritten, by the index of their blocks.
  llvm::DenseMap<uint32_t, llvm::SmallVector<unsigned, 4>> half_inputs_;
  // The block that is being rewritten, its calls so far, and those that are no longer needed.
  BlockId block_;
  std::vector<Op*> order_;
  std::vector<Op*> replaced_;
};

}  // namespace

void ComputeProductsInHalves(Graph& graph, const OpRegistry& registry, DType half) {
  Halves(graph, registry, half).Run();
}

}  // namespace pdl
