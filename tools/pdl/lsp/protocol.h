#ifndef PDL_TOOLS_PDL_LSP_PROTOCOL_H_
#define PDL_TOOLS_PDL_LSP_PROTOCOL_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/Support/JSON.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"
#include "tools/pdl/lsp/line_table.h"

// Parameters of requests that MLIR's library lacks, or in which it only accepts `file:` URIs:
// documents that are not saved yet have others.

namespace pdl::lsp {

using mlir::lsp::Position;
using mlir::lsp::Range;

/// Parameters that their handler reads.
struct AnyParams {
  llvm::json::Value value = nullptr;
};
bool fromJSON(const llvm::json::Value& value, AnyParams& params, llvm::json::Path path);

/// `textDocument` and any other fields.
struct DocumentParams {
  std::string uri;
};
bool fromJSON(const llvm::json::Value& value, DocumentParams& params, llvm::json::Path path);

struct PositionParams : DocumentParams {
  Position position;
};
bool fromJSON(const llvm::json::Value& value, PositionParams& params, llvm::json::Path path);

struct RangeParams : DocumentParams {
  Range range;
};
bool fromJSON(const llvm::json::Value& value, RangeParams& params, llvm::json::Path path);

struct ReferenceParams : PositionParams {
  bool include_declaration = true;
};
bool fromJSON(const llvm::json::Value& value, ReferenceParams& params, llvm::json::Path path);

struct RenameParams : PositionParams {
  std::string new_name;
};
bool fromJSON(const llvm::json::Value& value, RenameParams& params, llvm::json::Path path);

struct OpenParams : DocumentParams {
  int64_t version = 0;
  std::string contents;
};
bool fromJSON(const llvm::json::Value& value, OpenParams& params, llvm::json::Path path);

struct ContentChange {
  std::optional<Range> range;  // nullopt: all of the document
  std::string replacement;
};
bool fromJSON(const llvm::json::Value& value, ContentChange& change, llvm::json::Path path);

struct ChangeParams : DocumentParams {
  int64_t version = 0;
  std::vector<ContentChange> changes;
};
bool fromJSON(const llvm::json::Value& value, ChangeParams& params, llvm::json::Path path);

struct CodeActionParams : RangeParams {
  /// The diagnostics of the client at the range.
  std::vector<AnyParams> diagnostics;
  /// Whether quick fixes are requested; other kinds exist for other servers.
  bool includes_quick_fixes = true;
};
bool fromJSON(const llvm::json::Value& value, CodeActionParams& params, llvm::json::Path path);

struct CommandParams {
  std::string command;
  std::vector<std::string> arguments;
};
bool fromJSON(const llvm::json::Value& value, CommandParams& params, llvm::json::Path path);

struct FileEvents {
  std::vector<std::string> uris;
};
bool fromJSON(const llvm::json::Value& value, FileEvents& params, llvm::json::Path path);

/// The features of the client that the server asks for.
struct ClientFeatures {
  Encoding encoding = Encoding::kUtf16;
  bool refreshes_hints = false;
  bool related_information = false;
  bool hierarchical_symbols = false;
  bool literal_actions = false;
  bool document_changes = false;
  bool plain_hover = false;
  bool label_offsets = false;
  bool snippets = false;
  bool registers_watchers = false;
};
ClientFeatures ReadFeatures(const llvm::json::Value& initialize);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_PROTOCOL_H_
