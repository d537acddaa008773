// Module: ir
#ifndef PDL_OP_SYMBOLS_H_
#define PDL_OP_SYMBOLS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The size that a symbol stands for; nullopt where it is not known.
using SymbolLookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// Calls `visit` with the name of each symbol in a type: in its dims and its index bound; in the
/// dims of a call's results and attributes. One that occurs several times is visited as often.
PDL_API void ForEachSymbol(const Type& type, llvm::function_ref<void(llvm::StringRef)> visit);
PDL_API void ForEachSymbol(const Op& op, llvm::function_ref<void(llvm::StringRef)> visit);

/// Whether the dims of a type have that symbol.
PDL_API bool HasSymbol(const Type& type, llvm::StringRef symbol);

}  // namespace pdl

#endif  // PDL_OP_SYMBOLS_H_
