// What libpdl asks of libpdl_cuda.so. Both come from one build; the version string makes sure of it
// before anything else is called. libpdl loads the library when a CUDA device is first asked for.
#ifndef PDL_RUNTIME_CUDA_LIBRARY_H_
#define PDL_RUNTIME_CUDA_LIBRARY_H_

#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"

extern "C" {

/// PDL_PLUGIN_VERSION of "pdl/version.h". Needs no driver.
PDL_API const char* pdl_cuda_version();

/// Adds the CUDA kernels to the operators of `registry` (AddKernel). Called once, before the first
/// context is made. Needs no driver.
PDL_API void pdl_cuda_register(pdl::OpRegistry* registry);

/// A new CUDAContext on the device of that index, which the caller deletes. Where that cannot be,
/// null, and in `*error` the reason ("no device of that index; 1 is present"), which the caller
/// gives to free(). The caller puts "cannot use cuda:0: " in front.
PDL_API pdl::DeviceContext* pdl_cuda_create_context(int index, char** error);

}  // extern "C"

namespace pdl {

using CudaVersionFunction = decltype(&pdl_cuda_version);
using CudaRegisterFunction = decltype(&pdl_cuda_register);
using CudaCreateContextFunction = decltype(&pdl_cuda_create_context);

}  // namespace pdl

#endif  // PDL_RUNTIME_CUDA_LIBRARY_H_
