#include "pdl/op/device_context.h"

#include <dlfcn.h>

#include <cstdlib>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/version.h"
#include "runtime/cuda_library.h"
#include "runtime/distributed/device_ranks.h"
#include "runtime/own_folder.h"

namespace pdl {
namespace {

constexpr char kCudaLibrary[] = "libpdl_cuda.so";
constexpr char kDriver[] = "libcuda.so.1";

/// libpdl_cuda.so once it is loaded, or the reason why it is not.
struct CudaLibrary {
  CudaCountDevicesFunction count_devices = nullptr;
  CudaCreateContextFunction create_context = nullptr;
  std::string failure;
};

CudaLibrary LoadCudaLibrary() {
  auto failed = [](std::string why) { return CudaLibrary{nullptr, nullptr, std::move(why)}; };
  llvm::SmallString<256> path(OwnFolder());
  llvm::sys::path::append(path, kCudaLibrary);
  if (!llvm::sys::fs::exists(path))
    return failed(llvm::formatv("this build has no {0}", kCudaLibrary).str());
  if (dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL) == nullptr)
    return failed(llvm::formatv("no NVIDIA driver found ({0})", kDriver).str());
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failed(dlerror());

  auto version = reinterpret_cast<CudaVersionFunction>(dlsym(library, "pdl_cuda_version"));
  auto add_kernels = reinterpret_cast<CudaRegisterFunction>(dlsym(library, "pdl_cuda_register"));
  auto create =
      reinterpret_cast<CudaCreateContextFunction>(dlsym(library, "pdl_cuda_create_context"));
  auto count = reinterpret_cast<CudaCountDevicesFunction>(dlsym(library, "pdl_cuda_count_devices"));
  if (version == nullptr || add_kernels == nullptr || create == nullptr || count == nullptr)
    return failed(llvm::formatv("{0} is not a library of pdl", path).str());
  if (llvm::StringRef(version()) != PDL_PLUGIN_VERSION) {
    return failed(
        llvm::formatv("{0} has version {1}, but this is {2}", path, version(), PDL_PLUGIN_VERSION)
            .str());
  }
  add_kernels(&GlobalRegistry());
  return {count, create, ""};
}

const CudaLibrary& TheCudaLibrary() {
  static const CudaLibrary& library = *new CudaLibrary(LoadCudaLibrary());
  return library;
}

llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext(Device device) {
  const CudaLibrary& library = TheCudaLibrary();
  std::string failure = library.failure;
  if (library.create_context != nullptr) {
    char* error = nullptr;
    if (DeviceContext* context = library.create_context(device.index, &error))
      return std::unique_ptr<DeviceContext>(context);
    failure = error != nullptr ? error : "the library reports no reason";
    std::free(error);
  }
  return MakeDeviceError("cannot use {0}: {1}", DeviceToString(device), failure);
}

}  // namespace

llvm::Expected<std::shared_ptr<DeviceRanks>> DeviceContext::JoinRanks(Communicator*) {
  return nullptr;
}

llvm::Expected<Device> DeviceFromName(llvm::StringRef name) {
  if (name == "cpu") return Device{DeviceKind::kCPU, 0};
  if (name == "cuda") return Device{DeviceKind::kCUDA, 0};
  llvm::StringRef index = name;
  int number = 0;
  if (index.consume_front("cuda:") && !index.getAsInteger(10, number) && number >= 0)
    return Device{DeviceKind::kCUDA, number};
  return MakeUserError(Code::kUnknownDevice,
                       "'{0}' is not a device; devices are 'cpu', 'cuda' and 'cuda:1'", name);
}

std::string DeviceToString(Device device) {
  return device.kind == DeviceKind::kCPU ? "cpu" : llvm::formatv("cuda:{0}", device.index).str();
}

int CountDevices(DeviceKind kind) {
  if (kind == DeviceKind::kCPU) return 1;
  const CudaLibrary& library = TheCudaLibrary();
  return library.count_devices != nullptr ? library.count_devices() : 0;
}

llvm::Expected<std::unique_ptr<DeviceContext>> CreateDeviceContext(Device device, int threads) {
  if (device.kind == DeviceKind::kCPU) return std::make_unique<CPUContext>(threads);
  return CreateCudaContext(device);
}

}  // namespace pdl
