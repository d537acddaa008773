#include "pdl/diagnostic.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace pdl {
namespace {

llvm::StringRef SeverityName(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

llvm::json::Object PositionJson(const SourceFile& file, uint32_t offset) {
  const SourcePosition position = file.PositionOf(offset);
  return llvm::json::Object{
      {"line", position.line}, {"column", position.column}, {"offset", offset}};
}

llvm::json::Object RangeJson(const SourceFile& file, SourceRange range) {
  return llvm::json::Object{{"start", PositionJson(file, range.begin)},
                            {"end", PositionJson(file, range.end)}};
}

}  // namespace

void Diagnostic::RenderJson(llvm::raw_ostream& os) const {
  llvm::json::Object object{{"severity", SeverityName(severity)},
                            {"code", CodeName(code)},
                            {"message", llvm::json::fixUTF8(message)}};
  if (file != nullptr) {
    object["file"] = llvm::json::fixUTF8(file->name());
    object["range"] = RangeJson(*file, primary);
    llvm::json::Array others;
    for (SourceRange range : secondary) others.push_back(RangeJson(*file, range));
    object["secondary"] = std::move(others);
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

Diagnostic& Diagnostics::Error(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                               std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.file = std::move(file);
  diagnostic.primary = range;
  const size_t before = kept_.size();
  Add(std::move(diagnostic));
  return kept_.size() > before ? kept_.back() : dropped_;
}

Diagnostic& Diagnostics::Warning(Code code, std::shared_ptr<const SourceFile> file,
                                 SourceRange range, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kWarning;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.file = std::move(file);
  diagnostic.primary = range;
  const size_t before = kept_.size();
  Add(std::move(diagnostic));
  return kept_.size() > before ? kept_.back() : dropped_;
}

void Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++num_errors_;
  if (kept_.size() < kMaxKept) {
    kept_.push_back(std::move(diagnostic));
  } else {
    dropped_ = Diagnostic();
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

void Diagnostics::Render(llvm::raw_ostream& os) const {
  for (const Diagnostic& diagnostic : kept_) diagnostic.Render(os);
  const size_t shown = static_cast<size_t>(
      llvm::count_if(kept_, [](const Diagnostic& d) { return d.severity == Severity::kError; }));
  if (num_errors_ > shown) os << "and " << num_errors_ - shown << " more errors\n";
}

void Diagnostics::RenderJson(llvm::raw_ostream& os) const {
  for (const Diagnostic& diagnostic : kept_) diagnostic.RenderJson(os);
}

}  // namespace pdl
