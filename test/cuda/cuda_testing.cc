#include "cuda_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "pdl/op/attribute_reader.h"
#include "pdl/op/half.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_registry.h"

namespace pdl::testing {
namespace {

/// Provides the sizes of one call; no operand is constant.
class TestPrepareContext : public PrepareContext {
 public:
  TestPrepareContext(DeviceContext& device, std::vector<OperandType> inputs,
                     std::vector<OperandType> outputs)
      : device_(device), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return outputs_; }
  DeviceContext& device() const override { return device_; }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override {
    return dim.Evaluate([](llvm::StringRef) { return std::optional<int64_t>(); });
  }

 private:
  DeviceContext& device_;
  std::vector<OperandType> inputs_, outputs_;
};

OperandType TypeOf(const Tensor& tensor) {
  return {tensor.dtype(), Sizes(tensor.sizes().begin(), tensor.sizes().end())};
}

double LeastTolerance(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 2e-3;
    case DType::kBF16:
      return 1.6e-2;
    case DType::kF32:
      return 2e-6;
    default:
      return 1e-13;
  }
}

void Store(Tensor& tensor, int64_t index, double value) {
  switch (tensor.dtype()) {
    case DType::kF16:
      tensor.data<float16>()[index] = float16(static_cast<float>(value));
      return;
    case DType::kBF16:
      tensor.data<bfloat16>()[index] = bfloat16(static_cast<float>(value));
      return;
    case DType::kF32:
      tensor.data<float>()[index] = static_cast<float>(value);
      return;
    case DType::kF64:
      tensor.data<double>()[index] = value;
      return;
    case DType::kI8:
      tensor.data<int8_t>()[index] = static_cast<int8_t>(value);
      return;
    case DType::kI32:
      tensor.data<int32_t>()[index] = static_cast<int32_t>(value);
      return;
    case DType::kI64:
      tensor.data<int64_t>()[index] = static_cast<int64_t>(value);
      return;
    case DType::kU8:
      tensor.data<uint8_t>()[index] = static_cast<uint8_t>(value);
      return;
    case DType::kBool:
      tensor.data<bool>()[index] = value > 0;
      return;
    default:
      FAIL() << "no test values for " << DTypeName(tensor.dtype()).str();
  }
}

}  // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> PreparedCall::Create(DeviceContext& context,
                                                                   const TestCall& call,
                                                                   const Placement& placement) {
  std::unique_ptr<PreparedCall> prepared(new PreparedCall(context, call));
  if (llvm::Error error = prepared->Initialize(placement)) return error;
  if (llvm::Error error = prepared->Reset()) return error;
  return prepared;
}

llvm::Expected<Tensor> PreparedCall::Place(DType dtype, llvm::ArrayRef<int64_t> sizes,
                                           int64_t misalignment) {
  auto bytes = CheckedNumBytes(dtype, sizes);
  if (!bytes) return bytes.takeError();
  const int64_t skipped = misalignment * DTypeSize(dtype);
  auto memory = context_.Allocate(*bytes + skipped);
  if (!memory) return memory.takeError();
  memory_.push_back(*memory);
  Tensor tensor;
  tensor.Borrow(dtype, sizes, static_cast<char*>(memory->get()) + skipped, context_.device());
  return tensor;
}

llvm::Error PreparedCall::Initialize(const Placement& placement) {
  const OpDef* def = GlobalRegistry().Find(call_.op);
  if (def == nullptr) return llvm::createStringError("no operator '" + call_.op + "'");
  auto attributes = CompleteAttributes(def->signature, call_.attributes);
  if (!attributes) return attributes.takeError();

  std::vector<Type> types;
  std::vector<OperandType> inputs, outputs;
  OperatorArguments arguments;
  for (const Tensor& input : call_.inputs) {
    inputs.push_back(TypeOf(input));
    types.emplace_back(input.dtype(), llvm::SmallVector<Dim>(input.sizes()));
    arguments.input_dtypes.push_back(input.dtype());
    arguments.inputs.push_back("x" + std::to_string(inputs.size()));
  }
  std::vector<const Type*> operands;
  for (const Type& type : types) operands.push_back(&type);
  InferenceContext inference(*def, operands, *attributes);
  if (llvm::Error error = Infer(inference)) return error;
  for (const Type& type : inference.outputs()) {
    OperandType output{type.dtype, {}};
    for (const Dim& dim : type.dims) output.sizes.push_back(dim.constant());
    outputs.push_back(output);
    arguments.output_dtypes.push_back(type.dtype);
    arguments.outputs.push_back("y" + std::to_string(outputs.size()));
  }
  arguments.def = def;
  arguments.attributes = *attributes;
  auto op = CreateOperator(arguments, context_.device().kind);
  if (!op) return op.takeError();
  op_ = std::move(*op);

  auto preparation = op_->Prepare(TestPrepareContext(context_, inputs, outputs));
  if (!preparation) return preparation.takeError();
  preparation_ = std::move(*preparation);
  for (const OperandType& input : inputs) {
    auto tensor = Place(input.dtype, input.sizes, placement.misalignment);
    if (!tensor) return tensor.takeError();
    inputs_.push_back(*tensor);
  }
  for (unsigned i = 0; i < outputs.size(); ++i) {
    auto tensor = Place(outputs[i].dtype, outputs[i].sizes, placement.misalignment);
    if (!tensor) return tensor.takeError();
    for (auto [output, input] : preparation_.aliases) {
      if (output == i) tensor->SetData(inputs_[input].raw());
    }
    for (auto [output, input] : preparation_.in_place) {
      if (output != i || static_cast<int>(input) != placement.in_place) continue;
      tensor->SetData(inputs_[input].raw());
      is_in_place_ = true;
    }
    outputs_.push_back(*tensor);
  }
  auto workspace = context_.Allocate(preparation_.workspace_bytes);
  if (!workspace) return workspace.takeError();
  workspace_ = *workspace;
  return llvm::Error::success();
}

llvm::Error PreparedCall::Reset() {
  for (const Tensor& output : outputs_) {
    const std::vector<char> mark(static_cast<size_t>(output.num_bytes()), '\x7f');
    if (llvm::Error error =
            context_.CopyFromHost(const_cast<void*>(output.raw()), mark.data(), output.num_bytes()))
      return error;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (llvm::Error error = context_.CopyFromHost(inputs_[i].raw(), call_.inputs[i].raw(),
                                                  call_.inputs[i].num_bytes()))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error PreparedCall::Launch() {
  if (!preparation_.aliases.empty()) return llvm::Error::success();
  std::vector<const Tensor*> inputs;
  std::vector<Tensor*> outputs;
  for (const Tensor& input : inputs_) inputs.push_back(&input);
  for (Tensor& output : outputs_) outputs.push_back(&output);
  context_.SetCall(preparation_.state.get(), workspace_.get());
  return op_->RunPrepared(inputs, outputs, context_);
}

llvm::Expected<std::vector<Tensor>> PreparedCall::Outputs() {
  if (llvm::Error error = context_.Synchronize()) return error;
  std::vector<Tensor> results;
  for (const Tensor& output : outputs_) {
    auto result = Tensor::Allocate(output.dtype(), output.sizes());
    if (!result) return result.takeError();
    if (llvm::Error error = context_.CopyToHost(result->raw(), output.raw(), output.num_bytes()))
      return error;
    results.push_back(*result);
  }
  return results;
}

std::vector<Tensor> RunCall(DeviceContext& context, const TestCall& call,
                            const Placement& placement) {
  const auto run = [&]() -> llvm::Expected<std::vector<Tensor>> {
    auto prepared = PreparedCall::Create(context, call, placement);
    if (!prepared) return prepared.takeError();
    if (llvm::Error error = (*prepared)->Launch()) return error;
    return (*prepared)->Outputs();
  };
  auto outputs = run();
  if (outputs) return std::move(*outputs);
  ADD_FAILURE() << DeviceToString(context.device()) << ": " << Describe(call) << ": "
                << llvm::toString(outputs.takeError());
  return {};
}

void ExpectClose(const TestCall& call, llvm::ArrayRef<Tensor> wanted, llvm::ArrayRef<Tensor> given,
                 double tolerance) {
  ASSERT_EQ(wanted.size(), given.size()) << Describe(call);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i].TypeString(), given[i].TypeString()) << Describe(call);
    const double allowed =
        IsFloat(wanted[i].dtype()) ? std::max(tolerance, LeastTolerance(wanted[i].dtype())) : 0;
    const Constant want = wanted[i].ToConstant(), give = given[i].ToConstant();
    int wrong = 0;
    for (int64_t k = 0; k < want.num_elements() && wrong < 4; ++k) {
      const double a = want.ElementAsDouble(k), b = give.ElementAsDouble(k);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (a == b || std::abs(a - b) <= allowed * std::max(1.0, std::abs(a))) continue;
      ++wrong;
      ADD_FAILURE() << Describe(call) << ": element " << k << " of output " << i << " is " << b
                    << ", on the CPU " << a;
    }
  }
}

void ExpectSame(DeviceContext& cpu, DeviceContext& cuda, const TestCall& call,
                const Placement& placement, double tolerance) {
  SCOPED_TRACE("misaligned by " + std::to_string(placement.misalignment) + ", in place of " +
               std::to_string(placement.in_place));
  ExpectClose(call, RunCall(cpu, call), RunCall(cuda, call, placement), tolerance);
}

Tensor RandomTensor(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed, double low,
                    double high) {
  if (IsUnsigned(dtype)) low = std::max(low, 0.0);
  auto tensor = Tensor::Allocate(dtype, sizes);
  if (!tensor) {
    ADD_FAILURE() << llvm::toString(tensor.takeError());
    return {};
  }
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const double value = distribution(generator);
    Store(*tensor, i, IsInteger(dtype) ? std::round(value) : value);
  }
  return *tensor;
}

void PutSpecialValues(Tensor& tensor) {
  if (!IsFloat(tensor.dtype())) return;
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {
      0.0, -0.0, 1.0, -1.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  for (int64_t i = 0; i < std::min<int64_t>(tensor.num_elements(), std::size(values)); ++i)
    Store(tensor, i, values[i]);
}

std::string Describe(const TestCall& call) {
  std::string text = call.op + "(";
  for (const Tensor& input : call.inputs) text += input.TypeString() + ", ";
  for (const NamedAttribute& attribute : call.attributes)
    text += attribute.name + "=" + AttributeToString(attribute.value) + ", ";
  if (text.size() > 2 && text.back() == ' ') text.resize(text.size() - 2);
  return text + ")";
}

}  // namespace pdl::testing
