#ifndef PDL_FRONTEND_ELABORATE_LAYER_ATTRIBUTES_H_
#define PDL_FRONTEND_ELABORATE_LAYER_ATTRIBUTES_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class Functions;
class NameTable;
class Reporter;

/// Binds the arguments of a call to the attributes of a layer.
class LayerAttributes {
 public:
  LayerAttributes(Position& at, Reporter& report, NameTable& names, AttributeChecker& attributes,
                  Functions& functions)
      : at_(at), report_(report), names_(names), attributes_(attributes), functions_(functions) {}

  /// Binds all attributes in the current frame, which is the layer's. Returns false if an error was
  /// reported.
  bool BindLayerAttributes(const ast::LayerStatement* layer, const LayerArguments& arguments);
  /// The same for one attribute; `given` is null if it has its default.
  bool BindLayerAttribute(const ast::Parameter& parameter, const LayerArgument* given,
                          const LayerArguments& arguments);

 private:
  /// An attribute of a layer with its argument or default.
  struct LayerAttribute {
    const ast::Parameter& parameter;
    const LayerArgument* given;  // null: the default
    const LayerArguments& arguments;
    Datum datum;
    SourceRange range;
  };
  /// Reports a string that is the name of one of the layer's flags, as `pad="same"` for
  /// `same=true`. Returns true if the argument is one.
  bool NamesFlag(const ast::LayerStatement& layer, const ast::Parameter& parameter,
                 const LayerArgument& given, const LayerArguments& arguments);
  /// Reports that the attribute is of the wrong kind. Returns false.
  bool RejectAttribute(const LayerAttribute& attribute, const llvm::Twine& expected,
                       const std::string& got);
  bool BindFunctions(const LayerAttribute& attribute);
  size_t CountRepeated(const LayerArguments& arguments) const;
  bool BindRecords(const LayerAttribute& attribute);

  Position& at_;
  Reporter& report_;
  NameTable& names_;
  AttributeChecker& attributes_;
  Functions& functions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_ATTRIBUTES_H_
