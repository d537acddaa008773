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

/// An operand of a call, and where it is written.
struct Operand {
  Datum datum;
  SourceRange range;
};

/// Where an attribute of a call is written.
struct AttributePlace {
  SourceRange name;  // empty where it is given by position
  SourceRange value;
  const ast::Expr* expr = nullptr;
  std::vector<SourceRange> elements;  // of a list that is not one expression
  /// A literal whose dtype another attribute says; else poison.
  Datum literal = {};
};

/// A call of an operator before it is added to the graph.
struct Call {
  const OpDef* def = nullptr;
  SourceRange place;  // what a complaint about the whole call points at
  llvm::SmallVector<Operand, 2> operands;
  llvm::SmallVector<NamedAttribute, 2> attributes;
  llvm::SmallVector<AttributePlace, 2> places;  // one for each attribute
  /// Where the attributes are written, if not where the call is.
  std::shared_ptr<const SourceFile> attribute_file;
  bool is_poison = false;  // a part of it is
  BlockId block;
  /// Of an operator with counted inputs: how many operands each has.
  llvm::SmallVector<size_t, 4> counts;
  /// What its Block attribute is made of.
  std::shared_ptr<const Function> body;
  AttributePlace body_place;
};

/// What is called: an operator, a layer, or a whole file; none of them where it is poison.
struct Callee {
  const OpDef* op = nullptr;
  const ast::LayerStatement* layer = nullptr;  // with `module`
  Module* module = nullptr;                    // alone: the file as a layer
  std::shared_ptr<const Function> function;    // an instance, or a function attribute
  /// Its name, as the text has it or for messages.
  llvm::StringRef name;

  bool is_network() const { return layer != nullptr || module != nullptr; }
  /// The layer's input or attribute of that name, or null; of a file null, too.
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

/// What a call gives to a layer.
struct LayerArguments {
  std::shared_ptr<const SourceFile> file;  // where `named` is written
  SourceRange place;
  llvm::SmallVector<Operand, 2> operands;  // by position
  llvm::SmallVector<LayerArgument, 4> named;
  bool training_off = false;
  bool recompute = false;
  /// Of an optimizer: the largest norm of all gradients together.
  std::optional<double> clip_norm;
  /// Of an optimizer: rows of parameters that a step does not use stay as they are.
  bool lazy = false;
  bool is_poison = false;
};

/// A call that leaves out its inputs: it stands for what it does. One with neither operator nor
/// layer gives back its argument.
struct Function {
  Callee callee;
  Call call;                 // of an operator: its attributes
  LayerArguments arguments;  // of a layer
  /// The way to its parameters; empty until it is an instance.
  std::string path;
  /// Layers whose text led to it, which it must not be called from again.
  std::vector<const void*> active;
  /// Functions that are given functions.
  unsigned depth = 1;
};

using FunctionPtr = std::shared_ptr<const Function>;

/// `{init=…, weight_decay=…}`: what a parameter has besides its type.
struct ParameterRecord {
  std::shared_ptr<const Function> init;  // null where the declaration's own counts
  std::optional<double> weight_decay, gradient_clipping, lr_scale;
  std::optional<bool> trainable;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FUNCTION_H_
