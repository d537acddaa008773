// Ranks that are threads of one process.
#ifndef PDL_TEST_CC_TESTING_THREAD_COMMUNICATOR_H_
#define PDL_TEST_CC_TESTING_THREAD_COMMUNICATOR_H_

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "pdl/train/communicator.h"

namespace pdl {

/// The messages from one rank to another that have not been received.
struct Mailboxes {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::string>> boxes;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(int rank, int size, Mailboxes& mailboxes, bool allows_any_thread = true)
      : Communicator(rank, size, allows_any_thread), mailboxes_(mailboxes) {}
  [[noreturn]] void Abort(int status) override { std::_Exit(status); }

 private:
  llvm::Error Transfer(llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive,
                       std::vector<int>* missing) override {
    std::unique_lock lock(mailboxes_.mutex);
    for (int to = 0; to < size(); ++to)
      if (const SentBytes bytes = send[static_cast<size_t>(to)]; to != rank() && !bytes.empty())
        mailboxes_.boxes[{rank(), to}].emplace_back(bytes.data(), bytes.size());
    mailboxes_.changed.notify_all();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout());
    for (int from = 0; from < size(); ++from) {
      const ReceivedBytes bytes = receive[static_cast<size_t>(from)];
      if (from == rank() || bytes.empty()) continue;
      std::deque<std::string>& box = mailboxes_.boxes[{from, rank()}];
      if (!mailboxes_.changed.wait_until(lock, end, [&] { return !box.empty(); })) {
        missing->push_back(from);
        continue;
      }
      if (box.front().size() != bytes.size())
        return llvm::make_error<RankError>("the sizes of messages differ");
      std::memcpy(bytes.data(), box.front().data(), bytes.size());
      box.pop_front();
    }
    return llvm::Error::success();
  }

  Mailboxes& mailboxes_;
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
