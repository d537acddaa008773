#ifndef PDL_RUNTIME_INDEX_RANGE_H_
#define PDL_RUNTIME_INDEX_RANGE_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/tensor.h"
#include "pdl/op/type.h"

namespace pdl {

/// The first element of an integer tensor on the CPU that is not in [0, bound), or -1. Other
/// tensors have none.
int64_t FindOutside(const Tensor& tensor, int64_t bound);

/// Fails if `type` declares a range of known size (`i64[] in 0..4`) and an element of `tensor`,
/// which has this type and is on the CPU, is outside it. `what`: for the message, "state 'at'".
llvm::Error CheckDeclaredRange(const Type& type, const Tensor& tensor, llvm::StringRef what);

}  // namespace pdl

#endif  // PDL_RUNTIME_INDEX_RANGE_H_
