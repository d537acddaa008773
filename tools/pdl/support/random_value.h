#ifndef PDL_TOOLS_PDL_SUPPORT_RANDOM_VALUE_H_
#define PDL_TOOLS_PDL_SUPPORT_RANDOM_VALUE_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// A value of `type`, which depends on the seed and the name: floats from [0, 1), integers below
/// the type's bound or 100, truth values by the toss of a coin; rows of a ragged dim are up to 8
/// long, and of a sparse matrix a tenth of the elements is there. An Error where `size` does not
/// know a symbol of the type.
llvm::Expected<PackedValue> DrawValue(
    llvm::StringRef name, const Type& type, uint64_t seed,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> size);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_RANDOM_VALUE_H_
