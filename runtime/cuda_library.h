// The interface between libpdl and libpdl_cuda.so. Both must come from one build, which the version
// string verifies before anything else is called. libpdl loads the library when a CUDA device is
// first requested.
#ifndef PDL_RUNTIME_CUDA_LIBRARY_H_
#define PDL_RUNTIME_CUDA_LIBRARY_H_

#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"

extern "C" {

/// Returns PDL_PLUGIN_VERSION of "pdl/version.h". Needs no driver.
PDL_API const char* pdl_cuda_version();

/// Adds the CUDA kernels to the operators of `registry` (AddKernel). Called once, before the first
/// context is created. Needs no driver.
PDL_API void pdl_cuda_register(pdl::OpRegistry* registry);

/// Returns a new CUDAContext for the device with that index; the caller deletes it. On failure
/// returns null and sets `*error` to the reason ("no GPU with that index: ..."), which the caller
/// passes to free() after prepending "cannot use cuda:0: ".
PDL_API pdl::DeviceContext* pdl_cuda_create_context(int index, char** error);

/// The number of GPUs that can be used.
PDL_API int pdl_cuda_count_devices();

}  // extern "C"

namespace pdl {

using CudaVersionFunction = decltype(&pdl_cuda_version);
using CudaRegisterFunction = decltype(&pdl_cuda_register);
using CudaCountDevicesFunction = decltype(&pdl_cuda_count_devices);
using CudaCreateContextFunction = decltype(&pdl_cuda_create_context);

}  // namespace pdl

#endif  // PDL_RUNTIME_CUDA_LIBRARY_H_
