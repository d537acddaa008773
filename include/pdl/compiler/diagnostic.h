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

/// A note states a fact that needs no action.
enum class Severity : uint8_t { kError, kWarning, kNote };
/// "error", "warning", "note".
PDL_API llvm::StringRef SeverityName(Severity severity);

/// An explanation of a diagnostic, printed below it as "   = text".
struct DiagnosticNote {
  std::string text;
  /// The file and range that the note refers to, if it has its own; the source line is then
  /// printed, too.
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// An edit that probably corrects an error.
struct PDL_API Suggestion {
  SourceRange range;  // in the file of the diagnostic
  std::string replacement;

  /// "change to 'relu'", "insert '()'", "remove ';'".
  std::string ToString(const SourceFile& file) const;
};

/// One error or warning and its position. `file` is null if it does not refer to a source.
struct PDL_API Diagnostic {
  Severity severity = Severity::kError;
  /// Code{} if the diagnostic has no code.
  Code code{};
  /// Lower case, without a final period.
  std::string message;
  std::shared_ptr<const SourceFile> file;
  /// Marked by the caret.
  SourceRange primary;
  /// Underlined with '~' if they are on the line of the caret.
  llvm::SmallVector<SourceRange, 2> secondary;
  std::vector<DiagnosticNote> notes;
  /// The edit that corrects the error, if it is one replacement and only one is likely: the name in
  /// "did you mean 'relu'?", or what the explanation of the code shows.
  std::optional<Suggestion> suggestion;

  Diagnostic& Underline(SourceRange range) { return secondary.push_back(range), *this; }
  Diagnostic& Note(std::string text) { return NoteAt(nullptr, {}, std::move(text)); }
  Diagnostic& NoteAt(std::shared_ptr<const SourceFile> where, SourceRange range, std::string text);
  Diagnostic& Suggest(SourceRange range, std::string replacement) {
    return suggestion = {range, std::move(replacement)}, *this;
  }

  /// Prints the diagnostic for people: "file:line:column: error: message [PDL0203]", the source
  /// line with a caret, and the notes. Invalid UTF-8 and control characters are replaced; long
  /// lines are truncated.
  void Render(llvm::raw_ostream& os) const;
  /// Prints the diagnostic as one JSON object on one line, with the fields "severity", "code",
  /// "message", "notes" and, if it has a position, "file", "range" and "secondary" (the underlined
  /// ranges), and, if there is one, "suggestion" with "range" and "replacement". Lines and columns
  /// count from 1, columns in characters; offsets count bytes from 0; a range ends one past its
  /// last character.
  void RenderJson(llvm::raw_ostream& os) const;
};

/// Collects the diagnostics of one compilation.
class PDL_API Diagnostics {
 public:
  /// The number of errors that are kept; further ones are only counted.
  static constexpr size_t kMaxKept = 1000;

  /// Adds an error. Underlines and notes can be added through the returned reference, which is
  /// valid until the next call.
  Diagnostic& Error(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                    std::string message);
  Diagnostic& Warning(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                      std::string message);
  Diagnostic& Note(Code code, std::shared_ptr<const SourceFile> file, SourceRange range,
                   std::string message);
  /// Adds a diagnostic. Names of more than 60 characters in its message are truncated.
  void Add(Diagnostic diagnostic);

  bool has_errors() const { return num_errors_ != 0; }
  /// The number of errors, kept or not.
  size_t num_errors() const { return num_errors_; }
  /// The number of errors that were counted but not kept.
  size_t num_dropped() const;
  /// The diagnostics that were kept; after Sort, in source order.
  llvm::ArrayRef<Diagnostic> all() const { return kept_; }

  /// Sorts by file (in order of first appearance) and position. The sort is stable.
  void Sort();
  /// Prints all diagnostics for people, and finally the number of those that were not kept.
  void Render(llvm::raw_ostream& os) const;
  /// Prints one JSON object per line.
  void RenderJson(llvm::raw_ostream& os) const;

 private:
  Diagnostic& AddNew(Severity severity, Code code, std::shared_ptr<const SourceFile> file,
                     SourceRange range, std::string message);

  std::vector<Diagnostic> kept_;
  size_t num_errors_ = 0;
  Diagnostic dropped_;
};

/// Prints diagnostics as a SARIF 2.1.0 log with one run, whose rules are all codes. File names
/// become URI references, relative if the name is; columns count characters. A note with a position
/// becomes a related location; other notes are appended to the message.
PDL_API void RenderSarif(llvm::ArrayRef<Diagnostic> diagnostics, llvm::raw_ostream& os);

}  // namespace pdl

#endif  // PDL_COMPILER_DIAGNOSTIC_H_
