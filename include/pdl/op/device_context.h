#ifndef PDL_OP_DEVICE_CONTEXT_H_
#define PDL_OP_DEVICE_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device.h"
#include "pdl/op/tensor.h"

namespace pdl {

class CPUContext;
class CUDAContext;
class Communicator;
class DeviceRanks;

/// State that Prepare creates for one call and one set of sizes: primitives, strides, packed
/// weights. Immutable; shared by all runs of a binding.
class PDL_API CallState {
 public:
  virtual ~CallState() = default;
};

/// Keys of a run's random streams; each call adds the hash of its value's name.
struct RandomState {
  uint64_t seed = 0;
  uint64_t run_count = 0;
};

/// A device with its stream, libraries and memory, on which operators run. A lightweight handle:
/// each Frame has its own Fork, so that threads that share a context do not share the state of a
/// run.
class PDL_API DeviceContext {
 public:
  virtual ~DeviceContext() = default;
  Device device() const { return device_; }
  /// Whether it is pdl's own context for its kind of device: a CPUContext or a CUDAContext.
  bool is_native() const { return is_native_; }

  /// Returns another handle to the same device, stream and libraries.
  virtual std::unique_ptr<DeviceContext> Fork() const = 0;
  /// Allocates uninitialized memory aligned to 64 bytes (256 on CUDA). A DeviceError if there is
  /// not enough memory.
  virtual llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;
  /// Copy between CPU memory and this device, synchronously.
  virtual llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) = 0;
  virtual llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) = 0;
  /// Copies within the device, in stream order.
  virtual llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) = 0;
  /// Waits for all launched work and returns its errors.
  virtual llvm::Error Synchronize() = 0;
  /// Connects this device to those of the other ranks, so that gradients are added in its memory;
  /// null: only gradients of this process are added. All ranks make this call together. Returns
  /// null if gradients are to be added on the CPU: on the CPU, and if several ranks use one GPU. A
  /// RankError if a rank cannot be connected. The result must be used with this context or its
  /// Forks, and the context must outlive it.
  virtual llvm::Expected<std::shared_ptr<DeviceRanks>> JoinRanks(Communicator* ranks);
  /// A hash of the properties (ISA, GPU model) that a prepared state depends on.
  virtual uint64_t Fingerprint() const { return 0; }

  // Available to the kernel of the running call; set by the Plan's run loop.
  /// The call's Preparation::state; null if there is none.
  template <typename State>
  const State* state() const {
    return static_cast<const State*>(call_state_);
  }
  /// The scratch memory that the call's Prepare asked for.
  void* workspace() const { return workspace_; }
  const RandomState& random() const { return random_; }

  /// Whether the run should end early, with an Error of Code::kCancelled. Calls that run for an
  /// unknown time, such as loops, ask between their steps.
  bool is_cancelled() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }
  const std::atomic<bool>* cancel() const { return cancel_; }
  /// Where launched checks report their failures until the device is synchronized; null if calls
  /// report them at once, as on the CPU. Its type is known to the device's contexts.
  void* failures() const { return failures_; }

  void SetCall(const CallState* state, void* workspace) {
    call_state_ = state;
    workspace_ = workspace;
  }
  void SetRandom(RandomState random) { random_ = random; }
  /// `cancel` may be null; else it must outlive the run.
  void SetCancel(const std::atomic<bool>* cancel) { cancel_ = cancel; }
  /// Whether each call's indices are checked before it runs: see RunOptions::check_indices.
  bool checks_indices() const { return checks_indices_; }
  void SetChecksIndices(bool checks) { checks_indices_ = checks; }
  /// Makes work on this handle part of the run of `outer`, as the steps of a loop are.
  void JoinRun(const DeviceContext& outer) {
    cancel_ = outer.cancel_;
    checks_indices_ = outer.checks_indices_;
    failures_ = outer.failures_;
  }

 protected:
  explicit DeviceContext(Device device) : device_(device) {}
  void SetFailures(void* failures) { failures_ = failures; }

 private:
  friend class CPUContext;
  friend class CUDAContext;
  enum class Native : uint8_t { kYes };
  DeviceContext(Device device, Native) : device_(device), is_native_(true) {}

  Device device_;
  bool is_native_ = false;
  const CallState* call_state_ = nullptr;
  void* workspace_ = nullptr;
  RandomState random_;
  const std::atomic<bool>* cancel_ = nullptr;
  void* failures_ = nullptr;
  bool checks_indices_ = false;
};

/// A context on the CPU with up to `threads` threads.
class PDL_API CPUContext final : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCPU;
  /// `threads` = 0 uses as many threads as the process may use.
  explicit CPUContext(int threads = 0);

  int threads() const { return threads_; }
  /// Calls f(begin, end) for pieces that cover [0, n). All pieces but the last have the same
  /// length, at least `grain`, which depends only on n and grain, not on the number of threads; so
  /// a result that depends only on its own piece has the same bits for any number of threads.
  /// Pieces run in any order, possibly concurrently. If n <= grain there is one piece, run by the
  /// caller. Nested calls run in the calling thread.
  void ParallelFor(int64_t n, int64_t grain,
                   llvm::function_ref<void(int64_t begin, int64_t end)> f) {
    if (n <= 0) return;
    if (n <= grain) return f(0, n);
    ParallelPieces(n, grain, f);
  }

  std::unique_ptr<DeviceContext> Fork() const override;
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) override;
  llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) override;
  llvm::Error Synchronize() override { return llvm::Error::success(); }

 private:
  void ParallelPieces(int64_t n, int64_t grain,
                      llvm::function_ref<void(int64_t begin, int64_t end)> f);
  int threads_;
};

/// Parses "cpu", "cuda" or "cuda:1"; an Error for any other string.
PDL_API llvm::Expected<Device> DeviceFromName(llvm::StringRef name);
/// The inverse of DeviceFromName: "cpu", "cuda:1".
PDL_API std::string DeviceToString(Device device);
/// The number of devices of a kind; 0 if none can be used. For CUDA this loads libpdl_cuda.so.
PDL_API int CountDevices(DeviceKind kind);
/// Creates a context. For CUDA this loads libpdl_cuda.so, which adds its kernels to the
/// GlobalRegistry. A DeviceError says why CUDA is not available. `threads` as in CPUContext.
PDL_API llvm::Expected<std::unique_ptr<DeviceContext>> CreateDeviceContext(Device device,
                                                                           int threads = 0);

/// The maximum total size of tensors on the CPU, in bytes; an allocation that would exceed it fails
/// with an Error. Defaults to three quarters of the machine's memory.
PDL_API int64_t MemoryLimit();
PDL_API void SetMemoryLimit(int64_t bytes);

}  // namespace pdl

#endif  // PDL_OP_DEVICE_CONTEXT_H_
