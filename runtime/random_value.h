#ifndef PDL_RUNTIME_RANDOM_VALUE_H_
#define PDL_RUNTIME_RANDOM_VALUE_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// Samples a value of `type` from the seed and the name: floats in [0, 1), integers below the bound
/// of the type or 100, and uniformly distributed bools; rows of a ragged dim have up to 8 elements,
/// and a sparse matrix stores a tenth of its elements. If `lengths` returns offsets for a ragged
/// dim, such as "~T", and they have as many rows, these are its lengths. Returns an Error if `size`
/// does not know a symbol of the type.
PDL_API llvm::Expected<PackedValue> DrawValue(
    llvm::StringRef name, const Type& type, uint64_t seed,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> size,
    llvm::function_ref<const Tensor*(llvm::StringRef)> lengths = nullptr);

}  // namespace pdl

#endif  // PDL_RUNTIME_RANDOM_VALUE_H_
