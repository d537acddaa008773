#include "runtime/distributed/sum_queue.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "pdl/compiler/trace.h"
#include "pdl/op/out_of_memory.h"

namespace pdl {

SumQueue::~SumQueue() {
  {
    std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  Join();
  if (error_) llvm::consumeError(std::move(*error_));
}

void SumQueue::Add(TreeSum own, const SumLayout& layout) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(own), &layout});
  }
  has_changed_.notify_one();
  if (!thread_.joinable() && communicator_.allows_any_thread()) StartThread();
}

void SumQueue::StartThread() {
  // Signals are handled by the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    communicator_.set_in_background(true);
    thread_ = std::thread([this] { ComputeSums(); });
    pthread_setname_np(thread_.native_handle(), "pdl-sums");
  } catch (const std::exception&) {  // no thread, or no memory for one: Finish computes the sums
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

llvm::Expected<std::vector<TreeValues>> SumQueue::Finish(TreeSum own, const SumLayout& layout) {
  // This thread has nothing else to do now.
  communicator_.set_in_background(false);
  Join();
  waiting_.push_back({std::move(own), &layout});
  if (!error_) ComputeSums();
  if (!error_) return std::move(results_);
  llvm::Error error = std::move(*error_);
  error_.reset();
  return error;
}

void SumQueue::ComputeSums() {
  for (;;) {
    std::unique_lock lock(mutex_);
    has_changed_.wait(lock, [&] { return !waiting_.empty() || is_complete_; });
    if (waiting_.empty() || is_cancelled_) return;
    Sum sum = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    // An exception would end the process.
    llvm::Error error =
        WithOutOfMemory("adding gradients", [&] { return Compute(std::move(sum)); });
    if (error) {
      error_.emplace(std::move(error));
      return;
    }
  }
}

llvm::Error SumQueue::Compute(Sum sum) {
  const TraceSpan span("sum over ranks");
  llvm::Expected<TreeValues> total =
      SumOverRanks(std::move(sum.own), leaves_, *sum.layout, communicator_, &note_);
  if (!total) return total.takeError();
  results_.push_back(std::move(*total));
  return llvm::Error::success();
}

void SumQueue::Join() {
  {
    std::lock_guard lock(mutex_);
    is_complete_ = true;
  }
  has_changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace pdl
