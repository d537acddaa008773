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

  /// Takes the record after `with` as the settings of a test.
  void TakeSettingsOf(const ast::TestStatement& test);
  /// Gives the attr its value: a setting, the argument of a call of the file, or the default.
  void ElaborateAttr(const ast::AttrStatement* statement);
  /// Reports settings that no attr has used.
  void CheckSettingsUsed();

 private:
  /// Binds an attr like an attribute of a layer: a function, a record, or any attr of a called
  /// file.
  void BindAsParameter(const ast::AttrStatement* statement, const LayerArgument* given,
                       const LayerArguments& arguments);
  /// Binds an attr to its setting or else its default.
  void BindSetting(const ast::AttrStatement* statement, const AttributeDecl& decl);
  /// Whether the command line or the test gives the attr a value.
  bool IsSet(llvm::StringRef name) const;
  /// The setting for an attr. Sets `*range` to its position in at_.file, which becomes the
  /// setting's own source.
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
