#ifndef PDL_OP_DEVICE_CONTEXT_H_
#define PDL_OP_DEVICE_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// What Prepare made for one call and one set of sizes: primitives, strides, packed weights.
/// Immutable once made; shared by all runs of a binding.
class PDL_API CallState {
 public:
  virtual ~CallState() = default;
};

/// Keys of the random streams of one run; a call adds the hash of its value's name.
struct RandomState {
  uint64_t seed = 0;
  uint64_t run_count = 0;
};

/// Where operators run: a device with its stream, libraries and memory. A small handle: each Frame
/// has a Fork of its own, so that threads that share a context share no state of a run.
class PDL_API DeviceContext {
 public:
  virtual ~DeviceContext() = default;
  Device device() const { return device_; }

  /// Another handle to the same device, stream and libraries.
  virtual std::unique_ptr<DeviceContext> Fork() const = 0;
  /// Uninitialized memory aligned to 64 bytes (256 on CUDA); a DeviceError where there is none.
  virtual llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;
  /// Copies from CPU memory to this device, or back. Done when this returns.
  virtual llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) = 0;
  virtual llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) = 0;
  /// Copies within the device, in the order of the stream.
  virtual llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) = 0;
  /// Waits for everything launched; reports what failed meanwhile.
  virtual llvm::Error Synchronize() = 0;
  /// The hash of whatever makes prepared states of this device unfit for another (ISA, GPU model).
  virtual uint64_t Fingerprint() const { return 0; }

  // What the kernel of the call being run may ask for; set by the Plan's loop.
  /// What its Prepare gave as `state`; null where that was nothing.
  template <typename State>
  const State* state() const {
    return static_cast<const State*>(call_state_);
  }
  /// The bytes that its Prepare asked for.
  void* workspace() const { return workspace_; }
  const RandomState& random() const { return random_; }

  void SetCall(const CallState* state, void* workspace) {
    call_state_ = state;
    workspace_ = workspace;
  }
  void SetRandom(RandomState random) { random_ = random; }

 protected:
  explicit DeviceContext(Device device) : device_(device) {}

 private:
  Device device_;
  const CallState* call_state_ = nullptr;
  void* workspace_ = nullptr;
  RandomState random_;
};

/// Runs on the processor, with up to `threads` threads.
class PDL_API CPUContext final : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCPU;
  /// 0: as many threads as the process may use.
  explicit CPUContext(int threads = 0);

  int threads() const { return threads_; }
  /// Calls f(begin, end) for pieces that cover [0, n). The pieces depend on n and grain alone (all
  /// but the last have the same length, at least `grain`), never on the count of threads, so a
  /// result that depends only on its own piece is bitwise the same for any. Pieces run in any
  /// order, maybe at once. Where n <= grain there is one piece, run by the caller. Nested calls run
  /// in the calling thread.
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

/// "cpu", "cuda", "cuda:1"; an Error for any other text.
PDL_API llvm::Expected<Device> DeviceFromName(llvm::StringRef name);
PDL_API std::string DeviceToString(Device device);
/// A context on that device. For CUDA this loads libpdl_cuda.so, which adds its kernels to the
/// GlobalRegistry; a DeviceError says why where CUDA cannot be used. `threads` as in CPUContext.
PDL_API llvm::Expected<std::unique_ptr<DeviceContext>> CreateDeviceContext(Device device,
                                                                           int threads = 0);

/// The most memory that tensors may take together on the CPU, in bytes; what would exceed it is
/// refused before it is allocated. Three quarters of the machine's memory unless set.
PDL_API int64_t MemoryLimit();
PDL_API void SetMemoryLimit(int64_t bytes);

}  // namespace pdl

#endif  // PDL_OP_DEVICE_CONTEXT_H_
