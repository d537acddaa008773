// Addition of gradients on GPUs, and how the GPUs of ranks are connected.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "kernels/cuda/gpu_transport.h"
#include "kernels/cuda/gradient_kernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/op/cuda_context.h"
#include "pdl/op/error.h"
#include "pdl/train/communicator.h"
#include "runtime/cuda/cuda_error.h"
#include "runtime/distributed/device_ranks.h"

namespace pdl {
namespace cuda {
namespace {

/// kCompute is the stream of the context; kExchange, a stream of its own.
class CudaRanks final : public DeviceRanks {
 public:
  CudaRanks(CUDAContext& context, const Communicator* ranks)
      : DeviceRanks(ranks ? ranks->rank() : 0, ranks ? ranks->size() : 1), context_(context) {}
  // Errors are ignored; at process exit the driver may already be gone.
  ~CudaRanks() override {
    CurrentDevice current(context_.device());
    transport_.reset();
    if (begun_) cudaEventDestroy(begun_);
    if (done_) cudaEventDestroy(done_);
    if (exchange_) cudaStreamDestroy(exchange_);
  }

  /// Before Connect.
  llvm::Error Initialize() {
    CurrentDevice current(context_.device());
    if (llvm::Error error = Check(cudaStreamCreateWithFlags(&exchange_, cudaStreamNonBlocking),
                                  "creating a stream"))
      return error;
    for (cudaEvent_t* event : {&begun_, &done_})
      if (llvm::Error error =
              Check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "creating an event"))
        return error;
    return llvm::Error::success();
  }
  /// Connects the ranks.
  llvm::Error Connect(Communicator& ranks) {
    CurrentDevice current(context_.device());
    return ConnectByNccl(ranks).moveInto(transport_);
  }

  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override {
    return context_.Allocate(bytes);
  }
  llvm::Error Weigh(const Tensor& from, double weight, void* sums) override {
    return WeighGradient(context_, from, weight, sums);
  }
  llvm::Error Divide(const void* sums, double count, Tensor& to) override {
    return DivideGradient(context_, sums, count, to);
  }
  llvm::Error Add(Queue queue, DType dtype, const void* left, const void* right, size_t count,
                  void* sums) override {
    CUstream_st* const stream = queue == Queue::kCompute ? context_.stream() : exchange_;
    return AddGradients(context_, stream, dtype, left, right, count, sums);
  }

  llvm::Error BeginExchange() override {
    CurrentDevice current(context_.device());
    if (llvm::Error error = Check(cudaEventRecord(begun_, context_.stream()), "recording an event"))
      return error;
    return Check(cudaStreamWaitEvent(exchange_, begun_, 0), "waiting for an event");
  }
  llvm::Error Copy(void* to, const void* from, size_t bytes) override {
    CurrentDevice current(context_.device());
    return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, exchange_),
                 "copying gradients");
  }
  llvm::Error Finish() override {
    if (transport_ == nullptr) return llvm::Error::success();
    CurrentDevice current(context_.device());
    if (llvm::Error error = Check(cudaEventRecord(done_, exchange_), "recording an event"))
      return error;
    return transport_->Wait([&]() -> llvm::Expected<bool> {
      const cudaError_t status = cudaEventQuery(done_);
      if (status == cudaErrorNotReady) {
        cudaGetLastError();  // otherwise it would remain the last error of the thread
        return false;
      }
      if (llvm::Error error = Check(status, "adding gradients over ranks")) return error;
      return true;
    });
  }
  // Errors are ignored: the one that led to this is returned.
  void Cancel() override {
    if (transport_ == nullptr) return;
    CurrentDevice current(context_.device());
    transport_->Abort();
    cudaStreamSynchronize(exchange_);
  }

 private:
  llvm::Error StartExchange(llvm::ArrayRef<DeviceMessage> send,
                            llvm::ArrayRef<DeviceMessage> receive) override {
    CurrentDevice current(context_.device());
    return transport_->Exchange(send, receive, exchange_);
  }
  llvm::Error Check(cudaError_t status, const char* what) const {
    return ToError(status, what, context_.device());
  }

  CUDAContext& context_;
  std::unique_ptr<GpuTransport> transport_;  // null: one rank, or not connected
  cudaStream_t exchange_ = nullptr;
  cudaEvent_t begun_ = nullptr, done_ = nullptr;
};

/// Facts that ranks exchange before they are connected, a line each.
struct Facts {
  /// The GPU among those of all hosts.
  std::string gpu;
  /// The reason why this rank cannot be connected; empty if there is none.
  std::string problem;
};

/// NCCL regards GPUs as the same by the same facts. The bus id does not depend on which GPUs a rank
/// sees, and the boot id distinguishes hosts with one name.
llvm::Expected<std::string> NameOfGpu(Device device) {
  char host[256] = "", bus[64] = "";
  gethostname(host, sizeof(host) - 1);
  std::string boot;
  if (auto file = llvm::MemoryBuffer::getFileAsStream("/proc/sys/kernel/random/boot_id"))
    boot = (*file)->getBuffer().trim().str();
  if (llvm::Error error = ToError(cudaDeviceGetPCIBusId(bus, sizeof(bus), device.index),
                                  "reading the PCI bus id", device))
    return error;
  return std::string(host) + " " + boot + " " + bus;
}

llvm::Expected<std::vector<Facts>> ExchangeFacts(const Facts& own, Communicator& ranks) {
  llvm::Expected<std::vector<std::string>> texts = ranks.AllGather(own.gpu + '\n' + own.problem);
  if (!texts) return texts.takeError();
  std::vector<Facts> facts;
  for (const std::string& text : *texts) {
    const auto [gpu, problem] = llvm::StringRef(text).split('\n');
    facts.push_back({gpu.str(), problem.str()});
  }
  return facts;
}

}  // namespace
}  // namespace cuda

llvm::Expected<std::shared_ptr<DeviceRanks>> CUDAContext::JoinRanks(Communicator* ranks) {
  if (ranks == nullptr || ranks->size() == 1)
    return std::make_shared<cuda::CudaRanks>(*this, nullptr);
  auto made = std::make_shared<cuda::CudaRanks>(*this, ranks);
  cuda::Facts own;
  if (llvm::Error error = cuda::NameOfGpu(device()).moveInto(own.gpu))
    own.problem = llvm::toString(std::move(error));
  if (own.problem.empty()) own.problem = llvm::toString(made->Initialize());
  if (own.problem.empty()) own.problem = cuda::WhyNoNccl();
  auto facts = cuda::ExchangeFacts(own, *ranks);
  if (!facts) return facts.takeError();
  llvm::StringSet<> gpus;
  for (const cuda::Facts& of_rank : *facts)
    if (!of_rank.gpu.empty() && !gpus.insert(of_rank.gpu).second) return nullptr;
  for (const auto& [rank, of_rank] : llvm::enumerate(*facts))
    if (!of_rank.problem.empty())
      return llvm::make_error<RankError>(
          llvm::formatv("rank {0}: {1}; --cpu-sums (in Python, cpu_sums=True) adds gradients on "
                        "the CPU instead",
                        rank, of_rank.problem)
              .str());
  if (llvm::Error error = made->Connect(*ranks)) return error;
  return made;
}

}  // namespace pdl
