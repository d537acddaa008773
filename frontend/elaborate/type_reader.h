#ifndef PDL_FRONTEND_ELABORATE_TYPE_READER_H_
#define PDL_FRONTEND_ELABORATE_TYPE_READER_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Reporter;
class SizeConstraints;

/// Types and dims as the text writes them.
class TypeReader {
 public:
  TypeReader(Position& at, Graph& graph, Reporter& report, SizeConstraints& constraints,
             Expressions& expressions)
      : at_(at),
        graph_(graph),
        report_(report),
        constraints_(constraints),
        expressions_(expressions) {}

  /// A tensor's type; nullopt where a mistake was reported. `introduces`: an unknown name in a dim
  /// is a new symbol.
  std::optional<Type> ReadType(const ast::Type* type, bool introduces);
  /// `~T`; null where a mistake was reported.
  const Dim* ReadRaggedDim(const ast::Identifier& symbol, SourceRange range, bool introduces);
  /// A size or a number that is known while compiling.
  std::optional<Dim> AsDim(const Datum& datum, SourceRange range, const llvm::Twine& what);
  /// Checks `actual` against what the text declares; a size that is not decided becomes a
  /// constraint. False where a mistake was reported at `place`.
  bool CheckType(const Type& actual, const Type& declared, SourceRange place,
                 const llvm::Twine& subject);

 private:
  /// The dtype that the type begins with; nullopt where a mistake was reported.
  std::optional<DType> ReadDType(const ast::TypeTerm& term, bool introduces);
  /// False where a mistake was reported.
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
