#ifndef PDL_ONNX_MODEL_SHORTEST_NUMBER_H_
#define PDL_ONNX_MODEL_SHORTEST_NUMBER_H_

#include "pdl/op/dtype.h"

namespace pdl {

/// The number with the fewest digits that `dtype` rounds to `value`, which has that dtype: 0.1
/// instead of the f64 value of the nearest f32.
double ShortestNumber(double value, DType dtype);

/// The number that the value of a model's attribute was rounded from, which is the shortest one.
/// Exporters that write few digits may be off by one ULP: a number of at most
/// three digits whose f32 is adjacent to the value is preferred.
double MeantNumber(float value);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_SHORTEST_NUMBER_H_
