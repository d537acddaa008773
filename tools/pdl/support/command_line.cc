#include "tools/pdl/support/command_line.h"

#include <filesystem>

#include <algorithm>
#include <limits>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "tools/pdl/support/console.h"

namespace pdl {

namespace fs = std::filesystem;

char UsageError::ID = 0;

namespace {

bool AreSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
}

/// Whether `path` is the file `read`, or matches it if that is a pattern.
bool IsReadAs(llvm::StringRef path, llvm::StringRef read) {
  if (AreSameFile(path.str(), read.str())) return true;
  const llvm::StringRef pattern = llvm::sys::path::filename(read);
  if (!pattern.contains('*') || !MatchesPattern(llvm::sys::path::filename(path), pattern))
    return false;
  const auto folder_of = [](llvm::StringRef file) {
    const llvm::StringRef folder = llvm::sys::path::parent_path(file);
    return folder.empty() ? std::string(".") : folder.str();
  };
  std::error_code error;
  return fs::equivalent(folder_of(path), folder_of(read), error) &&
         fs::is_regular_file(path.str(), error);
}

}  // namespace

llvm::Expected<int64_t> ParseInt(llvm::StringRef text, int64_t min, int64_t max) {
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < min || value > max) {
    if (max == std::numeric_limits<int64_t>::max())
      return MakeUsageError("expected an integer of at least {0}, got '{1}'", min, text);
    return MakeUsageError("expected an integer from {0} to {1}, got '{2}'", min, max, text);
  }
  return value;
}

llvm::Expected<int64_t> ParseByteSize(llvm::StringRef text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const llvm::StringRef unit = text.substr(std::min(digits, text.size())).ltrim();
  const double factor = llvm::StringSwitch<double>(unit)
                            .Cases("", "B", 1)
                            .Cases("k", "kB", "KB", 1e3)
                            .Cases("M", "MB", 1e6)
                            .Cases("G", "GB", 1e9)
                            .Cases("T", "TB", 1e12)
                            .Cases("Ki", "KiB", 0x1p10)
                            .Cases("Mi", "MiB", 0x1p20)
                            .Cases("Gi", "GiB", 0x1p30)
                            .Cases("Ti", "TiB", 0x1p40)
                            .Default(0);
  double value = 0;
  if (factor == 0 || text.substr(0, digits).getAsDouble(value) || value * factor < 1 ||
      value * factor >= 0x1p62)
    return MakeUsageError("expected a size such as 512MiB or 4GB, got '{0}'", text);
  return static_cast<int64_t>(value * factor);
}

llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>> ParseAssignment(llvm::StringRef text) {
  const auto [name, value] = text.split('=');
  if (name.empty() || name.size() == text.size())
    return MakeUsageError("expected NAME=VALUE, got '{0}'", text);
  return std::make_pair(name, value);
}

void CommandLine::AddByteSize(llvm::StringRef names, llvm::StringRef help,
                              std::function<void(int64_t)> set) {
  AddValue(names, "SIZE", help, [set = std::move(set)](llvm::StringRef text) -> llvm::Error {
    auto bytes = ParseByteSize(text);
    if (!bytes) return bytes.takeError();
    set(*bytes);
    return llvm::Error::success();
  });
}

void CommandLine::AddValue(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help,
                           Setter setter) {
  Option option{section_, names.str(), {}, value.str(), help.str(), std::move(setter)};
  llvm::SmallVector<llvm::StringRef, 2> spellings;
  names.split(spellings, ", ");
  for (llvm::StringRef spelling : spellings) option.spellings.push_back(spelling.str());
  options_.push_back(std::move(option));
}

void CommandLine::AddValues(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help,
                            Setter setter) {
  AddValue(names, value, help, std::move(setter));
  options_.back().is_repeatable = true;
}

void CommandLine::AddFlag(llvm::StringRef names, llvm::StringRef help, bool* target) {
  AddValue(names, "", help, [target](llvm::StringRef) {
    *target = true;
    return llvm::Error::success();
  });
}

void CommandLine::AddString(llvm::StringRef names, llvm::StringRef value, llvm::StringRef help,
                            std::string* target) {
  AddValue(names, value, help, [target](llvm::StringRef text) {
    *target = text.str();
    return llvm::Error::success();
  });
}

void CommandLine::AddChoice(llvm::StringRef names, llvm::ArrayRef<llvm::StringRef> choices,
                            llvm::StringRef help, std::string* target) {
  AddValue(names, llvm::join(choices, "|"), help,
           [target, choices = choices.vec()](llvm::StringRef text) -> llvm::Error {
             if (!llvm::is_contained(choices, text)) {
               return MakeUsageError("expected {0}, got '{1}'{2}", llvm::join(choices, ", "), text,
                                     DidYouMean(text, choices));
             }
             *target = text.str();
             return llvm::Error::success();
           });
}

void CommandLine::AddSandbox(llvm::ArrayRef<llvm::StringRef> outputs, ArgumentUse use) {
  outputs_ = outputs.vec();
  argument_use_ = use;
  Section("Untrusted files");
  AddFlag("--sandbox",
          "read only the folders of the given files, write only those of given outputs, and start "
          "no process and no connection",
          &is_sandboxed_);
  AddFlag("--no-sandbox", "ignore --sandbox", &is_not_sandboxed_);
}

void CommandLine::AddPath(llvm::StringRef text, bool is_output) {
  std::vector<std::string>& paths = is_output ? files_.write : files_.read;
  // NAME=FILE, and the pattern of a file in several parts.
  for (llvm::StringRef path : {text, text.split('=').second})
    if (!path.empty() && path != "-") paths.push_back(path.str());
}

const CommandLine::Option* CommandLine::Find(llvm::StringRef spelling) const {
  for (const Option& option : options_)
    if (option.Is(spelling)) return &option;
  return nullptr;
}

llvm::Error CommandLine::ParseOption(llvm::ArrayRef<llvm::StringRef> arguments, size_t* index) {
  const llvm::StringRef argument = arguments[*index];
  llvm::StringRef spelling = argument, value;
  bool has_value = false;
  if (argument.starts_with("--")) {
    has_value = argument.contains('=');
    std::tie(spelling, value) = argument.split('=');
  } else if (argument.size() > 2) {
    // The value follows a short option directly: -oFILE.
    has_value = true;
    spelling = argument.take_front(2);
    value = argument.drop_front(2);
  }

  const Option* option = Find(spelling);
  if (option == nullptr) {
    // Without dashes, which would make any two options similar.
    std::vector<llvm::StringRef> all = {"help"};
    for (const Option& candidate : options_)
      for (llvm::StringRef known : candidate.spellings)
        if (known.consume_front("--")) all.push_back(known);
    llvm::StringRef word = spelling;
    const llvm::StringRef near =
        word.consume_front("--") ? NearestName(word, all) : llvm::StringRef();
    return MakeUsageError("there is no option '{0}'{1}",
                          argument.starts_with("--") ? spelling : argument,
                          near.empty() ? "" : "; did you mean '--" + near.str() + "'?");
  }
  if (option->value.empty() && has_value)
    return MakeUsageError("option {0} takes no value, got '{1}'", spelling, value);
  if (!option->value.empty() && !has_value) {
    const bool is_last = *index + 1 == arguments.size();
    if (is_last || (arguments[*index + 1].starts_with("--") && arguments[*index + 1].size() > 2))
      return MakeUsageError("option {0} requires a value: {1}", spelling, option->value);
    value = arguments[++*index];
  }
  // As of `--weights "$FILE"` where FILE is not set.
  if (!option->value.empty() && value.empty())
    return MakeUsageError("option {0} requires a value, {1}; the one given is empty", spelling,
                          option->value);
  if (!option->value.empty() && !option->is_repeatable &&
      llvm::is_contained(llvm::make_first_range(given_), option))
    return MakeUsageError("option {0} is given twice", spelling);
  given_.emplace_back(option, value);
  AddPath(value,
          llvm::any_of(outputs_, [&](llvm::StringRef output) { return option->Is(output); }));
  if (llvm::Error error = option->setter(value)) {
    return llvm::handleErrors(std::move(error), [&](const UsageError& e) {
      return MakeUsageError("option {0}: {1}", spelling, e.text());
    });
  }
  return llvm::Error::success();
}

bool CommandLine::IsGiven(llvm::StringRef option) const {
  if (option == "--sandbox") return is_sandboxed();
  return llvm::any_of(given_, [&](const auto& given) { return given.first->Is(option); });
}

llvm::Error CommandLine::CheckRequirements() const {
  for (const auto& [option, other] : requirements_)
    if (IsGiven(option) && !IsGiven(other)) return Wrong(option + " requires " + other);
  return llvm::Error::success();
}

bool CommandLine::Reads(llvm::StringRef path) const {
  return llvm::any_of(files_.read, [&](llvm::StringRef read) { return IsReadAs(path, read); });
}

llvm::Error CommandLine::CheckOutputs(llvm::ArrayRef<std::string> files) const {
  if (argument_use_ == ArgumentUse::kWrite) return llvm::Error::success();
  const auto is_replaceable = [&](llvm::StringRef file) {
    return !replaceable_.empty() &&
           (file.ends_with(replaceable_) || llvm::any_of(given_, [&](const auto& given) {
              return given.first->Is(replaceable_) && given.second == file;
            }));
  };
  for (llvm::StringRef output : files_.write)
    for (llvm::StringRef file : files)
      if (!is_replaceable(file) && IsReadAs(output, file))
        return Wrong("'" + (file.contains('*') ? output : file) +
                     "' cannot be an output: the command reads it");
  return llvm::Error::success();
}

void CommandLine::FindDiagnosticsFormat(llvm::ArrayRef<llvm::StringRef> arguments) const {
  constexpr llvm::StringRef kOption = "--diagnostics";
  if (Find(kOption) == nullptr) return;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const auto [spelling, value] = arguments[i].split('=');
    if (spelling != kOption) continue;
    const bool is_separate = spelling.size() == arguments[i].size();
    if (!is_separate || i + 1 < arguments.size())
      SetDiagnosticsFormat(is_separate ? arguments[i + 1] : value);
  }
}

llvm::Expected<std::optional<std::vector<llvm::StringRef>>> CommandLine::Parse(
    llvm::ArrayRef<llvm::StringRef> arguments) {
  FindDiagnosticsFormat(arguments);
  std::vector<llvm::StringRef> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      PrintHelp(llvm::outs());
      return std::nullopt;
    }
    if (arguments[i].size() < 2 || arguments[i][0] != '-') {
      rest.push_back(arguments[i]);
      continue;
    }
    if (llvm::Error error = ParseOption(arguments, &i)) {
      return llvm::handleErrors(std::move(error),
                                [&](const UsageError& e) { return Wrong(e.text()); });
    }
  }
  if (llvm::Error error = CheckRequirements()) return error;
  if (llvm::count(rest, "-") > 1) return Wrong("only one network can be read from standard input");
  for (llvm::StringRef argument : rest) AddPath(argument, argument_use_ == ArgumentUse::kWrite);
  for (const auto& [option, path] : default_outputs_)
    if (!IsGiven(option)) AddPath(path, /*is_output=*/true);
  if (llvm::Error error = CheckOutputs(files_.read)) return error;
  if (is_sandboxed())
    if (llvm::Error error = EnterSandbox(files_)) return error;
  return rest;
}

llvm::Expected<std::optional<llvm::StringRef>> CommandLine::ParseOneFile(
    llvm::ArrayRef<llvm::StringRef> arguments) {
  auto files = Parse(arguments);
  if (!files) return files.takeError();
  if (!*files) return std::nullopt;
  if ((*files)->empty()) return Wrong("no file is given (- is standard input)");
  if ((*files)->size() > 1) {
    const llvm::StringRef second = (**files)[1];
    const bool is_input = second.contains('=') && Find("--input") != nullptr;
    return Wrong("expected only one file, got '" + second + "' too" +
                 (is_input ? "; an input is given with --input " + second.str() : ""));
  }
  return (*files)->front();
}

llvm::Error CommandLine::Wrong(const llvm::Twine& message) const {
  auto error = std::make_unique<UsageError>(message.str());
  error->command = help_.command.str();
  return llvm::Error(std::move(error));
}

void CommandLine::PrintHelp(llvm::raw_ostream& os) const {
  os << "usage: " << help_.command << (help_.arguments.empty() ? "" : " ") << help_.arguments
     << "\n\n"
     << help_.description;
  if (!help_.examples.empty()) {
    os << "\nExamples:\n";
    llvm::SmallVector<llvm::StringRef, 8> lines;
    help_.examples.rtrim().split(lines, '\n');
    for (llvm::StringRef line : lines) os << (line.empty() ? "" : "  ") << line << '\n';
  }
  llvm::StringRef section;
  // The help of an option is printed next to its name if that fits, else below it.
  constexpr unsigned kColumn = 26;
  constexpr unsigned kWidth = 80;
  for (const Option& option : options_) {
    if (option.section != section) os << '\n' << (section = option.section) << ":\n";
    std::string left = "  " + option.names;
    if (!option.value.empty())
      left += (llvm::StringRef(option.names).contains("--") ? "=" : " ") + option.value;
    os << left;
    if (left.size() + 2 > kColumn) {
      os << '\n';
      left.clear();
    }
    llvm::SmallVector<llvm::StringRef, 4> lines;
    const std::string text = Wrap(option.help, kWidth - kColumn);
    llvm::StringRef(text).split(lines, '\n');
    for (llvm::StringRef line : lines) {
      os.indent(kColumn - static_cast<unsigned>(left.size())) << line << '\n';
      left.clear();
    }
  }
}

}  // namespace pdl
