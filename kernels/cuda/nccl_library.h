// The functions of NCCL. For sources of libpdl_cuda.so.
#ifndef PDL_KERNELS_CUDA_NCCL_LIBRARY_H_
#define PDL_KERNELS_CUDA_NCCL_LIBRARY_H_

#include <nccl.h>

#include "llvm/Support/Error.h"

namespace pdl::cuda {

#define PDL_NCCL_FUNCTIONS(F) \
  F(GetVersion)               \
  F(GetUniqueId)              \
  F(CommInitRankConfig)       \
  F(CommFinalize)             \
  F(CommDestroy)              \
  F(CommAbort)                \
  F(CommGetAsyncError)        \
  F(GetErrorString)           \
  F(GetLastError)             \
  F(GroupStart)               \
  F(GroupEnd)                 \
  F(Send)                     \
  F(Recv)

/// NCCL's functions that are used, without their prefix.
struct NcclLibrary {
#define PDL_NCCL_MEMBER(name) decltype(&nccl##name) name = nullptr;
  PDL_NCCL_FUNCTIONS(PDL_NCCL_MEMBER)
#undef PDL_NCCL_MEMBER

  static constexpr const char* kFile = "libnccl.so.2";
  /// The oldest version with communicators that do not block.
  static constexpr int kOldestMajor = 2, kOldestMinor = 14;

  /// Loads the library, which is never unloaded. A DeviceError that names its packages if that is
  /// impossible.
  static llvm::Expected<NcclLibrary> LoadFrom(const char* file);
  /// The library kFile, which is loaded by the first call.
  static llvm::Expected<const NcclLibrary*> Load();
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_NCCL_LIBRARY_H_
