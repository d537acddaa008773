#include "runtime/distributed/sum_queue.h"

#include <utility>

#include "pdl/compiler/trace.h"
#include "pdl/op/out_of_memory.h"
#include "runtime/distributed/background_thread.h"

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
  if (has_job_ || !communicator_.allows_any_thread()) return;
  communicator_.set_yields_processor(true);
  has_job_ = communicator_.background().Start([this] { ComputeSums(); });
}

llvm::Expected<std::vector<TreeValues>> SumQueue::Finish(TreeSum own, const SumLayout& layout,
                                                         double seconds) {
  // This thread has nothing else to do now.
  communicator_.set_yields_processor(false);
  Join();
  waiting_.push_back({std::move(own), &layout});
  note_.seconds = seconds;
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
      SumOverRanks(std::move(sum.own), leaves_, *sum.layout, communicator_, &note_, &seconds_);
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
  if (has_job_) communicator_.background().Wait();
  has_job_ = false;
  communicator_.set_yields_processor(false);
}

}  // namespace pdl
