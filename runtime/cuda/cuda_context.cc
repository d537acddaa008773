#include "pdl/op/cuda_context.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/op/error.h"
#include "runtime/cuda/cuda_error.h"

namespace pdl {
namespace {

/// The most handles that have a CheckFailure at the same time.
constexpr int kMaxFailureSlots = 256;

/// The oldest supported GPUs: compute capability 8.0.
constexpr int kOldestMajor = 8;

std::string VersionToString(int version) {
  return llvm::formatv("{0}.{1}", version / 1000, version % 1000 / 10).str();
}

}  // namespace

llvm::Expected<int> CUDAContext::CountDevices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return MakeDeviceError("no NVIDIA driver found (libcuda.so.1)");
  if (status == cudaErrorInsufficientDriver)
    return MakeDeviceError("the NVIDIA driver supports CUDA {0}, but {1} is required",
                           VersionToString(driver), VersionToString(CUDART_VERSION));
  if (status == cudaSuccess || status == cudaErrorNoDevice)
    return MakeDeviceError("the NVIDIA driver reports no GPU");
  return MakeDeviceError("{0} ({1})", cudaGetErrorString(status), cudaGetErrorName(status));
}

/// The state that all Forks share. Allocated memory refers to it, so stream and pool outlive the
/// memory.
struct CUDAContext::Shared {
  explicit Shared(Device device_in) : device(device_in) {}
  ~Shared();
  llvm::Error Initialize();
  /// Reserves a CheckFailure; -1 if all are in use.
  int TakeFailureSlot();
  void GiveBackFailureSlot(int slot);

  Device device;
  cudaStream_t stream = nullptr;
  cublasLtHandle_t cublas = nullptr;
  /// Null if the GPU has no memory pools (some virtual ones); cudaMalloc is used instead.
  cudaMemPool_t pool = nullptr;
  int num_multiprocessors = 0;
  uint64_t fingerprint = 0;
  /// Host memory that kernels can write to, and the indices that are not in use.
  CheckFailure* failures = nullptr;
  std::mutex failures_mutex;
  std::vector<int> free_failures;
};

// Errors are ignored; at process exit the driver may already be gone.
CUDAContext::Shared::~Shared() {
  CurrentDevice current(device);
  if (cublas) cublasLtDestroy(cublas);
  if (stream) {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  if (pool) cudaMemPoolDestroy(pool);
  if (failures) cudaFreeHost(failures);
}

int CUDAContext::Shared::TakeFailureSlot() {
  std::lock_guard lock(failures_mutex);
  if (free_failures.empty()) return -1;
  const int slot = free_failures.back();
  free_failures.pop_back();
  failures[slot] = CheckFailure();
  return slot;
}

void CUDAContext::Shared::GiveBackFailureSlot(int slot) {
  std::lock_guard lock(failures_mutex);
  free_failures.push_back(slot);
}

llvm::Error CUDAContext::Shared::Initialize() {
  CurrentDevice current(device);
  cudaDeviceProp properties;
  if (auto error = ToError(cudaGetDeviceProperties(&properties, device.index),
                           "reading the properties", device))
    return error;
  if (properties.major < kOldestMajor)
    return MakeDeviceError("{0} has compute capability {1}.{2}, but {3}.0 or later is needed",
                           properties.name, properties.major, properties.minor, kOldestMajor);
  num_multiprocessors = properties.multiProcessorCount;
  fingerprint = llvm::hash_combine(
      llvm::hash_combine_range(properties.uuid.bytes, properties.uuid.bytes + 16),
      llvm::StringRef(properties.name), properties.major, properties.minor,
      properties.multiProcessorCount, device.index);

  if (auto error = ToError(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                           "creating a stream", device))
    return error;
  if (auto error = ToError(cublasLtCreate(&cublas), "creating a cuBLASLt handle", device))
    return error;
  void* mapped = nullptr;
  if (auto error = ToError(cudaHostAlloc(&mapped, kMaxFailureSlots * sizeof(CheckFailure),
                                         cudaHostAllocMapped | cudaHostAllocPortable),
                           "allocating memory for checks", device))
    return error;
  failures = static_cast<CheckFailure*>(mapped);
  for (int slot = kMaxFailureSlots; slot-- > 0;) free_failures.push_back(slot);
  if (!properties.memoryPoolsSupported) return llvm::Error::success();

  cudaMemPoolProps pool_properties;
  std::memset(&pool_properties, 0, sizeof pool_properties);
  pool_properties.allocType = cudaMemAllocationTypePinned;
  pool_properties.location.type = cudaMemLocationTypeDevice;
  pool_properties.location.id = device.index;
  if (auto error =
          ToError(cudaMemPoolCreate(&pool, &pool_properties), "creating a memory pool", device))
    return error;
  // The pool keeps up to this much freed memory; the rest is returned to the driver.
  uint64_t threshold = properties.totalGlobalMem / 4;
  return ToError(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                 "setting up the memory pool", device);
}

llvm::Expected<std::unique_ptr<CUDAContext>> CUDAContext::Create(int index) {
  llvm::Expected<int> count = CountDevices();
  if (!count) return count.takeError();
  if (index < 0 || index >= *count)
    return MakeDeviceError("no GPU with that index: the NVIDIA driver reports {0}", *count);
  auto shared = std::make_shared<Shared>(Device{DeviceKind::kCUDA, index});
  if (llvm::Error error = shared->Initialize()) return error;
  return std::unique_ptr<CUDAContext>(new CUDAContext(std::move(shared)));
}

CUDAContext::CUDAContext(std::shared_ptr<Shared> shared)
    : DeviceContext(shared->device, Native::kYes),
      shared_(std::move(shared)),
      stream_(shared_->stream),
      cublas_(shared_->cublas),
      num_multiprocessors_(shared_->num_multiprocessors) {}

CUDAContext::~CUDAContext() {
  if (failure_slot_ >= 0) shared_->GiveBackFailureSlot(failure_slot_);
}

std::unique_ptr<DeviceContext> CUDAContext::Fork() const {
  std::unique_ptr<CUDAContext> fork(new CUDAContext(shared_));
  fork->failure_slot_ = shared_->TakeFailureSlot();
  if (fork->failure_slot_ >= 0) fork->SetFailures(shared_->failures + fork->failure_slot_);
  return fork;
}

llvm::Expected<std::shared_ptr<void>> CUDAContext::Allocate(int64_t bytes) {
  CurrentDevice current(device());
  const size_t requested = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory = nullptr;
  const cudaError_t status =
      shared_->pool ? cudaMallocFromPoolAsync(&memory, requested, shared_->pool, shared_->stream)
                    : cudaMalloc(&memory, requested);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return MakeDeviceError("out of memory on {0}: {1} bytes requested, {2} of {3} free",
                           DeviceToString(device()), bytes, free, total);
  }
  if (llvm::Error error = ToError(status, "allocating memory", device())) return error;
  return std::shared_ptr<void>(memory, [shared = shared_](void* freed) {
    CurrentDevice current(shared->device);
    if (shared->pool) {
      cudaFreeAsync(freed, shared->stream);
    } else {
      cudaFree(freed);
    }
  });
}

llvm::Error CUDAContext::CopyFromHost(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return llvm::Error::success();
  CurrentDevice current(device());
  if (auto error = ToError(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                           cudaMemcpyHostToDevice, shared_->stream),
                           "copying to the GPU", device()))
    return error;
  return Synchronize();
}

llvm::Error CUDAContext::CopyToHost(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return llvm::Error::success();
  CurrentDevice current(device());
  if (auto error = ToError(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                           cudaMemcpyDeviceToHost, shared_->stream),
                           "copying from the GPU", device()))
    return error;
  return Synchronize();
}

llvm::Error CUDAContext::CopyWithin(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return llvm::Error::success();
  CurrentDevice current(device());
  return ToError(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice,
                                 shared_->stream),
                 "copying within the GPU", device());
}

llvm::Error CUDAContext::Synchronize() {
  CurrentDevice current(device());
  if (auto error = ToError(cudaStreamSynchronize(shared_->stream), "waiting for the GPU", device()))
    return error;
  auto* failure = static_cast<CheckFailure*>(failures());
  if (failure == nullptr || failure->check == nullptr) return llvm::Error::success();
  const CheckFailure found = std::exchange(*failure, CheckFailure());
  return found.check->Failure(found.element, found.value);
}

uint64_t CUDAContext::Fingerprint() const { return shared_->fingerprint; }

}  // namespace pdl
