// What every use of oneDNN shares.
#ifndef PDL_KERNELS_CORE_DNNL_SUPPORT_H_
#define PDL_KERNELS_CORE_DNNL_SUPPORT_H_

#include <signal.h>

#include <dnnl.hpp>

#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// While one is alive, the calling thread's oneDNN calls use no other: its own threading would make
/// the sums depend on the count of threads. And no signal is handled on the thread: oneDNN's
/// products for processors without AVX-512 keep other things than the stack in the stack's register
/// (jit_avx_gemm_f32), and what handles a signal would write there.
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

/// The processor, limited to the instruction set that our own kernels use.
const dnnl::engine& DnnlEngine();
/// An Error where there is no memory for the code that oneDNN generates, which it takes for
/// granted. To be called before something is prepared.
llvm::Error RequireDnnlMemory();
/// The calling thread's.
dnnl_stream_t DnnlStream();
/// Throws std::bad_alloc where oneDNN has no memory; an InternalError where it fails otherwise.
void DnnlExecute(const dnnl::primitive& primitive, llvm::ArrayRef<dnnl_exec_arg_t> arguments);
/// A name for a layout, equal for equal ones.
std::string DnnlLayoutName(const dnnl::memory::desc& layout);
/// `from`, which lies as `from_layout` says, brought into `to_layout`, in memory of its own.
llvm::Expected<std::shared_ptr<const void>> DnnlPack(const dnnl::memory::desc& from_layout,
                                                     const void* from,
                                                     const dnnl::memory::desc& to_layout);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_DNNL_SUPPORT_H_
