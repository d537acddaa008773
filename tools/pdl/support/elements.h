#ifndef PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_
#define PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_

#include <vector>

#include "pdl/op/tensor.h"

namespace pdl {

/// An element of a tensor on the CPU. Not all integers of 64 bits fit into a double.
double ElementAsReal(const Tensor& tensor, int64_t index);

/// All elements, and a tensor of floats of those elements.
std::vector<double> ToReals(const Tensor& tensor);
Tensor FromReals(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values);
/// A tensor of floats with another dtype of floats; the tensor itself where it has that.
Tensor CastFloats(const Tensor& tensor, DType dtype);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_ELEMENTS_H_
