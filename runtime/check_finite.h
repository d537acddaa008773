#ifndef PDL_RUNTIME_CHECK_FINITE_H_
#define PDL_RUNTIME_CHECK_FINITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "runtime/schedule.h"
#include "runtime/step_observer.h"

namespace pdl {

/// Index of the first nan or infinity among elements that lie on the CPU, or -1. Other dtypes than
/// floats have none.
int64_t FindNotFinite(DType dtype, const void* data, int64_t count);
/// The same among those of `tensor` from element `from` on.
int64_t FindNotFinite(const Tensor& tensor, int64_t from = 0);
/// "nan at [1, 0]"; of a scalar "nan".
std::string DescribeNotFinite(double value, int64_t element, llvm::ArrayRef<int64_t> sizes);

/// Follows a run call by call and finds the first one that gives a nan or an infinity which none of
/// its operands had. A nan counts as new even where an operand had an infinity.
class FiniteCheck : public StepObserver {
 public:
  /// `tensors` by slot; what is nowhere in memory has no data.
  FiniteCheck(const Schedule& schedule, llvm::ArrayRef<Tensor> tensors, DeviceContext& context)
      : schedule_(schedule), tensors_(tensors), context_(context), kinds_(tensors.size(), 0) {}

  /// Before the first call: inputs, parameters and states must be finite.
  llvm::Error Start() override;
  llvm::Error AfterStep(uint32_t step) override;

 private:
  struct Finding {
    /// Of kNan and kInfinity.
    uint8_t kinds = 0;
    int64_t first = -1;  // element
    double value = 0;
  };
  llvm::Expected<Finding> Look(SlotId slot);
  /// What the integers among the operands are: "; 'i' holds 0 to 10". One that lies outside what it
  /// indexes is the commonest cause of a nan from numbers that are finite.
  llvm::Expected<std::string> DescribeIndices(const Step& step) const;

  const Schedule& schedule_;
  llvm::ArrayRef<Tensor> tensors_;
  DeviceContext& context_;
  /// What each slot was found to hold.
  std::vector<uint8_t> kinds_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CHECK_FINITE_H_
