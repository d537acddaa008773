// Copies of strided elements: slices, transposes, broadcasts.
#ifndef PDL_KERNELS_CORE_STRIDED_COPY_H_
#define PDL_KERNELS_CORE_STRIDED_COPY_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/device_context.h"

namespace pdl {

/// A traversal of a tensor in the row-major order of `sizes`: element (i, j, …) is element offset +
/// i * strides[0] + j * strides[1] + … of the tensor. A stride of 0 repeats elements.
struct StridedView {
  llvm::SmallVector<int64_t, 6> sizes;
  llvm::SmallVector<int64_t, 6> strides;
  int64_t offset = 0;

  int64_t num_elements() const;
  /// Drops dims of size 1 and merges dims that can be traversed as one; the order of elements stays
  /// the same.
  void Collapse();
};

/// The strides, in elements, of a dense row-major tensor.
llvm::SmallVector<int64_t, 6> RowMajorStrides(llvm::ArrayRef<int64_t> sizes);

/// The view of a dense tensor of `sizes`, broadcast to `to` as in NumPy, and collapsed.
StridedView BroadcastView(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> to);

/// Writes elements [begin, end) of the view to `out`, the first one to out[0].
void CopyElements(const StridedView& view, const void* in, void* out, int64_t element_size,
                  int64_t begin, int64_t end);

/// Copies all elements of a collapsed view to a dense tensor; made once for given sizes.
class StridedCopy {
 public:
  StridedCopy() = default;
  StridedCopy(StridedView view, int64_t element_size);
  void Run(const void* in, void* out, CPUContext& context) const;

 private:
  StridedView view_;
  int64_t element_size_ = 1;
  int64_t num_elements_ = 0;
  /// The dim that is dense in the input if the innermost dim of the view is not; else -1.
  int dense_dim_ = -1;
};

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_STRIDED_COPY_H_
