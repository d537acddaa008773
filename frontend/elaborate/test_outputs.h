#ifndef PDL_FRONTEND_ELABORATE_TEST_OUTPUTS_H_
#define PDL_FRONTEND_ELABORATE_TEST_OUTPUTS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Budget;
class CallEmitter;
class Reporter;

/// Outputs of the graph that only a test knows.
class TestOutputs {
 public:
  TestOutputs(Graph& graph, Reporter& report, Budget& budget, CallEmitter& emitter)
      : graph_(graph), report_(report), budget_(budget), emitter_(emitter) {}

  /// Adds an output that only the test knows.
  std::string TestOutput(Value* value);
  /// Adds the parts of a literal of a ragged or sparse type as outputs that only the test knows.
  /// Returns their common name; empty if an error was reported.
  std::string EmitParts(const Datum& literal, const Type& type, SourceRange range);

 private:
  Graph& graph_;
  Reporter& report_;
  Budget& budget_;
  CallEmitter& emitter_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TEST_OUTPUTS_H_
