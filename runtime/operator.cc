#include "pdl/op/operator.h"

#include <algorithm>

#include "ir/error_text.h"
#include "ir/operator_code.h"
#include "ir/proto_convert.h"
#include "llvm/Support/xxhash.h"
#include "pdl/op/error.h"
#include "pdl/op/inference.h"
#include "pdl/op/lowering.h"
#include "runtime/call_error.h"
#include "runtime/check_indices.h"
#include "runtime/composed_operator.h"
#include "runtime/prepare_call.h"
#include "runtime/single_call.h"

namespace pdl {
namespace {

llvm::StringRef KindName(DeviceKind kind) { return kind == DeviceKind::kCPU ? "cpu" : "cuda"; }

template <typename... Args>
llvm::Error CallFailure(const OperatorArguments& call, Code code, const char* format,
                        Args&&... args) {
  return UserErrorAt(call.location, code,
                     AboutCall(call, llvm::formatv(format, std::forward<Args>(args)...).str()));
}

/// Adds the location and operator of the call to an error found by a check.
llvm::Error Finish(const OperatorArguments& call, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const CallError& found) -> llvm::Error {
    if (!found.is_whole) return CallFailure(call, found.code(), "{0}", found.text());
    return UserErrorAt(call.location, found.code(), found.text());
  });
}

/// The attribute that an operator's check probably rejects: the one that it has read, or the one of
/// those that differs from its default. Empty if it may be several.
std::string RejectedAttribute(const OperatorArguments& call, const llvm::SmallBitVector& read) {
  const std::vector<AttributeDecl>& decls = call.def->signature.attributes;
  std::vector<llvm::StringRef> present, changed;
  for (auto [i, decl] : llvm::enumerate(decls)) {
    const AttributeValue& value = call.attributes[i];
    if (IsNone(value) || (read.any() && !read.test(static_cast<unsigned>(i)))) continue;
    present.push_back(decl.name);
    if (!Identical(value, decl.default_value)) changed.push_back(decl.name);
  }
  if (present.size() == 1) return present[0].str();
  return changed.size() == 1 ? changed[0].str() : "";
}

/// Makes CallErrors, with an attribute if possible, of the errors of InitializeAttributes.
llvm::Error AsCallErrors(const OperatorArguments& call, const llvm::SmallBitVector& read,
                         llvm::Error error) {
  // The errors of a body name the calls in it.
  if (!error || call.body != nullptr) return error;
  const std::string attribute = RejectedAttribute(call, read);
  auto with_attribute = [&](std::unique_ptr<CallError> found) {
    if (found->attribute.empty() && found->inputs.empty()) found->attribute = attribute;
    return llvm::Error(std::move(found));
  };
  return llvm::handleErrors(
      std::move(error),
      [](std::unique_ptr<DeviceError> found) { return llvm::Error(std::move(found)); },
      with_attribute,
      [&](const UserError& found) {
        return with_attribute(
            std::make_unique<CallError>(found.code(), WithoutCodes(found.text())));
      },
      [&](const llvm::ErrorInfoBase& found) {
        return with_attribute(
            std::make_unique<CallError>(Code::kAttributeRange, WithoutCodes(found.message())));
      });
}

/// Evaluates a size of a single call, which has no symbols.
llvm::Expected<int64_t> EvaluateAlone(const Dim& dim) {
  return dim.Evaluate([](llvm::StringRef) { return std::nullopt; });
}

class SingleCallPrepareContext final : public PrepareContext {
 public:
  SingleCallPrepareContext(std::vector<OperandType> inputs, std::vector<OperandType> outputs,
                           DeviceContext& device)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), device_(device) {}

  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return outputs_; }
  DeviceContext& device() const override { return device_; }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override { return EvaluateAlone(dim); }

 private:
  std::vector<OperandType> inputs_;
  std::vector<OperandType> outputs_;
  DeviceContext& device_;
};

/// The tensors that the call reads. Each keeps its memory even if an output takes its name.
llvm::Expected<std::vector<Tensor>> FetchInputs(const OperatorArguments& call, const Scope& scope,
                                                Device device) {
  std::vector<Tensor> tensors;
  for (const std::string& name : call.inputs) {
    const Variable* variable = scope.Find(name);
    if (variable == nullptr)
      return CallFailure(call, Code::kMissingInput, "the scope has no variable '{0}'", name);
    const Tensor* tensor = variable->Get<Tensor>();
    if (tensor == nullptr)
      return CallFailure(call, Code::kOperatorUse, "variable '{0}' holds no tensor", name);
    if (tensor->device() != device) {
      return CallFailure(call, Code::kOperatorUse, "'{0}' is on {1}, but the call runs on {2}",
                         name, DeviceToString(tensor->device()), DeviceToString(device));
    }
    size_t index = tensors.size();
    if (index < call.input_dtypes.size() && tensor->dtype() != call.input_dtypes[index]) {
      return CallFailure(call, Code::kInputType, "'{0}' is {1}, but the call was created for {2}",
                         name, tensor->TypeString(), DTypeName(call.input_dtypes[index]));
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

llvm::Error CheckSizes(const OperatorArguments& call, llvm::ArrayRef<DimCheck> checks) {
  for (const DimCheck& check : checks) {
    llvm::Expected<int64_t> left = EvaluateAlone(check.left);
    if (!left) return Finish(call, left.takeError());
    llvm::Expected<int64_t> right = EvaluateAlone(check.right);
    if (!right) return Finish(call, right.takeError());
    if (!check.Holds(*left, *right))
      return CallFailure(call, Code::kSizeCheck, "{0}", check.Describe(*left, *right));
  }
  return llvm::Error::success();
}

/// Checks the operands and returns the types of the results.
llvm::Expected<std::vector<OperandType>> InferOutputs(const OperatorArguments& call,
                                                      llvm::ArrayRef<Tensor> inputs) {
  std::vector<Type> types;
  for (const Tensor& tensor : inputs) {
    Shape dims(tensor.sizes().begin(), tensor.sizes().end());
    types.emplace_back(tensor.dtype(), dims);
  }
  std::vector<const Type*> operands;
  for (const Type& type : types) operands.push_back(&type);
  InferenceContext context(*call.def, operands, call.attributes);
  if (llvm::Error error = Infer(context)) return Finish(call, std::move(error));
  if (llvm::Error error = CheckSizes(call, context.TakeChecks())) return error;

  std::vector<OperandType> outputs;
  for (const Type& type : context.outputs()) {
    OperandType& output = outputs.emplace_back(OperandType{type.dtype, {}});
    for (const Dim& dim : type.dims) {
      llvm::Expected<int64_t> size = EvaluateAlone(dim);
      if (!size) {
        llvm::consumeError(size.takeError());
        return CallFailure(call, Code::kOperatorUse,
                           "the size {0} of the result {1} is unknown in a single call",
                           dim.ToString(), type.ToString());
      }
      output.sizes.push_back(*size);
    }
  }
  return outputs;
}

llvm::Expected<std::vector<Tensor>> AllocateOutputs(llvm::ArrayRef<OperandType> types,
                                                    DeviceContext& context) {
  std::vector<Tensor> tensors;
  for (const OperandType& type : types) {
    llvm::Expected<int64_t> bytes = CheckedNumBytes(type.dtype, type.sizes);
    if (!bytes) return bytes.takeError();
    if (context.device().kind == DeviceKind::kCPU) {
      llvm::Expected<Tensor> tensor = Tensor::AllocateUninitialized(type.dtype, type.sizes);
      if (!tensor) return tensor.takeError();
      tensors.push_back(std::move(*tensor));
      continue;
    }
    auto memory = context.Allocate(*bytes);
    if (!memory) return memory.takeError();
    tensors.emplace_back(type.dtype, type.sizes, std::move(*memory), context.device());
  }
  return tensors;
}

/// The memory of `input` as a result of that type, which has as many elements.
Tensor Alias(const Tensor& input, const OperandType& type) {
  auto owner = std::make_shared<Tensor>(input);
  void* data = owner->raw();
  const Device device = input.device();
  return Tensor(type.dtype, type.sizes, std::shared_ptr<void>(std::move(owner), data), device);
}

/// Computes on `context`, which no other thread uses, and waits for completion.
llvm::Expected<std::vector<Tensor>> Compute(const OperatorBase& op, llvm::ArrayRef<Tensor> inputs,
                                            const std::vector<OperandType>& output_types,
                                            DeviceContext& context) {
  // Too large results are an Error before anything is prepared for them.
  llvm::Expected<std::vector<Tensor>> outputs = AllocateOutputs(output_types, context);
  if (!outputs) return outputs.takeError();
  std::vector<OperandType> input_types;
  for (const Tensor& tensor : inputs)
    input_types.push_back({tensor.dtype(), Sizes(tensor.sizes().begin(), tensor.sizes().end())});
  llvm::Expected<Preparation> preparation =
      PrepareCall(op, SingleCallPrepareContext(std::move(input_types), output_types, context));
  if (!preparation) return preparation.takeError();

  if (!preparation->aliases.empty()) {
    for (auto [output, input] : preparation->aliases)
      (*outputs)[output] = Alias(inputs[input], output_types[output]);
    return outputs;
  }

  std::shared_ptr<void> workspace;
  if (preparation->workspace_bytes > 0) {
    auto memory = context.Allocate(preparation->workspace_bytes);
    if (!memory) return memory.takeError();
    workspace = std::move(*memory);
  }
  std::vector<const Tensor*> input_pointers;
  for (const Tensor& tensor : inputs) input_pointers.push_back(&tensor);
  std::vector<Tensor*> output_pointers;
  for (Tensor& tensor : *outputs) output_pointers.push_back(&tensor);
  if (context.checks_indices() && op.def().check_indices != nullptr)
    if (llvm::Error error = CheckIndices(op, input_pointers, output_pointers, context))
      return error;
  context.SetCall(preparation->state.get(), workspace.get());
  llvm::Error failure = ConvertExceptions(
      [&] { return op.RunPrepared(input_pointers, output_pointers, context); }, KernelThrew);
  // The workspace is in use until then, even after a failure.
  failure = llvm::joinErrors(std::move(failure), context.Synchronize());
  if (failure) return failure;
  return outputs;
}

/// A copy in separate memory.
llvm::Expected<Tensor> Copy(const Tensor& tensor, DeviceContext& context) {
  const OperandType type = {tensor.dtype(), Sizes(tensor.sizes())};
  llvm::Expected<std::vector<Tensor>> copy = AllocateOutputs(type, context);
  if (!copy) return copy.takeError();
  if (llvm::Error error = context.CopyWithin(copy->front().raw(), tensor.raw(), tensor.num_bytes()))
    return error;
  if (llvm::Error error = context.Synchronize()) return error;
  return std::move(copy->front());
}

llvm::Error UnknownOperator(const OpRegistry& registry, llvm::StringRef name) {
  std::vector<llvm::StringRef> known;
  for (const OpDef* def : registry.All()) known.push_back(def->name());
  llvm::StringRef near = NearestName(name, known);
  return MakeUserError(Code::kUnknownOperator, "no operator is called '{0}'{1}", name,
                       near.empty() ? "" : "; did you mean '" + near.str() + "'?");
}

llvm::Error CheckNames(const OperatorArguments& call) {
  const OpSignature& signature = call.def->signature;
  if (call.inputs.size() < signature.MinOperands() ||
      call.inputs.size() > signature.MaxOperands()) {
    // Inference reports the error; it checks the number of operands first.
    std::vector<const Type*> operands(call.inputs.size());
    InferenceContext context(*call.def, operands, call.attributes);
    return Finish(call, Infer(context));
  }
  if (const size_t results = signature.NumResults(call.attributes);
      call.outputs.size() != results) {
    return CallFailure(call, Code::kOperandCount, "has {0} outputs, but {1} are named", results,
                       call.outputs.size());
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty())
      return CallFailure(call, Code::kOperandCount, "output {0} has no name", i);
    if (llvm::is_contained(llvm::ArrayRef(call.outputs).take_front(i), call.outputs[i]))
      return CallFailure(call, Code::kOperandCount, "two outputs are called '{0}'",
                         call.outputs[i]);
  }
  return llvm::Error::success();
}

/// The name of the call's random stream.
llvm::StringRef StreamName(const OperatorArguments& call) {
  const AttributeReader attributes(call.def->signature, call.attributes);
  const AttributeValue* stream =
      call.def->properties().random ? attributes.Find("stream") : nullptr;
  const auto* name = stream ? std::get_if<std::string>(stream) : nullptr;
  return name && !name->empty() ? llvm::StringRef(*name) : llvm::StringRef(call.outputs.front());
}

}  // namespace

bool PrepareContext::is_constant(unsigned /*index*/) const { return false; }

llvm::Expected<Tensor> PrepareContext::ConstantValue(unsigned /*index*/) const {
  InternalError("the operand is not constant");
}

llvm::Expected<std::shared_ptr<const void>> PrepareContext::Pack(unsigned /*index*/,
                                                                 llvm::StringRef /*layout*/,
                                                                 PackFunction /*pack*/) const {
  InternalError("the operand is not constant");
}

llvm::Error OperatorBase::ReadAttributes(const OperatorArguments& arguments, DeviceKind kind) {
  if (arguments.def == nullptr) InternalError("an operator without its OpDef");
  arguments_ = arguments;
  device_kind_ = kind;
  if (!arguments_.outputs.empty()) stream_key_ = llvm::xxh3_64bits(StreamName(arguments_));
  llvm::SmallBitVector read(static_cast<unsigned>(arguments_.attributes.size()));
  llvm::Error error = ConvertExceptions(
      [&] { return InitializeAttributes({def().signature, arguments_.attributes, &read}); },
      [](const char* what) {
        return MakeUserError(Code::kOperatorUse, "the check of its attributes failed: {0}", what);
      });
  return AsCallErrors(arguments_, read, std::move(error));
}

llvm::Error OperatorBase::Initialize(const OperatorArguments& arguments, DeviceKind kind) {
  return Finish(arguments_, ReadAttributes(arguments, kind));
}

bool OperatorBase::Accepts(const DeviceContext& context) const {
  return context.device().kind == device_kind_;
}

llvm::Error OperatorBase::CheckContext(const DeviceContext* context) const {
  const llvm::StringRef kind = KindName(device_kind_);
  if (context == nullptr)
    return CallFailure(arguments_, Code::kOperatorUse, "created for {0}, but given no context",
                       kind);
  if (context->device().kind != device_kind_)
    return CallFailure(arguments_, Code::kOperatorUse,
                       "created for {0}, but given a context of {1}", kind,
                       DeviceToString(context->device()));
  if (Accepts(*context)) return llvm::Error::success();
  return CallFailure(arguments_, Code::kOperatorUse,
                     "created for the {0} context of pdl, but given one of another class", kind);
}

void OperatorBase::RunRows(const CallState*, llvm::ArrayRef<const Tensor*>, int64_t, int64_t,
                           void*) const {
  InternalError(type() + " is not a row producer");
}

void OperatorBase::RunPieces(const CallState*, void*, llvm::ArrayRef<const Tensor*>, void*,
                             DeviceContext&, const RegisterEpilogue&,
                             llvm::function_ref<void(const OutputPiece&)>) const {
  InternalError(type() + " is not a tiled producer");
}

llvm::Expected<std::vector<Tensor>> RunSingleCall(const OperatorBase& op,
                                                  llvm::ArrayRef<Tensor> inputs,
                                                  DeviceContext& context) {
  const OperatorArguments& call = op.arguments();
  llvm::Expected<std::vector<OperandType>> types = InferOutputs(call, inputs);
  if (!types) return types.takeError();
  const bool is_empty =
      llvm::all_of(*types, [](const OperandType& type) { return type.num_elements() == 0; });
  if (is_empty && !op.def().properties().has_side_effect) return AllocateOutputs(*types, context);
  std::unique_ptr<DeviceContext> own = context.Fork();
  own->SetRandom(context.random());
  own->SetChecksIndices(context.checks_indices());
  llvm::Expected<std::vector<Tensor>> outputs = Compute(op, inputs, *types, *own);
  if (!outputs) return Finish(call, outputs.takeError());
  return outputs;
}

llvm::Error OperatorBase::Run(Scope* scope, DeviceContext* context) const {
  if (llvm::Error error = CheckContext(context)) return error;
  if (scope == nullptr)
    return CallFailure(arguments_, Code::kOperatorUse, "a run needs a scope, got none");
  llvm::Expected<std::vector<Tensor>> inputs = FetchInputs(arguments_, *scope, context->device());
  if (!inputs) return inputs.takeError();
  llvm::Expected<std::vector<Tensor>> outputs = RunSingleCall(*this, *inputs, *context);
  if (!outputs) return outputs.takeError();
  for (auto [name, output] : llvm::zip_equal(arguments_.outputs, *outputs)) {
    // The program may write to the memory of a result.
    if (llvm::any_of(*inputs, [&](const Tensor& input) { return input.raw() == output.raw(); })) {
      llvm::Expected<Tensor> copy = Copy(output, *context);
      if (!copy) return Finish(arguments_, copy.takeError());
      output = std::move(*copy);
    }
    scope->Create(name)->Set(std::move(output));
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(const OperatorArguments& arguments,
                                                             DeviceKind device) {
  KernelCreator creator = arguments.def->kernel(device);
  if (creator == nullptr) {
    return CallFailure(arguments, Code::kNoKernel, "there is no such operator on {0}",
                       KindName(device));
  }
  return creator(arguments);
}

llvm::Expected<std::unique_ptr<OperatorBase>> CreateOperator(const OpRegistry& registry,
                                                             const OpDesc& desc,
                                                             DeviceKind device) {
  OperatorArguments arguments;
  arguments.def = registry.Find(desc.type());
  if (arguments.def == nullptr) return UnknownOperator(registry, desc.type());
  arguments.inputs.assign(desc.inputs().begin(), desc.inputs().end());
  arguments.outputs.assign(desc.outputs().begin(), desc.outputs().end());

  std::vector<NamedAttribute> given;
  ProtoReader reader(desc.ByteSizeLong());
  for (const auto& [name, attribute] : desc.attributes()) {
    llvm::Expected<AttributeValue> value = reader.ReadAttribute(attribute);
    if (!value) return value.takeError();
    given.push_back({name, std::move(*value)});
  }
  // Sorted, because a map has no defined order and the first error is reported.
  llvm::sort(given, [](const auto& a, const auto& b) { return a.name < b.name; });
  auto complete = CompleteAttributes(arguments.def->signature, given);
  if (!complete) return Finish(arguments, complete.takeError());
  arguments.attributes = std::move(*complete);
  if (llvm::Error error = CheckNames(arguments)) return error;
  if (IsAlwaysLowered(*arguments.def)) return ComposeOperator(registry, arguments, device);
  return CreateOperator(arguments, device);
}

}  // namespace pdl
