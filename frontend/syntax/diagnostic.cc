#include "pdl/compiler/diagnostic.h"

#include <algorithm>

#include "ir/error_text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace pdl {
namespace {

llvm::json::Object PositionJson(const SourceFile& file, uint32_t offset) {
  const SourcePosition position = file.PositionOf(offset);
  return llvm::json::Object{
      {"line", position.line}, {"column", position.column}, {"offset", offset}};
}

llvm::json::Object RangeJson(const SourceFile& file, SourceRange range) {
  return llvm::json::Object{{"start", PositionJson(file, range.begin)},
                            {"end", PositionJson(file, range.end)}};
}

// Truncates each word of the message that is too long to read.
std::string CutLongNames(std::string text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  std::string result;
  for (llvm::StringRef rest = text; !rest.empty();) {
    const llvm::StringRef word =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    result += word.take_front(kLongest);
    if (word.size() > kLongest) result += "...";
    rest = rest.drop_front(word.size());
    const llvm::StringRef between =
        rest.take_until([](char c) { return llvm::isAlnum(c) || c == '_'; });
    result += between;
    rest = rest.drop_front(between.size());
  }
  return result;
}

// Omits the middle of a message that is too long to read: a size may be a formula of any length.
std::string CutLongText(std::string text) {
  constexpr size_t kLongest = 4000, kBegin = 2500, kEnd = 1000;
  if (text.size() <= kLongest) return text;
  const auto continues = [&](size_t at) {  // a character of several bytes
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  size_t begin = kBegin, end = text.size() - kEnd;
  while (begin > 0 && continues(begin)) --begin;
  while (end < text.size() && continues(end)) ++end;
  return text.substr(0, begin) + " ... " + text.substr(end);
}

std::string Shortened(std::string text) { return CutLongText(CutLongNames(std::move(text))); }

}  // namespace

llvm::StringRef SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  llvm_unreachable("a severity");
}

std::string Suggestion::ToString(const SourceFile& file) const {
  const llvm::StringRef replaced = file.Text(range);
  if (replacement.empty()) return ("remove '" + replaced + "'").str();
  return (replaced.empty() ? "insert '" : "change to '") + replacement + "'";
}

Diagnostic& Diagnostic::NoteAt(std::shared_ptr<const SourceFile> where, SourceRange range,
                               std::string text) {
  notes.push_back({Shortened(WithoutCodes(std::move(text))), std::move(where), range});
  return *this;
}

void Diagnostic::RenderJson(llvm::raw_ostream& os) const {
  llvm::json::Object object{{"severity", SeverityName(severity)},
                            {"message", llvm::json::fixUTF8(message)}};
  if (code != Code{}) object["code"] = CodeName(code);
  if (file != nullptr) {
    object["file"] = llvm::json::fixUTF8(file->name());
    object["range"] = RangeJson(*file, primary);
    llvm::json::Array others;
    for (SourceRange range : secondary) others.push_back(RangeJson(*file, range));
    object["secondary"] = std::move(others);
    if (suggestion) {
      object["suggestion"] =
          llvm::json::Object{{"range", RangeJson(*file, suggestion->range)},
                             {"replacement", llvm::json::fixUTF8(suggestion->replacement)}};
    }
  }
  llvm::json::Array note_list;
  for (const DiagnosticNote& note : notes) {
    llvm::json::Object entry{{"message", llvm::json::fixUTF8(note.text)}};
    if (note.file != nullptr) {
      entry["file"] = llvm::json::fixUTF8(note.file->name());
      entry["range"] = RangeJson(*note.file, note.range);
    }
    note_list.push_back(std::move(entry));
  }
  object["notes"] = std::move(note_list);
  os << llvm::formatv("{0}", llvm::json::Value(std::move(object))) << '\n';
}

Diagnostic& Diagnostics::AddNew(Severity severity, Code code,
                                std::shared_ptr<const SourceFile> file, SourceRange range,
                                std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.file = std::move(file);
  diagnostic.primary = range;
  const size_t before = kept_.size();
  Add(std::move(diagnostic));
  return kept_.size() > before ? kept_.back() : dropped_;
}

Diagnostic& Diagnostics::Error(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                               std::string message) {
  return AddNew(Severity::kError, code, std::move(file), range, std::move(message));
}

Diagnostic& Diagnostics::Warning(Code code, std::shared_ptr<const SourceFile> file,
                                 SourceRange range, std::string message) {
  return AddNew(Severity::kWarning, code, std::move(file), range, std::move(message));
}

Diagnostic& Diagnostics::Note(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                              std::string message) {
  return AddNew(Severity::kNote, code, std::move(file), range, std::move(message));
}

void Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++num_errors_;
  if (diagnostic.code != Code{}) diagnostic.message = WithoutCodes(std::move(diagnostic.message));
  diagnostic.message = Shortened(std::move(diagnostic.message));
  if (kept_.size() < kMaxKept) {
    kept_.push_back(std::move(diagnostic));
  } else {
    dropped_ = std::move(diagnostic);
  }
}

void Diagnostics::Sort() {
  llvm::DenseMap<const SourceFile*, unsigned> order;
  for (const Diagnostic& d : kept_) order.try_emplace(d.file.get(), order.size());
  std::stable_sort(kept_.begin(), kept_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(order.lookup(a.file.get()), a.primary.begin) <
           std::pair(order.lookup(b.file.get()), b.primary.begin);
  });
}

size_t Diagnostics::num_dropped() const {
  return num_errors_ - static_cast<size_t>(llvm::count_if(kept_, [](const Diagnostic& d) {
           return d.severity == Severity::kError;
         }));
}

void Diagnostics::Render(llvm::raw_ostream& os) const {
  for (const Diagnostic& diagnostic : kept_) diagnostic.Render(os);
  if (num_dropped() > 0) os << "and " << num_dropped() << " more errors\n";
}

void Diagnostics::RenderJson(llvm::raw_ostream& os) const {
  for (const Diagnostic& diagnostic : kept_) diagnostic.RenderJson(os);
  if (num_dropped() == 0) return;
  Diagnostic rest;
  rest.message = llvm::formatv("and {0} more errors", num_dropped());
  rest.RenderJson(os);
}

}  // namespace pdl
