#include "kernels/cuda/nccl_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>

#include "pdl/op/error.h"

static_assert(NCCL_MAJOR == 2 && NCCL_MINOR >= 14, "NCCL 2.14 or later is required");

namespace pdl::cuda {
namespace {

/// NCCL's coding of versions since 2.9.
constexpr int VersionCode(int major, int minor) { return major * 10000 + minor * 100; }

/// Sets the functions; returns what is wrong with the library, or nothing.
std::string Find(const char* file, NcclLibrary& library) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
#define PDL_FIND(name)                                                                  \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, "nccl" #name)); \
  if (library.name == nullptr) return std::string(file) + " has no function nccl" #name;
  PDL_NCCL_FUNCTIONS(PDL_FIND)
#undef PDL_FIND
  int version = 0;
  if (library.GetVersion(&version) != ncclSuccess)
    return std::string("the version of ") + file + " is unknown";
  if (version >= VersionCode(NcclLibrary::kOldestMajor, NcclLibrary::kOldestMinor)) return "";
  return llvm::formatv("version {0}.{1} or later is required, but {2} has the version code {3}",
                       NcclLibrary::kOldestMajor, NcclLibrary::kOldestMinor, file, version);
}

}  // namespace

llvm::Expected<NcclLibrary> NcclLibrary::LoadFrom(const char* file) {
  NcclLibrary library;
  const std::string problem = Find(file, library);
  if (problem.empty()) return library;
  return MakeDeviceError(
      "adding the gradients of several GPUs requires NCCL ({0}); install the package libnccl2 of "
      "NVIDIA's repository for Debian, or nvidia-nccl-cu{1} of PyPI",
      problem, CUDART_VERSION / 1000);
}

llvm::Expected<const NcclLibrary*> NcclLibrary::Load() {
  struct Loaded {
    NcclLibrary library;
    std::string problem;
    Loaded() {
      if (llvm::Error error = LoadFrom(kFile).moveInto(library))
        problem = llvm::toString(std::move(error));
    }
  };
  static const Loaded loaded;
  if (loaded.problem.empty()) return &loaded.library;
  return MakeDeviceError("{0}", loaded.problem);
}

}  // namespace pdl::cuda
