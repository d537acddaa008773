#ifndef PDL_ONNX_IMPORT_BOUNDS_H_
#define PDL_ONNX_IMPORT_BOUNDS_H_

#include "pdl/op/dim.h"

namespace pdl {

/// Whether a <= b, whatever the symbols stand for: what Dim::ProvablyAtLeast sees, and what follows
/// from the operands of `min` and `max`.
bool IsAtMost(const Dim& a, const Dim& b);

/// max(a, b), where either is not the larger one already.
Dim LargerOf(const Dim& a, const Dim& b);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_BOUNDS_H_
