#include "cuda_testing.h"

namespace pdl::testing {

llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext(int index) {
  return CreateDeviceContext({DeviceKind::kCUDA, index});
}

int CountCudaDevices() { return CountDevices(DeviceKind::kCUDA); }

}  // namespace pdl::testing
