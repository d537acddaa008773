#include "frontend/elaborate/compile.h"

#include <new>
#include <optional>
#include <stdexcept>

#include "frontend/elaborate/elaborator.h"
#include "frontend/syntax/ast_printer.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/trace.h"

namespace pdl {

CompileResult CompileOrThrow(const CompileRequest& request) {
  CompileResult result;
  std::optional<TraceSpan> span("parse");
  const std::unique_ptr<Ast> ast = Parse(request.file, &result.diagnostics);
  span.emplace("elaborate");
  result.has_tests = llvm::any_of(ast->statements, [](const ast::Statement* statement) {
    return statement->kind == ast::StatementKind::kTest;
  });
  Elaborator elaborator(request, *ast, &result.diagnostics);
  Graph graph = elaborator.Run();
  result.diagnostics.Sort();
  if (result.diagnostics.has_errors() || request.is_cancelled()) return result;
  result.graph = std::move(graph);
  result.last_value = elaborator.last_value();
  return result;
}

CompileResult Compile(const CompileRequest& request) {
  try {
    return CompileOrThrow(request);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a container can ever hold
  }
  CompileResult result;
  result.diagnostics.Error(
      Code{}, nullptr, {},
      ("out of memory in the compilation of '" + request.file->name() + "'").str());
  return result;
}

std::string EmitAst(const std::shared_ptr<const SourceFile>& file, Diagnostics* diagnostics) {
  const std::unique_ptr<Ast> ast = Parse(file, diagnostics);
  diagnostics->Sort();
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintAst(*ast, os);
  return text;
}

bool NeedsMoreLines(llvm::StringRef text) {
  auto file = std::make_shared<SourceFile>("", text.str());
  std::vector<ast::Comment> comments;
  Diagnostics diagnostics;
  Lexer lexer(file, &comments, &diagnostics);
  Unit unit;
  while (lexer.NextUnit(&unit)) {
    if (unit.is_open) return true;
  }
  return false;
}

}  // namespace pdl
