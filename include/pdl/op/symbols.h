// Module: ir
#ifndef PDL_OP_SYMBOLS_H_
#define PDL_OP_SYMBOLS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Returns the size of a symbol; nullopt if it is not known.
using SymbolLookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// Calls `visit` for each occurrence of a symbol in a type (dims and index bound), or in the types
/// of a call's results and its attributes.
PDL_API void ForEachSymbol(const Type& type, llvm::function_ref<void(llvm::StringRef)> visit);
PDL_API void ForEachSymbol(const Op& op, llvm::function_ref<void(llvm::StringRef)> visit);

/// Whether the dims of a type contain the symbol.
PDL_API bool HasSymbol(const Type& type, llvm::StringRef symbol);

/// The symbols of the inputs' dims that a run can compute from the inputs' sizes: those of a dim
/// such as N, 8*N or N + 1, but not N*M.
PDL_API llvm::StringSet<> SymbolsOfInputs(const Graph& graph);

}  // namespace pdl

#endif  // PDL_OP_SYMBOLS_H_
