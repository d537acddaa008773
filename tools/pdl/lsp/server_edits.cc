// Requests for edits: renaming, corrections, formatting.
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/format.h"
#include "pdl/op/error.h"
#include "tools/pdl/lsp/server.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using mlir::lsp::ErrorCode;

namespace {

llvm::Error Failed(const std::string& message) {
  return llvm::make_error<mlir::lsp::LSPError>(message, ErrorCode::RequestFailed);
}

std::string MessageOf(llvm::Error error) {
  std::string message;
  llvm::handleAllErrors(
      std::move(error), [&](const UserError& e) { message = e.text(); },
      [&](const llvm::ErrorInfoBase& e) { message = e.message(); });
  return message;
}

Object Edit(Range range, llvm::StringRef replacement) {
  // A Value would refer to the memory of a StringRef.
  return Object{{"range", range}, {"newText", replacement.str()}};
}

}  // namespace

void Server::OnPrepareRename(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, true);
  if (!view || !view->is_known) return reply(nullptr);
  const std::shared_ptr<const SourceFile>& file = view->analysis->file();
  llvm::Expected<SourceRange> range = view->analysis->PrepareRename(*file, view->analyzed);
  if (!range) return reply(Failed(MessageOf(range.takeError())));
  FileTable files = FilesOf(*view);
  reply(Object{{"range", files.RangeOf(*file, *range)}, {"placeholder", file->Text(*range)}});
}

Value Server::ToWorkspaceEdit(llvm::ArrayRef<SourceEdit> edits, FileTable& files) {
  std::map<std::string, Array> by_uri;
  for (const SourceEdit& edit : edits)
    by_uri[files.UriOf(*edit.file)].push_back(
        Edit(files.RangeOf(*edit.file, edit.range), edit.replacement));
  if (!client_.document_changes) {
    Object changes;
    for (auto& [uri, list] : by_uri) changes[uri] = std::move(list);
    return Object{{"changes", std::move(changes)}};
  }
  Array changes;
  for (auto& [uri, list] : by_uri) {
    const DocumentPtr open = documents_.Find(uri);
    Value version = open == nullptr ? Value(nullptr) : Value(open->version);
    changes.push_back(
        Object{{"textDocument", Object{{"uri", uri}, {"version", std::move(version)}}},
               {"edits", std::move(list)}});
  }
  return Object{{"documentChanges", std::move(changes)}};
}

void Server::OnRename(const RenameParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, true);
  if (!view || !view->is_known) return reply(Failed("there is no name here"));
  const std::shared_ptr<const SourceFile>& file = view->analysis->file();
  if (file->text() != view->document->source->text())
    return reply(llvm::make_error<mlir::lsp::LSPError>("the document is still being analyzed",
                                                       ErrorCode::ContentModified));
  llvm::Expected<std::vector<SourceEdit>> edits =
      view->analysis->Rename(*file, view->analyzed, params.new_name);
  if (!edits) return reply(Failed(MessageOf(edits.takeError())));
  // Other open documents may use the name, too.
  const std::vector<NameUse> uses = view->analysis->Uses(*file, view->analyzed);
  for (const DocumentPtr& other : documents_.All()) {
    if (other->uri == view->document->uri || uses.empty()) continue;
    const CheckedPtr checked =
        documents_.LastChecked(other->uri, true, std::chrono::milliseconds(500));
    if (checked == nullptr) continue;
    const auto same = checked->analysis->FindFile(uses.front().file->name());
    if (same == nullptr || same->text() != uses.front().file->text()) continue;
    llvm::Expected<std::vector<SourceEdit>> more =
        checked->analysis->Rename(*same, uses.front().range.begin, params.new_name);
    if (!more) return reply(Failed(MessageOf(more.takeError())));
    for (SourceEdit& edit : *more) {
      const bool is_known = llvm::any_of(*edits, [&](const SourceEdit& known) {
        return known.file->name() == edit.file->name() && known.range == edit.range;
      });
      if (!is_known) edits->push_back(std::move(edit));
    }
  }
  // Not all uses are known: paths to parameters and names in strings, for example.
  const SourceRange renamed = llvm::cantFail(view->analysis->PrepareRename(*file, view->analyzed));
  const Checker::Renaming renaming{file->Text(renamed), params.new_name, *edits};
  for (const DocumentPtr& each : documents_.All()) {
    const CheckedPtr checked = documents_.LastChecked(each->uri, false, {});
    const bool reads_edited =
        checked != nullptr && llvm::any_of(*edits, [&](const SourceEdit& edit) {
          return edit.file->name() == each->source->name() ||
                 checked->analysis->FindFile(edit.file->name()) != nullptr;
        });
    if (!reads_edited) continue;
    if (llvm::Error error = checker_.TryRenaming(*each, renaming))
      return reply(Failed(MessageOf(std::move(error))));
  }
  FileTable files = FilesOf(*view);
  reply(ToWorkspaceEdit(*edits, files));
}

void Server::OnCodeAction(const CodeActionParams& params, Reply reply) {
  PositionParams start;
  start.uri = params.uri;
  const std::optional<View> view = ViewAt(start, true);
  if (!view || !params.includes_quick_fixes) return reply(Array());
  const CheckedPtr checked = documents_.LastChecked(params.uri, false, {});
  const Document& document = *view->document;
  Array actions;
  if (checked->document->source->text() != document.source->text()) return reply(Array());
  const SourceRange at = FromRange(document.lines, params.range);
  FileTable files(documents_, client_.encoding, view->document, checked->document->source);
  for (const Diagnostic& diagnostic : checked->diagnostics) {
    if (!diagnostic.suggestion || diagnostic.file != checked->document->source) continue;
    const SourceRange range = diagnostic.primary;
    if (range.end < at.begin || range.begin > at.end) continue;
    const SourceEdit edit{{diagnostic.file, diagnostic.suggestion->range},
                          diagnostic.suggestion->replacement};
    std::string title = diagnostic.suggestion->ToString(*diagnostic.file);
    title[0] = llvm::toUpper(title[0]);
    actions.push_back(Object{{"title", title},
                             {"kind", "quickfix"},
                             {"isPreferred", true},
                             {"diagnostics", Array{ToJson(diagnostic, files, client_)}},
                             {"edit", ToWorkspaceEdit(edit, files)}});
  }
  reply(std::move(actions));
}

void Server::OnFormatting(const DocumentParams& params, Reply reply) {
  const DocumentPtr document = documents_.Find(params.uri);
  if (document == nullptr) return reply(nullptr);
  Diagnostics errors;
  std::optional<std::string> formatted = FormatText(document->source, &errors);
  // A source with syntax errors stays as it is; they are reported already.
  if (!formatted) return reply(Array());
  const llvm::StringRef before = document->source->text();
  // An editor keeps the ends of lines of a file.
  const size_t line_end = before.find('\n');
  if (line_end != llvm::StringRef::npos && line_end > 0 && before[line_end - 1] == '\r') {
    std::string with_returns;
    for (const char c : *formatted) with_returns += c == '\n' ? "\r\n" : std::string(1, c);
    formatted = std::move(with_returns);
  }
  const llvm::StringRef after = *formatted;
  if (before == after) return reply(Array());
  // Only the lines between the first and the last change, so that cursors elsewhere stay.
  size_t first = 0;
  for (size_t i = 0; i < before.size() && i < after.size() && before[i] == after[i]; ++i)
    if (before[i] == '\n') first = i + 1;
  size_t last = 0;
  const size_t limit = std::min(before.size(), after.size()) - first;
  for (size_t i = 1; i <= limit && before[before.size() - i] == after[after.size() - i]; ++i)
    if (before[before.size() - i] == '\n') last = i - 1;
  const SourceRange range{static_cast<uint32_t>(first),
                          static_cast<uint32_t>(before.size() - last)};
  reply(Array{Edit(ToRange(document->lines, range), after.slice(first, after.size() - last))});
}

}  // namespace pdl::lsp
