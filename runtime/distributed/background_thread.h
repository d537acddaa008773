#ifndef PDL_RUNTIME_DISTRIBUTED_BACKGROUND_THREAD_H_
#define PDL_RUNTIME_DISTRIBUTED_BACKGROUND_THREAD_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pdl {

/// A thread that does one job after another. Used by one other thread.
class BackgroundThread {
 public:
  /// Waits for the job.
  ~BackgroundThread();

  /// Starts the job, which must not throw; the last one must have ended. Returns false if the
  /// system has no thread. Signals are not delivered to the thread.
  bool Start(std::function<void()> job);
  /// Returns when the job has ended.
  void Wait();

 private:
  void Main();

  std::mutex mutex_;
  std::condition_variable has_changed_;
  std::function<void()> job_;  // empty: none
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_BACKGROUND_THREAD_H_
