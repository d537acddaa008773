#include "cuda_wait.h"

#include <dlfcn.h>
#include <nanobind/nanobind.h>

#include "errors.h"
#include "gil.h"
#include "pdl/op/error.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

/// The required functions of the driver, loaded dynamically: the module does not link to CUDA. They
/// return 0 on success.
struct Driver {
  int (*get_device)(int* device, int index) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*release)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*wait)(void* stream) = nullptr;

  bool Find(void* library) {
    auto find = [&](auto*& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(get_device, "cuDeviceGet") && find(retain, "cuDevicePrimaryCtxRetain") &&
           find(release, "cuDevicePrimaryCtxRelease_v2") && find(push, "cuCtxPushCurrent_v2") &&
           find(pop, "cuCtxPopCurrent_v2") && find(wait, "cuStreamSynchronize");
  }

  int Wait(int gpu) const {
    void* const legacy_default_stream = reinterpret_cast<void*>(1);
    int device = 0;
    void *context = nullptr, *popped = nullptr;
    if (int status = get_device(&device, gpu)) return status;
    if (int status = retain(&context, device)) return status;
    int status = push(context);
    if (status == 0) {
      status = wait(legacy_default_stream);
      pop(&popped);
    }
    release(device);
    return status;
  }
};

}  // namespace

void WaitForDefaultStream(int gpu) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return;
  Driver driver;
  int status = -1;
  if (driver.Find(library)) {
    const ReleasedGil released;
    status = driver.Wait(gpu);
  }
  dlclose(library);
  if (status != 0)
    Raise(MakeDeviceError("waiting for an array on GPU {0} failed: CUDA error {1}", gpu, status));
}

}  // namespace pdl::python
