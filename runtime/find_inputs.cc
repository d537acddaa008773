#include "runtime/find_inputs.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/device_context.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The tensor of an input; null if there is none.
llvm::Expected<const Tensor*> FindInput(const Value& value, const PackedInputs& packed,
                                        const Scope& scope, Device device) {
  const Variable* variable = scope.Find(value.name());
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  if (variable && !tensor && !variable->empty())
    return MakeUserError(Code::kInputType, "input '{0}' must be {1}, but holds no tensor",
                         value.name(), value.type().ToString());
  if (!tensor) tensor = packed.FindInstead(scope, value.name());
  if (!tensor) return nullptr;
  if (tensor->device().kind != DeviceKind::kCPU && tensor->device() != device)
    return MakeUserError(Code::kInputType, "input '{0}' is on {1}, but the run is on {2}",
                         value.name(), DeviceToString(tensor->device()), DeviceToString(device));
  return tensor;
}

}  // namespace

llvm::Error FindInputs(const Schedule& schedule, const PackedInputs& packed, const Scope& scope,
                       Device device, llvm::SmallVectorImpl<const Tensor*>* inputs) {
  std::string missing;
  auto miss = [&](const Value& value) {
    std::string what = packed.Describe(scope, value.name());
    if (what.empty()) what = "'" + value.name() + "': " + value.type().ToString();
    // The parts of one input are missing together.
    if (!llvm::StringRef(missing).ends_with(what)) missing += (missing.empty() ? "" : ", ") + what;
  };
  llvm::SmallVector<const Value*, 2> missed, lengths;
  for (SlotId slot : schedule.inputs) {
    const Value& value = *schedule.slots[slot].value;
    llvm::Expected<const Tensor*> tensor = FindInput(value, packed, scope, device);
    if (!tensor) return tensor.takeError();
    if (!*tensor)
      (packed.InputsWithLengths(value.name()).empty() ? missed : lengths).push_back(&value);
    inputs->push_back(*tensor);
  }
  for (const Value* value : missed) miss(*value);
  for (const Value* value : lengths) {
    // A missing input whose type has the symbol is reported instead.
    auto is_missing = [&](const std::string& input) {
      return llvm::StringRef(missing).contains("'" + input + "': ");
    };
    if (llvm::none_of(packed.InputsWithLengths(value->name()), is_missing)) miss(*value);
  }
  for (const Value* value : schedule.size_inputs) {
    llvm::Expected<const Tensor*> tensor = FindInput(*value, packed, scope, device);
    if (!tensor) return tensor.takeError();
    inputs->push_back(*tensor);
  }
  llvm::ArrayRef<const Tensor*> size_inputs =
      llvm::ArrayRef<const Tensor*>(*inputs).drop_front(schedule.inputs.size());
  for (const Schedule::SizeSource& source : schedule.size_sources) {
    if (llvm::any_of(source.inputs, [&](unsigned i) { return size_inputs[i] != nullptr; }))
      continue;
    auto is_missed = [&](unsigned i) {
      return llvm::StringRef(missing).contains("'" + schedule.size_inputs[i]->name() + "': ");
    };
    if (llvm::none_of(source.inputs, is_missed)) miss(*schedule.size_inputs[source.inputs[0]]);
  }
  if (missing.empty()) return llvm::Error::success();
  return MakeUserError(Code::kMissingInput, "no value for input {0}", missing);
}

}  // namespace pdl
