#ifndef PDL_FRONTEND_ELABORATE_FUNCTION_H_
#define PDL_FRONTEND_ELABORATE_FUNCTION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/compiler/graph.h"

namespace pdl {

struct Module;

/// An operand of a call, and its position in the source.
struct Operand {
  Datum datum;
  SourceRange range;
};

/// The position of an attribute of a call in the source.
struct AttributePlace {
  SourceRange name;  // empty if given by position
  SourceRange value;
  const ast::Expr* expr = nullptr;
  std::vector<SourceRange> elements;  // of a list that is not one expression
  /// A literal whose dtype is given by another attribute; otherwise poison.
  Datum literal = {};
};

/// A call of an operator before it is added to the graph.
struct Call {
  const OpDef* def = nullptr;
  SourceRange place;  // the location of errors about the call
  /// The location of the call in the graph, if it is not that of `place`.
  std::optional<LocationId> location;
  llvm::SmallVector<Operand, 2> operands;
  llvm::SmallVector<NamedAttribute, 2> attributes;
  llvm::SmallVector<AttributePlace, 2> places;  // one for each attribute
  /// The file with the attributes, if it is not the file of the call.
  std::shared_ptr<const SourceFile> attribute_file;
  bool is_poison = false;  // a part of it is poison
  /// The call of a Function, whose literals an initializer gives the dtype of its parameter.
  bool is_partial = false;
  BlockId block;
  /// For an operator with counted inputs: the number of operands of each.
  llvm::SmallVector<size_t, 4> counts;
  /// The function that becomes its Block attribute.
  std::shared_ptr<const Function> body;
  AttributePlace body_place;
};

/// The callee: an operator, a layer, or a file; none of them if it is poison.
struct Callee {
  const OpDef* op = nullptr;
  const ast::LayerStatement* layer = nullptr;  // with `module`
  Module* module = nullptr;                    // without `layer`: the file as a layer
  std::shared_ptr<const Function> function;    // an instance, or a function attribute
  /// Its name in the source or for messages.
  llvm::StringRef name;

  bool is_network() const { return layer != nullptr || module != nullptr; }
  /// The layer's input or attribute with that name, or null; always null for a file.
  const ast::Parameter* FindParameter(llvm::StringRef parameter) const {
    if (layer == nullptr) return nullptr;
    for (const ast::Parameter& each : layer->parameters)
      if (each.name.text == parameter) return &each;
    return nullptr;
  }
};

/// An attribute or named input given to a layer.
struct LayerArgument {
  ast::Identifier name;
  Datum datum;
  SourceRange range;
};

/// The values of `params=` in a layer call.
struct GivenValues {
  Datum list;
  std::shared_ptr<const SourceFile> text;  // where they are given
  SourceRange range;
  std::vector<SourceRange> items;  // of the values, if they are written as a list

  SourceRange RangeOf(size_t index) const { return index < items.size() ? items[index] : range; }
};

/// The arguments of a layer call.
struct LayerArguments {
  std::shared_ptr<const SourceFile> file;  // where `named` is written
  SourceRange place;
  llvm::SmallVector<Operand, 2> operands;  // by position
  llvm::SmallVector<LayerArgument, 4> named;
  bool training_off = false;
  bool recompute = false;
  /// The values of the layer's parameters; null: its own.
  std::shared_ptr<const GivenValues> params;
  /// For an optimizer: the limit of the norm of all gradients together.
  std::optional<double> clip_norm;
  /// For an optimizer: rows of parameters that a step does not use are not updated.
  bool lazy = false;
  bool is_poison = false;
};

/// A call without its inputs, used as a value. With neither an operator nor a layer it is the
/// identity.
struct Function {
  Callee callee;
  Call call;                 // of an operator: its attributes
  LayerArguments arguments;  // of a layer
  /// The path to its parameters; empty until it is an instance.
  std::string path;
  /// Layers that are being expanded around it, which must not call it again.
  std::vector<const void*> active;
  /// The depth of functions passed to functions.
  unsigned depth = 1;
};

using FunctionPtr = std::shared_ptr<const Function>;

/// `load("file", "tensor", …)` as an initializer, where it is written.
struct LoadCall {
  WeightRef weight;
  /// In `text`, the file of the call; `name_in_text` is how the call names the weights file.
  std::shared_ptr<const SourceFile> text;
  std::string name_in_text;
  SourceRange file, tensor;
};

/// `{init=…, weight_decay=…}`: the attributes of a parameter other than its type.
struct ParameterRecord {
  std::shared_ptr<const Function> init;  // null: the declared initializer is used, or `load`
  std::optional<LoadCall> load;
  std::optional<double> weight_decay, l1, gradient_clipping, lr_scale;
  std::optional<bool> trainable;
  /// The full name of the parameter, and where it is given, in `text`; empty: the path to it.
  std::string name;
  std::shared_ptr<const SourceFile> text;
  SourceRange name_place;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FUNCTION_H_
