#include "ir/passes/block_effects.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The ratio of the maximum total size of all folded results of a graph to that of one result.
constexpr int64_t kTotalFactor = 64;

class Folder {
 public:
  Folder(Graph& graph, const OpDef& constant, Evaluator evaluate, int64_t max_bytes)
      : graph_(graph),
        constant_(constant),
        evaluate_(evaluate),
        max_bytes_(max_bytes),
        bytes_left_(max_bytes * kTotalFactor),
        effects_(EffectsOfBlocks(graph)),
        escapes_(graph.num_values()),
        uses_left_(graph.num_values(), 0) {}

  llvm::Error Run() {
    // Initializers of parameters run only once.
    llvm::DenseSet<uint32_t> initializers;
    for (llvm::ArrayRef<Value*> variables : {graph_.parameters(), graph_.states()})
      for (const Value* value : variables)
        if (value->variable().initializer)
          initializers.insert(value->variable().initializer->index);
    auto escape = [&](const Value* value) { escapes_.set(graph_.number(value)); };
    for (const GraphOutput& output : graph_.outputs()) escape(output.value);
    for (const GraphUpdate& update : graph_.updates()) escape(update.value);
    for (const GraphTraining& training : graph_.trainings()) escape(training.loss);
    for (uint32_t i = 0; i < graph_.num_blocks(); ++i) {
      if (initializers.contains(i)) continue;
      for (const Value* output : graph_.block({i}).outputs) escape(output);
      for (Op* op : graph_.block({i}).ops)
        if (llvm::Error error = Visit(op)) return error;
    }
    return llvm::Error::success();
  }

 private:
  llvm::Error Visit(Op* op) {
    for (const Value* result : op->results())
      uses_left_[graph_.number(result)] = static_cast<uint32_t>(result->uses().size());
    // A call without operands is evaluated when a call that uses it could be folded, and is never
    // replaced.
    if (op->operands().empty()) return llvm::Error::success();
    if (op->def().properties().is_plan_select) {
      llvm::Expected<bool> decided = Decide(op);
      if (!decided) return decided.takeError();
      if (*decided) return llvm::Error::success();
    }
    llvm::Expected<bool> folded = Fold(op);
    if (!folded) return folded.takeError();
    for (const Value* operand : op->operands()) {
      uint32_t number = graph_.number(operand);
      if (!*folded) Materialize(operand);
      if (--uses_left_[number] == 0) known_.erase(number);
    }
    for (const Value* result : op->results())
      if (escapes_[graph_.number(result)]) Materialize(result);
    return llvm::Error::success();
  }

  /// Replaces a plan_select whose condition is known now by the operand that it selects.
  llvm::Expected<bool> Decide(Op* op) {
    Value* condition = op->operands()[0];
    auto known = known_.find(graph_.number(condition));
    if (known == known_.end() && IsSource(condition)) {
      llvm::Expected<bool> computed = Compute(condition->producer());
      if (!computed) return computed;
      known = known_.find(graph_.number(condition));
    }
    bool decided = known != known_.end();
    if (!decided && op->operands()[1] != op->operands()[2]) return false;
    bool holds = decided && known->second.values<bool>()[0];
    Value* result = op->result();
    Value* given = op->operands()[holds ? 1 : 2];
    // The type of the result may be more specific than that of the operand.
    if (given->type() != result->type()) return false;
    uint32_t number = graph_.number(given);
    uses_left_[number] += static_cast<uint32_t>(result->uses().size());
    if (escapes_[graph_.number(result)]) {
      escapes_.set(number);
      if (given->producer()) Materialize(given);
    }
    graph_.ReplaceAllUses(result, given);
    for (const Value* operand : op->operands()) {
      uint32_t read = graph_.number(operand);
      if (--uses_left_[read] == 0) known_.erase(read);
    }
    return true;
  }

  /// Evaluates a call whose operands are all known.
  llvm::Expected<bool> Fold(Op* op) {
    if (!MayFold(*op) || !llvm::all_of(op->operands(), [&](const Value* operand) {
          return known_.contains(graph_.number(operand)) || IsSource(operand);
        }))
      return false;
    for (const Value* operand : op->operands()) {
      if (known_.contains(graph_.number(operand))) continue;
      llvm::Expected<bool> computed = Compute(operand->producer());
      if (!computed || !*computed) return computed;
    }
    return Compute(op);
  }

  /// Whether `value` is the result of a call without operands whose evaluation has not failed.
  bool IsSource(const Value* value) const {
    const Op* op = value->producer();
    return op && op->operands().empty() && !failed_.contains(op) && MayFold(*op);
  }

  bool MayFold(const Op& op) const {
    const CallEffects effects = EffectsOf(op, effects_);
    if (!effects.IsRepeatable() || effects.decided_by_plan) return false;
    if (!IsIndependentOfSizes(op)) return false;
    return llvm::all_of(op.results(), [&](const Value* result) {
      const Type& type = result->type();
      if (type.storage != Storage::kDense) return false;
      Dim bytes = NumElements(type.dims) * Dim(DTypeSize(type.dtype));
      return bytes.is_constant() && bytes.constant() <= max_bytes_;
    });
  }

  /// Evaluates a call with known operands; returns false if that is not possible.
  llvm::Expected<bool> Compute(Op* op) {
    if (const Constant* value = ValueOfConstant(*op)) {
      known_.insert({graph_.number(op->result()), *value});
      return true;
    }
    llvm::SmallVector<Constant, 4> operands;
    for (const Value* operand : op->operands())
      operands.push_back(known_.find(graph_.number(operand))->second);
    llvm::Expected<std::optional<std::vector<Constant>>> results = evaluate_(*op, operands);
    if (!results) {
      llvm::Error error = results.takeError();
      if (error.isA<DeviceError>()) return error;
      // The run will report the same error.
      llvm::consumeError(std::move(error));
    }
    if (!results || !*results) {
      failed_.insert(op);
      return false;
    }
    for (unsigned i = 0; i < op->results().size(); ++i) {
      Constant& value = (**results)[i];
      if (!Fits(value, op->result(i)->type()))
        InternalError("'" + op->result(i)->name() + "' was computed with another type");
      known_.insert({graph_.number(op->result(i)), std::move(value)});
    }
    return true;
  }

  /// The value of a call of `constant`, if it has the result's type without conversion.
  const Constant* ValueOfConstant(const Op& op) const {
    if (&op.def() != &constant_) return nullptr;
    for (const AttributeValue& value : op.attribute_values())
      if (const auto* tensor = std::get_if<Constant>(&value))
        return Fits(*tensor, op.result()->type()) ? tensor : nullptr;
    return nullptr;
  }

  static bool Fits(const Constant& value, const Type& type) {
    return value.dtype() == type.dtype &&
           llvm::equal(value.sizes(), type.dims,
                       [](int64_t size, const Dim& dim) { return dim.is_constant(size); });
  }

  /// Replaces a known value by the result of a call of `constant` if remaining calls use it.
  void Materialize(const Value* value) {
    auto known = known_.find(graph_.number(value));
    Op* op = value->producer();
    if (known == known_.end() || op->operands().empty() || op->results().size() != 1) return;
    int64_t bytes = known->second.num_bytes();
    if (bytes > bytes_left_) return;
    std::vector<AttributeValue> attributes = AttributesOf(known->second);
    // A type may also have an index bound.
    InferenceContext context(constant_, {}, attributes);
    if (llvm::Error error = Infer(context)) return llvm::consumeError(std::move(error));
    if (context.outputs()[0] != value->type()) return;
    bytes_left_ -= bytes;
    graph_.RewriteOp(op, constant_, {}, std::move(attributes));
  }

  std::vector<AttributeValue> AttributesOf(const Constant& value) const {
    std::vector<AttributeValue> attributes;
    for (const AttributeDecl& decl : constant_.signature.attributes) {
      if (decl.kind == AttributeKind::kTensor) {
        attributes.push_back(value);
      } else if (decl.kind == AttributeKind::kDType) {
        attributes.push_back(value.dtype());
      } else {
        attributes.push_back(decl.default_value);
      }
    }
    return attributes;
  }

  Graph& graph_;
  const OpDef& constant_;
  Evaluator evaluate_;
  int64_t max_bytes_;
  int64_t bytes_left_;
  std::vector<CallEffects> effects_;
  /// By value: used by anything except calls, and the number of uses by calls that were not visited
  /// yet.
  llvm::BitVector escapes_;
  std::vector<uint32_t> uses_left_;
  /// Known values of results that may still be used.
  llvm::DenseMap<uint32_t, Constant> known_;
  llvm::DenseSet<const Op*> failed_;
};

}  // namespace

llvm::Error FoldConstants(Graph& graph, const OpRegistry& registry, Evaluator evaluate,
                          int64_t max_bytes) {
  const OpDef* constant = registry.Find("constant");
  if (!constant) return llvm::Error::success();
  return Folder(graph, *constant, evaluate, max_bytes).Run();
}

}  // namespace pdl
