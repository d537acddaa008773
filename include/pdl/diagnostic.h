// Room: frontend
#ifndef PDL_DIAGNOSTIC_H_
#define PDL_DIAGNOSTIC_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/error.h"
#include "pdl/export.h"
#include "pdl/source.h"

namespace pdl {

enum class Severity : uint8_t { kError, kWarning };

/// What explains a diagnostic; printed below it as "   = text".
struct DiagnosticNote {
  std::string text;
  /// Where it is about a place of its own: the line is then shown too.
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// One mistake, at its place.
struct PDL_API Diagnostic {
  Severity severity = Severity::kError;
  Code code{};
  /// Lower case, without a final period.
  std::string message;
  std::shared_ptr<const SourceFile> file;
  /// Gets the caret.
  SourceRange primary;
  /// Underlined with '~' where they lie on the caret's line.
  llvm::SmallVector<SourceRange, 2> secondary;
  std::vector<DiagnosticNote> notes;

  Diagnostic& Underline(SourceRange range) { return secondary.push_back(range), *this; }
  Diagnostic& Note(std::string text) {
    notes.push_back({std::move(text), nullptr, {}});
    return *this;
  }
  Diagnostic& NoteAt(std::shared_ptr<const SourceFile> where, SourceRange range, std::string text) {
    notes.push_back({std::move(text), std::move(where), range});
    return *this;
  }

  /// Prints it as text: "file:line:column: error: message [PDL0203]", the line with a caret, the
  /// notes. Bytes that are not UTF-8 and control characters are replaced; long lines are cut.
  void Render(llvm::raw_ostream& os) const;
  /// Prints it as one JSON object on one line.
  void RenderJson(llvm::raw_ostream& os) const;
};

/// Collects the diagnostics of one compilation.
class PDL_API Diagnostics {
 public:
  /// How many errors are kept; the rest is only counted.
  static constexpr size_t kMaxKept = 1000;

  /// Adds an error; the reference, good until the next call, takes underlines and notes.
  Diagnostic& Error(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                    std::string message);
  Diagnostic& Warning(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                      std::string message);
  void Add(Diagnostic diagnostic);

  bool has_errors() const { return num_errors_ != 0; }
  /// All of them, kept or not.
  size_t num_errors() const { return num_errors_; }
  /// The kept ones; after Sort in the order of the text.
  llvm::ArrayRef<Diagnostic> all() const { return kept_; }

  /// Orders by file (as first seen) and place; equal places keep their order.
  void Sort();
  /// Prints all as text, and last how many more there are.
  void Render(llvm::raw_ostream& os) const;
  /// Prints one JSON object a line.
  void RenderJson(llvm::raw_ostream& os) const;

 private:
  std::vector<Diagnostic> kept_;
  size_t num_errors_ = 0;
  Diagnostic dropped_;
};

}  // namespace pdl

#endif  // PDL_DIAGNOSTIC_H_
