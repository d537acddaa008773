#include "test/cc/testing/op_test_util.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/inference.h"

namespace pdl::testing {
namespace {

class TestPrepareContext final : public PrepareContext {
 public:
  TestPrepareContext(llvm::ArrayRef<Tensor> inputs, llvm::ArrayRef<OperandType> outputs,
                     DeviceContext& device, const RunOptions& options)
      : tensors_(inputs), outputs_(outputs), device_(device), options_(options) {
    for (const Tensor& tensor : inputs) {
      types_.push_back({tensor.dtype(), Sizes(tensor.sizes())});
    }
  }
  llvm::ArrayRef<OperandType> inputs() const override { return types_; }
  llvm::ArrayRef<OperandType> outputs() const override { return outputs_; }
  DeviceContext& device() const override { return device_; }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override {
    return dim.Evaluate([](llvm::StringRef) { return std::nullopt; });
  }
  bool is_constant(unsigned index) const override { return options_.constant_right && index == 1; }
  llvm::Expected<Tensor> ConstantValue(unsigned index) const override { return tensors_[index]; }
  llvm::Expected<std::shared_ptr<const void>> Pack(unsigned index, llvm::StringRef,
                                                   PackFunction pack) const override {
    return pack(tensors_[index]);
  }
  DType matmul_precision() const override { return options_.matmul_precision; }

 private:
  llvm::ArrayRef<Tensor> tensors_;
  std::vector<OperandType> types_;
  llvm::ArrayRef<OperandType> outputs_;
  DeviceContext& device_;
  const RunOptions& options_;
};

std::vector<Type> TypesOf(llvm::ArrayRef<Tensor> tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) {
    Type& type = types.emplace_back(tensor.dtype(), llvm::ArrayRef<Dim>());
    for (const int64_t size : tensor.sizes()) type.dims.push_back(size);
  }
  return types;
}

Tensor Copy(const Tensor& tensor) {
  Tensor copy = llvm::cantFail(Tensor::Allocate(tensor.dtype(), tensor.sizes()));
  if (tensor.num_bytes() > 0) {
    std::memcpy(copy.raw(), tensor.raw(), static_cast<size_t>(tensor.num_bytes()));
  }
  return copy;
}

llvm::Expected<std::vector<Tensor>> RunCall(const OpDef& def, llvm::ArrayRef<Tensor> given,
                                            std::vector<AttributeValue> attributes,
                                            llvm::ArrayRef<OperandType> output_types,
                                            const RunOptions& options,
                                            llvm::StringRef result_name) {
  OperatorArguments arguments;
  arguments.def = &def;
  arguments.attributes = std::move(attributes);
  for (const Tensor& tensor : given) {
    arguments.inputs.push_back("x" + std::to_string(arguments.inputs.size()));
    arguments.input_dtypes.push_back(tensor.dtype());
  }
  for (const OperandType& type : output_types) {
    arguments.outputs.push_back(result_name.str());
    arguments.output_dtypes.push_back(type.dtype);
  }
  auto op = CreateOperator(arguments, DeviceKind::kCPU);
  if (!op) return op.takeError();

  std::vector<Tensor> inputs(given.begin(), given.end());
  CPUContext context(options.threads);
  const TestPrepareContext prepare(inputs, output_types, context, options);
  auto preparation = (*op)->Prepare(prepare);
  if (!preparation) return preparation.takeError();

  std::vector<Tensor> outputs;
  bool skip = !preparation->aliases.empty();
  for (const OperandType& type : output_types) {
    outputs.push_back(llvm::cantFail(Tensor::Allocate(type.dtype, type.sizes)));
  }
  for (const auto& [output, input] : preparation->aliases) {
    outputs[output].Borrow(output_types[output].dtype, output_types[output].sizes,
                           inputs[input].raw(), Device());
    outputs[output] = Copy(outputs[output]);
  }
  if (options.in_place) {
    for (const auto& [output, input] : preparation->in_place) {
      inputs[input] = Copy(inputs[input]);
      Tensor over = inputs[input];
      outputs[output] = Tensor(
          output_types[output].dtype, output_types[output].sizes,
          std::shared_ptr<void>(new Tensor(over), [](void* p) { delete static_cast<Tensor*>(p); }));
      outputs[output].SetData(over.raw());
      break;
    }
  }
  std::shared_ptr<void> workspace;
  if (preparation->workspace_bytes > 0) {
    workspace = llvm::cantFail(context.Allocate(preparation->workspace_bytes));
  }
  context.SetCall(preparation->state.get(), workspace.get());
  context.SetRandom(options.random);
  std::vector<const Tensor*> in;
  std::vector<Tensor*> out;
  for (const Tensor& tensor : inputs) in.push_back(&tensor);
  for (Tensor& tensor : outputs) out.push_back(&tensor);
  if (!skip) {
    if (llvm::Error error = (*op)->RunPrepared(in, out, context)) return error;
  }
  return outputs;
}

llvm::Expected<std::vector<OperandType>> OutputTypes(InferenceContext& context) {
  if (llvm::Error error = Infer(context)) return error;
  const auto no_symbol = [](llvm::StringRef) { return std::optional<int64_t>(); };
  for (const DimCheck& check : context.TakeChecks()) {
    const int64_t left = llvm::cantFail(check.left.Evaluate(no_symbol));
    const int64_t right = llvm::cantFail(check.right.Evaluate(no_symbol));
    const bool holds = check.relation == DimCheck::Relation::kEqual     ? left == right
                       : check.relation == DimCheck::Relation::kAtLeast ? left >= right
                                                                        : left != right;
    if (!holds) return MakeUserError(Code::kSizeCheck, "{0}", check.message);
  }
  std::vector<OperandType> types;
  for (const Type& type : context.outputs()) {
    OperandType& output = types.emplace_back();
    output.dtype = type.dtype;
    for (const Dim& dim : type.dims) {
      output.sizes.push_back(llvm::cantFail(dim.Evaluate(no_symbol)));
    }
  }
  return types;
}

}  // namespace

Tensor MakeAs(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(dtype, sizes));
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < values.size(); ++i) {
      tensor.data<T>()[i] = Element<T>::Store(static_cast<ComputeType<T>>(values[i]));
    }
  });
  return tensor;
}

std::vector<double> Noise(int64_t n, uint64_t seed) {
  std::vector<double> values;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(static_cast<int64_t>(state) >> 32) * 0x1p-31);
  }
  return values;
}

std::vector<double> Values(const Tensor& tensor) {
  std::vector<double> values;
  VisitDType(AnyTypes(), tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      values.push_back(static_cast<double>(Element<T>::Load(tensor.data<T>()[i])));
    }
  });
  return values;
}

llvm::Expected<std::vector<Tensor>> TryApply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs,
                                             const Attributes& attributes,
                                             const RunOptions& options,
                                             llvm::StringRef result_name) {
  const OpDef* def = GlobalRegistry().Find(op);
  if (def == nullptr) return MakeUserError(Code::kUnknownOperator, "no operator '{0}'", op);
  auto values = CompleteAttributes(def->signature, attributes);
  if (!values) return values.takeError();
  const std::vector<Type> types = TypesOf(inputs);
  std::vector<const Type*> operands;
  for (const Type& type : types) operands.push_back(&type);
  InferenceContext context(*def, operands, *values);
  auto outputs = OutputTypes(context);
  if (!outputs) return outputs.takeError();
  return RunCall(*def, inputs, *values, *outputs, options, result_name);
}

Tensor Apply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs, const Attributes& attributes,
             const RunOptions& options, llvm::StringRef result_name) {
  auto results = TryApply(op, inputs, attributes, options, result_name);
  if (!results) {
    ADD_FAILURE() << op.str() << ": " << llvm::toString(results.takeError());
    return Tensor();
  }
  return (*results)[0];
}

std::string InferText(llvm::StringRef op, llvm::ArrayRef<Type> types,
                      const Attributes& attributes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const auto describe = [&](llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const CallError& e) {
          os << static_cast<int>(e.code()) << " at ";
          llvm::interleaveComma(e.inputs, os);
          os << e.attribute << ": " << e.text();
        },
        [&](const llvm::ErrorInfoBase& e) { os << e.message(); });
    return text;
  };
  const OpDef* def = GlobalRegistry().Find(op);
  if (def == nullptr) return "no such operator";
  auto values = CompleteAttributes(def->signature, attributes);
  if (!values) return describe(values.takeError());
  std::vector<const Type*> operands;
  for (const Type& type : types) operands.push_back(&type);
  InferenceContext context(*def, operands, *values);
  if (llvm::Error error = Infer(context)) return describe(std::move(error));
  llvm::interleaveComma(context.outputs(), os, [&](const Type& type) { os << type.ToString(); });
  for (const DimCheck& check : context.TakeChecks()) {
    const char* relation = check.relation == DimCheck::Relation::kEqual     ? " == "
                           : check.relation == DimCheck::Relation::kAtLeast ? " >= "
                                                                            : " != ";
    os << " if " << check.left.ToString() << relation << check.right.ToString();
  }
  return text;
}

llvm::Expected<Tensor> Evaluate(const Graph& graph, const Value* result,
                                llvm::ArrayRef<std::pair<const Value*, Tensor>> feeds) {
  std::map<const Value*, Tensor> tensors(feeds.begin(), feeds.end());
  for (const Op* op : graph.ops()) {
    std::vector<Tensor> inputs;
    for (const Value* operand : op->operands()) inputs.push_back(tensors.at(operand));
    std::vector<OperandType> types;
    for (const Value* value : op->results()) {
      OperandType& type = types.emplace_back();
      type.dtype = value->type().dtype;
      for (const Dim& dim : value->type().dims) type.sizes.push_back(dim.constant());
    }
    const std::vector<AttributeValue> attributes(op->attribute_values());
    auto outputs = RunCall(op->def(), inputs, attributes, types, {}, op->result()->name());
    if (!outputs) return outputs.takeError();
    for (size_t i = 0; i < outputs->size(); ++i) tensors[op->results()[i]] = (*outputs)[i];
  }
  return tensors.at(result);
}

}  // namespace pdl::testing
