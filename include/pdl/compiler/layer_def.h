// Module: ir
#ifndef PDL_COMPILER_LAYER_DEF_H_
#define PDL_COMPILER_LAYER_DEF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/op/op_def.h"

// What a layer declares, in memory; the message `LayerDef` is its exported form.

namespace pdl {

/// What a layer declares of one input.
struct LayerInputDecl {
  /// What a value may be; the values of the enum LayerInputKind of pdl.proto.
  enum class Kind : uint8_t { kDense = 1, kSparse = 2, kSparseBinary = 3, kIndex = 4 };

  std::string name;
  std::string comment;
  /// As the layer has it: "F[..., D] | i64[...] in 0..D".
  std::string type;
  /// What it is where it is left out, as the layer has it; empty where it must be given.
  std::string default_text;
  /// In the order of Kind, each once.
  std::vector<Kind> kinds;
  /// The most ragged dims that a value here may have.
  uint8_t sequence_levels = 0;
  /// Takes one or more operands.
  bool repeatable = false;

  bool optional() const { return !default_text.empty(); }
};

/// What a layer declares of one attribute.
struct LayerAttributeDecl {
  /// What a layer takes besides the kinds of AttributeKind.
  enum class Special : uint8_t { kNone, kFunction, kParameter };

  /// Name, comment, list, optional, range and choices; its kind where `special` is none, and its
  /// default where that is a literal.
  AttributeDecl decl;
  Special special = Special::kNone;
  /// As the layer has it: "float in 0..=1".
  std::string type;
  /// As the layer has it; empty where there is none.
  std::string default_text;

  bool required() const { return !decl.optional && default_text.empty(); }
};

/// What a layer declares.
struct LayerSignature {
  std::string name;
  std::string comment;
  std::vector<LayerInputDecl> inputs;
  std::vector<OutputDecl> outputs;
  std::vector<LayerAttributeDecl> attributes;
  /// The fields of the records that its attributes of type `parameter` take; empty where it has
  /// none. Those of `bias_attr` apart.
  std::vector<LayerAttributeDecl> parameter_attributes;
  std::vector<LayerAttributeDecl> bias_attributes;
  /// What a caller must keep, as the layer has it: "D % heads == 0".
  std::vector<std::string> constraints;
};

}  // namespace pdl

#endif  // PDL_COMPILER_LAYER_DEF_H_
