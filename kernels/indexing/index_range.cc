#include "kernels/indexing/index_range.h"

#include "pdl/op/error.h"

namespace pdl {
namespace {

int64_t ElementOf(const Tensor& indices, int64_t i) {
  return indices.dtype() == DType::kI64 ? indices.data<int64_t>()[i] : indices.data<int32_t>()[i];
}

}  // namespace

llvm::Error IndexOutOfRange(const Tensor& indices, int64_t element, const Tensor& x, int64_t axis) {
  return MakeUserError(Code::kIndexRange, "index {0}{1} is outside axis {2} of {3}",
                       ElementOf(indices, element), ElementPlace(element, indices.sizes()),
                       axis < 0 ? axis + x.rank() : axis, x.TypeString());
}

llvm::Error CheckIndices(const Tensor& indices, int64_t size, const Tensor& x, int64_t axis) {
  const IndexReader reader(indices, size);
  for (int64_t i = 0; i < indices.num_elements(); ++i)
    if (reader[i] < 0) return IndexOutOfRange(indices, i, x, axis);
  return llvm::Error::success();
}

llvm::Error CheckIndicesAlongAxis(const AttributeReader& attributes,
                                  llvm::ArrayRef<const Tensor*> operands,
                                  llvm::ArrayRef<const Tensor*>) {
  const Tensor& x = *operands[0];
  const int64_t given = attributes.Int("axis");
  const int64_t axis = given < 0 ? given + x.rank() : given;
  return CheckIndices(*operands[1], x.size(static_cast<unsigned>(axis)), x, axis);
}

llvm::Error CheckIndexTuples(const AttributeReader& attributes,
                             llvm::ArrayRef<const Tensor*> operands,
                             llvm::ArrayRef<const Tensor*>) {
  const Tensor& x = *operands[0];
  const Tensor& indices = *operands[1];
  const int64_t depth = indices.sizes().back();
  const int64_t first = attributes.Int("batch_dims");
  const IndexReader reader(indices, 0);
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t axis = first + i % depth;
    if (reader.At(i, x.size(static_cast<unsigned>(axis))) < 0)
      return IndexOutOfRange(indices, i, x, axis);
  }
  return llvm::Error::success();
}

}  // namespace pdl
