#include "ir/child_process.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace pdl {
namespace {

constexpr std::chrono::minutes kLimit(1);

ProgramResult Shell(const std::string& script, llvm::StringRef input = "",
                    ProgramErrors errors = ProgramErrors::kDiscard,
                    std::chrono::milliseconds limit = kLimit) {
  return RunProgram({"/bin/sh", "-c", script}, input, errors, limit);
}

TEST(ChildProcessTest, ReadsInputAndReturnsOutput) {
  // More than a pipe holds, so that a program that writes while it reads would block on one.
  const std::string input(1 << 20, 'x');
  const ProgramResult result = Shell("cat", input);
  EXPECT_TRUE(result.has_started);
  EXPECT_TRUE(result.has_succeeded);
  EXPECT_EQ(result.output, input);
  EXPECT_EQ(Shell("cat").output, "");
  EXPECT_TRUE(Shell("exit 0", input).has_succeeded);
}

TEST(ChildProcessTest, ErrorsAreDiscardedOrInTheOutput) {
  const char* script = "echo a; echo b >&2; echo c";
  EXPECT_EQ(Shell(script).output, "a\nc\n");
  EXPECT_EQ(Shell(script, "", ProgramErrors::kInOutput).output, "a\nb\nc\n");
}

TEST(ChildProcessTest, StatusAndSignal) {
  const ProgramResult failed = Shell("echo before; exit 3");
  EXPECT_TRUE(failed.has_started);
  EXPECT_FALSE(failed.has_succeeded);
  EXPECT_EQ(failed.output, "before\n");
  EXPECT_FALSE(Shell("kill -9 $$").has_succeeded);
}

TEST(ChildProcessTest, ProgramThatCannotBeStarted) {
  const ProgramResult result =
      RunProgram({"/nowhere/program"}, "", ProgramErrors::kDiscard, kLimit);
  EXPECT_FALSE(result.has_started);
  EXPECT_FALSE(result.has_succeeded);
  EXPECT_LT(StartProgram({"/nowhere/program"}, {}), 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST(ChildProcessTest, IsKilledAfterTheLimit) {
  const ProgramResult result =
      Shell("echo before; exec sleep 1000", "", ProgramErrors::kDiscard, std::chrono::seconds(1));
  EXPECT_TRUE(result.has_started);
  EXPECT_FALSE(result.has_succeeded);
  EXPECT_EQ(result.output, "before\n");
}

TEST(ChildProcessTest, ThreadsRunProgramsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { outputs[i] = Shell("cat", std::to_string(i)).output; });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(outputs[i], std::to_string(i));
}

}  // namespace
}  // namespace pdl
