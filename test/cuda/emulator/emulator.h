// Runs CUDA kernels on the CPU, for tests without a GPU. Included before a .cu file that is
// compiled as C++, it defines CUDA's keywords and functions. The threads of a block are fibers,
// which run one after another from barrier to barrier, in alternating order, to detect results that
// depend on it. It supports only the features that our kernels use; it does not model speed, the
// compiler or memory order.
#ifndef PDL_TEST_CUDA_EMULATOR_EMULATOR_H_
#define PDL_TEST_CUDA_EMULATOR_EMULATOR_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <vector_functions.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "pdl/op/half.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __forceinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
// Blocks run one after the other.
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

namespace pdl::emulator {

/// The index of the running thread.
extern dim3 thread_index, block_index, block_size, grid_size;

/// Waits for the other threads of the block; aborts if some of them have returned.
void Barrier();
/// Calls `kernel` for each thread of each block.
void Run(dim3 grid, dim3 block, const std::function<void()>& kernel);

}  // namespace pdl::emulator

#define threadIdx ::pdl::emulator::thread_index
#define blockIdx ::pdl::emulator::block_index
#define blockDim ::pdl::emulator::block_size
#define gridDim ::pdl::emulator::grid_size

inline void __syncthreads() { pdl::emulator::Barrier(); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __double2float_rz(double x) {
  const float nearest = static_cast<float>(x);
  const bool beyond = fabs(static_cast<double>(nearest)) > fabs(x);
  return __uint_as_float(__float_as_uint(nearest) - (beyond ? 1 : 0));
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sin(M_PI * x);
  *cosine = cos(M_PI * x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = static_cast<float>(sin(M_PI * static_cast<double>(x)));
  *cosine = static_cast<float>(cos(M_PI * static_cast<double>(x)));
}

#endif  // PDL_TEST_CUDA_EMULATOR_EMULATOR_H_
