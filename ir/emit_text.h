#ifndef PDL_IR_EMIT_TEXT_H_
#define PDL_IR_EMIT_TEXT_H_

#include <cstddef>
#include <string>

#include "pdl/compiler/graph.h"

namespace pdl {

/// The name and the type of a value, as in the output of --emit=ir: "x: f32[N, 3]".
std::string TypedName(const Value& value);

/// Returns `string`, or its begin and "..." if it has more than `max_size` bytes, which must be 3
/// or more.
std::string Shorten(std::string string, size_t max_size);

}  // namespace pdl

#endif  // PDL_IR_EMIT_TEXT_H_
