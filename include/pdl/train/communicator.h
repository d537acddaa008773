// Communication between the processes of a distributed training run.
#ifndef PDL_TRAIN_COMMUNICATOR_H_
#define PDL_TRAIN_COMMUNICATOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

class BackgroundThread;

/// A process of a distributed run does not answer, or the transport failed. Exit status 4.
class PDL_API RankError : public llvm::ErrorInfo<RankError> {
 public:
  static char ID;
  explicit RankError(std::string message) : message_(std::move(message)) {}
  const std::string& text() const { return message_; }
  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;

 private:
  std::string message_;
};

/// An error that another rank reports, so that it is printed once. It has no message of its own.
class PDL_API ReportedByOtherRank : public llvm::ErrorInfo<ReportedByOtherRank> {
 public:
  static char ID;
  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;
};

/// Bytes to send to a rank, and a buffer for bytes from a rank.
using SentBytes = llvm::ArrayRef<char>;
using ReceivedBytes = llvm::MutableArrayRef<char>;

/// An exchange of bytes that has begun. Deleting one that is not finished makes the communicator
/// unusable.
class PDL_API StartedExchange {
 public:
  virtual ~StartedExchange();
  /// Waits until all bytes are sent and received, or for `timeout` seconds. Adds the ranks that did
  /// not send or receive in time to `missing`, in which case the Error is replaced by one that
  /// names them.
  virtual llvm::Error Wait(double timeout, std::vector<int>* missing) = 0;
};

/// The processes of a run, which are called ranks and numbered from 0. All ranks make the same
/// calls in the same order; a call waits for the other ranks, at most `timeout` seconds, and
/// returns a RankError if the transport fails or another rank does not take part in time. The run
/// cannot continue after an Error. Only one thread may make a call at a time.
class PDL_API Communicator {
 public:
  virtual ~Communicator();
  int rank() const { return rank_; }
  /// The number of ranks, at least 1.
  int size() const { return size_; }

  /// Sends `send[r]` to each rank r, and fills `receive[r]` with its bytes. Both have an entry
  /// for each rank; the own entries are ignored. Sizes in bytes must agree on both sides; nothing
  /// is transferred if they are 0. The RankError names the ranks from which nothing came.
  llvm::Error Exchange(llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive);
  /// The same in two calls, of which only Finish waits. The bytes must not be used in between,
  /// except that they may be sent in several exchanges. Exchanges may be finished in any order.
  llvm::Expected<std::unique_ptr<StartedExchange>> Start(llvm::ArrayRef<SentBytes> send,
                                                         llvm::ArrayRef<ReceivedBytes> receive);
  llvm::Error Finish(std::unique_ptr<StartedExchange> exchange);
  /// Keeps memory as long as this object: messages of an exchange that has failed may still be
  /// written to it.
  void Keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }
  /// Returns the result of an exchange of these bytes; keeps them if it failed.
  [[nodiscard]] llvm::Error KeepIfFailed(llvm::Error error, std::shared_ptr<const void> memory) {
    if (error) Keep(std::move(memory));
    return error;
  }
  /// Fills `bytes` on all ranks with those of `root`; it has the same size everywhere. If it fails,
  /// messages may still be written to `bytes`, see Keep.
  llvm::Error Broadcast(int root, ReceivedBytes bytes);
  /// Returns the strings of all ranks, by rank. They may differ in length.
  llvm::Expected<std::vector<std::string>> AllGather(llvm::StringRef own);
  /// Returns when all ranks have made this call.
  llvm::Error Barrier();
  /// Compares facts, each a name and a value, that must be the same on all ranks; all have the same
  /// names. Returns the same UserError (kTrainingData) on all ranks if some differ, which names for
  /// each rank the first one that differs from rank 0's. Values have no line feeds.
  llvm::Error CheckAgreement(llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> facts);
  /// Ends the processes of all ranks, this one with the exit status `status`. Does not return.
  [[noreturn]] virtual void Abort(int status) = 0;

  /// Whether any thread may make calls; otherwise only the one that made the communicator may.
  bool allows_any_thread() const { return allows_any_thread_; }
  /// A thread for calls that are made while the program computes, which exists from its first use
  /// on.
  BackgroundThread& background();
  /// Bytes that this rank has sent to others so far.
  int64_t bytes_sent() const { return bytes_sent_; }
  /// The longest time that a call waits for other ranks, in seconds; 60 at first.
  double timeout() const { return timeout_; }
  void set_timeout(double seconds) { timeout_ = seconds; }
  /// Whether a call that waits gives up the processor, because other threads of this process
  /// compute. It then notices later that bytes have arrived. May be changed during a call.
  bool yields_processor() const { return yields_processor_.load(std::memory_order_relaxed); }
  void set_yields_processor(bool value) { yields_processor_ = value; }

 protected:
  Communicator(int rank, int size, bool allows_any_thread = true);
  /// Start, with valid arguments.
  virtual llvm::Expected<std::unique_ptr<StartedExchange>> StartTransfer(
      llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) = 0;

 private:
  const int rank_, size_;
  const bool allows_any_thread_;
  int64_t bytes_sent_ = 0;
  double timeout_ = 60;
  std::atomic<bool> yields_processor_ = false;
  std::vector<std::shared_ptr<const void>> kept_;
  std::unique_ptr<BackgroundThread> background_;
};

}  // namespace pdl

#endif  // PDL_TRAIN_COMMUNICATOR_H_
