#include "runtime/evaluator.h"

#include "llvm/ADT/DenseMap.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/op/operator.h"
#include "runtime/single_call.h"

namespace pdl {
namespace {

/// Replaces symbols in the shapes of attributes with their sizes.
std::vector<AttributeValue> WithSizes(llvm::ArrayRef<AttributeValue> attributes,
                                      SymbolLookup lookup) {
  std::vector<AttributeValue> values = attributes.vec();
  auto substitute = [&](Shape& shape) {
    for (Dim& dim : shape) {
      dim = dim.Substitute([&](llvm::StringRef name) -> std::optional<Dim> {
        std::optional<int64_t> size = lookup(name);
        return size ? std::optional<Dim>(*size) : std::nullopt;
      });
    }
  };
  for (AttributeValue& value : values) {
    if (auto* shape = std::get_if<Shape>(&value)) substitute(*shape);
    if (auto* shapes = std::get_if<std::vector<Shape>>(&value))
      for (Shape& shape : *shapes) substitute(shape);
  }
  return values;
}

}  // namespace

llvm::Expected<std::vector<Tensor>> EvaluateCall(const Graph& graph, const Op& op,
                                                 llvm::ArrayRef<Tensor> operands,
                                                 SymbolLookup lookup, RandomState random,
                                                 llvm::StringRef result_name,
                                                 const DeviceContext* context) {
  OperatorArguments arguments;
  arguments.def = &op.def();
  arguments.attributes = WithSizes(op.attribute_values(), lookup);
  arguments.location = graph.PathToString(op.location());
  for (const Value* operand : op.operands()) {
    arguments.inputs.push_back("in" + std::to_string(arguments.inputs.size()));
    arguments.input_dtypes.push_back(operand->type().dtype);
  }
  for (const Value* result : op.results()) {
    bool first = arguments.outputs.empty();
    arguments.outputs.push_back(first && !result_name.empty() ? result_name.str() : result->name());
    arguments.output_dtypes.push_back(result->type().dtype);
  }
  llvm::Expected<std::unique_ptr<OperatorBase>> created =
      CreateOperator(arguments, DeviceKind::kCPU);
  if (!created) return created.takeError();
  std::unique_ptr<DeviceContext> own =
      context == nullptr ? std::make_unique<CPUContext>() : context->Fork();
  own->SetRandom(random);
  // A run may have to report an index out of range (RunOptions::check_indices), so such a call is
  // not evaluated before it.
  own->SetChecksIndices(true);
  return RunSingleCall(**created, operands, *own);
}

llvm::Expected<std::vector<Constant>> EvaluateConstants(const Graph& graph, const Op& op,
                                                        llvm::ArrayRef<Constant> operands,
                                                        SymbolLookup lookup, RandomState random) {
  llvm::SmallVector<Tensor, 4> tensors;
  for (const Constant& operand : operands) tensors.push_back(Tensor::FromConstant(operand));
  llvm::Expected<std::vector<Tensor>> results = EvaluateCall(graph, op, tensors, lookup, random);
  if (!results) return results.takeError();
  std::vector<Constant> constants;
  for (const Tensor& result : *results) constants.push_back(result.ToConstant());
  return constants;
}

llvm::Expected<Tensor> EvaluateInitializer(const Graph& graph, BlockId id, llvm::StringRef name,
                                           SymbolLookup lookup, RandomState random) {
  const Block& block = graph.block(id);
  llvm::DenseMap<const Value*, Tensor> values;
  for (const Op* op : block.ops) {
    llvm::SmallVector<Tensor, 2> operands;
    for (const Value* operand : op->operands()) {
      auto found = values.find(operand);
      if (found == values.end())
        InternalError("the initializer of '" + name.str() + "' uses an outside value");
      operands.push_back(found->second);
    }
    // Nested calls get separate random streams, derived from the name.
    bool last = llvm::is_contained(op->results(), block.outputs[0]);
    std::string stream = last ? name.str() : name.str() + "/" + op->result()->name();
    llvm::Expected<std::vector<Tensor>> results =
        EvaluateCall(graph, *op, operands, lookup, random, stream);
    if (!results) return results.takeError();
    for (size_t i = 0; i < results->size(); ++i) values[op->result(i)] = std::move((*results)[i]);
  }
  return values[block.outputs[0]];
}

llvm::Expected<std::vector<Tensor>> EvaluateConstantCall(const Graph& graph, const Op& op,
                                                         llvm::ArrayRef<Tensor> operands,
                                                         bool training, RandomState random,
                                                         DeviceContext& context) {
  if (op.def().properties().is_training_flag) {
    llvm::Expected<Tensor> flag =
        MoveToDevice(Tensor::FromConstant(Constant::Scalar(DType::kBool, training)), context);
    if (!flag) return flag.takeError();
    return std::vector<Tensor>{std::move(*flag)};
  }
  llvm::SmallVector<Tensor, 4> on_host;
  for (const Tensor& operand : operands) {
    llvm::Expected<Tensor> copy = OnHost(operand, context);
    if (!copy) return copy.takeError();
    on_host.push_back(std::move(*copy));
  }
  auto no_sizes = [](llvm::StringRef) -> std::optional<int64_t> { return std::nullopt; };
  llvm::Expected<std::vector<Tensor>> results =
      EvaluateCall(graph, op, on_host, no_sizes, random, "",
                   context.device().kind == DeviceKind::kCPU ? &context : nullptr);
  if (!results) return results;
  for (Tensor& tensor : *results) {
    llvm::Expected<Tensor> moved = MoveToDevice(tensor, context);
    if (!moved) return moved.takeError();
    tensor = std::move(*moved);
  }
  return results;
}

llvm::Expected<Tensor> MoveToDevice(const Tensor& tensor, DeviceContext& context) {
  if (tensor.device() == context.device()) return tensor;
  llvm::Expected<std::shared_ptr<void>> memory = context.Allocate(tensor.num_bytes());
  if (!memory) return memory.takeError();
  if (llvm::Error error = context.CopyFromHost(memory->get(), tensor.raw(), tensor.num_bytes()))
    return error;
  return Tensor(tensor.dtype(), tensor.sizes(), std::move(*memory), context.device());
}

}  // namespace pdl
