#ifndef PDL_TOOLS_PDL_SUPPORT_COMMAND_LINE_H_
#define PDL_TOOLS_PDL_SUPPORT_COMMAND_LINE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/pdl/support/sandbox.h"

namespace pdl {

/// An error in the command line: exit status 2.
class UsageError : public llvm::ErrorInfo<UsageError> {
 public:
  static char ID;
  explicit UsageError(std::string message) : message_(std::move(message)) {}
  const std::string& text() const { return message_; }
  /// The command whose help to refer to: "pdl run".
  std::string command = "pdl";
  void log(llvm::raw_ostream& os) const override { os << message_; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

 private:
  std::string message_;
};

template <typename... Args>
llvm::Error MakeUsageError(const char* format, Args&&... args) {
  return llvm::make_error<UsageError>(llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Parses all of `text` as a decimal integer from `min` to `max`.
llvm::Expected<int64_t> ParseInt(llvm::StringRef text, int64_t min, int64_t max);
/// Parses a size in bytes, such as "512MiB", "4GB" or "1000000".
llvm::Expected<int64_t> ParseByteSize(llvm::StringRef text);
/// Parses "NAME=VALUE"; the name is not empty.
llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>> ParseAssignment(llvm::StringRef text);

/// The options and the help of a subcommand.
class CommandLine {
 public:
  /// The parts of `--help` other than the options.
  struct Help {
    llvm::StringRef command;      // "pdl run"
    llvm::StringRef arguments;    // "FILE [OPTION]..."
    llvm::StringRef description;  // paragraphs, with line breaks
    llvm::StringRef examples;     // lines; those that begin with '#' are comments
  };
  /// Receives the value of an option; called for each occurrence, in the order of the command line.
  using Setter = std::function<llvm::Error(llvm::StringRef value)>;

  explicit CommandLine(Help help) : help_(help) {}

  /// Starts a section of options in the help.
  void Section(llvm::StringRef title) { section_ = title.str(); }
  /// `names` is "--verbose" or "-v, --verbose".
  void AddFlag(llvm::StringRef names, llvm::StringRef help, bool* target);
  /// An option that may be given once. `value` is the placeholder for the value in the help:
  /// "FILE".
  void AddValue(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help, Setter setter);
  /// An option that may be given several times.
  void AddValues(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help, Setter setter);
  /// Adds an option whose value ParseByteSize reads.
  void AddByteSize(llvm::StringRef names, llvm::StringRef help, std::function<void(int64_t)> set);
  void AddString(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help,
                 std::string* target);
  void AddChoice(llvm::StringRef names, llvm::ArrayRef<llvm::StringRef> choices,
                 llvm::StringRef help, std::string* target);

  /// Whether the command changes the files that are its arguments.
  enum class ArgumentUse : uint8_t { kRead, kWrite };
  /// Adds --sandbox and --no-sandbox. With --sandbox, Parse ends by EnterSandbox: the files are the
  /// arguments and the values of options, or what follows the '=' in them; those of `outputs`,
  /// options by their long names, may be written. Parse fails if one of these is a file that the
  /// command reads, unless AllowReplacing allows it.
  void AddSandbox(llvm::ArrayRef<llvm::StringRef> outputs = {},
                  ArgumentUse use = ArgumentUse::kRead);
  /// An output may replace what the command reads: files with this ending, such as ".onnx", or the
  /// value of this option, such as "--baseline".
  void AllowReplacing(llvm::StringRef replaceable) { replaceable_ = replaceable; }
  /// The command writes `path` if the output `option`, by its long name, is not given.
  void WritesByDefault(llvm::StringRef option, llvm::StringRef path) {
    default_outputs_.emplace_back(option, path);
  }
  /// Parse fails if `option` is given without `other`; both by their long names.
  void Require(llvm::StringRef option, llvm::StringRef other) {
    requirements_.emplace_back(option, other);
  }
  /// After Parse: whether an option was given, by its long name.
  bool IsGiven(llvm::StringRef option) const;
  /// After Parse: whether `path` is a file that the command line names as one to read, or that
  /// matches a pattern there, such as 'model-*.safetensors'.
  bool Reads(llvm::StringRef path) const;
  /// After Parse: fails if an output is one of `files`, which the command reads, too.
  llvm::Error CheckOutputs(llvm::ArrayRef<std::string> files) const;
  /// After Parse: whether it has entered the sandbox.
  bool is_sandboxed() const { return is_sandboxed_ && !is_not_sandboxed_; }

  /// Handles all options and returns the other arguments; prints the help and returns nullopt if it
  /// is asked for. "--name=value" and "--name value" are the same, "--" ends the options, and "-"
  /// is not an option, but standard input, which is read once. An Error is a UsageError, or the
  /// DeviceError of EnterSandbox.
  llvm::Expected<std::optional<std::vector<llvm::StringRef>>> Parse(
      llvm::ArrayRef<llvm::StringRef> arguments);

  /// The same for commands that take exactly one other argument, a file.
  llvm::Expected<std::optional<llvm::StringRef>> ParseOneFile(
      llvm::ArrayRef<llvm::StringRef> arguments);
  /// A UsageError of this command.
  llvm::Error Wrong(const llvm::Twine& message) const;

  void PrintHelp(llvm::raw_ostream& os) const;

 private:
  struct Option {
    std::string section;
    std::string names;  // as shown in the help
    std::vector<std::string> spellings;
    std::string value;  // empty: a flag
    std::string help;
    Setter setter;
    bool Is(llvm::StringRef spelling) const { return llvm::is_contained(spellings, spelling); }
    bool is_repeatable = false;
  };
  const Option* Find(llvm::StringRef spelling) const;
  llvm::Error ParseOption(llvm::ArrayRef<llvm::StringRef> arguments, size_t* index);
  llvm::Error CheckRequirements() const;
  /// Sets the format of messages before the options are parsed, so that their errors have it.
  void FindDiagnosticsFormat(llvm::ArrayRef<llvm::StringRef> arguments) const;
  /// Remembers a file that the command line may name.
  void AddPath(llvm::StringRef text, bool is_output);

  Help help_;
  std::string section_ = "Options";
  std::vector<Option> options_;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> requirements_;
  std::vector<std::pair<const Option*, llvm::StringRef>> given_;  // with their values
  bool is_sandboxed_ = false, is_not_sandboxed_ = false;
  std::vector<llvm::StringRef> outputs_;
  llvm::StringRef replaceable_;  // an ending or an option, or empty
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> default_outputs_;
  ArgumentUse argument_use_ = ArgumentUse::kRead;
  SandboxFiles files_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_COMMAND_LINE_H_
