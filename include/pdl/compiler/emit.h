#ifndef PDL_COMPILER_EMIT_H_
#define PDL_COMPILER_EMIT_H_

#include <string>

#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The graph for people, one line a call, in the order in which values come to be:
/// `y: f32[N] = cos(x, scale=5.0)  # model.pdl:2:5`, with symbols, what must hold for them, blocks,
/// updates and outputs. Tensors of more than 16 elements are abbreviated.
PDL_API std::string EmitIr(const Graph& graph);

/// The graph in Graphviz's language: a node for each call, input, parameter, state and output, an
/// edge for each use, labelled with the type.
PDL_API std::string EmitDot(const Graph& graph);

}  // namespace pdl

#endif  // PDL_COMPILER_EMIT_H_
