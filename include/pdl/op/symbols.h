// Module: ir
#ifndef PDL_OP_SYMBOLS_H_
#define PDL_OP_SYMBOLS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Returns the size of a symbol; nullopt if it is not known.
using SymbolLookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// Calls `visit` for each occurrence of a symbol in a type (dims and index bound), in the dims of
/// an attribute, or in the types of a call's results and its attributes.
PDL_API void ForEachSymbol(const Type& type, llvm::function_ref<void(llvm::StringRef)> visit);
PDL_API void ForEachSymbol(const AttributeValue& value,
                           llvm::function_ref<void(llvm::StringRef)> visit);
PDL_API void ForEachSymbol(const Op& op, llvm::function_ref<void(llvm::StringRef)> visit);

/// Whether the dims of a type contain the symbol.
PDL_API bool HasSymbol(const Type& type, llvm::StringRef symbol);

/// Replaces the symbols in `table` by their dims, see Dim::Substitute; in an attribute, those of
/// its dims.
PDL_API Dim Substitute(const Dim& dim, const llvm::StringMap<Dim>& table);
PDL_API void Substitute(AttributeValue* value, const llvm::StringMap<Dim>& table);

/// The symbol that the size of a dim determines: that of N, 8*N or N + 1; "" for N*M and a number.
PDL_API std::string DeterminedSymbol(const Dim& dim);

/// The symbols of the inputs' dims that a run can compute from the inputs' sizes.
PDL_API llvm::StringSet<> SymbolsOfInputs(const Graph& graph);

}  // namespace pdl

#endif  // PDL_OP_SYMBOLS_H_
