// Module: ir
#ifndef PDL_OP_DEVICE_H_
#define PDL_OP_DEVICE_H_

#include <cstddef>
#include <cstdint>

namespace pdl {

enum class DeviceKind : uint8_t { kCPU = 0, kCUDA = 1 };
inline constexpr size_t kNumDeviceKinds = 2;

/// A device: `cpu`, `cuda:1`.
struct Device {
  DeviceKind kind = DeviceKind::kCPU;
  int index = 0;
  friend bool operator==(Device, Device) = default;
};

}  // namespace pdl

#endif  // PDL_OP_DEVICE_H_
