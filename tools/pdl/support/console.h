#ifndef PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_
#define PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_

#include <string>

#include "llvm/Support/Error.h"
#include "pdl/compiler/diagnostic.h"

// Output of `pdl` to users, on standard error. Results go to standard output.

namespace pdl {

/// Exit statuses of the program.
enum ExitStatus : int {
  kSuccess = 0,
  kUserError = 1,
  kWrongCommandLine = 2,
  kDeviceFailed = 3,
  /// Another process of a distributed run does not answer.
  kRankFailed = 4,
};

/// Sets the format of later messages: "text", "json" or "sarif"; "auto", "always" or "never".
void SetDiagnosticsFormat(llvm::StringRef format);
/// Whether messages are for people. If not, other lines would break JSON or SARIF.
bool DiagnosticsAreText();
void SetColor(llvm::StringRef color);
/// Sets a prefix of each line of messages that are not JSON or SARIF; empty at first.
void SetMessagePrefix(std::string prefix);
/// Whether results may have colors: the same as for messages, but for a terminal at standard
/// output.
bool OutputHasColor();

/// Prints diagnostics.
void PrintDiagnostics(const Diagnostics& diagnostics);
/// A diagnostic as a string, with its location; used to find duplicates.
std::string TextOf(const Diagnostic& diagnostic);
/// Prints "warning: message [PDL0404]".
void PrintWarning(Code code, llvm::StringRef message);
/// Prints a line about what the command does or did; in JSON and SARIF, a note.
void PrintNote(llvm::StringRef message);
/// Prints the diagnostics kept until the end of the command: in SARIF, all messages are one
/// document.
void PrintKeptDiagnostics();
/// Prints the Error, if there is one, and returns the exit status.
int Finish(llvm::Error error);

/// Writes a result to the file of an option, atomically; to standard output if `path` is "-".
llvm::Error WriteResultFile(llvm::StringRef path, llvm::StringRef bytes);

/// Breaks lines of `text` between words to fit `width`; indented lines are not changed.
std::string Wrap(llvm::StringRef text, unsigned width);
/// The number of columns of the terminal at standard output; 80 if that is not a terminal.
unsigned OutputWidth();

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_
