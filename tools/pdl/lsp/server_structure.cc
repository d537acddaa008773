// Requests about the structure of a document, and runs of its tests.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tools/pdl/lsp/server.h"
#include "tools/pdl/lsp/structure.h"
#include "tools/pdl/lsp/uri.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

/// Starts a program with no input, whose output and errors go to a file. Returns 0 if it cannot be
/// started.
pid_t Start(llvm::ArrayRef<std::string> arguments, const char* output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_APPEND, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, list[0], &files, nullptr, list.data(), environ) != 0) child = 0;
  posix_spawn_file_actions_destroy(&files);
  return child;
}

/// Waits for a program, and ends it after ten minutes. Returns whether it ended with status 0.
bool HasSucceeded(pid_t child) {
  constexpr std::chrono::minutes kLimit(10);
  constexpr std::chrono::milliseconds kInterval(20);
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return false;
    if (ended == child) break;
    if (std::chrono::steady_clock::now() - start > kLimit) kill(child, SIGKILL);
    std::this_thread::sleep_for(kInterval);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Runs `pdl test` for one test; returns its output.
std::string OutputOfTest(const std::string& path, const std::string& name, bool* passed) {
  llvm::SmallString<128> output;
  if (llvm::sys::fs::createTemporaryFile("pdl-test", "txt", output))
    return "no temporary file can be made";
  const std::string program = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  const std::string arguments[] = {program, "test", "--color=never", "--filter=" + name, path};
  const pid_t child = Start(arguments, output.c_str());
  *passed = child != 0 && HasSucceeded(child);
  const auto printed = llvm::MemoryBuffer::getFile(output);
  llvm::sys::fs::remove(output);
  constexpr size_t kMaxShown = 4000;
  if (child == 0) return "cannot start " + program;
  return printed ? (*printed)->getBuffer().take_front(kMaxShown).trim().str() : "";
}

}  // namespace

void Server::OnDocumentSymbol(const DocumentParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return reply(nullptr);
  reply(DocumentSymbols(*document, client_.hierarchical_symbols));
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
    const std::string output = OutputOfTest(path, name, &passed);
    notify(passed ? 3 : 1, output);
    is_test_running_ = false;
  });
}

}  // namespace pdl::lsp
