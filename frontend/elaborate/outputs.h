#ifndef PDL_FRONTEND_ELABORATE_OUTPUTS_H_
#define PDL_FRONTEND_ELABORATE_OUTPUTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class NameTable;
class Reporter;
class UnusedNames;

/// Outputs of a file and results of a layer.
class Outputs {
 public:
  Outputs(Position& at, Graph& graph, llvm::StringMap<SourceRange>& places, Reporter& report,
          NameTable& names, Literals& literals, Expressions& expressions, UnusedNames& unused)
      : at_(at),
        graph_(graph),
        places_(places),
        report_(report),
        names_(names),
        literals_(literals),
        expressions_(expressions),
        unused_(unused) {}

  /// Adds outputs to the graph, or results to the called file.
  void ElaborateOutput(const ast::OutputStatement* statement);
  /// Ends a layer with its results.
  void ElaborateReturn(const ast::OutputStatement* statement);
  /// Checks that an output with the name of a state or parameter is the value that this has when a
  /// run ends: a run identifies values by name.
  void CheckOutputNames();

 private:
  Position& at_;
  Graph& graph_;
  llvm::StringMap<SourceRange>& places_;
  Reporter& report_;
  NameTable& names_;
  Literals& literals_;
  Expressions& expressions_;
  UnusedNames& unused_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_OUTPUTS_H_
