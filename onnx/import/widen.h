#ifndef PDL_ONNX_IMPORT_WIDEN_H_
#define PDL_ONNX_IMPORT_WIDEN_H_

#include <optional>

#include "pdl/op/dtype.h"
#include "pdl/op/op_properties.h"

namespace pdl {

/// A conversion of operands with a dtype that an operator does not accept: they are cast to another
/// dtype, and the result is cast back. The result has the same bits, also if integers overflow.
struct Widening {
  DType dtype;
  /// u64 is mapped to i64 in the same order, by flipping the highest bit.
  bool turns_sign = false;
};

/// The conversion for an operator with this property that accepts `accepted`; nullopt if none
/// exists.
std::optional<Widening> WidenFor(IntegerWidening rule, DType dtype, DTypeSet accepted);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_WIDEN_H_
