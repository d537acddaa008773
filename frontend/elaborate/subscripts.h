#ifndef PDL_FRONTEND_ELABORATE_SUBSCRIPTS_H_
#define PDL_FRONTEND_ELABORATE_SUBSCRIPTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CallEmitter;
class CalleeTable;
class Expressions;
class Reporter;
class TypeReader;

/// Subscripts of lists and tensors.
class Subscripts {
 public:
  Subscripts(Position& at, Reporter& report, CalleeTable& callees, TypeReader& types,
             CallEmitter& emitter, Expressions& expressions)
      : at_(at),
        report_(report),
        callees_(callees),
        types_(types),
        emitter_(emitter),
        expressions_(expressions) {}

  /// `base[subscripts]`; poison if an error was reported. `targets` name the result.
  Datum EvaluateIndex(const ast::IndexExpr* index, Targets targets);

 private:
  struct Cut;
  struct Selection;

  Datum IndexList(const std::vector<Datum>& items, const ast::IndexExpr* index);
  Datum SubscriptTensor(Value* tensor, const ast::IndexExpr* index, Targets targets);
  /// Whether a ragged or sparse value can have these subscripts; reports an error if not. The rows
  /// and the ragged dims must be taken completely: the lengths of a part depend on data.
  bool CheckPackedSubscripts(const Type& type, const ast::IndexExpr* index);
  /// `x[n]` of sequences: one sequence with its own length; null if an error was reported.
  Value* TakeSequence(Value* tensor, const ast::IndexExpr* index, Targets targets);
  /// Whether the tensor has as many axes as the subscripts require.
  bool CheckCount(Value* tensor, const ast::IndexExpr* index,
                  llvm::ArrayRef<ast::Subscript> subscripts, size_t taken);

  // Each of these adds to a selection, and sets its `ok` to false if an error was reported.
  void SelectIndex(const ast::Subscript& subscript, Selection* selection);
  void SelectSlice(const ast::Subscript& subscript, Selection* selection);
  /// Reads a bound; a negative one counts from the end.
  Dim ReadBound(const ast::Expr* expr, Dim fallback, bool is_index, Selection* selection);
  int64_t ReadStep(const ast::Expr* expr, Selection* selection);
  void CheckSlice(const ast::Subscript& subscript, const Dim& start, const Dim& stop,
                  bool is_reversed, Selection* selection);
  /// Reports an error and returns false if a position is negative or at least the size of the axis
  /// + `beyond`.
  bool CheckInside(const Dim& at, int64_t beyond, const ast::Expr* expr, llvm::StringRef what,
                   Selection* selection);

  Datum EmitSelection(Selection* selection, Targets targets);
  /// Each replaces the operand by a call on it. Returns false if an error was reported.
  bool EmitSlice(Cut* cut, SourceRange place, Targets targets, Operand* operand);
  bool EmitOn(Operand* operand, Call& call, SourceRange place, Targets targets);

  Position& at_;
  Reporter& report_;
  CalleeTable& callees_;
  TypeReader& types_;
  CallEmitter& emitter_;
  Expressions& expressions_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_SUBSCRIPTS_H_
