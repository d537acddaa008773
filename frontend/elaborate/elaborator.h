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

/// Builds the graph of one parsed file: resolves names, evaluates constants, checks every call. An
/// error is reported once; values that depend on it are poison, and silent.
///
/// The work is done by classes with one purpose each, which refer to each other and to parts of one
/// ElaborationState. Everything kept between statements is in that state.
class Elaborator {
 public:
  /// The arguments must outlive the elaborator. `observer` may be null.
  Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics,
             ElaborationObserver* observer = nullptr);
  ~Elaborator();
  Elaborator(const Elaborator&) = delete;
  Elaborator& operator=(const Elaborator&) = delete;

  /// Elaborates all statements. The result is usable if no error was reported and the request is
  /// not cancelled. Call either this or RunTest, once.
  Graph Run();
  /// Elaborates the file and one run of a test. The result is usable if no error was reported.
  TestRun RunTest(const ast::TestStatement& test, unsigned run, llvm::ArrayRef<TestValue> earlier);
  /// See CompileResult.
  const std::string& last_value() const { return state_.last.value; }
  /// The results of the last statement if it is an expression statement; otherwise empty.
  llvm::ArrayRef<CallResult> last_results() const { return state_.last.results; }
  /// The files that were read, the main file first.
  const ModuleTable& files() const { return state_.files; }
  /// The names defined at the end of the file, each with the name of its value in the graph, or an
  /// empty name if it has none. In no particular order.
  using NamedValues = std::vector<std::pair<std::string, std::string>>;
  const NamedValues& names() const { return names_; }

 private:
  /// Prepares the first statement: collects the names that the file defines, its layers and its
  /// imports.
  void Begin();
  /// Elaborates and checks what requires all statements of the file.
  void Finish();
  /// Returns the incomplete graph of a cancelled request.
  Graph Abandon();
  /// Reports a test with the same name as an earlier one.
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
