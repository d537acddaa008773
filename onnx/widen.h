#ifndef PDL_ONNX_WIDEN_H_
#define PDL_ONNX_WIDEN_H_

#include <optional>

#include "llvm/ADT/StringRef.h"
#include "pdl/dtype.h"

namespace pdl {

/// How operands of a dtype that an operator does not take are computed: cast to another one, from
/// which the result is cast back. It is the same to the last bit, also where integers wrap around.
struct Widening {
  DType dtype;
  /// The order of u64 is that of i64 with the highest bit turned.
  bool turns_sign = false;
};

/// nullopt where nothing serves.
std::optional<Widening> WidenFor(llvm::StringRef op, DType dtype, DTypeSet accepted);

/// Whether a result of the call has the dtype of its operands. Places and counts are i64 always.
bool HasDTypeOfOperands(llvm::StringRef op, size_t result);

}  // namespace pdl

#endif  // PDL_ONNX_WIDEN_H_
