// Ranks that are threads of one process.
#ifndef PDL_TEST_CC_TESTING_THREAD_COMMUNICATOR_H_
#define PDL_TEST_CC_TESTING_THREAD_COMMUNICATOR_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "pdl/train/communicator.h"

namespace pdl {

/// The bytes that have not been received, by sender, receiver and number of the exchange.
struct Mailboxes {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, uint64_t>, SentBytes> boxes;
};

/// Bytes are read when they are received, and received ones are overwritten when an exchange
/// begins, so that it is an error to use them before its end.
class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(int rank, int size, Mailboxes& mailboxes, bool allows_any_thread = true)
      : Communicator(rank, size, allows_any_thread), mailboxes_(mailboxes) {}
  [[noreturn]] void Abort(int status) override { std::_Exit(status); }

 private:
  class Messages : public StartedExchange {
   public:
    Messages(Mailboxes& mailboxes, int rank, uint64_t number, llvm::ArrayRef<SentBytes> send,
             llvm::ArrayRef<ReceivedBytes> receive)
        : mailboxes_(mailboxes), rank_(rank), number_(number), receive_(receive.vec()) {
      std::lock_guard lock(mailboxes_.mutex);
      for (const auto& [to, bytes] : llvm::enumerate(send))
        if (static_cast<int>(to) != rank && !bytes.empty())
          mailboxes_.boxes[{rank, static_cast<int>(to), number}] = bytes;
      for (const auto& [from, bytes] : llvm::enumerate(receive))
        if (static_cast<int>(from) != rank && !bytes.empty())
          std::memset(bytes.data(), 0xff, bytes.size());
      mailboxes_.changed.notify_all();
    }
    ~Messages() override {
      std::lock_guard lock(mailboxes_.mutex);
      std::erase_if(mailboxes_.boxes, [&](const auto& box) { return IsSent(box.first); });
    }

    llvm::Error Wait(double timeout, std::vector<int>* missing) override {
      std::unique_lock lock(mailboxes_.mutex);
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout);
      bool fits = true;
      mailboxes_.changed.wait_until(lock, end, [&] {
        for (const auto& [from, bytes] : llvm::enumerate(receive_))
          fits &= Receive(static_cast<int>(from), bytes);
        return Missing().empty();
      });
      *missing = Missing();
      if (!fits) return llvm::make_error<RankError>("the sizes of messages differ");
      return llvm::Error::success();
    }

   private:
    /// Receives the bytes of a rank if they are there. The mutex must be held, here and below.
    bool Receive(int from, ReceivedBytes& bytes) {
      const auto box = mailboxes_.boxes.find({from, rank_, number_});
      if (from == rank_ || bytes.empty() || box == mailboxes_.boxes.end()) return true;
      const SentBytes sent = box->second;
      mailboxes_.boxes.erase(box);
      mailboxes_.changed.notify_all();
      const bool fits = sent.size() == bytes.size();
      if (fits) std::memcpy(bytes.data(), sent.data(), bytes.size());
      bytes = {};
      return fits;
    }
    /// The ranks from which nothing came yet, and those that have not received.
    std::vector<int> Missing() const {
      std::vector<int> missing;
      for (const auto& [from, bytes] : llvm::enumerate(receive_))
        if (static_cast<int>(from) != rank_ && !bytes.empty())
          missing.push_back(static_cast<int>(from));
      for (const auto& [box, bytes] : mailboxes_.boxes)
        if (IsSent(box) && !llvm::is_contained(missing, std::get<1>(box)))
          missing.push_back(std::get<1>(box));
      return missing;
    }
    bool IsSent(const std::tuple<int, int, uint64_t>& box) const {
      return std::get<0>(box) == rank_ && std::get<2>(box) == number_;
    }

    Mailboxes& mailboxes_;
    const int rank_;
    const uint64_t number_;
    std::vector<ReceivedBytes> receive_;  // empty when they are received
  };

  llvm::Expected<std::unique_ptr<StartedExchange>> StartTransfer(
      llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) override {
    return std::make_unique<Messages>(mailboxes_, rank(), next_number_++, send, receive);
  }

  Mailboxes& mailboxes_;
  uint64_t next_number_ = 0;
};

/// Calls `run` for each of `size` ranks, in a thread of its own.
inline void RunRanks(int size, const std::function<void(Communicator&)>& run, double timeout = 60,
                     bool allows_any_thread = true) {
  Mailboxes mailboxes;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadCommunicator communicator(rank, size, mailboxes, allows_any_thread);
      communicator.set_timeout(timeout);
      run(communicator);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_THREAD_COMMUNICATOR_H_
