#ifndef PDL_COMPILER_EMIT_H_
#define PDL_COMPILER_EMIT_H_

#include <string>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Returns the graph for people, one line per call in order of definition: `y: f32[N] = cos(x,
/// scale=5.0)  # model.pdl:2:5`, with symbols and their constraints, blocks, updates and outputs.
/// Tensors of more than 16 elements are abbreviated.
PDL_API std::string EmitIr(const Graph& graph);

/// Returns the graph in Graphviz's language: a node for each call, input, parameter, state and
/// output, and an edge for each use, labeled with the type.
PDL_API std::string EmitDot(const Graph& graph);

/// An attribute in the language; long ones, such as tensors, are abbreviated.
PDL_API std::string ShortAttribute(const AttributeValue& value);
/// The attributes of a call that are neither none nor have their default: {"scale=5.0"}; long ones
/// are abbreviated.
PDL_API std::vector<std::string> GivenAttributes(const Op& op);

/// The attributes of a parameter that differ from their defaults, in the language: " with
/// {weight_decay=0.1, trainable=false}"; empty if there are none.
PDL_API std::string ParameterAttributesToString(const VariableInfo& info);

}  // namespace pdl

#endif  // PDL_COMPILER_EMIT_H_
