#ifndef PDL_RUNTIME_STEP_OBSERVER_H_
#define PDL_RUNTIME_STEP_OBSERVER_H_

#include <cstdint>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/run_observer.h"
#include "runtime/schedule.h"

namespace pdl {

/// Observes a run step by step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// Called before the first step.
  virtual llvm::Error Start() = 0;
  /// Called after a step, and for steps that are skipped because their results alias operands.
  virtual llvm::Error AfterStep(uint32_t step) = 0;
};

/// Passes the results to a RunObserver.
class ResultObserver : public StepObserver {
 public:
  /// `tensors` is indexed by slot; values that are not in memory have no data.
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
