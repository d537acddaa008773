#include "kernels/core/dnnl_support.h"

#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>

#include <mutex>
#include <new>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/float_copy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include "pdl/op/error.h"

namespace pdl {

OneDnnlThread::OneDnnlThread() : saved_(omp_get_max_threads()) {
  omp_set_num_threads(1);
  if (CurrentIsa() == Isa::kAvx512) return;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_);
}

OneDnnlThread::~OneDnnlThread() {
  if (CurrentIsa() != Isa::kAvx512) pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  omp_set_num_threads(saved_);
}

const dnnl::engine& DnnlEngine() {
  // Never destroyed: objects that are destroyed at the end of the program may run networks.
  static const dnnl::engine& engine = *new dnnl::engine([] {
    if (CurrentIsa() == Isa::kAvx2) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    if (CurrentIsa() == Isa::kBaseline) dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }());
  return engine;
}

namespace {

thread_local dnnl_stream_t current_stream = nullptr;

/// Makes the end of the thread destroy its stream. Not by a destructor of a thread_local variable:
/// glibc ends the process if it has no memory to register one.
bool DestroyAtThreadEnd(dnnl_stream_t stream) {
  struct Key {
    pthread_key_t key;
    bool exists = pthread_key_create(&key, [](void* stream) {
                    current_stream = nullptr;  // another destructor may still run a network
                    dnnl_stream_destroy(static_cast<dnnl_stream_t>(stream));
                  }) == 0;
  };
  static const Key key{};
  return key.exists && pthread_setspecific(key.key, stream) == 0;
}

}  // namespace

dnnl_stream_t DnnlStream() {
  if (current_stream != nullptr) return current_stream;
  dnnl_stream_t stream = nullptr;
  dnnl::error::wrap_c_api(
      dnnl_stream_create(&stream, DnnlEngine().get(), dnnl_stream_default_flags), "no stream");
  if (!DestroyAtThreadEnd(stream)) {
    dnnl_stream_destroy(stream);
    throw std::bad_alloc();
  }
  return current_stream = stream;
}

llvm::Error RequireDnnlMemory() {
  constexpr size_t kSize = size_t{32} << 20;
  void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return MakeDeviceError("out of memory: oneDNN cannot allocate the code that it generates");
  munmap(memory, kSize);
  // The first matmul of a vector and the first of matrices generate their code, which may use the
  // memory that has just been checked.
  static std::once_flag generated;
  std::call_once(generated, [] {
    DnnlEngine();
    const OneDnnlThread one_thread;
    constexpr dnnl_dim_t kRows = 64;
    static float a[kRows * kRows], c[kRows * kRows];
    for (const dnnl_dim_t n : {dnnl_dim_t{1}, kRows})
      dnnl_sgemm('N', 'N', n, n, n, 1, a, n, a, n, 0, c, n);
  });
  return llvm::Error::success();
}

void DnnlExecute(const dnnl::primitive& primitive, llvm::ArrayRef<dnnl_exec_arg_t> arguments) {
  dnnl_status_t status;
  try {
    status = dnnl_primitive_execute(primitive.get(), DnnlStream(),
                                    static_cast<int>(arguments.size()), arguments.data());
  } catch (const dnnl::error& error) {  // may be thrown when a new thread's stream is created
    status = error.status;
  }
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success) InternalError("oneDNN rejected a prepared primitive");
}

std::string DnnlLayoutName(const dnnl::memory::desc& layout) {
  const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(&layout.data),
                                      sizeof(layout.data));
  return llvm::formatv("dnnl-{0:x}", llvm::xxh3_64bits(bytes)).str();
}

llvm::Expected<std::shared_ptr<const void>> DnnlPack(const dnnl::memory::desc& from_layout,
                                                     const void* from,
                                                     const dnnl::memory::desc& to_layout) {
  llvm::Expected<std::shared_ptr<void>> packed =
      AllocateAligned(static_cast<int64_t>(to_layout.get_size()));
  if (!packed) return packed.takeError();
  const OneDnnlThread one_thread;
  try {
    dnnl::memory source(from_layout, DnnlEngine(), const_cast<void*>(from));
    dnnl::memory target(to_layout, DnnlEngine(), packed->get());
    dnnl::stream stream(DnnlEngine());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
  } catch (const dnnl::error& error) {
    return MakeDeviceError("oneDNN cannot pack a weight: {0}", error.message);
  }
  return std::shared_ptr<const void>(std::move(*packed));
}

}  // namespace pdl
