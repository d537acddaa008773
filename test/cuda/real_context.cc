#include "cuda_testing.h"

namespace pdl::testing {

llvm::Expected<std::unique_ptr<DeviceContext>> CreateCudaContext() {
  return CreateDeviceContext({DeviceKind::kCUDA, 0});
}

}  // namespace pdl::testing
