#ifndef PDL_TOOLS_PDL_LSP_SERVER_H_
#define PDL_TOOLS_PDL_LSP_SERVER_H_

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "mlir/Tools/lsp-server-support/Transport.h"
#include "tools/pdl/lsp/checker.h"
#include "tools/pdl/lsp/convert.h"
#include "tools/pdl/lsp/documents.h"
#include "tools/pdl/lsp/event_queue.h"
#include "tools/pdl/lsp/message_reader.h"
#include "tools/pdl/lsp/protocol.h"

namespace pdl::lsp {

using Reply = mlir::lsp::Callback<llvm::json::Value>;

/// The language server: handles the messages of one client. One thread reads them, one analyzes
/// documents, and the thread of Run answers; only that one writes.
class Server {
 public:
  /// Reads from `input` and writes to `output`. All must outlive the server. `program`: the path of
  /// pdl, which runs tests.
  Server(int input, llvm::raw_ostream& output, std::string program, CheckOptions options);

  /// Serves until the client ends the session. Returns the exit status: 0 if the client ended it in
  /// order, else 1.
  int Run();

 private:
  enum class State : uint8_t { kStarted, kInitialized, kShutDown };

  void Register();
  /// Reads messages into the queue until the end of the input or the notification `exit`.
  void ReadMessages();
  /// Returns false after `exit`.
  bool Dispatch(Event event);
  /// The reason to reject a request in the current state, or null.
  const char* Rejection(llvm::StringRef method, mlir::lsp::ErrorCode* code) const;
  void Reject(llvm::json::Value id, mlir::lsp::ErrorCode code, const std::string& message);

  // Lifecycle and documents.
  void OnInitialize(const AnyParams& params, Reply reply);
  void OnInitialized(const AnyParams& params);
  void OnShutdown(const AnyParams& params, Reply reply);
  void OnOpen(const OpenParams& params);
  void OnChange(const ChangeParams& params);
  void OnClose(const DocumentParams& params);
  void OnFileEvents(const FileEvents& params);
  void OnIgnored(const AnyParams&) {}

  // Types, documentation, navigation.
  void OnHover(const PositionParams& params, Reply reply);
  void OnInlayHint(const RangeParams& params, Reply reply);
  void OnDefinition(const PositionParams& params, Reply reply);
  void OnReferences(const ReferenceParams& params, Reply reply);
  void OnHighlight(const PositionParams& params, Reply reply);
  void OnCompletion(const PositionParams& params, Reply reply);
  void OnSignatureHelp(const PositionParams& params, Reply reply);

  // Edits.
  void OnPrepareRename(const PositionParams& params, Reply reply);
  void OnRename(const RenameParams& params, Reply reply);
  void OnCodeAction(const CodeActionParams& params, Reply reply);
  void OnFormatting(const DocumentParams& params, Reply reply);

  // Structure.
  /// Replies to a request for the outline, which it writes without making a json::Value of it.
  void WriteDocumentSymbols(const llvm::json::Value& params, const llvm::json::Value& id);
  void OnFoldingRange(const DocumentParams& params, Reply reply);
  void OnSemanticTokens(const DocumentParams& params, Reply reply);
  void OnSemanticTokensRange(const RangeParams& params, Reply reply);
  void OnCodeLens(const DocumentParams& params, Reply reply);
  void OnExecuteCommand(const CommandParams& params, Reply reply);

  /// An analysis to answer from, and the current document.
  struct View {
    DocumentPtr document;
    std::shared_ptr<const SourceAnalysis> analysis;
    uint32_t offset = 0;    // in the document
    uint32_t analyzed = 0;  // the same in the analyzed source
    /// Whether the position is in the analyzed source, too.
    bool is_known = true;
  };
  /// The view of a position; nullopt if the document is not open or was never analyzed. With
  /// `current`, waits for the analysis of the last edit.
  std::optional<View> ViewAt(const PositionParams& params, bool current);
  FileTable FilesOf(const View& view) const {
    return FileTable(documents_, client_.encoding, view.document, view.analysis->file());
  }
  /// All uses of the name at a position, also those in other open documents.
  std::vector<NameUse> UsesOf(const View& view);
  /// A workspace edit.
  llvm::json::Value ToWorkspaceEdit(llvm::ArrayRef<SourceEdit> edits, FileTable& files);
  /// Runs a test of a file and shows the result to the user.
  void RunTest(const std::string& uri, const std::string& name);

  // Diagnostics.
  void PublishFor(llvm::StringRef uri);
  /// Sends a request whose reply needs no action.
  void Call(llvm::StringRef method, llvm::json::Value params);
  /// Replaces the diagnostics that the analysis of `owner` found in all files.
  void SetPublished(llvm::StringRef owner, llvm::StringMap<llvm::json::Array> by_uri);
  void Publish(llvm::StringRef uri);

  DocumentStore documents_;
  EventQueue events_;
  Checker checker_;
  int input_;
  llvm::raw_ostream& output_;
  const std::string program_;
  mlir::lsp::JSONTransport transport_;
  mlir::lsp::MessageHandler handler_;
  mlir::lsp::OutgoingNotification<llvm::json::Value> publish_;
  ClientFeatures client_;
  State state_ = State::kStarted;
  uint64_t calls_ = 0;  // requests to the client
  /// The diagnostics of each file, by the URI of the document whose analysis found them.
  llvm::StringMap<llvm::StringMap<llvm::json::Array>> published_;
  std::thread test_run_;
  std::atomic<bool> is_test_running_ = false;
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_SERVER_H_
