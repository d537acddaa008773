// Module: frontend
#ifndef PDL_COMPILER_DIAGNOSTIC_H_
#define PDL_COMPILER_DIAGNOSTIC_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/source.h"
#include "pdl/op/error.h"

namespace pdl {

enum class Severity : uint8_t { kError, kWarning };

/// What explains a diagnostic; printed below it as "   = text".
struct DiagnosticNote {
  std::string text;
  /// Where it is about a place of its own: the line is then shown too.
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// One mistake, at its place; without a file, one that no text is to blame for.
struct PDL_API Diagnostic {
  Severity severity = Severity::kError;
  /// Code{}: the message has none.
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
  Diagnostic& Note(std::string text) { return NoteAt(nullptr, {}, std::move(text)); }
  Diagnostic& NoteAt(std::shared_ptr<const SourceFile> where, SourceRange range, std::string text);

  /// Prints it as text: "file:line:column: error: message [PDL0203]", the line with a caret, the
  /// notes. Bytes that are not UTF-8 and control characters are replaced; long lines are cut.
  void Render(llvm::raw_ostream& os) const;
  /// Prints it as one JSON object on one line, with the fields "severity", "code", "message",
  /// "notes", and where it has a place "file", "range" and "secondary" (the underlined ranges).
  /// Lines and columns count from 1, columns in characters; offsets count bytes from 0; a range
  /// ends behind its last character.
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
  /// Names in its message that are longer than 60 characters are cut.
  void Add(Diagnostic diagnostic);

  bool has_errors() const { return num_errors_ != 0; }
  /// All of them, kept or not.
  size_t num_errors() const { return num_errors_; }
  /// The errors that were counted but not kept.
  size_t num_dropped() const;
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

/// Prints diagnostics as a SARIF 2.1.0 log with one run, whose rules are all codes. Names of files
/// become URI references, relative where the name is; columns count characters. A note with a place
/// is a related location, one without follows the message.
PDL_API void RenderSarif(llvm::ArrayRef<Diagnostic> diagnostics, llvm::raw_ostream& os);

}  // namespace pdl

#endif  // PDL_COMPILER_DIAGNOSTIC_H_
