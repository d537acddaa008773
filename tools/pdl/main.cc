// The command line: finds the subcommand and runs it.
#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

void PrintHelp(llvm::raw_ostream& os) {
  os << "pdl: a small language for neural networks, its compiler and its runtime\n\n"
        "usage: pdl COMMAND [ARGUMENT]...\n\n"
        "Commands:\n";
  for (const Command& command : kCommands) {
    std::string left = ("pdl " + command.name + " " + command.arguments).str();
    left.resize(std::max<size_t>(left.size() + 2, 36), ' ');
    os << "  " << left << command.summary << '\n';
  }
  os << R"(
`pdl help COMMAND` describes a command. FILE is source (.pdl) or - for standard input, and
for commands that run, convert or compare networks also a compiled network (.pdlc) or an
ONNX model (.onnx). Commands with the option --sandbox read an untrusted file in a process
that can reach nothing else.

A first network, in a file wave.pdl:

  input x: f32[N]              # fed at run time; N may be any size
  y = cos(x, scale=5.0)        # `pdl ops cos` describes cos
  output y

and how to run it:

  pdl run wave.pdl --input x='[0.0, 1.0]'

Exit status:
  0  success
  1  an error in a file or in a fed value; of diff, compare and bisect: a difference
  2  an error in the command line; of diff, compare and bisect: any error
  3  the device failed: it is not available, or out of memory
  4  another process of a distributed run does not answer

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
      return kSuccess;
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
    return Finish(MakeUsageError("'{0}' is not a command; did you mean 'pdl run {0}'?", name));
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
        Finish(MakeUserError(Code::kBadFile, "cannot write the results: {0}", code.message()));
    status = std::max(status, failed);
  }
  PrintKeptDiagnostics();
  // Messages that cannot be written are not errors of the command; at exit, LLVM would make them
  // so.
  llvm::errs().flush();
  llvm::errs().clear_error();
  return status;
}

/// Prints a message without allocating memory; returns the exit status.
int Fail(const char* what) {
  for (const char* text : {"error: ", what, "\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  return kDeviceFailed;
}

std::terminate_handler former_handler = nullptr;

/// Ends the process where a lack of memory cannot be an exception: in a destructor, or while a
/// large table of LLVM grows.
void OnTerminate() {
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
      _exit(Fail("out of memory"));
    } catch (...) {
    }
  }
  former_handler();
}

}  // namespace
}  // namespace pdl

int main(int argc, char** argv) {
  // Otherwise a file that is opened gets the number of a closed standard output, and its contents.
  if (llvm::sys::Process::FixupStandardFileDescriptors()) return pdl::kDeviceFailed;
  pdl::former_handler = std::set_terminate(pdl::OnTerminate);
  try {
    return pdl::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return pdl::Fail("out of memory");
  } catch (const std::length_error&) {
    return pdl::Fail("out of memory");
  } catch (const std::system_error& error) {  // no thread can be started
    return pdl::Fail(error.what());
  }
}
