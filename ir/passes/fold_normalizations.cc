// Normalization with fixed statistics after a convolution: its factor is multiplied into the
// weights, and its shift is the bias (as in Jacob et al., arXiv:1712.05877, section 3.2).
#include "ir/passes/block_effects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

bool IsConvolution(const Op& op) {
  return llvm::StringSwitch<bool>(op.type())
      .Cases("conv1d", "conv2d", "conv3d", true)
      .Default(false);
}
bool IsNormalize(const Op& op) { return op.type() == "normalize"; }

class NormalizationFolder {
 public:
  NormalizationFolder(Graph& graph, const OpRegistry& registry, const OpDef& factors,
                      llvm::function_ref<bool(const Value&)> is_fixed)
      : graph_(graph), registry_(registry), factors_(factors), fixed_(graph), escapes_(graph) {
    for (llvm::ArrayRef<Value*> variables : {graph.parameters(), graph.states()})
      for (const Value* variable : variables)
        if (is_fixed(*variable)) fixed_.insert(variable);
    for (const GraphOutput& output : graph.outputs()) escapes_.insert(output.value);
    for (const GraphUpdate& update : graph.updates()) escapes_.insert(update.value);
  }

  void Run() {
    const std::vector<CallEffects> effects = EffectsOfBlocks(graph_);
    const std::vector<Op*> ops = graph_.ops().vec();
    for (Op* op : ops) {
      if (IsFixed(*op, effects)) {
        for (const Value* result : op->results()) fixed_.insert(result);
      } else if (CanFold(*op)) {
        Fold(*op);
      }
      order_.push_back(op);
    }
    graph_.SetBlockOps({}, std::move(order_));
    EliminateDeadCode(graph_);
  }

 private:
  /// Whether the results of a call are the same in every run.
  bool IsFixed(const Op& op, llvm::ArrayRef<CallEffects> effects) const {
    const CallEffects effect = EffectsOf(op, effects);
    return effect.IsRepeatable() && !effect.decided_by_plan && IsIndependentOfSizes(op) &&
           llvm::all_of(op.operands(),
                        [&](const Value* operand) { return fixed_.contains(operand); });
  }

  /// Whether a call normalizes the channels of a convolution that nothing else uses.
  bool CanFold(const Op& op) const {
    if (!IsNormalize(op)) return false;
    const Value* x = op.operands()[0];
    const Op* conv = x->producer();
    if (conv == nullptr || !IsConvolution(*conv) || x->uses().size() != 1 || escapes_.contains(x))
      return false;
    const int64_t axis = op.attributes().Int("axis");
    if (axis != 1 && axis + x->type().rank() != 1) return false;
    auto is_usable = [&](const Value* value) {
      return fixed_.contains(value) && value->type().dtype == DType::kF32;
    };
    return x->type().dtype == DType::kF32 && llvm::all_of(op.operands().drop_front(), is_usable) &&
           llvm::all_of(conv->operands().drop_front(), is_usable);
  }

  void Fold(Op& op) {
    const Op& conv = *op.operands()[0]->producer();
    Op* computed = Emit(factors_, op.operands().drop_front(), {op.attributes().Float("eps")},
                        {"_factor", "_shift"}, op);
    Value* factor = computed->result(0);
    Value* shift = computed->result(1);
    Value* weight = conv.operands()[1];
    Shape of_feature(weight->type().rank(), Dim(1));
    of_feature[0] = weight->type().dims[0];
    Value* scale = Call("reshape", factor, {of_feature}, "_scale", op);
    llvm::SmallVector<Value*, 3> operands = {conv.operands()[0],
                                             Call("mul", {weight, scale}, {}, "_w", op)};
    if (conv.operands().size() > 2) {
      Value* scaled = Call("mul", {conv.operands()[2], factor}, {}, "_scaled", op);
      shift = Call("add", {scaled, shift}, {}, "_bias", op);
    }
    operands.push_back(shift);
    Op* folded = Emit(conv.def(), operands, conv.attribute_values().vec(), {"_normalized"}, conv);
    graph_.AddChecks(folded, conv.checks());
    graph_.ReplaceAllUses(op.result(), folded->result());
  }

  Value* Call(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
              std::vector<AttributeValue> attributes, llvm::StringRef suffix, const Op& at) {
    return Emit(*registry_.Find(name), operands, std::move(attributes), suffix, at)->result();
  }
  Op* Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
           std::vector<AttributeValue> attributes, llvm::ArrayRef<llvm::StringRef> suffixes,
           const Op& at) {
    std::vector<std::string> names;
    for (llvm::StringRef suffix : suffixes)
      names.push_back(graph_.NewName(at.result()->name() + suffix.str()));
    CallOptions options;
    options.location = at.location();
    options.layer_path = at.layer_path();
    llvm::Expected<Op*> call =
        graph_.AddOpWithValues(def, operands, std::move(attributes), names, std::move(options));
    if (!call)
      InternalError("'" + def.name() + "' of a normalization: " + llvm::toString(call.takeError()));
    order_.push_back(*call);
    return *call;
  }

  Graph& graph_;
  const OpRegistry& registry_;
  const OpDef& factors_;
  ValueSet fixed_, escapes_;
  std::vector<Op*> order_;
};

}  // namespace

void FoldNormalizations(Graph& graph, const OpRegistry& registry,
                        llvm::function_ref<bool(const Value&)> is_fixed) {
  const OpDef* factors = registry.FindInternal("normalize.factors");
  if (factors == nullptr) return;
  // The statistics of a batch, which training would use, are no use of a convolution.
  EliminateDeadCode(graph);
  NormalizationFolder(graph, registry, *factors, is_fixed).Run();
}

bool HasNormalizations(const Graph& graph) {
  return llvm::any_of(graph.ops(), [](const Op* op) { return IsNormalize(*op); });
}

}  // namespace pdl
