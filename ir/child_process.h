#ifndef PDL_IR_CHILD_PROCESS_H_
#define PDL_IR_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The open files that become a program's standard input, output and errors. They stay open in this
/// process, too. A negative one is inherited.
struct ProgramFiles {
  int input = -1;
  int output = -1;
  int errors = -1;
};

/// Starts the program whose path is `arguments[0]`, with the arguments after it and with the
/// environment of this process. Returns its process, which must be waited for, or -1 and errno if
/// it cannot be started.
///
/// This is posix_spawn, and not LLVM's Program.h: AddressSanitizer rejects the allocator of an LLVM
/// that was built without it.
PDL_API pid_t StartProgram(llvm::ArrayRef<std::string> arguments, const ProgramFiles& files);

struct ProgramResult {
  bool has_started = false;
  /// Whether it ended with status 0, and was not killed.
  bool has_succeeded = false;
  std::string output;
};

/// Where a program's standard errors are written.
enum class ProgramErrors : uint8_t { kDiscard, kInOutput };

/// Runs a program to its end with `input` as its standard input, and kills it after `limit`. Input
/// and output are files in memory, so a program that reads or writes neither does not block.
/// Threads may each run programs at the same time.
PDL_API ProgramResult RunProgram(llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                                 ProgramErrors errors, std::chrono::milliseconds limit);

}  // namespace pdl

#endif  // PDL_IR_CHILD_PROCESS_H_
