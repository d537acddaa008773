#include "runtime/composed_operator.h"

#include "pdl/runtime/network.h"

namespace pdl {
namespace {

std::string InputName(size_t index) { return "in" + std::to_string(index); }
std::string OutputName(size_t index) { return "out" + std::to_string(index); }

class ComposedOperator final : public OperatorBase {
 public:
  explicit ComposedOperator(const OpRegistry& registry) : registry_(registry) {}
  using OperatorBase::Initialize;

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Graph graph;
    llvm::SmallVector<Value*, 4> operands;
    for (const auto& [i, input] : llvm::enumerate(context.inputs())) {
      const Type type(input.dtype, Shape(input.sizes.begin(), input.sizes.end()));
      operands.push_back(graph.AddInput(InputName(i), type, kUnknownLocation));
    }
    llvm::SmallVector<std::string, 1> names;
    for (size_t i = 0; i < context.outputs().size(); ++i) names.push_back(OutputName(i));
    llvm::Expected<Op*> op =
        graph.AddOpWithValues(def(), operands, arguments().attributes, names, CallOptions());
    if (!op) return op.takeError();
    for (Value* result : (*op)->results()) graph.AddOutput(result->name(), result);
    llvm::Expected<std::shared_ptr<const Network>> network =
        Network::Create(std::move(graph), NetworkOptions(), registry_);
    if (!network) return network.takeError();
    auto state = std::make_shared<State>();
    state->network = std::move(*network);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error RunPrepared(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs,
                          DeviceContext& context) const override {
    Scope scope;
    for (const auto& [i, input] : llvm::enumerate(inputs)) scope.Create(InputName(i))->Set(*input);
    const auto* state = context.state<State>();
    if (llvm::Error error = state->network->Run(&scope, &context)) return error;
    for (const auto& [i, output] : llvm::enumerate(outputs)) {
      const Tensor& result = *scope.Find(OutputName(i))->Get<Tensor>();
      const bool is_here = result.device() == output->device();
      if (llvm::Error error =
              is_here ? context.CopyWithin(output->raw(), result.raw(), output->num_bytes())
                      : context.CopyFromHost(output->raw(), result.raw(), output->num_bytes()))
        return error;
    }
    // The results must live until all work is done.
    return context.Synchronize();
  }

 private:
  struct State : CallState {
    std::shared_ptr<const Network> network;
  };
  const OpRegistry& registry_;
};

}  // namespace

llvm::Expected<std::unique_ptr<OperatorBase>> ComposeOperator(const OpRegistry& registry,
                                                              const OperatorArguments& arguments,
                                                              DeviceKind device) {
  auto composed = std::make_unique<ComposedOperator>(registry);
  if (llvm::Error error = composed->Initialize(arguments, device)) return error;
  return std::unique_ptr<OperatorBase>(std::move(composed));
}

}  // namespace pdl
