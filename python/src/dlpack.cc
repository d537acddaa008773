#include "dlpack.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstring>
#include <memory>
#include <vector>

#include "cuda_wait.h"
#include "errors.h"
#include "gil.h"
#include "tensor.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";
constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

dlpack::DataType TypeOf(DType dtype) {
  const auto bits = static_cast<uint8_t>(DTypeSize(dtype) * 8);
  if (dtype == DType::kBF16) return {dlpack::kBfloat, bits, 1};
  if (dtype == DType::kBool) return {dlpack::kBool, bits, 1};
  if (IsFloat(dtype)) return {dlpack::kFloat, bits, 1};
  return {IsSigned(dtype) ? dlpack::kInt : dlpack::kUInt, bits, 1};
}

std::optional<DType> DTypeOf(dlpack::DataType type) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const dlpack::DataType one = TypeOf(dtype);
    if (one.code == type.code && one.bits == type.bits && type.lanes == 1) return dtype;
  }
  return std::nullopt;
}

bool IsRowMajor(const dlpack::Tensor& tensor) {
  if (!tensor.strides) return true;
  int64_t stride = 1;
  for (int axis = tensor.rank; axis-- > 0;) {
    if (tensor.sizes[axis] == 0) return true;
    if (tensor.sizes[axis] != 1 && tensor.strides[axis] != stride) return false;
    stride *= tensor.sizes[axis];
  }
  return true;
}

/// Copies a tensor with any strides to `to`, row-major. Returns the address after the last element.
char* CopyStrided(const dlpack::Tensor& tensor, int axis, const char* from, int64_t size,
                  char* to) {
  if (axis == tensor.rank) return std::memcpy(to, from, static_cast<size_t>(size)), to + size;
  for (int64_t i = 0; i < tensor.sizes[axis]; ++i)
    to = CopyStrided(tensor, axis + 1, from + i * tensor.strides[axis] * size, size, to);
  return to;
}

PyTensor Import(const dlpack::Tensor& tensor, std::shared_ptr<void> owner, bool read_only) {
  const std::optional<DType> dtype = DTypeOf(tensor.dtype);
  if (!dtype) throw nb::type_error("pdl has no dtype for the elements of the array");
  const bool on_cpu = tensor.device.type == dlpack::kCPU || tensor.device.type == dlpack::kCUDAHost;
  if (!on_cpu && tensor.device.type != dlpack::kCUDA && tensor.device.type != dlpack::kCUDAManaged)
    throw nb::type_error("the array is neither on the CPU nor on a CUDA device");
  const Sizes sizes(tensor.sizes, tensor.sizes + tensor.rank);
  char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (!IsRowMajor(tensor)) {
    if (!on_cpu) throw nb::value_error("an array on a GPU must be row-major; copy it first");
    Tensor copy = Get(Tensor::AllocateUninitialized(*dtype, sizes));
    CopyStrided(tensor, 0, data, DTypeSize(*dtype), static_cast<char*>(copy.raw()));
    return {std::move(copy)};
  }
  std::shared_ptr<void> bytes(std::move(owner), data);
  if (!on_cpu) {
    const Device device{DeviceKind::kCUDA, tensor.device.id};
    return {Tensor(*dtype, sizes, std::move(bytes), device), read_only};
  }
  return Aligned({Tensor(*dtype, sizes, std::move(bytes)), read_only});
}

/// A shared owner of a structure taken from a capsule, which calls its deleter.
template <typename Managed>
std::shared_ptr<void> Owner(Managed* managed) {
  return std::shared_ptr<void>(managed, [](void* pointer) {
    auto* own = static_cast<Managed*>(pointer);
    if (!own->deleter || !Py_IsInitialized()) return;
    const AcquiredGil gil;
    own->deleter(own);
  });
}

/// The structure in an exported capsule, with the tensor that owns its memory, and its sizes and
/// strides.
template <typename Managed>
struct Exported {
  Tensor tensor;
  std::vector<int64_t> sizes;
  Managed managed = {};
};

template <typename Managed>
Managed* MakeManaged(const PyTensor& own) {
  auto* exported = new Exported<Managed>{own.tensor, {}, {}};
  exported->sizes.assign(own.tensor.sizes().begin(), own.tensor.sizes().end());
  // The strides follow the sizes: some consumers require them even if they are row-major.
  const size_t rank = exported->sizes.size();
  exported->sizes.resize(2 * rank);
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    exported->sizes[rank + axis] = stride;
    stride *= exported->sizes[axis];
  }
  Managed& managed = exported->managed;
  const auto [type, id] = DlpackDevice(own.tensor);
  managed.tensor = {const_cast<void*>(own.tensor.raw()),
                    {type, id},
                    static_cast<int32_t>(rank),
                    TypeOf(own.tensor.dtype()),
                    exported->sizes.data(),
                    exported->sizes.data() + rank,
                    0};
  managed.context = exported;
  managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->context); };
  return &managed;
}

/// The destructor of a capsule: frees the structure unless a consumer has taken it.
template <typename Managed>
void DeleteCapsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

}  // namespace

std::pair<int, int> DlpackDevice(const Tensor& tensor) {
  const Device device = tensor.device();
  if (device.kind == DeviceKind::kCUDA) return {dlpack::kCUDA, device.index};
  return {dlpack::kCPU, 0};
}

nb::object ExportDlpack(const PyTensor& tensor, nb::object /*stream*/,
                        std::optional<std::pair<int, int>> max_version,
                        std::optional<std::pair<int, int>> device, std::optional<bool> copy) {
  if (device && *device != DlpackDevice(tensor.tensor))
    throw nb::buffer_error("the tensor is on another device");
  PyTensor own = tensor;
  if (copy.value_or(false)) {
    if (own.tensor.device().kind != DeviceKind::kCPU)
      throw nb::buffer_error("copying a tensor on a GPU is not supported");
    own.tensor = Get(Tensor::AllocateUninitialized(own.tensor.dtype(), own.tensor.sizes()));
    if (own.tensor.num_bytes() > 0)
      std::memcpy(own.tensor.raw(), tensor.tensor.raw(),
                  static_cast<size_t>(own.tensor.num_bytes()));
    own.read_only = false;
  }
  PyObject* capsule = nullptr;
  if (max_version && max_version->first >= 1) {
    auto* managed = MakeManaged<dlpack::ManagedVersioned>(own);
    managed->version = {1, 0};
    managed->flags =
        (own.read_only ? dlpack::kReadOnly : 0) | (copy.value_or(false) ? dlpack::kIsCopied : 0);
    capsule = PyCapsule_New(managed, kVersionedName, [](PyObject* self) {
      DeleteCapsule<dlpack::ManagedVersioned>(self, kVersionedName);
    });
  } else {
    if (own.read_only)
      throw nb::buffer_error("the tensor is shared and read-only: request DLPack 1.0");
    capsule = PyCapsule_New(MakeManaged<dlpack::Managed>(own), kName,
                            [](PyObject* self) { DeleteCapsule<dlpack::Managed>(self, kName); });
  }
  return nb::steal(capsule);
}

std::optional<PyTensor> ImportDlpack(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) return std::nullopt;
  nb::dict arguments;
  int gpu = -1;
  if (nb::hasattr(object, "__dlpack_device__")) {
    std::pair<int, int> device;
    if (!nb::try_cast(CallPython(nb::object(object.attr("__dlpack_device__"))), device))
      throw nb::type_error("__dlpack_device__() must return the type of a device and its index");
    const auto [type, index] = device;
    if (type == dlpack::kCUDA || type == dlpack::kCUDAManaged) {
      // Makes the default stream wait for the producer's work.
      arguments["stream"] = 1;
      gpu = index;
    }
  }
  nb::object capsule;
  const nb::object export_ = object.attr("__dlpack__");
  try {
    nb::dict versioned = nb::borrow<nb::dict>(nb::steal(PyDict_Copy(arguments.ptr())));
    versioned["max_version"] = nb::make_tuple(1, 0);
    capsule = CallPython(export_, **versioned);
  } catch (nb::python_error& error) {
    // Implementations of DLPack before 1.0 do not have this argument.
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = CallPython(export_, **arguments);
  }
  if (gpu >= 0) WaitForDefaultStream(gpu);
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedName)) {
    auto* managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedName));
    if (managed->version.major > 1) throw nb::type_error("the array has a newer version of DLPack");
    PyCapsule_SetName(capsule.ptr(), kUsedVersionedName);
    const bool read_only = (managed->flags & dlpack::kReadOnly) != 0;
    return Import(managed->tensor, Owner(managed), read_only);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), kName)) throw nb::type_error("not a DLPack capsule");
  auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  PyCapsule_SetName(capsule.ptr(), kUsedName);
  return Import(managed->tensor, Owner(managed), /*read_only=*/false);
}

}  // namespace pdl::python
