#include "tools/pdl/bisect/fed_network.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/run_observer.h"

namespace pdl {
namespace {

bool HasPackedValues(const Graph& graph) {
  const auto is_packed = [](const Value* value) { return !value->type().is_plain(); };
  if (llvm::any_of(graph.inputs(), is_packed)) return true;
  return llvm::any_of(graph.ops(),
                      [&](const Op* op) { return llvm::any_of(op->results(), is_packed); });
}

Tensor CopyOf(const Tensor& tensor) {
  return Tensor::FromConstant(Constant::Copy(tensor.dtype(), tensor.sizes(), tensor.raw()));
}

const Tensor* FindTensor(const Scope& scope, llvm::StringRef name) {
  const Variable* variable = scope.Find(name);
  return variable ? variable->Get<Tensor>() : nullptr;
}

class Recorder : public RunObserver {
 public:
  Recorder(llvm::ArrayRef<const Value*> values, llvm::StringMap<Tensor>* recorded)
      : recorded_(recorded) {
    for (const Value* value : values) names_.insert(value->name());
  }
  bool Observes(llvm::StringRef name) const override { return names_.contains(name); }
  llvm::Error See(const Result& result) override {
    (*recorded_)[result.name] = CopyOf(result.tensor);
    return llvm::Error::success();
  }

 private:
  llvm::StringSet<> names_;
  llvm::StringMap<Tensor>* recorded_;
};

}  // namespace

llvm::Expected<FedNetwork> ToFedNetwork(const Side& side) {
  FedNetwork fed;
  fed.graph = side.network->graph().Clone();
  fed.graph.ClearTrainings();
  const std::vector<GraphOutput> outputs = fed.graph.outputs().vec();
  const std::vector<GraphUpdate> updates = fed.graph.updates().vec();
  fed.graph.ClearOutputs();
  llvm::StringSet<> names;
  for (const GraphOutput& output : outputs) {
    fed.graph.AddOutput(output.name, output.value);
    names.insert(output.name);
  }
  for (const GraphUpdate& update : updates) {
    const std::string name = update.state->name() + ".next";
    if (fed.graph.FindValue(name) == nullptr && names.insert(name).second)
      fed.graph.AddOutput(name, update.value);
  }
  fed.precision = PrecisionOf(side.options);
  if (HasPackedValues(fed.graph)) {
    llvm::Expected<Graph> lowered = LowerStorage(fed.graph, GlobalRegistry());
    if (!lowered) return lowered.takeError();
    fed.graph = std::move(*lowered);
  }
  llvm::Expected<llvm::StringMap<Constant>> variables = InitialValues(*side.network);
  if (!variables) return variables.takeError();
  fed.variables = std::move(*variables);
  for (const Value* input : fed.graph.inputs())
    if (const Tensor* tensor = FindTensor(side.scope, input->name()))
      fed.inputs[input->name()] = *tensor;
  return fed;
}

RunSetup SetupOf(const Side& side) {
  const CommonOptions& options = side.options;
  return {side.context.get(), options.seed, options.training || options.training_step};
}

llvm::Expected<std::shared_ptr<const Network>> MakeNetwork(const FedNetwork& fed,
                                                           const RunSetup& setup,
                                                           NetworkOptions options) {
  options.seed = setup.seed;
  options.weights = fed.variables;
  return Network::Create(fed.graph.Clone(), std::move(options), GlobalRegistry());
}

llvm::Expected<FedNetwork> Lowered(const FedNetwork& fed, const RunSetup& setup) {
  NetworkOptions options;
  options.optimize = false;
  options.precision = fed.precision;
  auto network = MakeNetwork(fed, setup, std::move(options));
  if (!network) return network.takeError();
  return FedNetwork{(*network)->optimized_graph().Clone(), fed.variables, fed.inputs};
}

void Feed(const FedNetwork& fed, Scope* scope) {
  for (const auto& entry : fed.inputs) scope->Create(entry.first())->Set(Tensor(entry.second));
}

llvm::Expected<llvm::StringMap<Tensor>> RunOnce(const FedNetwork& fed, const RunSetup& setup,
                                                NetworkOptions options) {
  options.precision = fed.precision;
  auto network = MakeNetwork(fed, setup, std::move(options));
  if (!network) return network.takeError();
  Scope scope;
  Feed(fed, &scope);
  RunOptions run;
  run.training = setup.training;
  if (llvm::Error error = (*network)->Run(&scope, setup.context, run)) return error;
  llvm::StringMap<Tensor> outputs;
  for (const GraphOutput& output : fed.graph.outputs())
    if (const Tensor* tensor = FindTensor(scope, output.name)) outputs[output.name] = *tensor;
  return outputs;
}

llvm::Expected<llvm::StringMap<Tensor>> RecordValues(const FedNetwork& fed, const RunSetup& setup,
                                                     llvm::ArrayRef<const Value*> values) {
  NetworkOptions options;
  options.optimize = false;
  auto network = MakeNetwork(fed, setup, std::move(options));
  if (!network) return network.takeError();
  llvm::StringMap<Tensor> recorded;
  Recorder recorder(values, &recorded);
  Scope scope;
  Feed(fed, &scope);
  RunOptions run;
  run.training = setup.training;
  run.observer = &recorder;
  if (llvm::Error error = (*network)->Run(&scope, setup.context, run)) return error;
  for (const Value* value : values) {
    if (value->kind() == ValueKind::kResult) continue;
    const auto variable = fed.variables.find(value->name());
    if (variable != fed.variables.end()) {
      recorded[value->name()] = Tensor::FromConstant(variable->second);
    } else if (const Tensor* tensor = FindTensor(scope, value->name())) {
      recorded[value->name()] = *tensor;
    }
  }
  return recorded;
}

}  // namespace pdl
