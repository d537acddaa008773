#include "tools/pdl/lsp/server.h"

#include <thread>

#include "pdl/version.h"
#include "tools/pdl/lsp/convert.h"
#include "tools/pdl/lsp/structure.h"
#include "tools/pdl/lsp/uri.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using mlir::lsp::ErrorCode;

// Parses a message. The parser is recursive, so deep nesting is an Error.
static llvm::Expected<Value> ParseMessage(llvm::StringRef content) {
  constexpr int kMaxDepth = 500;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kMaxDepth) return llvm::createStringError("the message is nested too deep");
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return llvm::json::parse(content);
}

Server::Server(int input, llvm::raw_ostream& output, std::string program, CheckOptions options)
    : checker_(documents_, events_, std::move(options)),
      input_(input),
      output_(output),
      program_(std::move(program)),
      transport_(/*in=*/nullptr, output),
      handler_(transport_),
      publish_(handler_.outgoingNotification<Value>("textDocument/publishDiagnostics")) {
  Register();
}

void Server::Register() {
  handler_.method("initialize", this, &Server::OnInitialize);
  handler_.method("shutdown", this, &Server::OnShutdown);
  handler_.notification("initialized", this, &Server::OnInitialized);
  handler_.notification("textDocument/didOpen", this, &Server::OnOpen);
  handler_.notification("textDocument/didChange", this, &Server::OnChange);
  handler_.notification("textDocument/didClose", this, &Server::OnClose);
  handler_.notification("textDocument/didSave", this, &Server::OnIgnored);
  handler_.notification("workspace/didChangeWatchedFiles", this, &Server::OnFileEvents);
  handler_.method("textDocument/hover", this, &Server::OnHover);
  handler_.method("textDocument/inlayHint", this, &Server::OnInlayHint);
  handler_.method("textDocument/definition", this, &Server::OnDefinition);
  handler_.method("textDocument/references", this, &Server::OnReferences);
  handler_.method("textDocument/documentHighlight", this, &Server::OnHighlight);
  handler_.method("textDocument/completion", this, &Server::OnCompletion);
  handler_.method("textDocument/signatureHelp", this, &Server::OnSignatureHelp);
  handler_.method("textDocument/prepareRename", this, &Server::OnPrepareRename);
  handler_.method("textDocument/rename", this, &Server::OnRename);
  handler_.method("textDocument/codeAction", this, &Server::OnCodeAction);
  handler_.method("textDocument/formatting", this, &Server::OnFormatting);
  handler_.method("textDocument/foldingRange", this, &Server::OnFoldingRange);
  handler_.method("textDocument/semanticTokens/full", this, &Server::OnSemanticTokens);
  handler_.method("textDocument/semanticTokens/range", this, &Server::OnSemanticTokensRange);
  handler_.method("textDocument/codeLens", this, &Server::OnCodeLens);
  handler_.method("workspace/executeCommand", this, &Server::OnExecuteCommand);
}

int Server::Run() {
  std::thread reader([this] { ReadMessages(); });
  std::thread checker([this] { checker_.Run(); });
  bool ended_in_order = false;
  while (true) {
    Event event = events_.Pop();
    if (event.kind == Event::Kind::kEnd) break;
    if (!Dispatch(std::move(event))) {
      ended_in_order = state_ == State::kShutDown;
      break;
    }
  }
  documents_.Stop();
  if (test_run_.joinable()) test_run_.join();
  checker.join();
  reader.join();
  return ended_in_order ? 0 : 1;
}

void Server::ReadMessages() {
  MessageReader reader(input_);
  while (std::optional<std::string> content = reader.Next()) {
    Event event;
    llvm::Expected<Value> message = ParseMessage(*content);
    if (!message) {
      event.kind = Event::Kind::kMalformed;
      event.error = llvm::toString(message.takeError());
      events_.Push(std::move(event));
      continue;
    }
    event.message = std::move(*message);
    std::string method;
    if (const Object* object = event.message.getAsObject()) {
      method = object->getString("method").value_or("").str();
      const Object* params = object->getObject("params");
      const Value* id = params == nullptr ? nullptr : params->get("id");
      if (method == "$/cancelRequest" && id != nullptr) events_.Cancel(*id);
    }
    events_.Push(std::move(event));
    if (method == "exit") return;
  }
  Event end;
  end.kind = Event::Kind::kEnd;
  events_.Push(std::move(end));
}

const char* Server::Rejection(llvm::StringRef method, ErrorCode* code) const {
  *code = ErrorCode::InvalidRequest;
  switch (state_) {
    case State::kStarted:
      if (method == "initialize") return nullptr;
      *code = ErrorCode::ServerNotInitialized;
      return "the server is not initialized";
    case State::kInitialized:
      return method == "initialize" ? "the server is already initialized" : nullptr;
    case State::kShutDown:
      return "the server is shut down";
  }
  return nullptr;
}

void Server::Reject(Value id, ErrorCode code, const std::string& message) {
  transport_.reply(std::move(id), llvm::make_error<mlir::lsp::LSPError>(message, code));
}

bool Server::Dispatch(Event event) {
  if (event.kind == Event::Kind::kChecked) return PublishFor(event.uri), true;
  if (event.kind == Event::Kind::kNotify)
    return transport_.notify("window/showMessage", std::move(event.message)), true;
  if (event.kind == Event::Kind::kMalformed)
    return Reject(nullptr, ErrorCode::ParseError, event.error), true;
  Object* message = event.message.getAsObject();
  if (message == nullptr)
    return Reject(nullptr, ErrorCode::InvalidRequest, "expected an object"), true;
  const Value* id = message->get("id");
  // Others, such as 1e999, might not be sent back as they are.
  if (id != nullptr && !id->getAsString() && !id->getAsInteger() && !id->getAsNull())
    return Reject(nullptr, ErrorCode::InvalidRequest, "an id is an integer or a string"), true;
  const std::optional<llvm::StringRef> method = message->getString("method");
  if (!method) {
    // The replies of the client need no action.
    const bool is_reply = message->get("result") != nullptr || message->get("error") != nullptr;
    if (!is_reply) Reject(nullptr, ErrorCode::InvalidRequest, "expected a method");
    return true;
  }
  const Value* given = message->get("params");
  const Value params = given == nullptr ? Value(nullptr) : *given;
  if (id == nullptr) {
    if (*method == "exit") return false;
    // Unknown notifications, and those outside of a session, are ignored.
    return state_ != State::kInitialized || handler_.onNotify(*method, params);
  }
  ErrorCode code;
  if (event.is_cancelled) {
    Reject(*id, ErrorCode::RequestCancelled, "the request is cancelled");
  } else if (const char* reason = Rejection(*method, &code)) {
    Reject(*id, code, reason);
  } else if (*method == "textDocument/documentSymbol") {
    WriteDocumentSymbols(params, *id);
  } else {
    handler_.onCall(*method, params, *id);
  }
  return true;
}

void Server::OnInitialize(const AnyParams& params, Reply reply) {
  client_ = ReadFeatures(params.value);
  state_ = State::kInitialized;
  Object capabilities{
      {"positionEncoding", client_.encoding == Encoding::kUtf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", Object{{"openClose", true}, {"change", 2}, {"save", true}}},
      {"hoverProvider", true},
      {"inlayHintProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentFormattingProvider", true},
      {"documentSymbolProvider", true},
      {"foldingRangeProvider", true},
      {"renameProvider", Object{{"prepareProvider", true}}},
      {"completionProvider", Object{{"triggerCharacters", Array{".", "\"", "="}}}},
      {"signatureHelpProvider", Object{{"triggerCharacters", Array{"(", ","}}}},
      {"codeActionProvider", Object{{"codeActionKinds", Array{"quickfix"}}}},
      {"codeLensProvider", Object{{"resolveProvider", false}}},
      {"executeCommandProvider", Object{{"commands", Array{"pdl.runTest"}}}},
      {"semanticTokensProvider",
       Object{{"legend", SemanticTokensLegend()}, {"full", true}, {"range", true}}},
  };
  reply(Object{{"capabilities", std::move(capabilities)},
               {"serverInfo", Object{{"name", "pdl"}, {"version", version_string}}}});
}

void Server::OnInitialized(const AnyParams&) {
  if (!client_.registers_watchers) return;
  // Changes of imported files on disk.
  Object options{{"watchers", Array{Object{{"globPattern", "**/*.pdl"}}}}};
  Object registration{{"id", "watched-files"},
                      {"method", "workspace/didChangeWatchedFiles"},
                      {"registerOptions", std::move(options)}};
  Call("client/registerCapability", Object{{"registrations", Array{std::move(registration)}}});
}

void Server::Call(llvm::StringRef method, Value params) {
  transport_.call(method, std::move(params), "pdl-" + std::to_string(++calls_));
}

void Server::OnShutdown(const AnyParams&, Reply reply) {
  state_ = State::kShutDown;
  reply(nullptr);
}

void Server::OnOpen(const OpenParams& params) {
  documents_.Set(std::make_shared<const Document>(params.uri, params.version, params.contents,
                                                  client_.encoding));
}

void Server::OnChange(const ChangeParams& params) {
  DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return;
  for (const ContentChange& change : params.changes)
    document = ApplyChange(*document, change, params.version, client_.encoding);
  documents_.Set(std::move(document));
}

void Server::OnClose(const DocumentParams& params) {
  if (!documents_.Close(params.uri)) return;
  SetPublished(params.uri, {});
}

void Server::OnFileEvents(const FileEvents& params) {
  for (const std::string& uri : params.uris) documents_.FileChanged(PathOfUri(uri));
}

void Server::PublishFor(llvm::StringRef uri) {
  const CheckedPtr checked = documents_.LastChecked(uri, false, std::chrono::milliseconds(0));
  // The result for a newer edit follows.
  if (checked == nullptr || !documents_.IsCurrent(uri, checked->generation)) return;
  FileTable files(documents_, client_.encoding, checked->document, checked->document->source);
  llvm::StringMap<Array> by_uri;
  by_uri[uri];
  for (const Diagnostic& diagnostic : checked->diagnostics) {
    const std::string target =
        diagnostic.file == nullptr ? uri.str() : files.UriOf(*diagnostic.file);
    by_uri[target].push_back(ToJson(diagnostic, files, client_));
  }
  SetPublished(uri, std::move(by_uri));
  if (client_.refreshes_hints) Call("workspace/inlayHint/refresh", nullptr);
}

void Server::SetPublished(llvm::StringRef owner, llvm::StringMap<Array> by_uri) {
  llvm::StringMap<Array> before = std::move(published_[owner]);
  published_[owner] = std::move(by_uri);
  for (const auto& entry : published_[owner]) Publish(entry.first());
  for (const auto& entry : before)
    if (!published_[owner].contains(entry.first())) Publish(entry.first());
  if (published_[owner].empty()) published_.erase(owner);
}

void Server::Publish(llvm::StringRef uri) {
  Array all;
  llvm::StringMap<bool> known;
  for (const auto& owner : published_) {
    const auto found = owner.second.find(uri);
    if (found == owner.second.end()) continue;
    // Two documents may find the same error in a file that both import.
    for (const Value& diagnostic : found->second) {
      const Object& fields = *diagnostic.getAsObject();
      const std::string key = llvm::formatv("{0} {1} {2}", *fields.get("range"),
                                            *fields.get("message"), *fields.get("severity"));
      if (known.try_emplace(key, true).second) all.push_back(diagnostic);
    }
  }
  Object params{{"uri", uri}, {"diagnostics", std::move(all)}};
  if (const DocumentPtr document = documents_.Find(uri)) params["version"] = document->version;
  publish_(std::move(params));
}

}  // namespace pdl::lsp
