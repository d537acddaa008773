#ifndef PDL_FRONTEND_ELABORATE_ATTRIBUTE_CHECKER_H_
#define PDL_FRONTEND_ELABORATE_ATTRIBUTE_CHECKER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class Expressions;
class Reporter;

/// Attributes declared by files and layers, and the values that they are given.
class AttributeChecker {
 public:
  AttributeChecker(SettingState& settings, Reporter& report, Budget& budget,
                   Expressions& expressions)
      : settings_(settings), report_(report), budget_(budget), expressions_(expressions) {}

  /// The declaration of an int, float, string or bool; nullopt if an error was reported.
  std::optional<AttributeDecl> DeclareAttribute(const ast::Identifier& name, llvm::StringRef doc,
                                                const ast::Type* type);
  /// Converts the value to the type of the attribute, which belongs to `of`; nullopt if an error
  /// was reported.
  std::optional<Datum> CheckAttribute(const AttributeDecl& decl, const Datum& datum,
                                      SourceRange range, llvm::StringRef of);

 private:
  /// Reads the bounds of `a..b`, `> a` and the like into the range of a number. Returns false if an
  /// error was reported.
  bool ReadAttributeRange(const ast::TypeTerm& term, AttributeDecl* decl);

  SettingState& settings_;
  Reporter& report_;
  Budget& budget_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ATTRIBUTE_CHECKER_H_
