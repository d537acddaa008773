#include "runtime/step_observer.h"

#include "pdl/op/host_copy.h"

namespace pdl {

RunObserver::~RunObserver() = default;
OutputObserver::~OutputObserver() = default;
bool OutputObserver::TakesOnDevice(llvm::StringRef) const { return false; }

void RunObserver::Begin(llvm::ArrayRef<llvm::StringRef>) {}

bool RunObserver::Observes(llvm::StringRef) const { return true; }

void RunObserver::SeeNotFinite(llvm::StringRef) {}

llvm::Error ResultObserver::Start() {
  std::vector<llvm::StringRef> names;
  for (const Step& step : schedule_.steps)
    for (SlotId slot : step.outputs) names.push_back(schedule_.slots[slot].value->name());
  observer_.Begin(names);
  return llvm::Error::success();
}

llvm::Error ResultObserver::AfterStep(uint32_t index) {
  const Step& step = schedule_.steps[index];
  for (SlotId slot : step.outputs) {
    const llvm::StringRef name = schedule_.slots[slot].value->name();
    const Tensor& tensor = tensors_[slot];
    const bool is_somewhere = tensor.raw() != nullptr || tensor.num_elements() == 0;
    if (!is_somewhere || !observer_.Observes(name)) continue;
    llvm::Expected<Tensor> host = OnHost(tensor, context_);
    if (!host) return host.takeError();
    const OperatorArguments& call = step.op->arguments();
    if (llvm::Error error = observer_.See({name, *host, call.def->name(), call.location}))
      return error;
  }
  return llvm::Error::success();
}

}  // namespace pdl
