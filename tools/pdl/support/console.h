#ifndef PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_
#define PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_

#include <string>

#include "llvm/Support/Error.h"
#include "pdl/compiler/diagnostic.h"

// What `pdl` says to people: on standard error. Results go to standard output.

namespace pdl {

/// The status with which a program ends.
enum ExitStatus : int {
  kWell = 0,
  kUserMistake = 1,
  kWrongCommandLine = 2,
  kDeviceFailed = 3,
};

/// How messages are printed from here on: "text", "json" or "sarif"; "auto", "always" or "never".
void SetDiagnosticsFormat(llvm::StringRef format);
void SetColor(llvm::StringRef color);
/// Whether results may have colours: as for messages, where standard output is a terminal.
bool OutputHasColor();

/// Prints diagnostics.
void PrintDiagnostics(const Diagnostics& diagnostics);
/// A diagnostic as text, with its place: equal texts say the same.
std::string TextOf(const Diagnostic& diagnostic);
/// Prints "warning: message [PDL0404]".
void PrintWarning(Code code, llvm::StringRef message);
/// Prints what was kept back for the end of the command: as SARIF, all messages make one document.
void PrintKeptDiagnostics();
/// Prints the Error, if it is one, and says with which status to end.
int Finish(llvm::Error error);

/// `text` with its lines broken between words, so that they fit; indented lines stay as they are.
std::string Wrap(llvm::StringRef text, unsigned width);
/// Columns of the terminal that standard output goes to; 80 where it goes elsewhere.
unsigned OutputWidth();

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_CONSOLE_H_
