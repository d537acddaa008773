#ifndef PDL_ONNX_MODEL_SHORTEST_NUMBER_H_
#define PDL_ONNX_MODEL_SHORTEST_NUMBER_H_

#include "pdl/op/dtype.h"

namespace pdl {

/// The number with the fewest digits that `dtype` rounds to `value`, which is one of that dtype:
/// 0.1, and not what the nearest f32 is as an f64.
double ShortestNumber(double value, DType dtype);

/// The number that a model's attribute stands for, which is the shortest one. Exporters that write
/// few digits miss by a last place: where a number of at most three digits is the f32 beside it,
/// that is meant.
double MeantNumber(float value);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_SHORTEST_NUMBER_H_
