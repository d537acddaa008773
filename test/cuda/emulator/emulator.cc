#include "emulator.h"

#include <ucontext.h>

#include <memory>
#include <mutex>
#include <vector>

namespace pdl::emulator {

dim3 thread_index, block_index, block_size, grid_size;

namespace {

constexpr size_t kStackBytes = 64 * 1024;

struct Fiber {
  ucontext_t state;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  dim3 index;
  bool done = false;
};

ucontext_t scheduler;
std::vector<Fiber> fibers;
Fiber* running = nullptr;
const std::function<void()>* body = nullptr;

void Enter() {
  (*body)();
  running->done = true;
  swapcontext(&running->state, &scheduler);
}

void Start(Fiber& fiber, dim3 index) {
  fiber.index = index;
  fiber.done = false;
  getcontext(&fiber.state);
  fiber.state.uc_stack.ss_sp = fiber.stack.get();
  fiber.state.uc_stack.ss_size = kStackBytes;
  fiber.state.uc_link = nullptr;
  makecontext(&fiber.state, Enter, 0);
}

/// Runs all threads up to their next barrier, in reverse order in every second phase. Returns
/// whether they have returned.
bool RunPhase(size_t count, bool backwards) {
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    running = &fibers[backwards ? count - 1 - i : i];
    thread_index = running->index;
    swapcontext(&scheduler, &running->state);
    done += running->done ? 1 : 0;
  }
  if (done != 0 && done != count) {
    std::fprintf(stderr, "some threads of a block wait at a barrier, others have returned\n");
    std::abort();
  }
  return done != 0;
}

}  // namespace

void Barrier() { swapcontext(&running->state, &scheduler); }

void Run(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  // Several threads may use the GPU.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static unsigned phase = 0;
  const size_t count = static_cast<size_t>(block.x) * block.y;
  if (fibers.size() < count) fibers = std::vector<Fiber>(count);
  body = &kernel;
  grid_size = grid;
  block_size = block;
  for (unsigned y = 0; y < grid.y; ++y) {
    for (unsigned x = 0; x < grid.x; ++x) {
      block_index = dim3(x, y, 0);
      for (size_t i = 0; i < count; ++i) {
        const unsigned thread = static_cast<unsigned>(i);
        Start(fibers[i], dim3(thread % block.x, thread / block.x, 0));
      }
      while (!RunPhase(count, ++phase % 2 == 0)) {
      }
    }
  }
}

}  // namespace pdl::emulator

// The CUDA functions that are used: small GPUs, with memory on the CPU.
namespace {

constexpr int kDevices = 4;
thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t) { return "an emulated error"; }
const char* cudaGetErrorName(cudaError_t) { return "emulated"; }
cudaError_t cudaGetDevice(int* device) { return *device = current_device, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return current_device = device, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = kDevices, cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<size_t>(length), "0000:0%d:00.0", device);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "an emulated GPU");
  properties->major = 9;
  properties->multiProcessorCount = 2;
  properties->memoryPoolsSupported = 1;
  properties->totalGlobalMem = size_t{1} << 33;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  static int any;
  return *event = reinterpret_cast<cudaEvent_t>(&any), cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  static int any;
  return *pool = reinterpret_cast<cudaMemPool_t>(&any), cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (bytes > size_t{1} << 33 || posix_memalign(memory, 256, bytes) != 0)
    return last_error = cudaErrorMemoryAllocation;
  std::memset(*memory, 0x7b, bytes);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) { return std::free(memory), cudaSuccess; }
cudaError_t cudaFree(void* memory) { return std::free(memory), cudaSuccess; }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) { return cudaFree(memory); }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return *free = *total = size_t{1} << 33, cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return std::memmove(to, from, bytes), cudaSuccess;
}

}  // extern "C"
