// Sums over ranks that are computed while the gradients of a step are.
#ifndef PDL_RUNTIME_DISTRIBUTED_SUM_QUEUE_H_
#define PDL_RUNTIME_DISTRIBUTED_SUM_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/train/communicator.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl {

/// The sums of one step, in the order in which they are added, which must be the same on all ranks.
/// They are computed by a thread of the queue, which uses the communicator until Finish returns; if
/// the communicator does not allow that, or the system has no thread, by Finish. Used by one
/// thread.
class SumQueue {
 public:
  /// `leaves` is the number of leaves of each sum, over all ranks; the note is exchanged with each
  /// sum. The communicator must outlive the queue.
  SumQueue(Communicator& communicator, int64_t leaves, SumNote note)
      : communicator_(communicator), leaves_(leaves), note_(note) {}
  /// Waits for the sum that is being computed; the others are not computed.
  ~SumQueue();

  /// Begins a sum as soon as the earlier ones are known; see SumOverRanks. `layout` must outlive
  /// the queue.
  void Add(TreeSum own, const SumLayout& layout);
  /// Adds the last sum, and returns all of them in order, or the first Error. This thread computes
  /// the last one, so that a queue of one sum has no thread. `seconds` is for the note of that one.
  llvm::Expected<std::vector<TreeValues>> Finish(TreeSum own, const SumLayout& layout,
                                                 double seconds = 0);
  /// After Finish: whether any rank was asked to stop, and the `seconds` of all ranks.
  bool stop() const { return note_.stop != 0; }
  llvm::ArrayRef<double> seconds() const { return seconds_; }

 private:
  struct Sum {
    TreeSum own;
    const SumLayout* layout;
  };
  void ComputeSums();
  llvm::Error Compute(Sum sum);
  void Join();

  Communicator& communicator_;
  const int64_t leaves_;

  // Of the thread, or of Finish after the thread has ended.
  SumNote note_;
  std::vector<double> seconds_;
  std::vector<TreeValues> results_;

  std::mutex mutex_;
  std::condition_variable has_changed_;
  std::deque<Sum> waiting_;
  bool is_complete_ = false;   // no sum will be added for the thread
  bool is_cancelled_ = false;  // no waiting sum will be computed
  std::optional<llvm::Error> error_;
  bool has_job_ = false;  // in the background
};

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_SUM_QUEUE_H_
