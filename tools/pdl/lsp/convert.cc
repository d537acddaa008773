#include "tools/pdl/lsp/convert.h"

#include "tools/pdl/lsp/standard_files.h"
#include "tools/pdl/lsp/uri.h"

namespace pdl::lsp {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

std::string FileTable::UriOf(const SourceFile& file) const {
  if (&file == analyzed_.get()) return main_->uri;
  if (IsStandardSource(file)) return UriOfPath(WriteStandardFile(file));
  if (const DocumentPtr open = documents_.FindByPath(file.name())) return open->uri;
  return UriOfPath(file.name());
}

Range FileTable::RangeOf(const SourceFile& file, SourceRange range) {
  if (&file == analyzed_.get())
    return ToRange(main_->lines, {to_main_.Nearest(range.begin), to_main_.Nearest(range.end)});
  if (const DocumentPtr open = documents_.FindByPath(file.name());
      open != nullptr && open->source.get() == &file)
    return ToRange(open->lines, range);
  auto found = tables_.find(&file);
  if (found == tables_.end())
    found = tables_.emplace(&file, LineTable(file.text(), encoding_)).first;
  return ToRange(found->second, range);
}

Range ToRange(const LineTable& lines, SourceRange range) {
  return Range(ToPosition(lines.PositionOf(range.begin)), ToPosition(lines.PositionOf(range.end)));
}

SourceRange FromRange(const LineTable& lines, Range range) {
  const uint32_t begin = lines.OffsetOf(ToLineColumn(range.start));
  return {begin, std::max(begin, lines.OffsetOf(ToLineColumn(range.end)))};
}

DocumentPtr ApplyChange(const Document& document, const ContentChange& change, int64_t version,
                        Encoding encoding) {
  if (!change.range)
    return std::make_shared<const Document>(document.uri, version, change.replacement, encoding);
  const SourceRange range = FromRange(document.lines, *change.range);
  const llvm::StringRef before = document.source->text();
  std::string contents = document.has_byte_order_mark ? "\xEF\xBB\xBF" : "";
  contents += before.take_front(range.begin);
  contents += change.replacement;
  contents += before.drop_front(range.end);
  return std::make_shared<const Document>(document.uri, version, std::move(contents), encoding);
}

Value ToJson(const FileRange& location, FileTable& files) {
  return Object{{"uri", files.UriOf(*location.file)},
                {"range", files.RangeOf(*location.file, location.range)}};
}

static int SeverityNumber(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return 1;
    case Severity::kWarning:
      return 2;
    case Severity::kNote:
      return 3;
  }
  return 1;
}

Value ToJson(const Diagnostic& diagnostic, FileTable& files, const ClientFeatures& client) {
  std::string message = diagnostic.message;
  Array related;
  auto relate = [&](const SourceFile& file, SourceRange range, llvm::StringRef about) {
    related.push_back(Object{
        {"location", Object{{"uri", files.UriOf(file)}, {"range", files.RangeOf(file, range)}}},
        {"message", llvm::json::fixUTF8(about)}});
  };
  if (diagnostic.file != nullptr && client.related_information)
    for (SourceRange range : diagnostic.secondary) relate(*diagnostic.file, range, "this");
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (note.file != nullptr && client.related_information) {
      relate(*note.file, note.range, note.text);
    } else {
      message += "\n" + note.text;
    }
  }
  Object object{{"severity", SeverityNumber(diagnostic.severity)},
                {"source", "pdl"},
                {"message", llvm::json::fixUTF8(message)}};
  object["range"] =
      diagnostic.file == nullptr ? Range() : files.RangeOf(*diagnostic.file, diagnostic.primary);
  if (diagnostic.code != Code{}) object["code"] = CodeName(diagnostic.code);
  if (diagnostic.code == Code::kUnusedName) object["tags"] = Array{1};
  if (diagnostic.suggestion && diagnostic.file != nullptr) {
    // Clients send it back with the request for code actions.
    object["data"] =
        Object{{"range", files.RangeOf(*diagnostic.file, diagnostic.suggestion->range)},
               {"replacement", diagnostic.suggestion->replacement}};
  }
  if (!related.empty()) object["relatedInformation"] = std::move(related);
  return object;
}

}  // namespace pdl::lsp
