#ifndef PDL_RUNTIME_STEP_OBSERVER_H_
#define PDL_RUNTIME_STEP_OBSERVER_H_

#include <cstdint>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/run_observer.h"
#include "runtime/schedule.h"

namespace pdl {

/// Follows a run step by step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// Before the first step.
  virtual llvm::Error Start() = 0;
  /// After a step, or where it had nothing to do because its results are its operands.
  virtual llvm::Error AfterStep(uint32_t step) = 0;
};

/// Tells a RunObserver of the results.
class ResultObserver : public StepObserver {
 public:
  /// `tensors` by slot; what is nowhere in memory has no data.
  ResultObserver(const Schedule& schedule, llvm::ArrayRef<Tensor> tensors, DeviceContext& context,
                 RunObserver& observer)
      : schedule_(schedule), tensors_(tensors), context_(context), observer_(observer) {}

  llvm::Error Start() override;
  llvm::Error AfterStep(uint32_t step) override;

 private:
  const Schedule& schedule_;
  llvm::ArrayRef<Tensor> tensors_;
  DeviceContext& context_;
  RunObserver& observer_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_STEP_OBSERVER_H_
