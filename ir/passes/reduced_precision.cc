// Mixed precision: matmul, convolutions and attention are computed in f16 or bf16 by kernels that
// accumulate in f32; all other calls are unchanged.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

ReducedPrecision RuleOf(const Op& op) { return op.def().properties().reduced_precision; }

class PrecisionReducer {
 public:
  PrecisionReducer(Graph& graph, const OpRegistry& registry, DType half)
      : graph_(graph), dtype_(half), cast_(registry.Find("cast")) {
    if (cast_ == nullptr) InternalError("there is no operator 'cast'");
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
                              (rule == ReducedPrecision::kFollow && HasReducedOperands(*op));
      if (is_changed && Rewrite(*op)) continue;
      if (op->def().body) ReduceBodyInputs(*op);
      order_.push_back(op);
    }
    order_.insert(order_.end(), replaced_.begin(), replaced_.end());
    graph_.SetBlockOps(block, std::exchange(order_, std::move(outer_order)));
    const llvm::DenseSet<const Op*> replaced(replaced_.begin(), replaced_.end());
    graph_.EraseOps(block, [&](const Op& op) { return replaced.contains(&op); });
    replaced_ = std::move(outer_replaced);
    block_ = outer_block;
  }

  /// Values that all steps of a loop use are cast once, before the loop.
  void ReduceBodyInputs(Op& loop) {
    llvm::SmallVector<Value*, 8> operands(loop.operands().begin(), loop.operands().end());
    const llvm::SmallVector<unsigned, 4>& inputs = ReducedInputs(loop);
    for (const unsigned i : inputs) operands[i] = Reduced(operands[i], loop);
    if (!inputs.empty())
      graph_.RewriteOp(&loop, loop.def(), operands, loop.attribute_values().vec());
  }

  /// Rewrites the body of a loop, which may be shared by several loops, and returns which of its
  /// inputs are in reduced precision then: those that only compute calls use. Carried values stay
  /// in f32.
  const llvm::SmallVector<unsigned, 4>& ReducedInputs(const Op& loop) {
    const LoopBody counts(graph_, loop);
    const BlockId body = counts.id();
    const auto [found, is_new] = reduced_inputs_.try_emplace(body.index);
    if (!is_new) return found->second;
    const unsigned first_init = counts.num_xs(), first_captured = first_init + counts.num_init();
    std::vector<Value*> inputs = graph_.block(body).inputs;
    llvm::SmallVector<unsigned, 4> reduced;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (i >= first_init && i < first_captured) continue;
      Value* input = inputs[i];
      if (!IsOnlyForCompute(input, graph_.block(body))) continue;
      Type type = input->type();
      type.dtype = dtype_;
      inputs[i] = reduced_[input] =
          graph_.AddBlockInput(body, NameFor(input), std::move(type), input->location());
      reduced.push_back(i);
    }
    RewriteBlock(body);
    if (!reduced.empty()) graph_.SetBlockInputs(body, std::move(inputs));
    return reduced_inputs_[body.index] = std::move(reduced);
  }

  bool IsOnlyForCompute(const Value* value, const Block& block) const {
    return IsSingle(value) && !value->uses().empty() && !llvm::is_contained(block.outputs, value) &&
           llvm::all_of(value->uses(), [&](const Value::Use& use) {
             return RuleOf(*use.op) == ReducedPrecision::kCompute &&
                    AcceptedBy(*use.op, use.operand).Contains(dtype_);
           });
  }

  static const AttributeValue& Attribute(const Op& op, llvm::StringRef name) {
    return op.attribute_values()[static_cast<size_t>(op.def().signature.FindAttribute(name))];
  }
  static DTypeSet AcceptedBy(const Op& op, size_t operand) {
    return op.def().signature.InputOf(operand, op.attribute_values()).dtypes;
  }

  static bool IsSingle(const Value* value) { return value->type().dtype == DType::kF32; }
  std::string NameFor(const Value* value) {
    return graph_.NewName(value->name() + "_" + DTypeName(dtype_).str());
  }

  /// Whether all f32 operands were cast from reduced precision.
  bool HasReducedOperands(const Op& op) const {
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
    if (!call)
      InternalError("'" + def.name() +
                    "' in reduced precision: " + llvm::toString(call.takeError()));
    order_.push_back(*call);
    return *call;
  }

  /// Returns the value in reduced precision, cast once, before its first use.
  Value* Reduced(Value* value, const Op& at) {
    Value*& half = reduced_[value];
    if (half == nullptr) half = Emit(*cast_, value, {dtype_}, NameFor(value), at)->result();
    return half;
  }

  /// Returns false if there is nothing to rewrite.
  bool Rewrite(Op& op) {
    llvm::SmallVector<Value*, 4> operands;
    bool is_reduced = false;
    for (size_t i = 0; i < op.operands().size(); ++i) {
      Value* operand = op.operands()[i];
      // Operands that only accept f32, such as statistics, are unchanged.
      const bool becomes_reduced = IsSingle(operand) && AcceptedBy(op, i).Contains(dtype_);
      operands.push_back(becomes_reduced ? Reduced(operand, op) : operand);
      is_reduced |= becomes_reduced;
    }
    if (!is_reduced) return false;
    std::vector<std::string> names;
    for (const Value* result : op.results()) names.push_back(NameFor(result));
    Op* call = Emit(op.def(), operands, op.attribute_values().vec(), names, op);
    if (op.results().size() == 1) {
      // The result keeps its name.
      graph_.RewriteOp(&op, *cast_, call->result(), {DType::kF32});
      reduced_[op.result()] = call->result();
      exact_.insert(op.result());
      order_.push_back(&op);
      return true;
    }
    graph_.AddChecks(call, op.checks());
    for (auto [before, after] : llvm::zip_equal(op.results(), call->results())) {
      Value* result = after;
      if (after->type().dtype == dtype_) {
        result = Emit(*cast_, after, {DType::kF32}, graph_.NewName(before->name() + "_f32"), op)
                     ->result();
        reduced_[result] = after;
        exact_.insert(result);
      }
      graph_.ReplaceAllUses(before, result);
    }
    replaced_.push_back(&op);
    return true;
  }

  Graph& graph_;
  const DType dtype_;
  const OpDef* cast_;
  llvm::DenseMap<const Value*, Value*> reduced_;  // by the f32 value
  /// f32 values that were cast from reduced precision, so that casting them back is exact.
  llvm::DenseSet<const Value*> exact_;
  /// The reduced inputs of rewritten bodies, by block index.
  llvm::DenseMap<uint32_t, llvm::SmallVector<unsigned, 4>> reduced_inputs_;
  // The current block, its calls so far, and its replaced calls.
  BlockId block_;
  std::vector<Op*> order_;
  std::vector<Op*> replaced_;
};

}  // namespace

void ReducePrecision(Graph& graph, const OpRegistry& registry, DType half) {
  PrecisionReducer(graph, registry, half).Run();
}

}  // namespace pdl
