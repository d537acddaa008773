// pdl version: prints the version of the program and the devices of this machine.
#include "pdl/version.h"

#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl version", "",
    R"(Prints the version, the format of .pdlc files, and which devices can be used.
)",
    ""};

/// The widest vector instructions that this processor supports.
llvm::StringRef VectorInstructions() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "AVX-512";
  if (__builtin_cpu_supports("x86-64-v3")) return "AVX2";
  return "SSE4.2";
}

void PrintCuda(llvm::raw_ostream& os) {
  auto context = CreateDeviceContext({DeviceKind::kCUDA, 0});
  if (context) {
    os << "cuda        usable\n";
    return;
  }
  os << "cuda        not usable: " << llvm::toString(context.takeError()) << '\n';
}

}  // namespace

int VersionMain(Arguments arguments) {
  CommandLine line(kHelp);
  AddMessageOptions(line, /*diagnostics=*/false);
  auto rest = line.Parse(arguments);
  if (!rest) return Finish(rest.takeError());
  if (!*rest) return kSuccess;
  if (!(*rest)->empty()) return Finish(line.Wrong("does not take '" + (**rest)[0] + "'"));
  llvm::raw_ostream& os = llvm::outs();
  os << "pdl " << version_string << '\n';
  os << "pdlc format " << kFormatVersion << " (reads 1 to " << kFormatVersion << ")\n";
  os << "operators   " << GlobalRegistry().All().size() << '\n';
  os << "cpu         " << CPUContext().threads() << " threads, " << VectorInstructions() << '\n';
  PrintCuda(os);
  return kSuccess;
}

}  // namespace pdl
