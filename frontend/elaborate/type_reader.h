#ifndef PDL_FRONTEND_ELABORATE_TYPE_READER_H_
#define PDL_FRONTEND_ELABORATE_TYPE_READER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Reporter;
class SizeConstraints;

/// The dtype with that name in other languages, "f32" for "float32", or an empty string.
llvm::StringRef DTypeNamed(llvm::StringRef name);

/// Reads types and dims from the source.
class TypeReader {
 public:
  TypeReader(Position& at, Graph& graph, Reporter& report, SizeConstraints& constraints,
             Expressions& expressions)
      : at_(at),
        graph_(graph),
        report_(report),
        constraints_(constraints),
        expressions_(expressions) {}

  /// Reads the type of a tensor; nullopt if an error was reported. With `introduces`, an unknown
  /// name in a dim is a new symbol.
  std::optional<Type> ReadType(const ast::Type* type, bool introduces);
  /// Reads `~T`; null if an error was reported.
  const Dim* ReadRaggedDim(const ast::Identifier& symbol, SourceRange range, bool introduces);
  /// Converts to a size or number known at compile time.
  std::optional<Dim> AsDim(const Datum& datum, SourceRange range, const llvm::Twine& what);
  /// Checks `actual` against the declared type; an undecided size becomes a constraint. Returns
  /// false if an error was reported at `place`.
  bool CheckType(const Type& actual, const Type& declared, SourceRange place,
                 const llvm::Twine& subject);

 private:
  /// Reads the dtype of the type; nullopt if an error was reported.
  std::optional<DType> ReadDType(const ast::TypeTerm& term, bool introduces);
  /// Returns false if an error was reported.
  bool ReadDims(llvm::ArrayRef<ast::Dim> dims, bool introduces, Shape* shape);
  std::optional<Dim> ReadIndexBound(const ast::TypeTerm& term, DType dtype, bool introduces);
  std::optional<Dim> ReadDim(const ast::Expr* expr, bool introduces);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  SizeConstraints& constraints_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TYPE_READER_H_
