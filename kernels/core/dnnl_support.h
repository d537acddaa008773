// Helpers shared by all uses of oneDNN.
#ifndef PDL_KERNELS_CORE_DNNL_SUPPORT_H_
#define PDL_KERNELS_CORE_DNNL_SUPPORT_H_

#include <signal.h>

#include <dnnl.hpp>

#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// While an object lives, oneDNN calls of this thread run on this thread only: oneDNN's own
/// threading would make sums depend on the number of threads. Signals are blocked on the thread,
/// because oneDNN's matmul for processors without AVX-512 uses the stack pointer for other data
/// (jit_avx_gemm_f32), and a signal handler would write to that address.
class OneDnnlThread {
 public:
  OneDnnlThread();
  ~OneDnnlThread();
  OneDnnlThread(const OneDnnlThread&) = delete;
  OneDnnlThread& operator=(const OneDnnlThread&) = delete;

 private:
  int saved_;
  sigset_t signals_;
};

/// The CPU engine, limited to the instruction set that our own kernels use.
const dnnl::engine& DnnlEngine();
/// Returns an Error if there is no memory for the code that oneDNN generates; oneDNN itself does
/// not check. Call it before preparing a primitive.
llvm::Error RequireDnnlMemory();
/// The stream of the calling thread.
dnnl_stream_t DnnlStream();
/// Throws std::bad_alloc if oneDNN runs out of memory; raises an InternalError if it fails
/// otherwise.
void DnnlExecute(const dnnl::primitive& primitive, llvm::ArrayRef<dnnl_exec_arg_t> arguments);
/// A name for a layout; equal layouts have equal names.
std::string DnnlLayoutName(const dnnl::memory::desc& layout);
/// A copy of `from`, which has layout `from_layout`, reordered to `to_layout`.
llvm::Expected<std::shared_ptr<const void>> DnnlPack(const dnnl::memory::desc& from_layout,
                                                     const void* from,
                                                     const dnnl::memory::desc& to_layout);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_DNNL_SUPPORT_H_
