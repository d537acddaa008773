// Strided copies on the GPU: transposes, slices, concatenations.
#ifndef PDL_KERNELS_CUDA_CUDA_COPY_H_
#define PDL_KERNELS_CUDA_CUDA_COPY_H_

#include <cstdint>
#include <optional>

#include "kernels/core/index_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"

namespace pdl::cuda {

/// One side of a copy: the offset of the first element and the strides, in elements.
struct CopySide {
  llvm::ArrayRef<int64_t> strides;
  int64_t offset = 0;
};

/// A copy of a block of elements, prepared for given sizes.
class StridedCopy {
 public:
  /// Returns an Error if too many axes remain after merging.
  static llvm::Expected<StridedCopy> Create(llvm::ArrayRef<int64_t> sizes, CopySide from,
                                            CopySide to, int64_t element_size);

  /// Whether it copies one dense block to another in the same order.
  bool is_whole() const;
  /// Launches the copy; `name` is for messages.
  llvm::Error Run(const CUDAContext& context, const char* name, const void* from, void* to) const;

 private:
  /// Operand 0 is read, operand 1 written; in units of `unit` bytes.
  struct Walk {
    IndexMap<2> map;
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    int64_t unit = 1;
  };
  template <class Word>
  llvm::Error RunWords(const CUDAContext& context, const char* name, const Walk& walk,
                       const void* from, void* to) const;

  Walk elements_;
  /// The same in the widest words that sizes, strides and offsets allow.
  Walk words_;
  /// The axis of `elements_` along which the input is contiguous, if it is not the one along which
  /// the output is; tiles are then transposed in shared memory.
  std::optional<int> turned_axis_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUDA_COPY_H_
