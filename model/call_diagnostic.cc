// Errors of calls as diagnostics with lines of the source.
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/file_position.h"
#include "pdl/compiler/load.h"
#include "runtime/call_error.h"

namespace pdl {
namespace {

/// A position in a source, with the range of the name or the operator there.
struct PositionInSource {
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// The sources of an error, each made once.
class Sources {
 public:
  explicit Sources(const SourceTexts& texts) : texts_(texts) {}

  /// nullopt if the source is not known.
  std::optional<PositionInSource> Find(const FilePosition& position) {
    const auto text = texts_.find(position.file);
    if (text == texts_.end()) return std::nullopt;
    std::shared_ptr<const SourceFile>& file = files_[position.file];
    if (!file) file = std::make_shared<const SourceFile>(position.file.str(), *text->second);
    const std::optional<uint32_t> begin = file->OffsetOf({position.line, position.column});
    if (!begin) return std::nullopt;
    const auto is_of_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    const size_t name = file->text().drop_front(*begin).take_while(is_of_name).size();
    const uint32_t end = *begin + static_cast<uint32_t>(std::max<size_t>(1, name));
    if (end > file->text().size()) return std::nullopt;
    return PositionInSource{file, {*begin, end}};
  }

 private:
  const SourceTexts& texts_;
  llvm::StringMap<std::shared_ptr<const SourceFile>> files_;
};

void NoteCall(const FilePosition& position, Sources& sources, Diagnostic* diagnostic) {
  if (position.file == "...") {
    diagnostic->Note("in further calls");
    return;
  }
  const std::optional<PositionInSource> call = sources.Find(position);
  if (!call) {
    diagnostic->Note(FilePositionToString(position) + ": in this call");
    return;
  }
  const llvm::StringRef name = call->file->Text(call->range);
  const bool is_name = llvm::isAlpha(name.front()) || name.front() == '_';
  diagnostic->NoteAt(call->file, call->range,
                     is_name ? "in this call of '" + name.str() + "'" : "in this call");
}

template <class Base>
std::optional<Diagnostic> DiagnosticOfLocated(const Located<Base>& error, Code code) {
  Sources sources(error.texts());
  const llvm::SmallVector<FilePosition, 4> positions = FilePositionsOf(error.position());
  const std::optional<PositionInSource> innermost = sources.Find(positions.back());
  if (!innermost) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = error.rest().str();
  diagnostic.file = innermost->file;
  diagnostic.primary = innermost->range;
  for (const FilePosition& position :
       llvm::reverse(llvm::ArrayRef<FilePosition>(positions).drop_back()))
    NoteCall(position, sources, &diagnostic);
  return diagnostic;
}

}  // namespace

std::optional<Diagnostic> DiagnosticOf(const llvm::ErrorInfoBase& error) {
  if (error.isA<Located<UserError>>()) {
    const auto& located = static_cast<const Located<UserError>&>(error);
    return DiagnosticOfLocated(located, located.code());
  }
  if (error.isA<Located<DeviceError>>())
    return DiagnosticOfLocated(static_cast<const Located<DeviceError>&>(error), Code{});
  return std::nullopt;
}

}  // namespace pdl
