// pdl lsp: the language server for editors.
#include <unistd.h>

#include "llvm/Support/FileSystem.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/lsp/server.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl lsp", "[OPTION]...",
    R"(Serves an editor: errors while typing, inferred types, documentation, definitions,
completion, renaming, formatting. Speaks the language server protocol on standard input
and output; editors start it. docs/editors.md has the settings for common editors.
)",
    R"(pdl lsp
pdl lsp --plugin=./libmy_op.so
)"};

}  // namespace

int LspMain(Arguments arguments) {
  CommonOptions options;
  CommandLine line(kHelp);
  bool stdio = false;
  AddNetworkOptions(line, &options);
  line.AddFlag("--stdio", "has no effect: some editors always give it", &stdio);
  auto others = line.Parse(arguments);
  if (!others) return Finish(others.takeError());
  if (!*others) return kSuccess;
  if (!(*others)->empty()) return Finish(line.Wrong("the command takes no file"));
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  lsp::CheckOptions check;
  check.settings = options.settings;
  lsp::Server server(STDIN_FILENO, llvm::outs(), llvm::sys::fs::getMainExecutable(nullptr, nullptr),
                     std::move(check));
  return server.Run();
}

}  // namespace pdl
