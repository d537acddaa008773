#ifndef PDL_FRONTEND_ELABORATE_ELABORATOR_H_
#define PDL_FRONTEND_ELABORATE_ELABORATOR_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/elaborate/elaboration_state.h"
#include "frontend/syntax/ast.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/test_block.h"

namespace pdl {

/// Makes the graph of one parsed text: resolves names, computes constants, checks every call.
/// A mistake is reported once; what it spoils is poison, and silent.
///
/// The work is done by classes with one purpose each, which know each other and parts of one
/// ElaborationState by reference. What they keep between statements is in that state.
class Elaborator {
 public:
  /// All of them must outlive the elaborator.
  Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics);
  ~Elaborator();
  Elaborator(const Elaborator&) = delete;
  Elaborator& operator=(const Elaborator&) = delete;

  /// Elaborates all statements. Usable where no error was reported. It or RunTest is called once.
  Graph Run();
  /// Elaborates the text and one run of a test. Usable where no error was reported.
  TestRun RunTest(const ast::TestStatement& test, unsigned run, llvm::ArrayRef<TestValue> earlier);
  /// See CompileResult.
  const std::string& last_value() const { return state_.last.value; }
  /// The results of the last statement where it is an expression alone; none of anything else.
  llvm::ArrayRef<CallResult> last_results() const { return state_.last.results; }
  /// The names that the text has at its end, each with the name of the graph's value that it stands
  /// for, or with none. In no order.
  using NamedValues = std::vector<std::pair<std::string, std::string>>;
  const NamedValues& names() const { return names_; }

 private:
  /// What comes before the first statement: the names that the text defines, its layers and files.
  void Begin();
  /// What needs all statements of the file.
  void Finish();
  /// Reports a test that has the name of an earlier one.
  void CheckTestName(const ast::TestStatement& test);

  struct Parts;
  const CompileRequest& request_;
  const Ast& ast_;
  ElaborationState state_;
  Position at_;
  std::unique_ptr<Parts> parts_;
  NamedValues names_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ELABORATOR_H_
