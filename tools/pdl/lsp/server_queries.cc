// Requests about types, documentation and names.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/load.h"
#include "tools/pdl/lsp/server.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

/// How long a request waits for the first analysis of a document, or for a current one.
constexpr std::chrono::milliseconds kPatience(2000);

int ToCompletionKind(CompletionItem::Kind kind) {
  using Theirs = mlir::lsp::CompletionItemKind;
  switch (kind) {
    case CompletionItem::Kind::kKeyword:
      return static_cast<int>(Theirs::Keyword);
    case CompletionItem::Kind::kOperator:
      return static_cast<int>(Theirs::Function);
    case CompletionItem::Kind::kLayer:
      return static_cast<int>(Theirs::Class);
    case CompletionItem::Kind::kAttribute:
      return static_cast<int>(Theirs::Property);
    case CompletionItem::Kind::kValue:
      return static_cast<int>(Theirs::Variable);
    case CompletionItem::Kind::kFile:
      return static_cast<int>(Theirs::Module);
    case CompletionItem::Kind::kType:
      return static_cast<int>(Theirs::TypeParameter);
    case CompletionItem::Kind::kChoice:
      return static_cast<int>(Theirs::EnumMember);
  }
  return 1;
}

/// Clients sort items by this.
std::string SortKey(size_t index) {
  std::string key = std::to_string(index);
  return std::string(6 - std::min<size_t>(key.size(), 6), '0') + key;
}

/// The files and folders that complete a path in the folder of a document.
std::vector<CompletionItem> FindFiles(const Document& document, llvm::StringRef typed,
                                      llvm::ArrayRef<std::string> endings) {
  std::vector<CompletionItem> items;
  if (document.path.empty() || typed.starts_with("/") || typed.contains("..")) return items;
  const size_t slash = typed.rfind('/');
  const llvm::StringRef before = slash == llvm::StringRef::npos ? "" : typed.take_front(slash + 1);
  llvm::SmallString<128> folder(FolderOf(document.path));
  llvm::sys::path::append(folder, before);
  constexpr size_t kMaxItems = 1000;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; entry != end && !error;
       entry.increment(error)) {
    const llvm::StringRef name = llvm::sys::path::filename(entry->path());
    const bool is_folder = llvm::sys::fs::is_directory(entry->path());
    const bool fits =
        is_folder || llvm::any_of(endings, [&](const auto& each) { return name.ends_with(each); });
    if (!fits || name.starts_with(".") || entry->path() == document.path) continue;
    const std::string path = (before + name + (is_folder ? "/" : "")).str();
    if (llvm::StringRef(path).starts_with(typed) && items.size() < kMaxItems)
      items.push_back({CompletionItem::Kind::kFile, path, path});
  }
  llvm::sort(items, [](const auto& a, const auto& b) { return a.label < b.label; });
  return items;
}

Value Markdown(llvm::StringRef source, bool is_plain) {
  return Object{{"kind", is_plain ? "plaintext" : "markdown"},
                {"value", llvm::json::fixUTF8(source)}};
}

}  // namespace

std::optional<Server::View> Server::ViewAt(const PositionParams& params, bool current) {
  View view;
  view.document = documents_.Find(params.uri);
  if (view.document == nullptr) return std::nullopt;
  const CheckedPtr checked = documents_.LastChecked(params.uri, current, kPatience);
  if (checked == nullptr) return std::nullopt;
  view.offset = view.document->lines.OffsetOf(ToLineColumn(params.position));
  const llvm::StringRef contents = view.document->source->text();
  auto look = [&](const std::shared_ptr<const SourceAnalysis>& analysis) {
    const OffsetMap map(contents, analysis->file()->text());
    const std::optional<uint32_t> mapped = map.Map(view.offset);
    view.analysis = analysis;
    view.is_known = mapped && !analysis->IsBroken(*mapped);
    view.analyzed = mapped.value_or(map.Nearest(view.offset));
  };
  look(checked->analysis);
  // Where the current source has a syntax error, the last one without any may know more.
  if (!view.is_known && checked->last_good != nullptr) look(checked->last_good);
  return view;
}

void Server::OnHover(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, false);
  if (!view || !view->is_known) return reply(nullptr);
  const std::optional<HoverContent> hover = view->analysis->Hover(view->analyzed);
  if (!hover) return reply(nullptr);
  FileTable files = FilesOf(*view);
  reply(Object{{"contents", Markdown(hover->markdown, client_.plain_hover)},
               {"range", files.RangeOf(*view->analysis->file(), hover->range)}});
}

void Server::OnInlayHint(const RangeParams& params, Reply reply) {
  PositionParams start;
  start.uri = params.uri;
  std::optional<View> view = ViewAt(start, false);
  if (!view) return reply(Array());
  const CheckedPtr checked = documents_.LastChecked(params.uri, false, kPatience);
  const SourceRange visible = FromRange(view->document->lines, params.range);
  const llvm::StringRef contents = view->document->source->text();
  Array hints;
  llvm::DenseSet<uint32_t> shown;
  auto add = [&](const SourceAnalysis& analysis) {
    const OffsetMap map(analysis.file()->text(), contents);
    for (const TypeHint& hint : analysis.TypeHints({0, UINT32_MAX})) {
      const std::optional<uint32_t> offset = map.Map(hint.offset);
      if (!offset || *offset < visible.begin || *offset > visible.end) continue;
      if (!shown.insert(*offset).second) continue;
      const Position position = ToPosition(view->document->lines.PositionOf(*offset));
      hints.push_back(Object{{"position", position},
                             {"label", llvm::json::fixUTF8(hint.label)},
                             {"kind", 1},
                             {"paddingLeft", false}});
    }
  };
  add(*checked->analysis);
  // While a statement has a syntax error, the types of values that depend on it are unknown.
  if (checked->analysis->has_broken_statements() && checked->last_good != nullptr)
    add(*checked->last_good);
  reply(std::move(hints));
}

void Server::OnDefinition(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, true);
  if (!view || !view->is_known) return reply(nullptr);
  FileTable files = FilesOf(*view);
  Array locations;
  for (const FileRange& range : view->analysis->Definitions(view->analyzed))
    // A standard layer has no URI if no file can be written.
    if (!files.UriOf(*range.file).empty()) locations.push_back(ToJson(range, files));
  reply(std::move(locations));
}

std::vector<NameUse> Server::UsesOf(const View& view) {
  const std::shared_ptr<const SourceFile>& file = view.analysis->file();
  std::vector<NameUse> uses = view.analysis->Uses(*file, view.analyzed);
  if (uses.empty()) return uses;
  // Other open documents may import the file that defines the name.
  const NameUse first = uses.front();
  for (const DocumentPtr& other : documents_.All()) {
    if (other->uri == view.document->uri) continue;
    const CheckedPtr checked =
        documents_.LastChecked(other->uri, false, std::chrono::milliseconds(0));
    if (checked == nullptr) continue;
    const auto same = checked->analysis->FindFile(first.file->name());
    if (same == nullptr || same->text() != first.file->text()) continue;
    for (NameUse& use : checked->analysis->Uses(*same, first.range.begin)) {
      const bool is_known = llvm::any_of(uses, [&](const NameUse& known) {
        return known.file->name() == use.file->name() && known.range == use.range;
      });
      if (!is_known) uses.push_back(std::move(use));
    }
  }
  return uses;
}

void Server::OnReferences(const ReferenceParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, true);
  if (!view || !view->is_known) return reply(nullptr);
  FileTable files = FilesOf(*view);
  const std::vector<NameUse> uses = UsesOf(*view);
  Array locations;
  locations.reserve(uses.size());
  for (const NameUse& use : uses)
    if (params.include_declaration || !use.is_definition) locations.push_back(ToJson(use, files));
  reply(std::move(locations));
}

void Server::OnHighlight(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, false);
  if (!view || !view->is_known) return reply(nullptr);
  FileTable files = FilesOf(*view);
  Array highlights;
  const std::shared_ptr<const SourceFile>& file = view->analysis->file();
  for (const NameUse& use : view->analysis->Uses(*file, view->analyzed)) {
    if (use.file != file) continue;
    highlights.push_back(
        Object{{"range", files.RangeOf(*file, use.range)}, {"kind", use.is_definition ? 3 : 2}});
  }
  reply(std::move(highlights));
}

void Server::OnCompletion(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, false);
  if (!view) return reply(nullptr);
  CompletionResult result =
      view->analysis->Complete(view->document->source, view->offset, view->analyzed);
  if (!result.file_endings.empty())
    result.items = FindFiles(*view->document, view->document->source->Text(result.replaced),
                             result.file_endings);
  const Range replaced = ToRange(view->document->lines, result.replaced);
  Array items;
  items.reserve(result.items.size());
  for (const auto& [index, item] : llvm::enumerate(result.items)) {
    Object object{{"label", item.label},
                  {"kind", ToCompletionKind(item.kind)},
                  {"sortText", SortKey(index)},
                  {"textEdit", Object{{"range", replaced}, {"newText", item.insert}}}};
    if (item.is_snippet && client_.snippets) {
      object["insertTextFormat"] = 2;
    } else if (item.is_snippet) {
      // Without snippets only the name is inserted.
      object["textEdit"] = Object{{"range", replaced}, {"newText", item.label}};
    }
    if (!item.detail.empty()) object["detail"] = llvm::json::fixUTF8(item.detail);
    if (!item.documentation.empty())
      object["documentation"] = Markdown(item.documentation, client_.plain_hover);
    items.push_back(std::move(object));
  }
  reply(Object{{"isIncomplete", false}, {"items", std::move(items)}});
}

void Server::OnSignatureHelp(const PositionParams& params, Reply reply) {
  const std::optional<View> view = ViewAt(params, false);
  if (!view) return reply(nullptr);
  const std::optional<CallSignature> found =
      view->analysis->SignatureAt(view->document->source, view->offset, view->analyzed);
  if (!found) return reply(nullptr);
  Array parameters;
  for (const CallSignature::Parameter& parameter : found->parameters) {
    Object object{{"documentation", Markdown(parameter.documentation, client_.plain_hover)}};
    if (client_.label_offsets) {
      const llvm::StringRef label = found->label;
      // These offsets are in UTF-16 in any case.
      const int64_t begin = CountColumns(label.take_front(parameter.range.begin), Encoding::kUtf16);
      const int64_t end = CountColumns(label.take_front(parameter.range.end), Encoding::kUtf16);
      object["label"] = Array{begin, end};
    } else {
      object["label"] = parameter.name;
    }
    parameters.push_back(std::move(object));
  }
  Object signature{{"label", found->label},
                   {"documentation", Markdown(found->documentation, client_.plain_hover)},
                   {"parameters", std::move(parameters)}};
  Object help{{"signatures", Array{std::move(signature)}}, {"activeSignature", 0}};
  // Beyond the last parameter, none is active.
  help["activeParameter"] =
      static_cast<int64_t>(found->active.value_or(static_cast<unsigned>(found->parameters.size())));
  reply(std::move(help));
}

}  // namespace pdl::lsp
