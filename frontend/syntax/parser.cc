#include "frontend/syntax/parser.h"

#include "frontend/syntax/ast_builder.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/syntax_error.h"
#include "frontend/syntax/token.h"
#include "grammar/PdlParser.h"

namespace pdl {
namespace {

// Thrown to end the parse of a unit whose error was reported.
struct Abandoned {};

// Reports the first error and gives up: the next unit is parsed from its beginning.
class ReportOnce final : public antlr4::ANTLRErrorStrategy {
 public:
  ReportOnce(const UnitStream* stream, AstBuilder* builder) : stream_(stream), builder_(builder) {}

  void reset(antlr4::Parser*) override {}
  void sync(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override {
    Report(parser);
  }
  void recover(antlr4::Parser*, std::exception_ptr) override { throw Abandoned(); }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override {
    Report(parser);
    throw Abandoned();
  }

 private:
  void Report(antlr4::Parser* parser) {
    if (!builder_->failed()) ReportSyntaxError(parser, *stream_, builder_);
  }

  const UnitStream* stream_;
  AstBuilder* builder_;
};

}  // namespace

std::unique_ptr<Ast> Parse(const std::shared_ptr<const SourceFile>& file,
                           Diagnostics* diagnostics) {
  auto ast = std::make_unique<Ast>();
  ast->file = file;
  const size_t invalid = FindInvalidUtf8(file->text());
  if (invalid != llvm::StringRef::npos) {
    const auto at = static_cast<uint32_t>(invalid);
    diagnostics->Error(Code::kInvalidUtf8, file, {at, at + 1}, "this byte is not valid UTF-8");
    return ast;
  }

  Lexer lexer(file, &ast->comments, diagnostics);
  UnitStream stream;
  AstBuilder builder(ast.get(), &stream, diagnostics);
  PdlParser parser(&stream);
  parser.on = &builder;
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<ReportOnce>(&stream, &builder));

  Unit unit;
  while (lexer.NextUnit(&unit)) {
    const ast::Statement* statement = nullptr;
    if (!unit.broken) {
      builder.Reset();
      stream.SetTokens(&unit.tokens);
      parser.Begin();
      try {
        parser.unit();
        if (!builder.failed()) statement = builder.TakeStatement();
      } catch (const Abandoned&) {
        statement = nullptr;
      }
    }
    ast->statements.push_back(statement != nullptr ? statement : builder.Broken(unit.tokens));
  }
  return ast;
}

}  // namespace pdl
