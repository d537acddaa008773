// The command line: finds the subcommand and runs it.
#include <unistd.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

struct Command {
  llvm::StringRef name;
  llvm::StringRef arguments;
  llvm::StringRef summary;
  int (*main)(Arguments);
};

constexpr Command kCommands[] = {
    {"run", "FILE --input x=x.npy", "run a network and print what it returns", RunMain},
    {"train", "FILE --data DATA", "learn the parameters of a network from data", TrainMain},
    {"check", "FILE...", "report the mistakes of networks", CheckMain},
    {"compile", "FILE -o OUT.pdlc", "store a network for programs to load", CompileMain},
    {"import", "MODEL.onnx", "make text and weights of an ONNX model", ImportMain},
    {"export", "FILE -o OUT.onnx", "write a network as an ONNX model", ExportMain},
    {"dump", "--emit=STAGE FILE", "print a network at a stage of its way", DumpMain},
    {"test", "FILE|FOLDER...", "run the tests in texts", TestMain},
    {"gradcheck", "FILE|FOLDER...", "compare gradient rules with differences", GradcheckMain},
    {"fmt", "FILE|FOLDER...", "lay out texts in one style", FmtMain},
    {"diff", "A B", "tell how two networks differ", DiffMain},
    {"compare", "A [B] --input x=x.npy", "tell where the numbers of two networks part",
     CompareMain},
    {"ops", "[NAME]", "list the operators, or document one", OpsMain},
    {"repl", "[FILE]", "try statements one by one", ReplMain},
    {"explain", "CODE", "tell what the code of a message means", ExplainMain},
    {"version", "", "print version, formats and devices", VersionMain},
};

void PrintHelp(llvm::raw_ostream& os) {
  os << "pdl: a small language for neural networks, its compiler and its runtime\n\n"
        "usage: pdl COMMAND [ARGUMENT]...\n\n"
        "Commands:\n";
  for (const Command& command : kCommands) {
    std::string left = ("pdl " + command.name + " " + command.arguments).str();
    left.resize(std::max<size_t>(left.size() + 2, 32), ' ');
    os << "  " << left << command.summary << '\n';
  }
  os << R"(
`pdl help COMMAND` tells more. FILE is text (.pdl), a compiled network (.pdlc), an
ONNX model (.onnx), or - for standard input.

A first network, in a file wave.pdl:

  input x: f32[N]              # fed when it runs; N may be any size
  y = cos(x, scale=5.0)        # `pdl ops cos` says what cos takes
  output y

and its run:

  pdl run wave.pdl --input x='[0.0, 1.0]'

Exit status:
  0  all went well
  1  a mistake in a file or in what was fed; the message says where
  2  a wrong command line
  3  the device failed: it is not there, or out of memory

Results go to standard output, everything else to standard error.
)";
}

int Dispatch(Arguments arguments) {
  if (arguments.empty()) {
    PrintHelp(llvm::errs());
    return kWrongCommandLine;
  }
  llvm::StringRef name = arguments.front();
  llvm::StringRef help = "--help";
  arguments = arguments.drop_front();
  if (name == "--version") name = "version";
  if (name == "--help" || name == "-h" || name == "help") {
    if (arguments.empty() || arguments.front().starts_with("-") || arguments.front() == "help") {
      PrintHelp(llvm::outs());
      return kWell;
    }
    name = arguments.front();
    arguments = help;
  }
  std::vector<llvm::StringRef> names = {"help"};
  for (const Command& command : kCommands) {
    if (command.name == name) return command.main(arguments);
    names.push_back(command.name);
  }
  if (name.ends_with(".pdl") || name.ends_with(".pdlc") || name.ends_with(".onnx"))
    return Finish(MakeUsageError("'{0}' is no command; did you mean 'pdl run {0}'?", name));
  return Finish(MakeUsageError("there is no command '{0}'{1}", name, DidYouMean(name, names)));
}

int Main(int argc, char** argv) {
  SetColor("auto");
  const std::vector<llvm::StringRef> arguments(argv + 1, argv + argc);
  int status = Dispatch(arguments);
  llvm::outs().flush();
  if (const std::error_code code = llvm::outs().error()) {
    llvm::outs().clear_error();
    const int failed =
        Finish(llvm::createStringError(code, "cannot write the results: " + code.message()));
    status = std::max(status, failed);
  }
  PrintKeptDiagnostics();
  return status;
}

}  // namespace
}  // namespace pdl

int main(int argc, char** argv) {
  // Written so that it takes no memory.
  const auto fail = [](const char* what) {
    for (const char* text : {"error: ", what, "\n"})
      if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    return static_cast<int>(pdl::kDeviceFailed);
  };
  try {
    return pdl::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::length_error&) {
    return fail("out of memory");
  } catch (const std::system_error& error) {  // no thread can be started
    return fail(error.what());
  }
}
