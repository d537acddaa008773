#include "ir/child_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

/// A file without a name, in memory.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("pdl", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (file_ >= 0) close(file_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int file() const { return file_; }

  /// Makes `content` what is read next. Returns whether that succeeded.
  bool Write(llvm::StringRef content) {
    llvm::raw_fd_ostream os(file_, /*shouldClose=*/false);
    os << content;
    os.flush();
    const bool failed = os.has_error();
    os.clear_error();
    return !failed && lseek(file_, 0, SEEK_SET) == 0;
  }

  std::string Content() const {
    const auto buffer = llvm::MemoryBuffer::getOpenFile(file_, "output", /*FileSize=*/-1);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

 private:
  int file_;
};

/// Whether a program ends with status 0 before `limit`, after which it is killed.
bool HasSucceeded(pid_t process, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kLongestInterval(20);
  std::chrono::milliseconds interval(1);
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(interval);
    interval = std::min(interval * 2, kLongestInterval);
  }
  kill(process, SIGKILL);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return false;
}

}  // namespace

pid_t StartProgram(llvm::ArrayRef<std::string> arguments, const ProgramFiles& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int sources[] = {files.input, files.output, files.errors};
  for (const int target : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (sources[target] >= 0) posix_spawn_file_actions_adddup2(&actions, sources[target], target);
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  pid_t process = -1;
  const int failed = posix_spawn(&process, list[0], &actions, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return process;
  errno = failed;
  return -1;
}

ProgramResult RunProgram(llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                         ProgramErrors errors, std::chrono::milliseconds limit) {
  ProgramResult result;
  MemoryFile input_file, output_file, discarded;
  if (discarded.file() < 0 || !input_file.Write(input)) return result;
  const MemoryFile& errors_file = errors == ProgramErrors::kInOutput ? output_file : discarded;
  const pid_t process =
      StartProgram(arguments, {input_file.file(), output_file.file(), errors_file.file()});
  if (process < 0) return result;
  result.has_started = true;
  result.has_succeeded = HasSucceeded(process, limit);
  result.output = output_file.Content();
  return result;
}

}  // namespace pdl
