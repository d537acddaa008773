#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>

#include "kernels/cuda/cusolver.h"
#include "pdl/op/error.h"

namespace pdl::cuda {
namespace {

#define PDL_NAME_OF(number) #number
#define PDL_LIBRARY_OF(version) "libcusolver.so." PDL_NAME_OF(version)
constexpr const char* kFile = PDL_LIBRARY_OF(CUSOLVER_VER_MAJOR);

/// The functions, or why they cannot be loaded.
struct Loaded {
  CusolverLibrary library;
  std::string problem;

  Loaded() {
    // It stays loaded.
    void* file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      problem = dlerror();
      return;
    }
#define PDL_FIND(name)                                                                      \
  library.name =                                                                            \
      reinterpret_cast<decltype(library.name)>(dlsym(file, PDL_NAME_OF(cusolverDn##name))); \
  if (library.name == nullptr) problem = "it has no function cusolverDn" #name;
    PDL_CUSOLVER_FUNCTIONS(PDL_FIND)
#undef PDL_FIND
  }
};

}  // namespace

llvm::Expected<const CusolverLibrary*> CusolverLibrary::Load() {
  static const Loaded loaded;
  if (loaded.problem.empty()) return &loaded.library;
  return MakeDeviceError(
      "linear algebra on cuda requires cuSOLVER ({0}: {1}); it is a part of the CUDA toolkit, and "
      "the package libcusolver-{2}-0 of NVIDIA's repository for Debian and nvidia-cusolver on PyPI",
      kFile, loaded.problem, CUDART_VERSION / 1000);
}

}  // namespace pdl::cuda
