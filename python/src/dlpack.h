// The structures of DLPack 1.0 (https://dmlc.github.io/dlpack), with the enumerators used here.
#ifndef PYTHON_SRC_DLPACK_H_
#define PYTHON_SRC_DLPACK_H_

#include <cstdint>

namespace pdl::python::dlpack {

enum DeviceType : int32_t { kCPU = 1, kCUDA = 2, kCUDAHost = 3, kCUDAManaged = 13 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t* sizes;
  /// In elements; null if row-major.
  int64_t* strides;
  uint64_t byte_offset;
};

/// In a capsule with the name "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

/// In a capsule with the name "dltensor_versioned".
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace pdl::python::dlpack

#endif  // PYTHON_SRC_DLPACK_H_
