#ifndef PDL_FRONTEND_ELABORATE_ATTRS_H_
#define PDL_FRONTEND_ELABORATE_ATTRS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class AttributeChecker;
class Expressions;
class LayerAttributes;
class NameTable;
class Reporter;

/// The attrs of a file, and the settings that give them values.
class Attrs {
 public:
  Attrs(const CompileRequest& request, const Ast& ast, Position& at, SettingState& settings,
        Reporter& report, NameTable& names, Expressions& expressions, AttributeChecker& attributes,
        LayerAttributes& layer_attributes)
      : request_(request),
        ast_(ast),
        at_(at),
        settings_(settings),
        report_(report),
        names_(names),
        expressions_(expressions),
        attributes_(attributes),
        layer_attributes_(layer_attributes) {}

  /// Takes the record behind `with` as the settings of a test.
  void TakeSettingsOf(const ast::TestStatement& test);
  /// Gives the attr its value: a setting, what the caller of the file gives, or its default.
  void ElaborateAttr(const ast::AttrStatement* statement);
  /// Reports settings of no attr.
  void CheckSettingsUsed();

 private:
  /// An attr that is bound as a layer's attribute is: a function, a record, or one of a called
  /// file.
  void BindAsParameter(const ast::AttrStatement* statement, const LayerArgument* given,
                       const LayerArguments& arguments);
  /// An attr that has its value from a setting, or else its default.
  void BindSetting(const ast::AttrStatement* statement, const AttributeDecl& decl);
  /// What the caller gives for an attr, and `*range` in at_.file, which becomes the setting's own
  /// text.
  std::optional<Datum> Setting(const AttributeDecl& decl, SourceRange* range);

  const CompileRequest& request_;
  const Ast& ast_;
  Position& at_;
  SettingState& settings_;
  Reporter& report_;
  NameTable& names_;
  Expressions& expressions_;
  AttributeChecker& attributes_;
  LayerAttributes& layer_attributes_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ATTRS_H_
