// Index lookup, and the values that represent elements out of range.
#ifndef PDL_KERNELS_INDEXING_INDEX_RANGE_H_
#define PDL_KERNELS_INDEXING_INDEX_RANGE_H_

#include <cstring>
#include <limits>

#include "kernels/core/element.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/inference.h"
#include "pdl/op/tensor.h"

namespace pdl {

using IndexTypes = TypeList<int32_t, int64_t>;
inline constexpr DTypeSet kIndexSet = SetOf(IndexTypes());

/// Reads a tensor of indices into an axis of `size` elements: negative indices count from the end;
/// an index out of range is -1.
class IndexReader {
 public:
  IndexReader(const Tensor& indices, int64_t size)
      : wide_(indices.dtype() == DType::kI64), data_(indices.raw()), size_(size) {}
  int64_t operator[](int64_t i) const { return At(i, size_); }
  /// The same for an axis of another size.
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

/// The bytes of the element that is returned for an index out of range: nan for floats, else 0.
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

/// An Error of Code::kIndexRange if one of the indices is out of range for an axis of `size`
/// elements: "index 7 at [0, 2] is outside axis 1 of f32[3, 5]". `axis` may be negative.
llvm::Error CheckIndices(const Tensor& indices, int64_t size, const Tensor& x, int64_t axis);

/// The same for element `element` of the indices, which is out of range.
llvm::Error IndexOutOfRange(const Tensor& indices, int64_t element, const Tensor& x, int64_t axis);
/// The IndexCheckFunction of gather_nd and scatter_nd.
llvm::Error CheckIndexTuples(const AttributeReader& attributes,
                             llvm::ArrayRef<const Tensor*> operands,
                             llvm::ArrayRef<const Tensor*> results);

/// The IndexCheckFunction of operators whose operand 0 is x and whose operand 1 has indices along
/// their attribute `axis`.
llvm::Error CheckIndicesAlongAxis(const AttributeReader& attributes,
                                  llvm::ArrayRef<const Tensor*> operands,
                                  llvm::ArrayRef<const Tensor*> results);

/// If operand `indices` has a declared bound, requires that bound to be at most `size`, the size of
/// the axis of operand `x` that it indexes.
inline llvm::Error CheckIndexBound(InferenceContext& context, const Dim& size, unsigned x,
                                   unsigned indices) {
  const auto& bound = context.input(indices).index_bound;
  if (!bound) return llvm::Error::success();
  return context.RequireAtLeast(size, *bound, {x, indices}, "an index may be outside its axis");
}

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_INDEX_RANGE_H_
