// The subcommands of `pdl`: each takes the arguments after its name and returns the exit status.
#ifndef TOOLS_PDL_COMMANDS_H_
#define TOOLS_PDL_COMMANDS_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

using Arguments = llvm::ArrayRef<llvm::StringRef>;

int RunMain(Arguments arguments);
int CheckMain(Arguments arguments);
int CompileMain(Arguments arguments);
int DumpMain(Arguments arguments);
int ImportMain(Arguments arguments);
int FmtMain(Arguments arguments);
int GradcheckMain(Arguments arguments);
int DiffMain(Arguments arguments);
int CompareMain(Arguments arguments);
int OpsMain(Arguments arguments);
int ExplainMain(Arguments arguments);
int ExportMain(Arguments arguments);
int ReplMain(Arguments arguments);
int TestMain(Arguments arguments);
int TrainMain(Arguments arguments);
int VersionMain(Arguments arguments);

}  // namespace pdl

#endif  // TOOLS_PDL_COMMANDS_H_
