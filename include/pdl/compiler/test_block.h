// Module: frontend
#ifndef PDL_COMPILER_TEST_BLOCK_H_
#define PDL_COMPILER_TEST_BLOCK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/compiler.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// A `test` block of a text.
struct TestBlock {
  std::string name;
  SourceRange range;
  /// Runs that it makes, one after another with the states of the last: a `feed` behind an
  /// `expect` begins the next.
  unsigned num_runs = 1;
};

/// `feed NAME = …`: the value is the graph's output `output`, which depends on nothing fed.
struct TestFeed {
  std::string name;
  ValueKind kind = ValueKind::kInput;
  /// What it is declared.
  Type type;
  std::string output;
  /// Of the output: where it is no dense one, the output has parts, see "pdl/storage.h". A dense
  /// value is to be packed where `type` is not dense.
  Type given;
};

/// What must hold after a run.
struct TestExpect {
  enum class Kind : uint8_t {
    kTrue,   // every element of `left` is true; `right` is empty
    kNear,   // |left - right| <= tolerance * max(1, |right|), element by element; nan meets nan
    kError,  // the run that computes `left` fails with a message that contains `message`
  };
  Kind kind = Kind::kTrue;
  /// Outputs of the graph. Of a kTrue that compares, `compared` are the two sides.
  std::string left, right;
  /// Of `left`. Where it is ragged, `left` and `right` have parts, see "pdl/storage.h".
  Type type;
  bool right_is_scalar = false;
  /// Only that sequence of `left` and of `right`, which are ragged, is compared.
  std::optional<int64_t> left_row, right_row;
  std::string compared[2];
  std::optional<double> tolerance;
  std::string message;
  /// Decided while compiling: empty where it holds, else what is wrong.
  std::optional<std::string> decided;
  SourceRange range;
};

/// A value that the test has computed in an earlier run and may use again.
struct TestValue {
  std::string name;
  std::string output;  // of the graph
  /// With the sizes that it has, once it is computed.
  Type type;
};

/// One run of a test: the network of the text with what the test computes as further outputs.
struct TestRun {
  Graph graph;
  /// `feed training = true`.
  bool training = false;
  std::vector<TestFeed> feeds;
  std::vector<TestExpect> expects;
  /// Tensors that later runs may use.
  std::vector<TestValue> values;
};

struct TestResult {
  /// Absent where there are mistakes.
  std::optional<TestRun> run;
  Diagnostics diagnostics;
};

struct Ast;

/// The tests of a text, which is parsed once.
class PDL_API TestSuite {
 public:
  /// Syntax errors go to `diagnostics`; where there are any, nothing can be compiled. What the
  /// request points to must outlive the suite.
  TestSuite(CompileRequest request, Diagnostics* diagnostics);
  ~TestSuite();
  TestSuite(TestSuite&&) = default;

  /// In the order of the text.
  llvm::ArrayRef<TestBlock> tests() const { return tests_; }
  /// Compiles run `run` of the test `test`, both counted from 0. `earlier` are the values of the
  /// runs before, which become inputs of the graph under the name `output`; what an earlier run
  /// assigned and is not among them is computed anew. Safe to call from several threads.
  TestResult Compile(unsigned test, unsigned run, llvm::ArrayRef<TestValue> earlier) const;

 private:
  CompileRequest request_;
  std::unique_ptr<const Ast> ast_;
  std::vector<TestBlock> tests_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_TEST_BLOCK_H_
