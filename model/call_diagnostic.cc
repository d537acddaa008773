// Errors of calls as diagnostics with lines of the source.
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/place.h"
#include "runtime/call_error.h"

namespace pdl {
namespace {

/// A position in a source, with the range of the name or the operator there.
struct PlaceInSource {
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// The sources of an error, each made once.
class Sources {
 public:
  explicit Sources(const SourceTexts& texts) : texts_(texts) {}

  /// nullopt if the source is not known.
  std::optional<PlaceInSource> Find(const Place& place) {
    const auto text = texts_.find(place.file);
    if (text == texts_.end()) return std::nullopt;
    std::shared_ptr<const SourceFile>& file = files_[place.file];
    if (!file) file = std::make_shared<const SourceFile>(place.file.str(), *text->second);
    const std::optional<uint32_t> begin = file->OffsetOf({place.line, place.column});
    if (!begin) return std::nullopt;
    const auto is_of_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    const size_t name = file->text().drop_front(*begin).take_while(is_of_name).size();
    const auto size = static_cast<uint32_t>(std::max<size_t>(1, name));
    return PlaceInSource{file, {*begin, *begin + size}};
  }

 private:
  const SourceTexts& texts_;
  llvm::StringMap<std::shared_ptr<const SourceFile>> files_;
};

void NoteCall(const Place& place, Sources& sources, Diagnostic* diagnostic) {
  if (place.file == "...") {
    diagnostic->Note("in further calls");
    return;
  }
  const std::optional<PlaceInSource> call = sources.Find(place);
  if (!call) {
    diagnostic->Note(PlaceToString(place) + ": in this call");
    return;
  }
  const llvm::StringRef name = call->file->Text(call->range);
  diagnostic->NoteAt(call->file, call->range, "in this call of '" + name.str() + "'");
}

template <class Base>
std::optional<Diagnostic> DiagnosticOfLocated(const Located<Base>& error, Code code) {
  Sources sources(error.texts());
  const llvm::SmallVector<Place, 4> places = PlacesOf(error.position());
  const std::optional<PlaceInSource> innermost = sources.Find(places.back());
  if (!innermost) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = error.rest().str();
  diagnostic.file = innermost->file;
  diagnostic.primary = innermost->range;
  for (const Place& place : llvm::reverse(llvm::ArrayRef<Place>(places).drop_back()))
    NoteCall(place, sources, &diagnostic);
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
