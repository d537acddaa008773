#include "tools/pdl/support/console.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/load.h"
#include "pdl/runtime/io.h"
#include "pdl/train/communicator.h"
#include "tools/pdl/support/command_line.h"

namespace pdl {
namespace {

enum class Format { kText, kJson, kSarif };

struct Settings {
  Format format = Format::kText;
  bool color = false;
  bool output_color = false;
  std::string prefix;
  std::vector<Diagnostic> kept;  // for SARIF, printed at the end
};
Settings& GetSettings() {
  static Settings settings;
  return settings;
}

void Put(llvm::raw_ostream& os, llvm::StringRef text, llvm::raw_ostream::Colors color) {
  os.changeColor(color, /*Bold=*/true) << text;
  os.resetColor();
}

/// Prints the line with its words "error" and "warning", or its carets, in color.
void PrintLine(llvm::raw_ostream& os, llvm::StringRef line) {
  const size_t bar = line.find(" | ");
  if (bar != llvm::StringRef::npos && line.take_front(bar).trim().empty()) {
    os << line.take_front(bar + 3);
    Put(os, line.drop_front(bar + 3), llvm::raw_ostream::GREEN);
    return;
  }
  if (line.starts_with("   = ")) {
    os << "\033[2m" << line;
    os.resetColor();
    return;
  }
  // A line of source begins with a space, a message does not.
  if (!line.starts_with(" ")) {
    for (llvm::StringRef word : {"error: ", "warning: "}) {
      const size_t at = line.find(word);
      if (at == llvm::StringRef::npos || (at != 0 && line[at - 1] != ' ')) continue;
      os.changeColor(llvm::raw_ostream::SAVEDCOLOR, /*Bold=*/true) << line.take_front(at);
      Put(os, word, word[0] == 'e' ? llvm::raw_ostream::RED : llvm::raw_ostream::MAGENTA);
      os << line.drop_front(at + word.size());
      return;
    }
  }
  os << line;
}

void PrintText(llvm::StringRef text) {
  llvm::raw_ostream& os = llvm::errs();
  const Settings& settings = GetSettings();
  if (!settings.color && settings.prefix.empty()) {
    os << text;
    return;
  }
  os.enable_colors(settings.color);
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    os << settings.prefix;
    settings.color ? PrintLine(os, line) : void(os << line);
    os << '\n';
    text = rest;
  }
}

void PrintDiagnostic(Diagnostic diagnostic) {
  Diagnostics diagnostics;
  diagnostics.Add(std::move(diagnostic));
  PrintDiagnostics(diagnostics);
}

/// Prints a message without a source location.
void PrintMessage(Severity severity, llvm::StringRef message, Code code = {}) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = code;
  diagnostic.message = message.str();
  PrintDiagnostic(std::move(diagnostic));
}

/// Prints an error with its line of the source if that is known.
void PrintError(const llvm::ErrorInfoBase& error, llvm::StringRef text, Code code = {}) {
  if (std::optional<Diagnostic> diagnostic = DiagnosticOf(error))
    return PrintDiagnostic(std::move(*diagnostic));
  PrintMessage(Severity::kError, text, code);
}

}  // namespace

void SetDiagnosticsFormat(llvm::StringRef format) {
  GetSettings().format = format == "json"    ? Format::kJson
                         : format == "sarif" ? Format::kSarif
                                             : Format::kText;
}

bool DiagnosticsAreText() { return GetSettings().format == Format::kText; }

void SetMessagePrefix(std::string prefix) { GetSettings().prefix = std::move(prefix); }

void SetColor(llvm::StringRef color) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_allowed = color == "auto" && (no_color == nullptr || *no_color == '\0');
  GetSettings().color =
      color == "always" || (is_allowed && llvm::sys::Process::StandardErrHasColors());
  GetSettings().output_color =
      color == "always" || (is_allowed && llvm::sys::Process::StandardOutHasColors());
}

bool OutputHasColor() { return GetSettings().output_color; }

void PrintDiagnostics(const Diagnostics& diagnostics) {
  Settings& settings = GetSettings();
  if (settings.format == Format::kSarif) {
    settings.kept.insert(settings.kept.end(), diagnostics.all().begin(), diagnostics.all().end());
    return;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (settings.format == Format::kJson) {
    diagnostics.RenderJson(os);
    llvm::errs() << text;
  } else {
    diagnostics.Render(os);
    PrintText(text);
  }
}

void PrintKeptDiagnostics() {
  Settings& settings = GetSettings();
  if (settings.format == Format::kSarif) RenderSarif(settings.kept, llvm::errs());
  settings.kept.clear();
}

std::string TextOf(const Diagnostic& diagnostic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostic.Render(os);
  return text;
}

void PrintWarning(Code code, llvm::StringRef message) {
  PrintMessage(Severity::kWarning, message, code);
}

void PrintNote(llvm::StringRef message) {
  DiagnosticsAreText() ? PrintText((message + "\n").str()) : PrintMessage(Severity::kNote, message);
}

int Finish(llvm::Error error) {
  int status = kSuccess;
  // The same error may occur several times.
  llvm::StringSet<> printed;
  llvm::handleAllErrors(
      std::move(error),
      [&](const SourceErrors& e) {
        PrintDiagnostics(e.diagnostics());
        status = std::max<int>(status, kUserError);
      },
      [&](const UsageError& e) {
        const std::string text = e.command + ": " + e.text();
        DiagnosticsAreText() ? PrintText(text + "\nsee: " + e.command + " --help\n")
                             : PrintMessage(Severity::kError, text);
        status = std::max<int>(status, kWrongCommandLine);
      },
      [&](const DeviceError& e) {
        PrintError(e, e.text());
        status = std::max<int>(status, kDeviceFailed);
      },
      [&](const RankError& e) {
        PrintMessage(Severity::kError, e.text());
        status = std::max<int>(status, kRankFailed);
      },
      [&](const UserError& e) {
        if (printed.insert(e.text()).second) PrintError(e, e.text(), e.code());
        status = std::max<int>(status, kUserError);
      },
      [&](const llvm::ErrorInfoBase& e) {
        PrintMessage(Severity::kError, e.message());
        status = std::max<int>(status, kUserError);
      });
  return status;
}

std::string Wrap(llvm::StringRef text, unsigned width) {
  std::string wrapped;
  llvm::SmallVector<llvm::StringRef, 16> lines, words;
  text.split(lines, '\n');
  for (const llvm::StringRef& line : lines) {
    if (&line != lines.begin()) wrapped += '\n';
    if (line.starts_with(" ")) {
      wrapped += line;
      continue;
    }
    words.clear();
    line.split(words, ' ');
    size_t column = 0;
    for (llvm::StringRef word : words) {
      const bool fits = column == 0 || column + 1 + word.size() <= width;
      if (column != 0) wrapped += fits ? ' ' : '\n';
      column = fits ? column + (column != 0) + word.size() : word.size();
      wrapped += word;
    }
  }
  return wrapped;
}

unsigned OutputWidth() {
  const unsigned columns = llvm::sys::Process::StandardOutColumns();
  return columns == 0 ? 80 : std::clamp(columns, 40U, 120U);
}

llvm::Error WriteResultFile(llvm::StringRef path, llvm::StringRef bytes) {
  if (path != "-") return WriteFileAtomically(path, bytes);
  llvm::outs() << bytes;
  return llvm::Error::success();
}

}  // namespace pdl
