#ifndef PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_
#define PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_

#include <vector>

#include "pdl/op/tensor.h"

namespace pdl {

/// An element of a tensor on the CPU, as a double. Not all 64-bit integers fit into one.
double ElementAsReal(const Tensor& tensor, int64_t index);

/// All elements as doubles.
std::vector<double> ToReals(const Tensor& tensor);
Tensor FromReals(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values);
/// Converts a float tensor to another float dtype; returns the tensor itself if it has that dtype.
Tensor CastFloats(const Tensor& tensor, DType dtype);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_
