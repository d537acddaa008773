// pdl fmt: formats source files.
#include <algorithm>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/format.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/find_files.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl fmt", "FILE|FOLDER... [OPTION]...",
    R"(Formats source files (.pdl): two spaces per level, 100 columns, one blank line at
most. Comments, numbers and parentheses are kept as written. Files are changed in
place, and only if their format differs; for a folder, all .pdl files in it are
formatted. With -, standard input is formatted to standard output. A file with a syntax
error is not changed.
)",
    R"(pdl fmt model.pdl
pdl fmt models
pdl fmt --check .
pdl fmt - < model.pdl
)"};

llvm::Error FileError(const char* what, llvm::StringRef path, std::error_code code) {
  return MakeUserError(Code::kBadFile, "cannot {0} '{1}': {2}", what, path, code.message());
}

// Replaces the file atomically; a symbolic link is kept.
llvm::Error Overwrite(llvm::StringRef path, llvm::StringRef text) {
  llvm::SmallString<128> target;
  if (const std::error_code code = llvm::sys::fs::real_path(path, target))
    return FileError("read", path, code);
  llvm::sys::fs::file_status status;
  if (const std::error_code code = llvm::sys::fs::status(target, status))
    return FileError("read", path, code);
  llvm::Expected<llvm::sys::fs::TempFile> temporary =
      llvm::sys::fs::TempFile::create(target + ".%%%%%%.tmp", status.permissions());
  if (!temporary) return FileError("write", path, llvm::errorToErrorCode(temporary.takeError()));
  std::error_code code = llvm::sys::fs::setPermissions(temporary->FD, status.permissions());
  if (!code) {
    llvm::raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    os << text;
    os.flush();
    code = os.error();
    os.clear_error();
  }
  if (!code) {
    llvm::Error error = temporary->keep(target);
    if (!error) return llvm::Error::success();
    code = llvm::errorToErrorCode(std::move(error));
  }
  llvm::consumeError(temporary->discard());
  return FileError("write", path, code);
}

// Prints the lines between the common first and last lines.
void PrintChange(llvm::StringRef path, llvm::StringRef before, llvm::StringRef after) {
  constexpr size_t kMaxLines = 10;
  llvm::SmallVector<llvm::StringRef> old_lines, new_lines;
  before.split(old_lines, '\n');
  after.split(new_lines, '\n');
  size_t first = 0;
  while (first < old_lines.size() && first < new_lines.size() &&
         old_lines[first] == new_lines[first]) {
    ++first;
  }
  size_t last = 0;
  while (last < old_lines.size() - first && last < new_lines.size() - first &&
         old_lines[old_lines.size() - 1 - last] == new_lines[new_lines.size() - 1 - last]) {
    ++last;
  }
  auto print = [&](char sign, llvm::ArrayRef<llvm::StringRef> lines) {
    lines = lines.drop_front(first).drop_back(last);
    for (llvm::StringRef line : lines.take_front(kMaxLines)) llvm::outs() << sign << line << '\n';
    if (lines.size() > kMaxLines)
      llvm::outs() << sign << "… " << lines.size() - kMaxLines << " more lines\n";
  };
  llvm::outs() << path << ':' << first + 1 << ": would be formatted\n";
  print('-', old_lines);
  print('+', new_lines);
}

llvm::Error Format(llvm::StringRef path, bool check, bool* would_change) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  auto source = ToSource(*file);
  if (!source) return source.takeError();
  Diagnostics diagnostics;
  const std::optional<std::string> text = FormatText(*source, &diagnostics);
  if (!text) return llvm::make_error<SourceErrors>(std::move(diagnostics));
  const bool is_same = *text == (*source)->text();
  if (check) {
    if (is_same) return llvm::Error::success();
    *would_change = true;
    PrintChange(file->name, (*source)->text(), *text);
  } else if (path == "-") {
    llvm::outs() << *text;
  } else if (!is_same) {
    return Overwrite(path, *text);
  }
  return llvm::Error::success();
}

}  // namespace

int FmtMain(Arguments arguments) {
  bool check = false;
  CommandLine line(kHelp);
  line.AddFlag("--check",
               "change no file; show what would change, and exit with status 1 if anything would",
               &check);
  AddMessageOptions(line);
  line.AddSandbox({}, CommandLine::ArgumentUse::kWrite);
  auto paths = line.Parse(arguments);
  if (!paths) return Finish(paths.takeError());
  if (!*paths) return kSuccess;
  if ((*paths)->empty()) return Finish(line.Wrong("no file is given"));
  std::vector<std::string> files;
  int status = Finish(FindFiles(**paths, &files));
  bool would_change = false;
  for (const std::string& file : files)
    status = std::max(status, Finish(Format(file, check, &would_change)));
  return would_change ? std::max<int>(status, kUserError) : status;
}

}  // namespace pdl
