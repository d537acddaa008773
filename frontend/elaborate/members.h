#ifndef PDL_FRONTEND_ELABORATE_MEMBERS_H_
#define PDL_FRONTEND_ELABORATE_MEMBERS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class CalleeTable;
class Expressions;
class GivenParameters;
class NameTable;
class ParameterNames;
class Reporter;

/// Expressions with '.': a result of a call by its name, or a parameter by its path.
class Members {
 public:
  Members(Position& at, Graph& graph, Reporter& report, NameTable& names, CalleeTable& callees,
          Expressions& expressions, ParameterNames& parameter_names,
          GivenParameters& given_parameters)
      : at_(at),
        graph_(graph),
        report_(report),
        names_(names),
        callees_(callees),
        expressions_(expressions),
        parameter_names_(parameter_names),
        given_parameters_(given_parameters) {}

  /// `lstm(x).last`, `hidden.w`; poison if an error was reported.
  Datum EvaluateMember(const ast::MemberExpr* member, Targets targets);

 private:
  /// `hidden.w`: a parameter, state or other value by its path; nullopt if there is none.
  std::optional<Datum> FindByPath(const ast::MemberExpr* member);
  /// Reports `base.member`, where the base is no call and the name is no path.
  void ReportMember(const ast::MemberExpr* member, const ast::Expr* base);
  /// "y, _, cell = lstm(...), or lstm(...).cell": how to access a result of a call whose first one
  /// has the name `first`.
  static std::string NoteOnResults(const TextFrame::Results& results, llvm::StringRef first,
                                   llvm::StringRef result);
  /// If `datum` is the first of several results of its call, adds a note on how to access the
  /// others.
  void NoteResults(const Datum& datum, Diagnostic* diagnostic);

  Position& at_;
  Graph& graph_;
  Reporter& report_;
  NameTable& names_;
  CalleeTable& callees_;
  Expressions& expressions_;
  ParameterNames& parameter_names_;
  GivenParameters& given_parameters_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_MEMBERS_H_
