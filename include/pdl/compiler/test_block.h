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

/// A `test` block of a source.
struct TestBlock {
  std::string name;
  SourceRange range;
  /// The number of runs. They share states; a `feed` after an `expect` begins a new run.
  unsigned num_runs = 1;
};

/// `feed NAME = …`: the value is the graph's output `output`, which does not depend on fed values.
struct TestFeed {
  std::string name;
  ValueKind kind = ValueKind::kInput;
  /// The declared type.
  Type type;
  std::string output;
  /// The type of the output `output`. If it is not dense, the output consists of parts (see
  /// "pdl/op/storage.h"). If it is dense and `type` is not, the value has to be packed.
  Type given;
};

/// A condition that must hold after a run.
struct TestExpect {
  enum class Kind : uint8_t {
    kTrue,   // every element of `left` is true; `right` is empty
    kNear,   // |left - right| <= tolerance * max(1, |right|), element by element; nan meets nan
    kError,  // the run that computes `left` fails with a message that contains `message`
  };
  Kind kind = Kind::kTrue;
  /// Names of graph outputs. For a kTrue that is a comparison, `compared` are its two sides.
  std::string left, right;
  /// The type of `left`. If it is ragged, `left` and `right` consist of parts (see
  /// "pdl/op/storage.h").
  Type type;
  bool right_is_scalar = false;
  /// If set, only this sequence of the ragged `left` or `right` is compared.
  std::optional<int64_t> left_row, right_row;
  std::string compared[2];
  std::optional<double> tolerance;
  std::string message;
  /// Set if the condition is decided at compile time: empty if it holds, else the error message.
  std::optional<std::string> decided;
  SourceRange range;
};

/// A value that the test computed in an earlier run and that later runs may use.
struct TestValue {
  std::string name;
  std::string output;  // of the graph
  /// The type, with its actual sizes once it is computed.
  Type type;
};

/// One run of a test: the network of the source, with the values that the test computes as
/// additional outputs.
struct TestRun {
  Graph graph;
  /// `feed training = true`.
  bool training = false;
  std::vector<TestFeed> feeds;
  std::vector<TestExpect> expects;
  /// Values that later runs may use.
  std::vector<TestValue> values;
};

/// The result of TestSuite::Compile.
struct TestResult {
  /// Nullopt if there are errors.
  std::optional<TestRun> run;
  Diagnostics diagnostics;
};

struct Ast;

/// The tests of a source, which is parsed once.
class PDL_API TestSuite {
 public:
  /// Syntax errors go to `diagnostics`; if there are any, nothing can be compiled. Everything that
  /// the request points to must outlive the suite.
  TestSuite(CompileRequest request, Diagnostics* diagnostics);
  ~TestSuite();
  TestSuite(TestSuite&&) = default;

  /// The tests, in source order.
  llvm::ArrayRef<TestBlock> tests() const { return tests_; }
  /// Compiles run `run` of test `test`, both counted from 0. `earlier` are values of previous runs;
  /// they become inputs of the graph, named `output`. Values of previous runs that are not among
  /// them are recomputed. Safe to call from several threads.
  TestResult Compile(unsigned test, unsigned run, llvm::ArrayRef<TestValue> earlier) const;

 private:
  CompileRequest request_;
  std::unique_ptr<const Ast> ast_;
  std::vector<TestBlock> tests_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_TEST_BLOCK_H_
