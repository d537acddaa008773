#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "ir/trace/recorder.h"

namespace pdl {
namespace {

/// How long a thread spins for work, or for the end of its helpers, before it sleeps.
constexpr std::chrono::microseconds kSpin(200);
/// After this time it offers its processor to other threads.
constexpr std::chrono::microseconds kYield(5);

/// Set while this thread runs a piece.
thread_local bool in_piece = false;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `done` or until kSpin has passed; returns whether it is done. `yields`: the thread
/// that this one waits for may need its processor.
template <typename Predicate>
bool SpinUntil(Predicate done, bool yields) {
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      Pause();
      if (done()) return true;
    }
    const auto passed = std::chrono::steady_clock::now() - start;
    if (passed > kSpin) return false;
    if (yields && passed > kYield) sched_yield();
  }
}

/// Consecutive pieces, taken from the front by the thread that they are meant for and from the back
/// by others.
class alignas(64) PieceRange {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void Set(uint32_t first, uint32_t last) {
    bounds_.store(Bounds(first, last), std::memory_order_relaxed);
  }
  uint32_t TakeFirst() {
    return Take([](uint32_t& first, uint32_t&) { return first++; });
  }
  uint32_t TakeLast() {
    return Take([](uint32_t&, uint32_t& last) { return --last; });
  }

 private:
  static uint64_t Bounds(uint32_t first, uint32_t last) { return uint64_t{first} << 32 | last; }

  template <typename Change>
  uint32_t Take(Change change) {
    uint64_t bounds = bounds_.load(std::memory_order_relaxed);
    for (;;) {
      auto first = static_cast<uint32_t>(bounds >> 32), last = static_cast<uint32_t>(bounds);
      if (first == last) return kNone;
      const uint32_t piece = change(first, last);
      if (bounds_.compare_exchange_weak(bounds, Bounds(first, last), std::memory_order_relaxed))
        return piece;
    }
  }

  /// The first piece, and the one after the last.
  std::atomic<uint64_t> bounds_;
};

/// The most ranges of a job; more threads share them.
constexpr int kMaxRanges = 16;

/// One call of RunPieces; allocated on its caller's stack.
struct Job {
  Job(llvm::function_ref<void(int64_t)> function, int64_t pieces, int threads)
      : f(function), range_count(std::min(threads, kMaxRanges)) {
    for (int64_t i = 0; i < range_count; ++i) {
      ranges[i].Set(static_cast<uint32_t>(pieces * i / range_count),
                    static_cast<uint32_t>(pieces * (i + 1) / range_count));
    }
  }

  llvm::function_ref<void(int64_t)> f;
  /// The caller begins with the first range.
  int range_count;
  PieceRange ranges[kMaxRanges];
  /// The number of helpers that may still join; guarded by the pool's mutex.
  int requested = 0;
  /// The number of active helpers. Decrementing it is the last access of a helper.
  std::atomic<int> helpers = 0;
  /// The exception of the first piece that failed. Written by the thread that sets `failed`, and
  /// read by the caller when no helper is active.
  std::atomic<bool> failed = false;
  std::exception_ptr failure = nullptr;

  /// Runs pieces of the range of `thread`, and then of others, until none is left. Thread 0 is the
  /// caller; helpers count from 1.
  void Work(int thread) noexcept {
    in_piece = true;
    try {
      const int own = thread == 0 ? 0 : 1 + (thread - 1) % (range_count - 1);
      uint32_t piece;
      while ((piece = ranges[own].TakeFirst()) != PieceRange::kNone) f(piece);
      for (int i = 1; i < range_count; ++i) {
        PieceRange& other = ranges[(own + i) % range_count];
        while ((piece = other.TakeLast()) != PieceRange::kNone) f(piece);
      }
    } catch (...) {
      for (int i = 0; i < range_count; ++i) ranges[i].Set(0, 0);  // no other piece is started
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    in_piece = false;
  }
};

/// Never deleted: threads may still use it while the process exits.
class ThreadPool {
 public:
  /// The pool of this process; null while it exits.
  static ThreadPool* Get();

  /// After all pieces have ended, rethrows the exception of a piece.
  void Run(Job& job, int helpers) {
    Compute(job, helpers);
    if (job.failure) std::rethrow_exception(job.failure);
  }

  /// Ends the helpers. Later and concurrent calls run on their callers.
  void Shutdown() {
    std::vector<std::thread> workers;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      workers.swap(workers_);
    }
    worker_wakes_.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  /// After a fork: the pool of the process before the one that this pool belonged to.
  ThreadPool* ancestor = nullptr;

 private:
  void Compute(Job& job, int helpers) {
    const bool may_spin = callers_.fetch_add(1, std::memory_order_relaxed) + 1 < processors_;
    Post(job, helpers);
    job.Work(0);
    Withdraw(job);
    callers_.fetch_sub(1, std::memory_order_relaxed);
    auto done = [&job] { return job.helpers.load() == 0; };
    if (may_spin ? SpinUntil(done, /*yields=*/true) : done()) return;
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_callers_;
    caller_wakes_.wait(lock, done);
    --waiting_callers_;
  }

  void Post(Job& job, int helpers) {
    int wakes;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      StartWorkers(helpers);
      job.requested = std::min<int>(helpers, static_cast<int>(workers_.size()));
      if (job.requested == 0) return;
      try {
        jobs_.push_back(&job);
      } catch (const std::bad_alloc&) {  // the caller runs all pieces
        job.requested = 0;
        return;
      }
      open_places_.fetch_add(job.requested, std::memory_order_relaxed);
      // Spinning workers check the jobs once more before they sleep.
      wakes = std::min(open_places_.load(std::memory_order_relaxed) - spinning_workers_.load(),
                       sleeping_workers_);
      if (wakes > 1 && wakes == sleeping_workers_) wakes = kAll;
    }
    if (wakes == kAll) return worker_wakes_.notify_all();
    for (; wakes > 0; --wakes) worker_wakes_.notify_one();
  }

  /// No helper joins the job afterwards.
  void Withdraw(Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (job.requested > 0) Remove(job);
  }

  /// The mutex must be held, and the job must still accept helpers.
  void Remove(Job& job) {
    open_places_.fetch_sub(job.requested, std::memory_order_relaxed);
    job.requested = 0;
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  }

  /// The mutex must be held. Starts fewer workers if the system has no more threads.
  void StartWorkers(int count) {
    if (stopping_ || static_cast<int>(workers_.size()) >= count) return;
    // Signals are handled by the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (static_cast<int>(workers_.size()) < count) {
        const int thread = static_cast<int>(workers_.size()) + 1;
        workers_.emplace_back([this, thread] { WorkerMain(thread); });
        pthread_setname_np(workers_.back().native_handle(), "pdl-worker");
      }
    } catch (const std::exception&) {  // no thread, or no memory for one
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// `thread` counts from 1.
  void WorkerMain(int thread) {
    while (Job* job = WaitForJob()) {
      job->Work(thread);
      if (job->helpers.fetch_sub(1) == 1) WakeCallers();
    }
  }

  /// Waits for a job and joins it; returns null when the pool shuts down.
  Job* WaitForJob() {
    // At least one processor is left for the callers.
    const bool spins = spinning_workers_.fetch_add(1) + 1 < processors_;
    if (spins) SpinUntil([this] { return open_places_.load(std::memory_order_relaxed) > 0; }, true);
    std::unique_lock<std::mutex> lock(mutex_);
    spinning_workers_.fetch_sub(1);
    while (jobs_.empty()) {
      if (stopping_) return nullptr;
      ++sleeping_workers_;
      worker_wakes_.wait(lock);
      --sleeping_workers_;
    }
    Job* job = jobs_.front();
    job->helpers.fetch_add(1);
    open_places_.fetch_sub(1, std::memory_order_relaxed);
    if (--job->requested == 0) jobs_.erase(jobs_.begin());
    return job;
  }

  /// A waiting caller increments waiting_callers_ before it last checks its helpers.
  void WakeCallers() {
    if (waiting_callers_.load() == 0) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    caller_wakes_.notify_all();
  }

  static constexpr int kAll = INT_MAX;

  const int processors_ = AvailableProcessors();
  std::mutex mutex_;
  std::condition_variable worker_wakes_;
  std::condition_variable caller_wakes_;
  std::vector<std::thread> workers_;
  /// Jobs that accept helpers, oldest first.
  std::vector<Job*> jobs_;
  /// The sum of `requested` of all jobs, for spinning workers.
  std::atomic<int> open_places_ = 0;
  std::atomic<int> callers_ = 0;
  std::atomic<int> waiting_callers_ = 0;
  /// Workers between two jobs that are not asleep yet.
  std::atomic<int> spinning_workers_ = 0;
  int sleeping_workers_ = 0;
  bool stopping_ = false;
};

/// Owns the pool and handles exit and fork.
struct PoolOfProcess {
  std::atomic<ThreadPool*> pool = nullptr;
  std::atomic<bool> exiting = false;
  /// The pools of ancestor processes after a fork, linked by `ThreadPool::ancestor`: their threads
  /// do not exist here, and their locks may be held forever.
  ThreadPool* abandoned = nullptr;

  PoolOfProcess();
  ~PoolOfProcess() {
    exiting = true;
    if (ThreadPool* running = pool.load()) running->Shutdown();
  }
};

PoolOfProcess pool_of_process;

PoolOfProcess::PoolOfProcess() {
  // Nothing may be allocated here: another thread may have held a lock of the allocator when this
  // process was forked, and only the allocator of the C library releases its locks then.
  pthread_atfork(nullptr, nullptr, [] {
    ThreadPool* old = pool_of_process.pool.exchange(nullptr);
    if (old == nullptr) return;
    old->ancestor = pool_of_process.abandoned;
    pool_of_process.abandoned = old;
  });
}

ThreadPool* ThreadPool::Get() {
  PoolOfProcess& process = pool_of_process;
  if (ThreadPool* running = process.pool.load(std::memory_order_acquire)) return running;
  if (process.exiting) return nullptr;
  auto* made = new ThreadPool;
  ThreadPool* expected = nullptr;
  if (process.pool.compare_exchange_strong(expected, made)) return made;
  delete made;
  return expected;
}

}  // namespace

void RunPieces(int64_t pieces, int threads, llvm::function_ref<void(int64_t piece)> f) {
  int helpers = static_cast<int>(std::min<int64_t>(threads, pieces)) - 1;
  ThreadPool* pool = helpers > 0 && !in_piece ? ThreadPool::Get() : nullptr;
  if (pool == nullptr) {
    for (int64_t piece = 0; piece < pieces; ++piece) f(piece);
    return;
  }
  const uint32_t call = ActiveTrace() == 0 ? 0 : traced_call;
  if (call == 0) [[likely]] {
    Job job(f, pieces, helpers + 1);
    return pool->Run(job, helpers);
  }
  const auto traced = [&](int64_t piece) {
    const uint64_t begin = TraceClock();
    f(piece);
    Record(TraceEvent::kPiece, call, begin, TraceClock());
  };
  Job job(traced, pieces, helpers + 1);
  pool->Run(job, helpers);
}

int AvailableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace pdl
