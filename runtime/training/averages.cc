#include "pdl/train/averages.h"

#include "pdl/compiler/passes.h"
#include "pdl/op/attribute.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "runtime/weight_store.h"

namespace pdl {

llvm::Error CheckAverage(double decay, const Graph& network) {
  // Negated so that NaN fails.
  if (!(decay >= 0 && decay < 1))
    return MakeUserError(Code::kTrainingData,
                         "the decay of the averages must be at least 0 and less than 1, got {0}",
                         FloatToString(decay));
  if (decay > 0 && network.trainings().empty())
    return MakeUserError(
        Code::kTrainingData,
        "there are no parameters to average: the network has no minimize statement");
  return llvm::Error::success();
}

llvm::Error TakeAverages(llvm::MutableArrayRef<NamedTensor> parameters,
                         llvm::function_ref<const Tensor*(llvm::StringRef)> find,
                         DeviceContext& context) {
  for (auto& [name, tensor] : parameters) {
    const Tensor* average = find(AverageName(name));
    if (average == nullptr) continue;
    if (average->dtype() == tensor.dtype()) {
      tensor = *average;
      continue;
    }
    llvm::Expected<Tensor> converted = OnHost(*average, context);
    if (converted) converted = ConvertTo(tensor.dtype(), *converted);
    if (!converted) return converted.takeError();
    tensor = std::move(*converted);
  }
  return llvm::Error::success();
}

}  // namespace pdl
