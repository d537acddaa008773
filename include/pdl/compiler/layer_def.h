// Module: ir
#ifndef PDL_COMPILER_LAYER_DEF_H_
#define PDL_COMPILER_LAYER_DEF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/op/op_def.h"

// The declaration of a layer in memory; the message `LayerDef` is its serialized form.

namespace pdl {

/// The declaration of one attribute of a layer.
struct LayerAttributeDecl {
  /// Types of layer attributes that are not an AttributeKind.
  enum class Special : uint8_t { kNone, kFunction, kParameter };

  /// Name, comment, list, optional, range and choices; the kind if `special` is kNone, and the
  /// default if it is a literal.
  AttributeDecl decl;
  Special special = Special::kNone;
  /// As written in the layer: "float in 0..=1".
  std::string type;
  /// As written in the layer; empty if there is no default.
  std::string default_text;

  bool required() const { return !decl.optional && default_text.empty(); }
};

/// The declaration of one input of a layer.
struct LayerInputDecl {
  /// The accepted kinds of values; same numbers as the enum LayerInputKind of pdl.proto.
  enum class Kind : uint8_t { kDense = 1, kSparse = 2, kSparseBinary = 3, kIndex = 4 };

  std::string name;
  std::string comment;
  /// As written in the layer: "F[..., D] | i64[...] in 0..D".
  std::string type;
  /// The default, as written in the layer; empty if the input is required.
  std::string default_text;
  /// In the order of Kind, without duplicates.
  std::vector<Kind> kinds;
  /// The accepted numbers of ragged dims, ascending: 0 is a dense value.
  std::vector<unsigned> levels;
  /// Takes one or more operands.
  bool repeatable = false;
  /// The fields of the record that each operand has in an attribute of type `[parameter]`; empty if
  /// there is none.
  std::vector<LayerAttributeDecl> parameter_attributes;

  bool optional() const { return !default_text.empty(); }
};

/// The complete declaration of a layer.
struct LayerSignature {
  std::string name;
  std::string comment;
  std::vector<LayerInputDecl> inputs;
  std::vector<OutputDecl> outputs;
  std::vector<LayerAttributeDecl> attributes;
  /// The fields of the records that attributes of type `parameter` accept; empty if there are no
  /// such attributes. The fields of `bias_attr` are in `bias_attributes`.
  std::vector<LayerAttributeDecl> parameter_attributes;
  std::vector<LayerAttributeDecl> bias_attributes;
  /// The layer's constraints on its caller, as written: "D % heads == 0".
  std::vector<std::string> constraints;
};

}  // namespace pdl

#endif  // PDL_COMPILER_LAYER_DEF_H_
