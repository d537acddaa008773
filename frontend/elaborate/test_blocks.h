#ifndef PDL_FRONTEND_ELABORATE_TEST_BLOCKS_H_
#define PDL_FRONTEND_ELABORATE_TEST_BLOCKS_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Expressions;
class Literals;
class NameTable;
class Reporter;
class Statements;
class TestOutputs;

/// The statements of each run of a test: a `feed` after an `expect` begins the next.
std::vector<std::vector<const ast::Statement*>> RunsOf(const ast::TestStatement& test);

/// Statements of `test` blocks. The fed and the compared values become outputs of the graph that
/// only the test knows.
class TestBlocks {
 public:
  TestBlocks(Position& at, Graph& graph, TestRun& test, Reporter& report, NameTable& names,
             Literals& literals, Expressions& expressions, Statements& statements,
             TestOutputs& test_outputs)
      : at_(at),
        graph_(graph),
        test_(test),
        report_(report),
        names_(names),
        literals_(literals),
        expressions_(expressions),
        statements_(statements),
        test_outputs_(test_outputs) {}

  /// Elaborates the statements of a test up to run `run`; values of `earlier` runs become inputs.
  /// The graph is that of the file.
  void ElaborateRuns(const ast::TestStatement& test, unsigned run,
                     llvm::ArrayRef<TestValue> earlier);

 private:
  /// Elaborates a statement of the current run.
  void ElaborateNow(const ast::Statement* statement, unsigned run);
  /// Elaborates a statement of an earlier run, with the values that its tensors had then.
  void ElaborateEarlier(const ast::Statement* statement, llvm::ArrayRef<TestValue> earlier);
  /// Outputs the values that run `run` assigns, so that later runs may use them.
  void KeepForLaterRuns(const ast::AssignStatement& assign, unsigned run);
  void ElaborateFeed(const ast::FeedStatement* statement);
  void FeedTraining(const ast::Expr* value);
  /// The input, parameter or state to feed; null if an error was reported.
  Value* FindFed(const std::string& name, SourceRange place);
  /// An input of the current run that the value, or an item of the list, is computed from; null if
  /// there is none.
  const Value* FindInput(const Datum& datum) const;
  /// The name of the output with the value for a dense input; empty if an error was reported.
  std::string FeedDense(const Value& fed, const Datum& datum, SourceRange range);
  /// The same for a ragged or sparse input; the type of the value goes to `given`.
  std::string FeedPacked(const Value& input, const Datum& datum, SourceRange range, Type* given);

  Position& at_;
  Graph& graph_;
  TestRun& test_;
  Reporter& report_;
  NameTable& names_;
  Literals& literals_;
  Expressions& expressions_;
  Statements& statements_;
  TestOutputs& test_outputs_;
  /// The values of earlier runs.
  llvm::DenseSet<const Value*> of_earlier_runs_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TEST_BLOCKS_H_
