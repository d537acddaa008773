// pdl explain: explains the code of a message.
#include <algorithm>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl explain", "[CODE]...",
    R"(Explains the code at the end of a message and how to fix the error, with a wrong and a
right example; without a CODE, lists all codes.
)",
    R"(pdl explain PDL0203
pdl explain
pdl explain --all --format=markdown > diagnostics.md
)"};

/// Escapes prose outside of `code` for Markdown.
std::string EscapeMarkdown(llvm::StringRef text) {
  std::string escaped;
  bool is_code = false;
  for (const char c : text) {
    if (c == '`') is_code = !is_code;
    if (!is_code && llvm::StringRef("\\*_<>[]|").contains(c)) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The info string of an example's fence, from its first line; see ir/explanations.def.
llvm::StringRef LanguageOf(llvm::StringRef line) {
  line = line.ltrim();
  if (line.starts_with("$ ")) return "console";
  if (line.starts_with("// ")) return "cpp";
  return line.starts_with("# ") ? "text" : "pdl";
}

/// Prints a section of the page; indented lines of the explanation are an example.
void PrintMarkdown(Code code) {
  llvm::outs() << "\n## " << CodeName(code) << ": " << EscapeMarkdown(CodeTitle(code)) << "\n\n";
  bool in_example = false;
  llvm::SmallVector<llvm::StringRef, 8> lines;
  CodeExplanation(code).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    const bool is_example = line.starts_with("  ");
    if (is_example != in_example)
      llvm::outs() << "```" << (is_example ? LanguageOf(line) : "") << '\n';
    in_example = is_example;
    llvm::outs() << (is_example ? line.drop_front(2).str() : Wrap(EscapeMarkdown(line), 100))
                 << '\n';
  }
  if (in_example) llvm::outs() << "```\n";
}

void PrintPage() {
  llvm::outs()
      << "# Diagnostics\n\n"
         "Every message about a network, a file or a run ends with a code, which keeps its "
         "meaning in all\nversions. Errors in the command line, and failures of a device or of "
         "another process, have none.\n`pdl explain CODE` prints these explanations. This page "
         "is made by `pdl explain --all\n--format=markdown`.\n\n";
  for (Code code : AllCodes()) {
    std::string anchor = CodeName(code) + "-" + CodeTitle(code).lower();
    llvm::erase_if(anchor,
                   [](char c) { return !llvm::isAlnum(c) && c != '-' && c != '_' && c != ' '; });
    std::replace(anchor.begin(), anchor.end(), ' ', '-');
    llvm::outs() << "- [" << CodeName(code) << "](#" << llvm::StringRef(anchor).lower()
                 << "): " << EscapeMarkdown(CodeTitle(code)) << '\n';
  }
  for (Code code : AllCodes()) PrintMarkdown(code);
}

llvm::Error Explain(llvm::ArrayRef<llvm::StringRef> names, bool all, bool markdown) {
  std::vector<Code> codes;
  if (all) codes = AllCodes().vec();
  for (llvm::StringRef name : names) {
    const std::optional<Code> code = CodeFromName(name);
    if (!code) {
      return llvm::createStringError("there is no code '" + name +
                                     "'; `pdl explain` lists all of them");
    }
    codes.push_back(*code);
  }
  if (all && markdown) {
    PrintPage();
    return llvm::Error::success();
  }
  if (codes.empty())
    for (Code code : AllCodes()) llvm::outs() << CodeName(code) << "  " << CodeTitle(code) << '\n';
  for (const Code& code : codes) {
    if (markdown) {
      PrintMarkdown(code);
      continue;
    }
    if (&code != &codes.front()) llvm::outs() << '\n';
    llvm::outs() << CodeName(code) << ": " << CodeTitle(code) << "\n\n"
                 << Wrap(CodeExplanation(code), OutputWidth()) << '\n';
  }
  return llvm::Error::success();
}

}  // namespace

int ExplainMain(Arguments arguments) {
  bool all = false;
  std::string format = "text";
  CommandLine line(kHelp);
  line.AddFlag("--all", "explain all codes", &all);
  line.AddChoice("--format", {"text", "markdown"}, "output format (default 'text')", &format);
  AddMessageOptions(line, /*diagnostics=*/false);
  auto names = line.Parse(arguments);
  if (!names) return Finish(names.takeError());
  if (!*names) return kSuccess;
  if ((*names)->empty() && !all && line.IsGiven("--format"))
    return Finish(line.Wrong("--format needs a CODE, or --all"));
  return Finish(Explain(**names, all, format == "markdown"));
}

}  // namespace pdl
