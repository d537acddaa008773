#include "runtime/cuda_library.h"

#include <cstring>

#include "kernels/cuda/cuda_ops.h"
#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"
#include "pdl/version.h"

extern "C" {

const char* pdl_cuda_version() { return PDL_PLUGIN_VERSION; }

void pdl_cuda_register(pdl::OpRegistry* registry) { pdl::cuda::AddAllKernels(*registry); }

pdl::DeviceContext* pdl_cuda_create_context(int index, char** error) {
  auto context = pdl::CUDAContext::Create(index);
  if (context) return context->release();
  *error = strdup(llvm::toString(context.takeError()).c_str());
  return nullptr;
}

int pdl_cuda_count_devices() {
  auto count = pdl::CUDAContext::CountDevices();
  if (count) return *count;
  llvm::consumeError(count.takeError());
  return 0;
}

}  // extern "C"
