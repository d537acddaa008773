// pdl explain: what a message's code means.
#include "llvm/Support/FormatVariadic.h"
#include "pdl/error.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/common_options.h"
#include "tools/pdl/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl explain", "[CODE]...",
    R"(Tells what the code at the end of a message means and how to mend the mistake;
without a CODE, lists all codes.
)",
    R"(pdl explain PDL0203
pdl explain
)"};

llvm::Error Explain(llvm::ArrayRef<llvm::StringRef> names) {
  if (names.empty())
    for (Code code : AllCodes()) llvm::outs() << CodeName(code) << "  " << CodeTitle(code) << '\n';
  for (llvm::StringRef name : names) {
    const std::optional<Code> code = CodeFromName(name);
    if (!code) {
      return llvm::createStringError("there is no code '" + name +
                                     "'; `pdl explain` lists all of them");
    }
    if (name != names.front()) llvm::outs() << '\n';
    llvm::outs() << CodeName(*code) << ": " << CodeTitle(*code) << "\n\n"
                 << Wrap(CodeExplanation(*code), OutputWidth()) << '\n';
  }
  return llvm::Error::success();
}

}  // namespace

int ExplainMain(Arguments arguments) {
  CommandLine line(kHelp);
  AddMessageOptions(line, /*diagnostics=*/false);
  auto names = line.Parse(arguments);
  if (!names) return Finish(names.takeError());
  if (!*names) return kWell;
  return Finish(Explain(**names));
}

}  // namespace pdl
