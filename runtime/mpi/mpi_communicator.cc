// A communicator over MPI: compiled once for each implementation.
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "pdl/version.h"
#include "runtime/distributed/transport_library.h"

namespace pdl {
namespace {

using Clock = std::chrono::steady_clock;

/// MPI counts the bytes of a message in an int.
constexpr size_t kLargestMessage = size_t{1} << 30;
constexpr int kTag = 0;

volatile sig_atomic_t abort_status = 0;

std::string ErrorText(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

class MpiCommunicator final : public Communicator {
 public:
  /// Owns `communicator`; `finalizes`: the destructor ends MPI.
  MpiCommunicator(int rank, int size, bool allows_any_thread, MPI_Comm communicator, bool finalizes)
      : Communicator(rank, size, allows_any_thread),
        communicator_(communicator),
        finalizes_(finalizes) {}

  ~MpiCommunicator() override {
    // The end of MPI waits for all ranks, which would take forever after a failure.
    int has_ended = 0;
    MPI_Finalized(&has_ended);
    if (has_failed_ || has_ended) return;
    MPI_Comm_free(&communicator_);
    if (finalizes_) MPI_Finalize();
  }

  [[noreturn]] void Abort(int status) override {
    // In case MPI waits for a process that is stopped.
    abort_status = status;
    signal(SIGALRM, [](int) { _exit(abort_status); });
    alarm(2);
    MPI_Abort(communicator_, status);
    _exit(status);
  }

 private:
  /// Messages under way.
  class Messages final : public StartedExchange {
   public:
    explicit Messages(MpiCommunicator& communicator) : communicator_(communicator) {}
    ~Messages() override {
      for (const MPI_Request request : requests_)
        communicator_.has_failed_ |= request != MPI_REQUEST_NULL;
    }

    llvm::Error Start(llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) {
      const int own = communicator_.rank();
      int code = MPI_SUCCESS;
      const auto for_each_message = [&](auto bytes, int peer, auto post) {
        while (!bytes.empty() && code == MPI_SUCCESS) {
          const auto message = bytes.take_front(kLargestMessage);
          bytes = bytes.drop_front(message.size());
          requests_.push_back(MPI_REQUEST_NULL);
          peers_.push_back(peer);
          code = post(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, kTag,
                      communicator_.communicator_, &requests_.back());
        }
      };
      for (const auto [peer, bytes] : llvm::enumerate(receive))
        if (static_cast<int>(peer) != own)
          for_each_message(bytes, static_cast<int>(peer), MPI_Irecv);
      for (const auto [peer, bytes] : llvm::enumerate(send))
        if (static_cast<int>(peer) != own)
          for_each_message(bytes, static_cast<int>(peer), MPI_Isend);
      return code == MPI_SUCCESS ? llvm::Error::success() : communicator_.Failure(code);
    }

    llvm::Error Wait(double timeout, std::vector<int>* missing) override {
      std::vector<int> done(requests_.size());
      Clock::time_point last = Clock::now(), polled = last;
      Clock::time_point end = last + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(timeout));
      for (;;) {
        int count = 0;
        const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                      done.data(), MPI_STATUSES_IGNORE);
        if (code != MPI_SUCCESS) return communicator_.Failure(code);
        if (count == MPI_UNDEFINED) return llvm::Error::success();
        const Clock::time_point now = Clock::now();
        if (count > 0) last = now;
        // A process that was suspended has not waited for the others in the meantime.
        if (now - polled > std::chrono::seconds(1)) end += now - polled;
        polled = now;
        if (now >= end) break;
        // MPI makes progress in its calls only, so this must not sleep long while data arrive.
        if (now - last < std::chrono::milliseconds(20)) {
          communicator_.yields_processor() ? usleep(20) : sched_yield();
        } else {
          usleep(200);
        }
      }
      communicator_.has_failed_ = true;
      for (size_t i = 0; i < requests_.size(); ++i)
        if (requests_[i] != MPI_REQUEST_NULL &&
            !std::count(missing->begin(), missing->end(), peers_[i]))
          missing->push_back(peers_[i]);
      std::sort(missing->begin(), missing->end());
      return llvm::Error::success();
    }

   private:
    MpiCommunicator& communicator_;
    std::vector<MPI_Request> requests_;
    std::vector<int> peers_;  // by request
  };

  llvm::Expected<std::unique_ptr<StartedExchange>> StartTransfer(
      llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) override {
    auto messages = std::make_unique<Messages>(*this);
    if (llvm::Error error = messages->Start(send, receive)) return error;
    return messages;
  }

  llvm::Error Failure(int code) {
    has_failed_ = true;
    return llvm::make_error<RankError>("MPI failed: " + ErrorText(code));
  }

  MPI_Comm communicator_;
  const bool finalizes_;
  bool has_failed_ = false;
};

}  // namespace
}  // namespace pdl

const char* pdl_transport_version() { return PDL_PLUGIN_VERSION; }

pdl::Communicator* pdl_transport_create(const pdl::Rendezvous* rendezvous, char** error) {
  int is_running = 0, rank = 0, size = 1, threads = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_running);
  int code = MPI_SUCCESS;
  if (is_running) {
    MPI_Query_thread(&threads);
  } else {
    code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  }
  const MPI_Comm parent = rendezvous->mpi_communicator
                              ? *static_cast<const MPI_Comm*>(rendezvous->mpi_communicator)
                              : MPI_COMM_WORLD;
  MPI_Comm communicator = MPI_COMM_NULL;
  // Messages of the program must not be mixed with ours.
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(parent, &communicator);
  if (code != MPI_SUCCESS) {
    *error = strdup(pdl::ErrorText(code).c_str());
    return nullptr;
  }
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  return new pdl::MpiCommunicator(rank, size, threads >= MPI_THREAD_SERIALIZED, communicator,
                                  !is_running);
}
