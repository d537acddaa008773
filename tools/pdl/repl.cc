// pdl repl: an interactive session.
#include "pdl/compiler/repl.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "llvm/LineEditor/LineEditor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/repl_host.h"
#include "pdl/version.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/interrupt.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl repl", "[FILE] [OPTION]...",
    R"(Reads statements one by one, checks them, and shows each value with its type. FILE
(.pdl) is loaded first. Enter `:help` for the commands.

If standard input is not a terminal, no prompts are printed: every statement is
executed, and the exit status is 1 if one of them had an error.
)",
    R"(pdl repl
pdl repl digits.pdl
echo 'cos([0.0, 1.0])' | pdl repl
)"};

/// Formats replies for the terminal.
class Host : public NetworkReplHost {
 public:
  using NetworkReplHost::NetworkReplHost;

  void UseInterrupts(Interrupts* interrupts) {
    interrupts_ = interrupts;
    CancelBy(interrupts == nullptr ? nullptr : &interrupts->cancelled());
  }

  llvm::Expected<std::vector<PackedConstant>> Run(Graph graph,
                                                  const llvm::StringMap<PackedConstant>& inputs,
                                                  bool training) override {
    if (interrupts_ != nullptr) interrupts_->BeginRunning();
    auto values = NetworkReplHost::Run(std::move(graph), inputs, training);
    if (interrupts_ != nullptr) interrupts_->EndRunning();
    return values;
  }

  std::string Style(ReplStyle style, llvm::StringRef text) override {
    if (!OutputHasColor() || style == ReplStyle::kName) return text.str();
    const char* color = style == ReplStyle::kType ? "\033[36m" : "\033[2m";
    return color + text.str() + "\033[0m";
  }

  unsigned Width() override { return OutputWidth(); }

  bool HasFile(llvm::StringRef path) override {
    return isatty(STDIN_FILENO) && llvm::sys::fs::exists(path);
  }

 private:
  Interrupts* interrupts_ = nullptr;
};

/// Prints the reply of the session; returns true if there was no error.
bool Say(const ReplReply& reply) {
  llvm::outs() << reply.output;
  llvm::outs().flush();
  PrintDiagnostics(reply.diagnostics);
  if (!reply.error.empty()) Finish(llvm::createStringError(reply.error));
  return !reply.failed();
}

/// The path of the history file of sessions; empty if the home folder is unknown.
std::string HistoryPath() {
  llvm::SmallString<128> path;
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && llvm::sys::path::is_absolute(state)) {
    path = state;
  } else if (llvm::sys::path::home_directory(path)) {
    llvm::sys::path::append(path, ".local", "state");
  } else {
    return "";
  }
  llvm::sys::path::append(path, "pdl");
  if (llvm::sys::fs::create_directories(path)) return "";
  llvm::sys::path::append(path, "history");
  return path.str().str();
}

using Completion = llvm::LineEditor::Completion;

/// Whether another line can be read at once, as in pasted input.
bool LineWaits() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, /*timeout=*/0) > 0 && (input.revents & POLLIN) != 0;
}

/// Turns off the terminal's echo while it exists, except during line editing: input that is typed
/// or pasted during a run appears once, when it is read.
class QuietTerminal {
 public:
  QuietTerminal() {
    is_set_ = tcgetattr(STDIN_FILENO, &former_) == 0;
    if (is_set_)
      for (const int each : kEndSignals) std::signal(each, RestoreAndEnd);
    Renew();
  }
  /// The editor turns the echo on again after each line.
  void Renew() const {
    termios quiet = former_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_set_) tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
  }
  ~QuietTerminal() {
    if (!is_set_) return;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &former_);
    for (const int each : kEndSignals) std::signal(each, SIG_DFL);
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;

 private:
  static constexpr int kEndSignals[] = {SIGTERM, SIGHUP, SIGQUIT};

  /// A signal's handler: restores the settings, and ends the program as without a handler.
  static void RestoreAndEnd(int number) {
    tcsetattr(STDIN_FILENO, TCSANOW, &former_);
    std::signal(number, SIG_DFL);
    std::raise(number);
  }

  static termios former_;
  bool is_set_ = false;
};
termios QuietTerminal::former_ = {};

/// Executes statements from a terminal until the session ends.
void Converse(ReplSession& session, Host& host) {
  Interrupts interrupts;
  host.UseInterrupts(&interrupts);
  llvm::outs() << "pdl " << version_string << ": a statement shows what it defines; :help, :quit\n";
  llvm::outs().flush();
  std::string pending;
  const QuietTerminal quiet;  // before the editor reads the terminal's settings
  llvm::LineEditor editor("pdl", HistoryPath());
  editor.setListCompleter([&](llvm::StringRef line, size_t cursor) {
    const std::string text = pending + line.str();
    size_t begin = 0;
    cursor += pending.size();
    std::vector<Completion> completions;
    for (const ReplCompletion& each : session.Complete(text, cursor, &begin)) {
      completions.emplace_back(each.text.substr(cursor - begin), each.display);
    }
    return completions;
  });
  // A complete statement that waits for the next line, if that can be read already: pasted source
  // means the same as in a file, where `|>` on the next line continues the statement.
  std::string waiting;
  for (;;) {
    editor.setPrompt(pending.empty() ? "pdl> " : "...> ");
    interrupts.BeginReading();
    const std::optional<std::string> line = editor.readLine();
    quiet.Renew();
    if (interrupts.EndReading()) {
      llvm::outs() << "^C\n";
      llvm::outs().flush();
      pending.clear();
      waiting.clear();
      continue;
    }
    if (!waiting.empty()) {
      const llvm::StringRef next = line ? llvm::StringRef(*line).ltrim() : "";
      if (line && (next.empty() || next.starts_with("#") || next.starts_with("|>"))) {
        pending = std::exchange(waiting, "");
      } else {
        Say(session.Execute(std::exchange(waiting, "")));
      }
    }
    if (line) pending += *line + "\n";
    const bool is_command = llvm::StringRef(pending).ltrim().starts_with(":");
    if (line && !is_command && NeedsMoreLines(pending)) continue;
    if (line && !is_command && LineWaits()) {
      waiting = std::exchange(pending, "");
      continue;
    }
    const ReplReply reply = session.Execute(std::exchange(pending, ""));
    Say(reply);
    if (!line || reply.quit) break;
    editor.saveHistory();
  }
  host.UseInterrupts(nullptr);
}

/// Executes statements from a file or a pipe; returns false if one had an error.
bool ExecuteAll(ReplSession& session) {
  bool all_succeeded = true;
  std::string line, pending;
  for (bool is_open = true; is_open;) {
    is_open = static_cast<bool>(std::getline(std::cin, line));
    if (is_open) pending += line + "\n";
    const bool is_command = llvm::StringRef(pending).ltrim().starts_with(":");
    if (is_open && !is_command && NeedsMoreLines(pending)) continue;
    const ReplReply reply = session.Execute(std::exchange(pending, ""));
    all_succeeded &= Say(reply);
    if (reply.quit) break;
  }
  return all_succeeded;
}

}  // namespace

int ReplMain(Arguments arguments) {
  CommonOptions options;
  CommandLine line(kHelp);
  line.Section("The run");
  line.AddValues("--plugin", "FILE.so", "operators from a shared library; may be repeated",
                 [&](llvm::StringRef text) {
                   options.plugins.push_back(text.str());
                   return llvm::Error::success();
                 });
  AddRunOptions(line, &options);
  AddMessageOptions(line, /*diagnostics=*/false);
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if ((*files)->size() > 1) return Finish(line.Wrong("expected at most one file"));
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  auto context = OpenDevice(options);
  if (!context) return Finish(context.takeError());

  Host host({.seed = options.seed, .threads = options.threads, .training = options.training},
            std::move(*context));
  ReplSession session(host.Request(), host);
  // Quoted, since the name may begin or end with a space.
  if (!(*files)->empty() && !Say(session.Execute((":load \"" + (*files)->front() + "\"").str())))
    return kUserError;
  if (isatty(STDIN_FILENO)) {
    Converse(session, host);
    return kSuccess;
  }
  return ExecuteAll(session) ? kSuccess : kUserError;
}

}  // namespace pdl
