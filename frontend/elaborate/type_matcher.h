#ifndef PDL_FRONTEND_ELABORATE_TYPE_MATCHER_H_
#define PDL_FRONTEND_ELABORATE_TYPE_MATCHER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class NameTable;
class Reporter;
class SizeConstraints;
class TypeReader;

/// Matches the types of values with those of a signature, and binds its symbols.
class TypeMatcher {
 public:
  TypeMatcher(Position& at, Reporter& report, NameTable& names, SizeConstraints& constraints,
              TypeReader& types, Expressions& expressions)
      : at_(at),
        report_(report),
        names_(names),
        constraints_(constraints),
        types_(types),
        expressions_(expressions) {}

  /// Whether the value fits the type of the input `name`, whose symbols it introduces; reports an
  /// error at `place`, the position of the argument, if not.
  bool Match(const ast::Type* type, const Type& actual, llvm::StringRef name, SourceRange place,
             ItemSymbols* item_symbols);

 private:
  /// The dtype of a symbol, or null.
  const DType* DTypeOf(llvm::StringRef symbol) const;
  bool TakesDType(const ast::TypeTerm& term, bool is_only, const Type& actual) const;
  void ReportMismatch(Code code, const ast::Type* type, const Type& actual, llvm::StringRef name,
                      SourceRange place);
  // Each of these returns false if the type does not fit; errors in the signature are reported.
  bool MatchTerm(const ast::TypeTerm& term, const Type& actual, llvm::StringRef subject,
                 ItemSymbols* item_symbols);
  bool MatchAnyDims(Shape dims, llvm::StringRef subject);
  bool MatchRaggedDim(const ast::Dim& dim, const Dim& actual, ItemSymbols* item_symbols);
  bool MatchIndexBound(const ast::TypeRange& declared, const Dim& actual, llvm::StringRef subject,
                       ItemSymbols* item_symbols);
  bool MatchDim(const ast::Expr* expr, const Dim& actual, llvm::StringRef subject,
                ItemSymbols* item_symbols);
  bool MatchSize(const Dim& declared, const Dim& actual, llvm::StringRef subject);
  /// Handles a size such as N * M or N // 2, which does not determine its symbols: a layer of the
  /// same file uses those of the file's inputs, as the bodies of loops do in flat source.
  bool TakeSymbolsOfFile(llvm::ArrayRef<const ast::NameExpr*> names);
  void BindSymbol(llvm::StringRef name, SourceRange range, Datum value, ItemSymbols* item_symbols);

  Position& at_;
  Reporter& report_;
  NameTable& names_;
  SizeConstraints& constraints_;
  TypeReader& types_;
  Expressions& expressions_;
  /// Explains a mismatch of sizes to ReportMismatch.
  std::optional<std::string> mismatch_note_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TYPE_MATCHER_H_
