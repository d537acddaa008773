// Requests about the structure of a document, and runs of its tests.
#include <chrono>

#include "ir/child_process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/pdl/lsp/server.h"
#include "tools/pdl/lsp/structure.h"
#include "tools/pdl/lsp/uri.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

/// Runs `pdl test` for one test; returns its output.
std::string OutputOfTest(const std::string& program, const std::string& path,
                         const std::string& name, bool* passed) {
  constexpr std::chrono::minutes kLimit(10);
  const std::string arguments[] = {program, "test", "--color=never", "--filter=" + name, path};
  const ProgramResult result = RunProgram(arguments, "", ProgramErrors::kInOutput, kLimit);
  *passed = result.has_succeeded;
  constexpr size_t kMaxShown = 4000;
  if (!result.has_started) return "cannot start " + program;
  return llvm::StringRef(result.output).take_front(kMaxShown).trim().str();
}

}  // namespace

void Server::WriteDocumentSymbols(const Value& params, const Value& id) {
  llvm::Expected<DocumentParams> document_params = mlir::lsp::MessageHandler::parse<DocumentParams>(
      params, "textDocument/documentSymbol", "request");
  if (!document_params) return transport_.reply(id, document_params.takeError());
  const DocumentPtr document = documents_.Find(document_params->uri);
  if (document == nullptr) return transport_.reply(id, nullptr);
  std::string content;
  llvm::raw_string_ostream stream(content);
  llvm::json::OStream out(stream);
  out.object([&] {
    out.attribute("jsonrpc", "2.0");
    out.attribute("id", id);
    out.attributeBegin("result");
    lsp::WriteDocumentSymbols(*document, client_.hierarchical_symbols, out);
    out.attributeEnd();
  });
  output_ << "Content-Length: " << content.size() << "\r\n\r\n" << content;
  output_.flush();
}

void Server::OnFoldingRange(const DocumentParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return reply(nullptr);
  reply(FoldingRanges(*document));
}

void Server::OnSemanticTokens(const DocumentParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return reply(nullptr);
  reply(SemanticTokens(*document, client_.encoding, {0, UINT32_MAX}));
}

void Server::OnSemanticTokensRange(const RangeParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return reply(nullptr);
  reply(SemanticTokens(*document, client_.encoding, FromRange(document->lines, params.range)));
}

void Server::OnCodeLens(const DocumentParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  // A test is run from the file.
  if (document == nullptr || document->path.empty()) return reply(Array());
  reply(CodeLenses(*document));
}

void Server::OnExecuteCommand(const CommandParams& params, Reply reply) {
  if (params.command != "pdl.runTest" || params.arguments.size() != 2) {
    return reply(llvm::make_error<mlir::lsp::LSPError>(
        "there is no command '" + params.command + "' with these arguments",
        mlir::lsp::ErrorCode::InvalidParams));
  }
  RunTest(params.arguments[0], params.arguments[1]);
  reply(nullptr);
}

void Server::RunTest(const std::string& uri, const std::string& name) {
  const std::string path = PathOfUri(uri);
  auto notify = [this](int type, const std::string& message) {
    Event event;
    event.kind = Event::Kind::kNotify;
    event.message = Object{{"type", type}, {"message", llvm::json::fixUTF8(message)}};
    events_.Push(std::move(event));
  };
  if (path.empty()) return notify(1, "a test is run from a saved file");
  if (is_test_running_.exchange(true)) return notify(2, "another test is running");
  if (test_run_.joinable()) test_run_.join();
  test_run_ = std::thread([this, notify, path, name] {
    bool passed = false;
    const std::string output = OutputOfTest(program_, path, name, &passed);
    notify(passed ? 3 : 1, output);
    is_test_running_ = false;
  });
}

}  // namespace pdl::lsp
