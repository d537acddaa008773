// The abilities of a sandboxed process. Each test is a process, since a sandbox is for life.
#include "tools/pdl/support/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

bool HasLandlock() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

/// Runs `attempt` in a sandboxed process. It returns 0 or an errno, which this returns, too.
int InSandbox(const SandboxFiles& files, const std::function<int()>& attempt) {
  const pid_t child = fork();
  if (child == 0) {
    if (llvm::Error error = EnterSandbox(files)) {
      llvm::errs() << llvm::toString(std::move(error)) << '\n';
      _exit(255);
    }
    _exit(attempt());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

int Open(const std::string& path, int flags) {
  errno = 0;
  open(path.c_str(), flags, 0600);
  return errno;
}

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasLandlock()) GTEST_SKIP() << "this kernel has no Landlock";
    std::filesystem::create_directories(given_ / "sub");
    WriteBytes(given_ / "x.npy", "x");
    WriteBytes(given_ / "sub/w", "w");
    WriteBytes(other_ / "secret", "s");
  }
  SandboxFiles Reads() const { return {{given_ / "x.npy"}, {}}; }

  TemporaryFolder given_, other_;
};

TEST_F(Sandbox, ReadsTheFolderOfAFile) {
  EXPECT_EQ(InSandbox(Reads(), [&] { return Open(given_ / "x.npy", O_RDONLY); }), 0);
  EXPECT_EQ(InSandbox(Reads(), [&] { return Open(given_ / "sub/w", O_RDONLY); }), 0);
}

TEST_F(Sandbox, ReadsNothingElse) {
  for (const std::string& path : {other_ / "secret", std::string("/etc/passwd"),
                                  given_ / "../../etc/passwd", std::string("/proc/self/maps")})
    EXPECT_EQ(InSandbox(Reads(), [&] { return Open(path, O_RDONLY); }), EACCES) << path;
  // A link in the folder.
  std::filesystem::create_symlink(other_ / "secret", given_ / "link");
  EXPECT_EQ(InSandbox(Reads(), [&] { return Open(given_ / "link", O_RDONLY); }), EACCES);
}

TEST_F(Sandbox, FollowsALinkThatIsGiven) {
  std::filesystem::create_symlink(other_ / "secret", given_ / "link");
  EXPECT_EQ(InSandbox({{given_ / "link"}, {}}, [&] { return Open(given_ / "link", O_RDONLY); }), 0);
}

TEST_F(Sandbox, WritesNothing) {
  for (const std::string& path : {given_ / "x.npy", given_ / "new"})
    EXPECT_EQ(InSandbox(Reads(), [&] { return Open(path, O_WRONLY | O_CREAT); }), EACCES) << path;
  EXPECT_EQ(InSandbox(Reads(), [&] { return unlink((given_ / "x.npy").c_str()) < 0 ? errno : 0; }),
            EACCES);
}

TEST_F(Sandbox, WritesTheFolderOfAnOutput) {
  const SandboxFiles files = {{given_ / "x.npy"}, {other_ / "out.pdlc"}};
  EXPECT_EQ(InSandbox(files,
                      [&] {
                        if (const int error = Open(other_ / "temporary", O_WRONLY | O_CREAT))
                          return error;
                        return rename((other_ / "temporary").c_str(),
                                      (other_ / "out.pdlc").c_str()) < 0
                                   ? errno
                                   : 0;
                      }),
            0);
  EXPECT_TRUE(std::filesystem::exists(other_ / "out.pdlc"));
  EXPECT_EQ(InSandbox(files, [&] { return Open(given_ / "new", O_WRONLY | O_CREAT); }), EACCES);
}

TEST_F(Sandbox, StartsNoProcess) {
  EXPECT_EQ(InSandbox(Reads(), [] { return fork() < 0 ? errno : 0; }), EPERM);
  EXPECT_EQ(InSandbox(Reads(), [] { return vfork() < 0 ? errno : 0; }), EPERM);
  EXPECT_EQ(InSandbox(Reads(),
                      [] {
                        execl("/bin/true", "true", nullptr);
                        return errno;
                      }),
            EPERM);
}

TEST_F(Sandbox, OpensNoConnection) {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK})
    EXPECT_EQ(InSandbox(Reads(), [&] { return socket(family, SOCK_STREAM, 0) < 0 ? errno : 0; }),
              EPERM);
}

TEST_F(Sandbox, SendsNoSignal) {
  const pid_t parent = getpid();
  EXPECT_EQ(InSandbox(Reads(), [&] { return kill(parent, 0) < 0 ? errno : 0; }), EPERM);
}

TEST_F(Sandbox, RaisesNoLimit) {
  EXPECT_EQ(InSandbox(Reads(),
                      [] {
                        const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
                        return setrlimit(RLIMIT_CORE, &all) < 0 ? errno : 0;
                      }),
            EPERM);
}

TEST_F(Sandbox, StartsThreadsAndAllocates) {
  EXPECT_EQ(InSandbox(Reads(),
                      [] {
                        int sum = 0;
                        std::thread([&] {
                          sum = static_cast<int>(std::string(1 << 22, 'x').size());
                        }).join();
                        return sum == 1 << 22 ? 0 : 1;
                      }),
            0);
}

// abort() ends the process, as outside.
TEST_F(Sandbox, Aborts) {
  const pid_t child = fork();
  if (child == 0) {
    llvm::consumeError(EnterSandbox(Reads()));
    signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

}  // namespace
}  // namespace pdl
