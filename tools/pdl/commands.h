// The subcommands of `pdl`: each takes the arguments after its name and returns the exit status.
#ifndef TOOLS_PDL_COMMANDS_H_
#define TOOLS_PDL_COMMANDS_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

using Arguments = llvm::ArrayRef<llvm::StringRef>;

int BenchMain(Arguments arguments);
int BisectMain(Arguments arguments);
int RunMain(Arguments arguments);
int CheckMain(Arguments arguments);
int CompileMain(Arguments arguments);
int DumpMain(Arguments arguments);
int ImportMain(Arguments arguments);
int FmtMain(Arguments arguments);
int GradcheckMain(Arguments arguments);
int DiffMain(Arguments arguments);
int CompareMain(Arguments arguments);
int ProfileMain(Arguments arguments);
int OpsMain(Arguments arguments);
int ExplainMain(Arguments arguments);
int ExportMain(Arguments arguments);
int LspMain(Arguments arguments);
int MemoryMain(Arguments arguments);
int ReplMain(Arguments arguments);
int TestMain(Arguments arguments);
int TrainMain(Arguments arguments);
int VersionMain(Arguments arguments);
int ViewMain(Arguments arguments);

/// A subcommand, as listed by `pdl --help`.
struct Command {
  llvm::StringRef name;
  llvm::StringRef arguments;
  llvm::StringRef summary;
  int (*main)(Arguments);
};

/// All subcommands, in the order of the help.
inline constexpr Command kCommands[] = {
    {"run", "FILE --input x=x.npy", "run a network and print what it returns", RunMain},
    {"train", "FILE --data DATA", "train the parameters of a network on data", TrainMain},
    {"check", "FILE|FOLDER...", "report the errors of networks", CheckMain},
    {"compile", "FILE -o OUT.pdlc", "store a network for programs to load", CompileMain},
    {"import", "MODEL.onnx", "convert an ONNX model to source and weights", ImportMain},
    {"export", "FILE -o OUT.onnx", "write a network as an ONNX model", ExportMain},
    {"dump", "--emit=STAGE FILE", "print a network after a compiler stage", DumpMain},
    {"test", "FILE|FOLDER...", "run the tests in source files", TestMain},
    {"gradcheck", "FILE|FOLDER...", "compare gradient rules with finite differences",
     GradcheckMain},
    {"fmt", "FILE|FOLDER...", "format source files", FmtMain},
    {"diff", "A B", "show how two networks differ", DiffMain},
    {"compare", "A [B] -i x=x.npy", "show where the values of two networks diverge", CompareMain},
    {"bisect", "[GOOD] FILE -i x=x.npy", "find what makes a result of a network wrong", BisectMain},
    {"profile", "FILE --input x=x.npy", "show where the time of a network's runs is spent",
     ProfileMain},
    {"bench", "FILE", "measure how fast a network runs", BenchMain},
    {"memory", "FILE", "state the memory that a run needs, as a formula", MemoryMain},
    {"view", "FILE -o OUT.html", "show a network as a page in a browser", ViewMain},
    {"ops", "[NAME]", "list the operators, or document one", OpsMain},
    {"repl", "[FILE]", "run statements interactively", ReplMain},
    {"lsp", "", "serve an editor: errors, types and completion while typing", LspMain},
    {"explain", "CODE", "explain the code of a message", ExplainMain},
    {"version", "", "print version, formats and devices", VersionMain},
};

}  // namespace pdl

#endif  // TOOLS_PDL_COMMANDS_H_
