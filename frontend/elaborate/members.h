#ifndef PDL_FRONTEND_ELABORATE_MEMBERS_H_
#define PDL_FRONTEND_ELABORATE_MEMBERS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CalleeTable;
class Expressions;
class NameTable;
class ParameterNames;
class Reporter;

/// What follows a '.': a result of a call by its name, or a parameter by its path.
class Members {
 public:
  Members(Position& at, Graph& graph, Reporter& report, NameTable& names, CalleeTable& callees,
          Expressions& expressions, ParameterNames& parameter_names)
      : at_(at),
        graph_(graph),
        report_(report),
        names_(names),
        callees_(callees),
        expressions_(expressions),
        parameter_names_(parameter_names) {}

  /// `lstm(x).last`, `hidden.w`; poison where a mistake was reported.
  Datum EvaluateMember(const ast::MemberExpr* member, Targets targets);

 private:
  /// `hidden.w`: a parameter, state or other value by its way; nullopt where there is none.
  std::optional<Datum> FindByWay(const ast::MemberExpr* member);
  /// The value as a tensor; a literal becomes one of `dtype`, or of its natural one. Null where it
  /// is poison or a mistake was reported.
  void NoteResults(const Datum& datum, Diagnostic* diagnostic);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  NameTable& names_;
  CalleeTable& callees_;
  Expressions& expressions_;
  ParameterNames& parameter_names_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_MEMBERS_H_
