// Indices: what they name along an axis, and what stands where they name no place.
#ifndef PDL_KERNELS_INDEXING_INDEX_RANGE_H_
#define PDL_KERNELS_INDEXING_INDEX_RANGE_H_

#include <cstring>
#include <limits>

#include "kernels/core/element.h"
#include "pdl/op/inference.h"
#include "pdl/op/tensor.h"

namespace pdl {

using IndexTypes = TypeList<int32_t, int64_t>;
inline constexpr DTypeSet kIndexSet = SetOf(IndexTypes());

/// What index `i` of `indices` is of `size` places: negative ones count from the end; -1 where
/// there is no such place.
class Places {
 public:
  Places(const Tensor& indices, int64_t size)
      : wide_(indices.dtype() == DType::kI64), data_(indices.raw()), size_(size) {}
  int64_t operator[](int64_t i) const { return At(i, size_); }
  /// The same of another number of places.
  int64_t At(int64_t i, int64_t size) const {
    int64_t index =
        wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
    if (index < 0) index += size;
    return index >= 0 && index < size ? index : -1;
  }

 private:
  bool wide_;
  const void* data_;
  int64_t size_;
};

/// The bytes of what stands for an element that is not there: nan, or 0.
inline uint64_t MissingBits(DType dtype) {
  uint64_t bits = 0;
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      const T nan = Element<T>::Store(std::numeric_limits<ComputeType<T>>::quiet_NaN());
      std::memcpy(&bits, &nan, sizeof(nan));
    }
  });
  return bits;
}

/// Where operand `indices` is known to be below a bound, requires that bound to be at most the size
/// of the axis of operand `x` that it names places of.
inline llvm::Error CheckIndexBound(InferenceContext& context, const Dim& size, unsigned x,
                                   unsigned indices) {
  const auto& bound = context.input(indices).index_bound;
  if (!bound) return llvm::Error::success();
  return context.RequireAtLeast(size, *bound, {x, indices}, "an index may be outside its axis");
}

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_INDEX_RANGE_H_
