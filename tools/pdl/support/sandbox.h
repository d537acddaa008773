#ifndef PDL_TOOLS_PDL_SUPPORT_SANDBOX_H_
#define PDL_TOOLS_PDL_SUPPORT_SANDBOX_H_

#include <string>
#include <vector>

#include "llvm/Support/Error.h"

namespace pdl {

/// The files of a sandboxed process. Each path gives access to a folder and everything in it:
/// the path itself if it is a folder, else the folder that it is in. A file of the root folder
/// gives access only to itself.
struct SandboxFiles {
  /// Paths that do not exist are left out, unless they are patterns with '*'.
  std::vector<std::string> read;
  /// Below their folders, files and folders may be made, read, written, renamed and removed. If a
  /// folder does not exist, this holds for the nearest one above it that does.
  std::vector<std::string> write;
};

/// Restricts this process and its threads, for the rest of its life: it opens no file but those of
/// `files` (Landlock); it starts no process, opens no connection, sends no signal and changes no
/// setting of the system (seccomp: other system calls fail with EPERM); it dumps no core, has at
/// most 1,024 open files, and no more memory than the machine has, besides mapped files. Open
/// files, such as standard input, stay open. Must be called before threads are started.
///
/// A DeviceError if the kernel has no Landlock or no seccomp; the process may then be restricted
/// in part, and should end.
llvm::Error EnterSandbox(const SandboxFiles& files);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_SANDBOX_H_
