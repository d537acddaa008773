#ifndef PDL_ONNX_IMPORT_WIDEN_H_
#define PDL_ONNX_IMPORT_WIDEN_H_

#include <optional>

#include "pdl/op/dtype.h"
#include "pdl/op/op_properties.h"

namespace pdl {

/// How operands of a dtype that an operator does not take are computed: cast to another one, from
/// which the result is cast back. It is the same to the last bit, also where integers wrap around.
struct Widening {
  DType dtype;
  /// The order of u64 is that of i64 with the highest bit turned.
  bool turns_sign = false;
};

/// For an operator with this property that takes `accepted`; nullopt where nothing serves.
std::optional<Widening> WidenFor(IntegerWidening rule, DType dtype, DTypeSet accepted);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_WIDEN_H_
