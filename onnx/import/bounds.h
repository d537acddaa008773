#ifndef PDL_ONNX_IMPORT_BOUNDS_H_
#define PDL_ONNX_IMPORT_BOUNDS_H_

#include "pdl/op/dim.h"

namespace pdl {

/// Whether a <= b for all values of the symbols: uses Dim::ProvablyAtLeast, and the operands of
/// `min` and `max`.
bool IsAtMost(const Dim& a, const Dim& b);

/// max(a, b), simplified if one of them is known to be the larger one.
Dim LargerOf(const Dim& a, const Dim& b);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_BOUNDS_H_
