#include "frontend/elaborate/elaborator.h"
#include "frontend/elaborate/test_blocks.h"
#include "frontend/syntax/parser.h"
#include "pdl/compiler/test_block.h"

namespace pdl {

namespace {

std::vector<const ast::TestStatement*> TestsOf(const Ast& ast) {
  std::vector<const ast::TestStatement*> tests;
  for (const ast::Statement* statement : ast.statements) {
    if (const auto* test = llvm::dyn_cast<ast::TestStatement>(statement)) tests.push_back(test);
  }
  return tests;
}

}  // namespace

TestSuite::TestSuite(CompileRequest request, Diagnostics* diagnostics)
    : request_(std::move(request)), ast_(Parse(request_.file, diagnostics)) {
  for (const ast::TestStatement* test : TestsOf(*ast_)) {
    tests_.push_back(
        {test->name.value.str(), test->range, static_cast<unsigned>(RunsOf(*test).size())});
  }
}
TestSuite::~TestSuite() = default;

TestResult TestSuite::Compile(unsigned test, unsigned run,
                              llvm::ArrayRef<TestValue> earlier) const {
  assert(test < tests_.size() && "no such test");
  TestResult result;
  Elaborator elaborator(request_, *ast_, &result.diagnostics);
  TestRun made = elaborator.RunTest(*TestsOf(*ast_)[test], run, earlier);
  if (result.diagnostics.has_errors() || request_.is_cancelled()) {
    result.diagnostics.Sort();
  } else {
    result.run = std::move(made);
  }
  return result;
}

}  // namespace pdl
