#include "pdl/compiler/split_step.h"
#include "ir/located_error.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kMean = "#mean";

bool HasSymbols(const Shape& dims) {
  return llvm::any_of(dims, [](const Dim& dim) { return !dim.is_constant(); });
}

/// Whether the results depend on the sizes of the batch through types or attributes.
bool DependsOnSizes(const Op& op) {
  const auto has_symbols = [](const Value* value) { return HasSymbols(value->type().dims); };
  if (llvm::any_of(op.results(), has_symbols)) return true;
  return llvm::any_of(op.attribute_values(), [](const AttributeValue& value) {
    if (const auto* shape = std::get_if<Shape>(&value)) return HasSymbols(*shape);
    const auto* shapes = std::get_if<std::vector<Shape>>(&value);
    return shapes != nullptr && llvm::any_of(*shapes, HasSymbols);
  });
}

class StepSplitter {
 public:
  explicit StepSplitter(const Graph& step)
      : step_(step), varied_(step), from_gradients_(step), crosses_(step) {}

  llvm::Expected<SplitStep> Run() {
    if (llvm::Error error = RejectLazyRows()) return error;
    FindVaried();
    FindGradients();
    FindCrossings();
    SplitStep split;
    for (const Op* op : step_.ops())
      for (const Value* value : op->results()) {
        if (!crosses_.contains(value)) continue;
        if (llvm::Error error = AddMean(*value, &split.means)) return error;
      }
    for (const Value* input : step_.inputs()) {
      if (!crosses_.contains(input)) continue;
      if (llvm::Error error = AddMean(*input, &split.means)) return error;
    }
    split.gradients = MakeGradients(split.means);
    split.update = MakeUpdate(split.means);
    return split;
  }

 private:
  /// The mean of gradients does not say which rows the micro-batches have used.
  llvm::Error RejectLazyRows() const {
    const auto found =
        llvm::find_if(step_.ops(), [](const Op* op) { return op->type() == "lazy_rows"; });
    if (found == step_.ops().end()) return llvm::Error::success();
    return UserErrorAt(step_, (*found)->location(), Code::kBadMinimize,
                       "lazy: a step cannot be computed from micro-batches, since all rows of a "
                       "table take part in the mean of its gradients");
  }

  /// Finds the values that depend on the examples of a batch.
  void FindVaried() {
    for (const Value* input : step_.inputs()) varied_.insert(input);
    for (const Op* op : step_.ops())
      if (varied_.ContainsAny(op->operands()) || DependsOnSizes(*op))
        varied_.InsertAll(op->results());
  }

  /// Finds the gradients, and the values that depend on them.
  void FindGradients() {
    gradients_ = OuterGradients(step_);
    for (const Op* op : gradients_) from_gradients_.InsertAll(op->results());
    PropagateForward(step_.ops(), from_gradients_);
  }

  /// Finds the values at which the computation of the updates is cut off.
  void FindCrossings() {
    llvm::SmallVector<Value*, 16> roots;
    for (const GraphUpdate& update : step_.updates()) roots.push_back(update.value);
    BackwardSlice(roots, [&](Value* value, AddValue add) {
      const Op* producer = value->producer();
      const bool is_gradient = producer != nullptr && gradients_.contains(producer);
      if (is_gradient || (varied_.contains(value) && !from_gradients_.contains(value))) {
        crosses_.insert(value);
      } else {
        AddOperands(value, add);
      }
    });
  }

  llvm::Error AddMean(const Value& value, std::vector<SplitStep::Mean>* means) const {
    const Type& type = value.type();
    if (IsFloat(type.dtype) && !HasSymbols(type.dims) && type.is_plain()) {
      means->push_back({value.name() + kMean.str(), Type(type.dtype, type.dims)});
      return llvm::Error::success();
    }
    const LocationId location = value.producer() ? value.producer()->location() : kUnknownLocation;
    return UserErrorAt(
        step_, location, Code::kBadMinimize,
        llvm::formatv("an update reads '{0}': {1}, which depends on the examples, so a step cannot "
                      "be computed from micro-batches: only floating-point values of fixed sizes "
                      "have a mean over them",
                      value.name(), type.ToString()));
  }

  static Value* Crossing(const Graph& graph, const SplitStep::Mean& mean) {
    return graph.FindValue(llvm::StringRef(mean.name).drop_back(kMean.size()));
  }

  Graph MakeGradients(llvm::ArrayRef<SplitStep::Mean> means) const {
    Graph graph = step_.Clone();
    const std::vector<GraphOutput> outputs = graph.outputs().vec();
    graph.ClearOutputs();
    for (const GraphOutput& output : outputs)
      graph.AddOutput(output.name, output.value, output.comment);
    for (const SplitStep::Mean& mean : means) graph.AddOutput(mean.name, Crossing(graph, mean));
    EliminateDeadCode(graph);
    return graph;
  }

  Graph MakeUpdate(llvm::ArrayRef<SplitStep::Mean> means) const {
    Graph graph = step_.Clone();
    const std::vector<GraphUpdate> updates = graph.updates().vec();
    graph.ClearOutputs();
    for (const GraphUpdate& update : updates) graph.AddUpdate(update.state, update.value);
    llvm::DenseSet<const Value*> varied;
    for (const Op* op : step_.ops())
      for (const Value* value : op->operands())
        if (varied_.contains(value)) varied.insert(graph.FindValue(value->name()));
    // Micro-batches run the checks of the examples.
    graph.EraseOps({}, [&](const Op& op) {
      const auto is_used = [](const Value* value) { return !value->uses().empty(); };
      const auto is_varied = [&](const Value* value) { return varied.contains(value); };
      return op.def().properties().only_checks && llvm::none_of(op.results(), is_used) &&
             llvm::any_of(op.operands(), is_varied);
    });
    std::vector<std::pair<Value*, Value*>> replacements;
    std::vector<Value*> inputs;
    for (const SplitStep::Mean& mean : means) {
      inputs.push_back(graph.AddInput(mean.name, mean.type));
      replacements.emplace_back(Crossing(graph, mean), inputs.back());
    }
    graph.ReplaceAllUses(replacements);
    EliminateDeadCode(graph);
    graph.SetBlockInputs({}, inputs);
    return graph;
  }

  const Graph& step_;
  ValueSet varied_, from_gradients_, crosses_;
  llvm::DenseSet<const Op*> gradients_;
};

}  // namespace

llvm::Expected<SplitStep> SplitTrainingStep(const Graph& step) {
  return WithTexts(step, StepSplitter(step).Run());
}

}  // namespace pdl
