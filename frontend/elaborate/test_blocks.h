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

/// Statements of `test` blocks. What a run is fed and what is compared become outputs of the graph
/// that only the test knows.
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

  /// Elaborates the statements of a test up to run `run`, of which the values of `earlier` runs are
  /// inputs. The graph is that of the file.
  void ElaborateRuns(const ast::TestStatement& test, unsigned run,
                     llvm::ArrayRef<TestValue> earlier);

 private:
  /// A statement of the run that is made.
  void ElaborateNow(const ast::Statement* statement, unsigned run);
  /// One of an earlier run, whose tensors are what they were then.
  void ElaborateEarlier(const ast::Statement* statement, llvm::ArrayRef<TestValue> earlier);
  /// What run `run` assigns is computed, and later runs may use it.
  void KeepForLaterRuns(const ast::AssignStatement& assign, unsigned run);
  void ElaborateFeed(const ast::FeedStatement* statement);
  void FeedTraining(const ast::Expr* value);
  /// The input, parameter or state that is fed; null where a mistake was reported.
  Value* FindFed(const std::string& name, SourceRange place);
  /// The output that holds what a dense value is fed; empty where a mistake was reported.
  std::string FeedDense(const Value& fed, const Datum& datum, SourceRange range);
  /// The same for what a ragged or sparse input is fed, whose type goes to `given`.
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
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TEST_BLOCKS_H_
