// The language server: every message is answered, whatever it says.
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "properties.h"
#include "targets.h"
#include "tools/pdl/lsp/server.h"

namespace pdl::fuzz {
namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

constexpr llvm::StringLiteral kUri = "file:///fuzz/net.pdl";

std::string Framed(llvm::StringRef content) {
  return "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content.str();
}

std::string Printed(const Value& value) { return llvm::formatv("{0}", value); }

/// The output of the server for `input`, and its exit status.
std::string Serve(llvm::StringRef input, int* status) {
  const int file = memfd_create("messages", 0);
  if (file < 0 || write(file, input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      lseek(file, 0, SEEK_SET) != 0)
    Fail("the input is not written");
  std::string output;
  llvm::raw_string_ostream stream(output);
  lsp::CheckOptions options;
  options.quiet = std::chrono::milliseconds(0);
  // Without a program, tests do not start.
  *status = lsp::Server(file, stream, "", std::move(options)).Run();
  close(file);
  return output;
}

/// The messages of the server; fails unless they are well-formed.
std::vector<Object> ReadOutput(llvm::StringRef output) {
  std::vector<Object> messages;
  while (!output.empty()) {
    size_t size = 0;
    const auto [header, rest] = output.split("\r\n\r\n");
    llvm::StringRef length = header;
    if (!length.consume_front("Content-Length: ") || length.getAsInteger(10, size) ||
        size > rest.size())
      Fail("a message without its length:\n" + output.str());
    llvm::Expected<Value> message = llvm::json::parse(rest.take_front(size));
    if (!message) RequireSuccess(message.takeError(), "a message that is no JSON");
    Object* object = message->getAsObject();
    if (object == nullptr || object->getString("jsonrpc") != "2.0")
      Fail("a message that is no JSON-RPC: " + Printed(*message));
    messages.push_back(std::move(*object));
    output = rest.drop_front(size);
  }
  return messages;
}

/// Whether a message is nested less than the server allows.
bool IsShallow(llvm::StringRef message) { return message.count('[') + message.count('{') < 500; }

/// The number of replies that each id must get, until the session ends.
std::map<std::string, int> ExpectedReplies(llvm::ArrayRef<llvm::StringRef> lines) {
  std::map<std::string, int> expected;
  for (const llvm::StringRef line : lines) {
    const std::string content = llvm::json::isUTF8(line) ? line.str() : llvm::json::fixUTF8(line);
    llvm::Expected<Value> message = llvm::json::parse(content);
    if (!message) {
      llvm::consumeError(message.takeError());
      continue;
    }
    const Object* object = message->getAsObject();
    if (object == nullptr) continue;
    const Value* id = object->get("id");
    const std::optional<llvm::StringRef> method = object->getString("method");
    if (!method) continue;
    if (id == nullptr && *method == "exit") break;
    if (id != nullptr && (id->getAsString() || id->getAsInteger())) ++expected[Printed(*id)];
  }
  return expected;
}

std::string ClientMessage(llvm::StringRef method, Value params,
                          std::optional<int> id = std::nullopt) {
  Object message{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
  if (id) message["id"] = *id;
  return Printed(std::move(message));
}

Object Document() { return Object{{"uri", kUri}}; }
Object Position(int line, int character) {
  return Object{{"line", line}, {"character", character}};
}
Object Range(int line, int begin, int end) {
  return Object{{"start", Position(line, begin)}, {"end", Position(line, end)}};
}

std::string Initialize(llvm::StringRef encoding) {
  Object general{{"positionEncodings", Array{encoding}}};
  Object diagnostics{{"relatedInformation", true}};
  return ClientMessage(
      "initialize",
      Object{{"capabilities",
              Object{{"general", std::move(general)},
                     {"textDocument", Object{{"publishDiagnostics", std::move(diagnostics)}}}}}},
      0);
}

std::string OpenSource(llvm::StringRef source) {
  Object document = Document();
  document["languageId"] = "pdl";
  document["version"] = 1;
  document["text"] = source;
  return ClientMessage("textDocument/didOpen", Object{{"textDocument", std::move(document)}});
}

std::string Change(Object range, llvm::StringRef replacement) {
  Object document = Document();
  document["version"] = 2;
  Object change{{"range", std::move(range)}, {"text", replacement}};
  return ClientMessage(
      "textDocument/didChange",
      Object{{"textDocument", std::move(document)}, {"contentChanges", Array{std::move(change)}}});
}

std::string Ask(llvm::StringRef method, int line, int character, int id) {
  Object params{{"textDocument", Document()},
                {"position", Position(line, character)},
                {"range", Range(line, 0, character)},
                {"newName", "other"}};
  params["context"] = Object{{"includeDeclaration", true}, {"diagnostics", Array{}}};
  return ClientMessage(("textDocument/" + method).str(), std::move(params), id);
}

std::string Session(std::vector<std::string> messages) { return llvm::join(messages, "\n"); }

}  // namespace

// A session: one message in each line, without headers, after `initialize`; or, if it begins with
// '!', the bytes that the client sends.
void RunLsp(llvm::StringRef bytes) {
  int status = 0;
  if (bytes.consume_front("!")) {
    ReadOutput(Serve(bytes, &status));
    return;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  bytes.split(lines, '\n');
  const std::string begin = Initialize("utf-8"), end = ClientMessage("shutdown", nullptr, -1),
                    exit = ClientMessage("exit", nullptr);
  lines.insert(lines.begin(), begin);
  lines.push_back(end);
  lines.push_back(exit);
  std::string input;
  for (const llvm::StringRef line : lines) input += Framed(line);
  std::map<std::string, int> missing = ExpectedReplies(lines);
  for (const Object& message : ReadOutput(Serve(input, &status))) {
    const Value* id = message.get("id");
    if (message.get("method") != nullptr || id == nullptr) continue;
    if ((message.get("result") == nullptr) == (message.get("error") == nullptr))
      Fail("a reply without one of 'result' and 'error'");
    --missing[Printed(*id)];
  }
  if (!llvm::all_of(lines, IsShallow)) return;
  for (const auto& [id, count] : missing)
    if (id != "null" && count != 0)
      Fail(llvm::formatv("{0} replies to {1} are missing", count, id).str());
}

std::vector<std::string> LspSeeds(llvm::StringRef root) {
  const std::string net =
      "import \"other.pdl\" as o\n"
      "layer f(x: F[N, D], size: int = 2) {\n  ## a weight\n  param w: F[D, size] = zeros()\n"
      "  return x @ w\n}\ninput x: f32[N, 3]\nh = f(x, size=4) |> relu\n"
      "test \"t\" {\n  expect sum(h) == 0\n}\noutput y = h + relo(x)\n";
  std::vector<std::string> seeds;
  int id = 0;
  for (const char* method :
       {"hover", "inlayHint", "definition", "references", "documentHighlight", "completion",
        "signatureHelp", "prepareRename", "rename", "codeAction", "formatting", "documentSymbol",
        "foldingRange", "semanticTokens/full", "semanticTokens/range", "codeLens"}) {
    seeds.push_back(Session({OpenSource(net), Ask(method, 7, 5, ++id), Ask(method, 11, 16, ++id)}));
    seeds.push_back(Session({OpenSource("input x: f32[N]\n"), Change(Range(1, 0, 0), "y = x.\n"),
                             Ask(method, 1, 4, ++id), Change(Range(0, 3, 9), "\xF0\x9F\x98\x80"),
                             Ask(method, 0, 4, ++id)}));
  }
  for (const std::string& source : ReadFiles((root + "/test/broken").str(), {".pdl"}, 400)) {
    if (!llvm::json::isUTF8(source) || seeds.size() >= 200) continue;
    seeds.push_back(Session({OpenSource(source), Ask("codeAction", 0, 80, ++id)}));
  }
  const std::string close =
      ClientMessage("textDocument/didClose", Object{{"textDocument", Document()}});
  const std::string cancel = ClientMessage("$/cancelRequest", Object{{"id", 7}});
  const std::string events = ClientMessage(
      "workspace/didChangeWatchedFiles",
      Object{{"changes", Array{Object{{"uri", "file:///fuzz/other.pdl"}, {"type", 2}}}}});
  const std::string command =
      ClientMessage("workspace/executeCommand",
                    Object{{"command", "pdl.runTest"}, {"arguments", Array{kUri, "t"}}}, 8);
  seeds.push_back(Session({OpenSource(net), events, command, close, Ask("hover", 0, 0, 9)}));
  seeds.push_back(Session({OpenSource(net), Ask("hover", 6, 7, 7), cancel}));
  seeds.push_back("!" + Framed(Initialize("utf-16")) + Framed(OpenSource(net)) +
                  Framed(Ask("hover", 6, 7, 1)) + Framed(ClientMessage("shutdown", nullptr, 2)) +
                  Framed(ClientMessage("exit", nullptr)));
  seeds.push_back(
      "!Content-Type: x\r\ncontent-length:2\r\n\r\n[]Content-Length: 99999999999\r\n\r\n");
  return seeds;
}

std::vector<std::string> LspWords() {
  std::vector<std::string> words;
  for (const char* word : {"textDocument/",
                           "workspace/",
                           "hover",
                           "inlayHint",
                           "definition",
                           "references",
                           "rename",
                           "documentHighlight",
                           "completion",
                           "signatureHelp",
                           "prepareRename",
                           "codeAction",
                           "formatting",
                           "documentSymbol",
                           "foldingRange",
                           "semanticTokens/full",
                           "codeLens",
                           "executeCommand",
                           "didChange",
                           "didOpen",
                           "didClose",
                           "didChangeWatchedFiles",
                           "contentChanges",
                           "position",
                           "range",
                           "start",
                           "end",
                           "line",
                           "character",
                           "params",
                           "method",
                           "file:///fuzz/net.pdl",
                           "Content-Length: ",
                           "$/cancelRequest",
                           "shutdown",
                           "initialize",
                           "exit",
                           "input x: f32[N]",
                           "output y = ",
                           "layer f(x: F[N]) {",
                           "9007199254740993",
                           "-1",
                           "1e999",
                           "null"})
    words.emplace_back(word);
  return words;
}

}  // namespace pdl::fuzz
