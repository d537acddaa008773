#ifndef PDL_IR_EMIT_TEXT_H_
#define PDL_IR_EMIT_TEXT_H_

#include <cstddef>
#include <string>

#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The name and the type of a value, as in the output of --emit=ir: "x: f32[N, 3]".
std::string TypedName(const Value& value);

/// The symbols of the graph's inputs and those in a body, which no value in the source of the body
/// may have as its name.
llvm::StringSet<> SymbolsAround(const Graph& graph, const Block& body);
/// The dims of a body's input for the signature of a layer. A dim that does not determine the
/// data-dependent sizes in it, such as count**2, becomes a symbol of its own, which the body does
/// not use and which is added to `taken`.
Shape DimsInSignature(const Graph& graph, Shape dims, llvm::StringSet<>* taken);

/// Returns `string`, or its begin and "..." if it has more than `max_size` bytes, which must be 3
/// or more.
std::string Shorten(std::string string, size_t max_size);

}  // namespace pdl

#endif  // PDL_IR_EMIT_TEXT_H_
