#include "kernels/cuda/nccl_communicator.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// Pauses between polls of an operation that usually ends soon.
class Poll {
 public:
  explicit Poll(double timeout) : end_(begin_ + std::chrono::duration<double>(timeout)) {}
  /// Returns false after the timeout.
  bool Pause() {
    const Clock::time_point now = Clock::now();
    if (now >= end_) return false;
    if (now - begin_ < std::chrono::milliseconds(1)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  }

 private:
  const Clock::time_point begin_ = Clock::now();
  const std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
};

/// The longest time, in seconds, that the end of a run without errors waits for other ranks.
constexpr double kFinalizeTimeout = 5;

constexpr char kTransfer[] = "a transfer between GPUs by NCCL";

}  // namespace

llvm::Expected<std::unique_ptr<NcclCommunicator>> NcclCommunicator::Create(
    const NcclLibrary& library, const ncclUniqueId& id, int rank, int size, double timeout) {
  std::unique_ptr<NcclCommunicator> made(new NcclCommunicator(library, timeout));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (llvm::Error error =
          made->Check(library.CommInitRankConfig(&made->communicator_, size, id, rank, &config),
                      "ncclCommInitRankConfig"))
    return error;
  if (llvm::Error error = made->Settle("ncclCommInitRankConfig", timeout)) return error;
  return made;
}

NcclCommunicator::~NcclCommunicator() {
  if (communicator_ == nullptr) return;
  const double timeout = std::min(timeout_, kFinalizeTimeout);
  llvm::Error error = Check(library_.CommFinalize(communicator_), "ncclCommFinalize");
  if (!error) error = Settle("ncclCommFinalize", timeout);
  if (!error) library_.CommDestroy(communicator_);
  llvm::consumeError(std::move(error));
}

llvm::Error NcclCommunicator::Exchange(llvm::ArrayRef<DeviceMessage> send,
                                       llvm::ArrayRef<DeviceMessage> receive, CUstream_st* stream) {
  if (communicator_ == nullptr)
    return llvm::make_error<RankError>("the connection between the GPUs has ended");
  if (send.empty() && receive.empty()) return llvm::Error::success();
  if (llvm::Error error = Check(library_.GroupStart(), "ncclGroupStart")) return error;
  // A group must end also after an error, before the communicator is aborted.
  ncclResult_t first = ncclSuccess;
  const char* function = "ncclGroupEnd";
  const auto note = [&](ncclResult_t result, const char* of) {
    if (result == ncclSuccess || result == ncclInProgress) return true;
    first = result;
    function = of;
    return false;
  };
  const auto launch = [&](const DeviceMessage& message, auto of, const char* name) {
    return note(of(message.data, message.bytes, ncclUint8, message.rank, communicator_, stream),
                name);
  };
  if (llvm::all_of(send, [&](const DeviceMessage& message) {
        return launch(message, library_.Send, "ncclSend");
      }))
    llvm::all_of(receive, [&](const DeviceMessage& message) {
      return launch(message, library_.Recv, "ncclRecv");
    });
  const ncclResult_t end = library_.GroupEnd();
  if (first == ncclSuccess) first = end;
  if (llvm::Error error = Check(first, function)) return error;
  return Settle("ncclGroupEnd", timeout_);
}

llvm::Error NcclCommunicator::Wait(llvm::function_ref<llvm::Expected<bool>()> is_done) {
  Poll poll(timeout_);
  for (;;) {
    llvm::Expected<bool> done = is_done();
    if (!done) {
      Abort();
      return done.takeError();
    }
    if (*done) return llvm::Error::success();
    ncclResult_t state = ncclSuccess;
    ncclResult_t result = library_.CommGetAsyncError(communicator_, &state);
    if (result == ncclSuccess) result = state;
    if (llvm::Error error = Check(result, kTransfer)) return error;
    if (!poll.Pause()) return TimeOut(kTransfer, timeout_);
  }
}

llvm::Error NcclCommunicator::Check(ncclResult_t result, const char* function) {
  if (result == ncclSuccess || result == ncclInProgress) return llvm::Error::success();
  std::string message =
      llvm::formatv("{0} failed: {1}", function, library_.GetErrorString(result)).str();
  const char* const details = library_.GetLastError(communicator_);
  if (details != nullptr && *details != '\0') message += std::string(" (") + details + ")";
  Abort();
  return llvm::make_error<RankError>(std::move(message));
}

llvm::Error NcclCommunicator::Settle(const char* function, double timeout) {
  Poll poll(timeout);
  for (;;) {
    ncclResult_t state = ncclSuccess;
    ncclResult_t result = library_.CommGetAsyncError(communicator_, &state);
    if (result == ncclSuccess) result = state;
    if (llvm::Error error = Check(result, function)) return error;
    if (result == ncclSuccess) return llvm::Error::success();
    if (!poll.Pause()) return TimeOut(function, timeout);
  }
}

llvm::Error NcclCommunicator::TimeOut(const char* function, double timeout) {
  Abort();
  std::string message;
  llvm::raw_string_ostream(message)
      << function << llvm::format(": other ranks did not answer within %g s", timeout);
  return llvm::make_error<RankError>(std::move(message));
}

void NcclCommunicator::Abort() {
  if (communicator_ != nullptr) library_.CommAbort(communicator_);
  communicator_ = nullptr;
}

std::string WhyNoNccl() {
  llvm::Expected<const NcclLibrary*> library = NcclLibrary::Load();
  return library ? "" : llvm::toString(library.takeError());
}

llvm::Expected<std::unique_ptr<GpuTransport>> ConnectByNccl(Communicator& ranks) {
  llvm::Expected<const NcclLibrary*> library = NcclLibrary::Load();
  if (!library) return library.takeError();
  // Rank 0's id, and whether it has one.
  struct {
    ncclUniqueId id;
    ncclResult_t result;
  } start{};
  if (ranks.rank() == 0) start.result = (*library)->GetUniqueId(&start.id);
  if (llvm::Error error =
          ranks.Broadcast(0, ReceivedBytes(reinterpret_cast<char*>(&start), sizeof(start))))
    return error;
  if (start.result != ncclSuccess)
    return llvm::make_error<RankError>(llvm::formatv("ncclGetUniqueId failed on rank 0: {0}",
                                                     (*library)->GetErrorString(start.result))
                                           .str());
  return NcclCommunicator::Create(**library, start.id, ranks.rank(), ranks.size(), ranks.timeout());
}

}  // namespace pdl::cuda
