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

/// The messages that have not been received, by sender, receiver and number of the exchange.
struct Mailboxes {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, uint64_t>, std::string> boxes;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(int rank, int size, Mailboxes& mailboxes, bool allows_any_thread = true)
      : Communicator(rank, size, allows_any_thread), mailboxes_(mailboxes) {}
  [[noreturn]] void Abort(int status) override { std::_Exit(status); }

 private:
  class Messages : public StartedExchange {
   public:
    Messages(Mailboxes& mailboxes, int rank, uint64_t number, llvm::ArrayRef<ReceivedBytes> receive)
        : mailboxes_(mailboxes), rank_(rank), number_(number), receive_(receive.vec()) {}

    llvm::Error Wait(double timeout, std::vector<int>* missing) override {
      std::unique_lock lock(mailboxes_.mutex);
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout);
      for (const auto& [from, bytes] : llvm::enumerate(receive_)) {
        if (static_cast<int>(from) == rank_ || bytes.empty()) continue;
        const std::tuple box(static_cast<int>(from), rank_, number_);
        if (!mailboxes_.changed.wait_until(lock, end,
                                           [&] { return mailboxes_.boxes.contains(box); })) {
          missing->push_back(static_cast<int>(from));
          continue;
        }
        const std::string message = std::move(mailboxes_.boxes.extract(box).mapped());
        if (message.size() != bytes.size())
          return llvm::make_error<RankError>("the sizes of messages differ");
        std::memcpy(bytes.data(), message.data(), bytes.size());
      }
      return llvm::Error::success();
    }

   private:
    Mailboxes& mailboxes_;
    const int rank_;
    const uint64_t number_;
    const std::vector<ReceivedBytes> receive_;
  };

  llvm::Expected<std::unique_ptr<StartedExchange>> StartTransfer(
      llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) override {
    const uint64_t number = next_number_++;
    std::lock_guard lock(mailboxes_.mutex);
    for (int to = 0; to < size(); ++to)
      if (const SentBytes bytes = send[static_cast<size_t>(to)]; to != rank() && !bytes.empty())
        mailboxes_.boxes[{rank(), to, number}].assign(bytes.data(), bytes.size());
    mailboxes_.changed.notify_all();
    return std::make_unique<Messages>(mailboxes_, rank(), number, receive);
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
