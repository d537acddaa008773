#include "runtime/distributed/background_thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

namespace pdl {

BackgroundThread::~BackgroundThread() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundThread::Start(std::function<void()> job) {
  if (!thread_.joinable()) {
    // Signals are handled by the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { Main(); });
      pthread_setname_np(thread_.native_handle(), "pdl-sums");
    } catch (const std::exception&) {  // no thread, or no memory for one
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!thread_.joinable()) return false;
  }
  {
    std::lock_guard lock(mutex_);
    job_ = std::move(job);
  }
  has_changed_.notify_all();
  return true;
}

void BackgroundThread::Wait() {
  std::unique_lock lock(mutex_);
  has_changed_.wait(lock, [&] { return !job_; });
}

void BackgroundThread::Main() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_changed_.wait(lock, [&] { return job_ || is_ending_; });
    if (!job_) return;
    lock.unlock();
    job_();
    lock.lock();
    job_ = nullptr;
    has_changed_.notify_all();
  }
}

}  // namespace pdl
