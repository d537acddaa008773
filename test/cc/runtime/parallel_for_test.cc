#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pdl/op/device_context.h"

namespace {
/// The number of allocations of this thread.
thread_local int allocations = 0;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pdl {
namespace {

using Piece = std::pair<int64_t, int64_t>;

std::vector<Piece> Pieces(int threads, int64_t n, int64_t grain) {
  CPUContext context(threads);
  std::mutex mutex;
  std::vector<Piece> pieces;
  context.ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
    std::lock_guard<std::mutex> lock(mutex);
    pieces.emplace_back(begin, end);
  });
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

/// The sum of i * i below n, in chunks of 100.
int64_t SumOfSquares(CPUContext& context, int64_t n) {
  std::atomic<int64_t> sum = 0;
  context.ParallelFor(n, 100, [&](int64_t begin, int64_t end) {
    int64_t part = 0;
    for (int64_t i = begin; i < end; ++i) part += i * i;
    sum += part;
  });
  return sum;
}

int64_t ExpectedSum(int64_t n) { return (n - 1) * n * (2 * n - 1) / 6; }

TEST(ParallelFor, PiecesCoverTheRangeAndDependOnNAndGrainAlone) {
  for (int64_t n : {1, 7, 100, 101, 1000, 123457, 10000000}) {
    for (int64_t grain : {0, 1, 16, 100, 4096}) {
      std::vector<Piece> pieces = Pieces(1, n, grain);
      ASSERT_FALSE(pieces.empty());
      EXPECT_EQ(pieces.front().first, 0);
      EXPECT_EQ(pieces.back().second, n);
      int64_t length = pieces[0].second;
      EXPECT_GE(length, std::min(n, grain));
      for (size_t i = 0; i + 1 < pieces.size(); ++i) {
        EXPECT_EQ(pieces[i].second, pieces[i + 1].first);
        EXPECT_EQ(pieces[i].second - pieces[i].first, length);
      }
      EXPECT_LE(pieces.back().second - pieces.back().first, length);
      EXPECT_LE(pieces.size(), 256u);
      for (int threads : {2, 3, 8}) EXPECT_EQ(Pieces(threads, n, grain), pieces);
    }
  }
}

TEST(ParallelFor, NothingAndOnePiece) {
  CPUContext context(4);
  int calls = 0;
  context.ParallelFor(0, 1, [&](int64_t, int64_t) { ++calls; });
  context.ParallelFor(-5, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
  std::thread::id runner;
  context.ParallelFor(100, 100, [&](int64_t, int64_t) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(ParallelFor, RunsOnSeveralThreads) {
  CPUContext context(2);
  std::atomic<int> together = 0;
  // Each of the two chunks waits for the other.
  context.ParallelFor(2, 1, [&](int64_t, int64_t) {
    ++together;
    while (together < 2) std::this_thread::yield();
  });
  EXPECT_EQ(together, 2);
}

TEST(ParallelFor, ThreadsBeginWithTheirOwnRange) {
  CPUContext context(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun = 0;
    std::mutex mutex;
    std::vector<int64_t> of_caller, of_helper;
    context.ParallelFor(8, 1, [&](int64_t begin, int64_t) {
      const bool is_caller = std::this_thread::get_id() == caller;
      {
        std::lock_guard<std::mutex> lock(mutex);
        (is_caller ? of_caller : of_helper).push_back(begin);
      }
      // The first piece of each thread waits for that of the other.
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(of_caller.front(), 0);
    EXPECT_EQ(of_helper.front(), 4);
    EXPECT_EQ(of_caller.size() + of_helper.size(), 8u);
  }
}

TEST(ParallelFor, AThreadWithoutWorkTakesTheLastPiecesOfOthers) {
  CPUContext context(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> done = 0;
  std::mutex mutex;
  std::vector<int64_t> of_helper;
  context.ParallelFor(8, 1, [&](int64_t begin, int64_t) {
    if (std::this_thread::get_id() == caller) {
      while (done < 7) std::this_thread::yield();
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      of_helper.push_back(begin);
    }
    ++done;
  });
  EXPECT_EQ(of_helper, (std::vector<int64_t>{4, 5, 6, 7, 3, 2, 1}));
}

TEST(ParallelFor, ThrowsInItsCallerWhatAPieceThrows) {
  CPUContext context(4);
  for (int64_t bad : {0, 500, 999}) {
    EXPECT_THROW(context.ParallelFor(1000, 1,
                                     [&](int64_t begin, int64_t end) {
                                       if (begin <= bad && bad < end) throw std::bad_alloc();
                                     }),
                 std::bad_alloc);
    // The pool still works.
    EXPECT_EQ(SumOfSquares(context, 1000), 332833500);
  }
  EXPECT_THROW(context.ParallelFor(1000, 1, [](int64_t, int64_t) { throw std::bad_alloc(); }),
               std::bad_alloc);
}

TEST(ParallelFor, NestedCallsRunInTheCallingThread) {
  CPUContext context(3);
  std::atomic<int64_t> count = 0;
  context.ParallelFor(64, 1, [&](int64_t, int64_t) {
    std::thread::id outer = std::this_thread::get_id();
    context.ParallelFor(50, 10, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      count += end - begin;
    });
  });
  EXPECT_EQ(count, 64 * 50);
}

TEST(ParallelFor, ManyThreadsCallAtOnce) {
  CPUContext context(4);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= 200; ++i) wrong += SumOfSquares(context, 37 * i) != ExpectedSum(37 * i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, ShortCallsInARow) {
  CPUContext context(8);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(SumOfSquares(context, 900), ExpectedSum(900));
}

TEST(ParallelFor, WorksInAForkedChild) {
#if defined(PDL_THREAD_SANITIZER)
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
#endif
  CPUContext context(4);
  EXPECT_EQ(SumOfSquares(context, 5000), ExpectedSum(5000));
  // Another thread uses the pool during the fork, so its lock may be held.
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) SumOfSquares(context, 1000);
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool right = SumOfSquares(context, 5000) == ExpectedSum(5000);
#if defined(__SANITIZE_ADDRESS__)
      // At exit the sanitizer searches for leaks, and for threads, which the child does not have.
      _exit(right ? 0 : 1);
#endif
      // A regular exit, which must not wait for the parent's threads.
      std::exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

// Another thread may hold a lock of the allocator during the fork, which a child could wait for
// forever: only the allocator of the C library is prepared for that.
TEST(ParallelFor, AForkAllocatesNothingInTheChild) {
  CPUContext context(4);
  EXPECT_EQ(SumOfSquares(context, 5000), ExpectedSum(5000));
  const auto probe = std::make_unique<std::vector<int>>(1);
  ASSERT_GT(allocations, 0) << "allocations are not counted";
  const int before = allocations;
  const pid_t child = fork();
  if (child == 0) _exit(allocations - before);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "allocations";
}

TEST(ParallelFor, UsesTheProcessorsThatThereAre) {
  EXPECT_GE(CPUContext().threads(), 1);
  EXPECT_EQ(CPUContext(3).threads(), 3);
  EXPECT_EQ(CPUContext(3).Fork()->device(), (Device{DeviceKind::kCPU, 0}));
}

}  // namespace
}  // namespace pdl
