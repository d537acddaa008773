#ifndef PDL_FRONTEND_ELABORATE_LAYER_INPUTS_H_
#define PDL_FRONTEND_ELABORATE_LAYER_INPUTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class NameTable;
class Reporter;
class TypeMatcher;

/// Binds the arguments of a call to the inputs of a layer.
class LayerInputs {
 public:
  LayerInputs(Position& at, Reporter& report, NameTable& names, Literals& literals,
              Expressions& expressions, TypeMatcher& matcher)
      : at_(at),
        report_(report),
        names_(names),
        literals_(literals),
        expressions_(expressions),
        matcher_(matcher) {}

  /// Binds all inputs in the current frame, which is the layer's. Returns false if an error was
  /// reported.
  bool BindLayerInputs(const ast::LayerStatement* layer, const LayerArguments& arguments);
  /// The value as an input of this type, whose symbols it introduces; unless `item_symbols` is
  /// null, also into these, which belong to one item of a repeatable input. Returns nullopt if an
  /// error was reported.
  std::optional<Datum> BindInput(const ast::Type* type, llvm::StringRef name,
                                 const Operand& operand, ItemSymbols* item_symbols);

 private:
  /// Takes the operands of this input; `next` counts the operands taken so far.
  bool TakeOperands(const ast::Parameter& parameter, const LayerArguments& arguments, size_t* next,
                    llvm::SmallVectorImpl<Operand>* given);
  bool BindRepeatable(const ast::Parameter& parameter, llvm::ArrayRef<Operand> given);
  bool BindSingle(const ast::Parameter& parameter, llvm::ArrayRef<Operand> given);

  Position& at_;
  Reporter& report_;
  NameTable& names_;
  Literals& literals_;
  Expressions& expressions_;
  TypeMatcher& matcher_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_INPUTS_H_
