#ifndef PDL_RUNTIME_CHECK_FINITE_H_
#define PDL_RUNTIME_CHECK_FINITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/finite.h"
#include "runtime/schedule.h"
#include "runtime/step_observer.h"

namespace pdl {

/// Index of the first nan or infinity among elements on the CPU, or -1. Only float dtypes have any.
int64_t FindNotFinite(DType dtype, const void* data, int64_t count);
/// Returns "nan at [1, 0]", or "nan" for a scalar.
std::string DescribeNotFinite(double value, int64_t element, llvm::ArrayRef<int64_t> sizes);

/// Observes a run call by call and reports the first call that returns a nan or an infinity that
/// none of its operands contained. A nan is reported even if an operand contained an infinity.
class FiniteCheck : public StepObserver {
 public:
  /// `tensors` is indexed by slot; values that are not in memory have no data. `observer` may be
  /// null.
  FiniteCheck(const Schedule& schedule, llvm::ArrayRef<Tensor> tensors, DeviceContext& context,
              RunObserver* observer)
      : schedule_(schedule),
        tensors_(tensors),
        context_(context),
        observer_(observer),
        kinds_(tensors.size(), 0) {}

  /// Called before the first call: inputs, parameters and states must be finite.
  llvm::Error Start() override;
  llvm::Error AfterStep(uint32_t step) override;

 private:
  struct Finding {
    /// A set of kNan and kInfinity.
    uint8_t kinds = 0;
    int64_t first = -1;  // index of the element
    double value = 0;
  };
  llvm::Expected<Finding> Look(SlotId slot);
  /// Describes the integer operands: "; 'i' holds 0 to 10". An index out of range is the most
  /// common cause of a nan from finite numbers.
  llvm::Expected<std::string> DescribeIndices(const Step& step) const;

  const Schedule& schedule_;
  llvm::ArrayRef<Tensor> tensors_;
  DeviceContext& context_;
  RunObserver* const observer_;
  /// The kinds found in each slot.
  std::vector<uint8_t> kinds_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CHECK_FINITE_H_
