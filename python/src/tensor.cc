#include "tensor.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>

#include "errors.h"
#include "gil.h"
#include "pdl/op/device_context.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

const char* FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "e";
    case DType::kF32:
      return "f";
    case DType::kF64:
      return "d";
    case DType::kI8:
      return "b";
    case DType::kI16:
      return "h";
    case DType::kI32:
      return "i";
    case DType::kI64:
      return "q";
    case DType::kU8:
      return "B";
    case DType::kU16:
      return "H";
    case DType::kU32:
      return "I";
    case DType::kU64:
      return "Q";
    case DType::kBool:
      return "?";
    case DType::kBF16:
      break;
  }
  return nullptr;
}

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_BufferError, "the tensor was not initialized");
    return -1;
  }
  const PyTensor& own = *nb::inst_ptr<PyTensor>(nb::handle(self));
  const Tensor& tensor = own.tensor;
  const char* format = FormatOf(tensor.dtype());
  if (tensor.device().kind != DeviceKind::kCPU) {
    PyErr_SetString(PyExc_BufferError, "the tensor is on a GPU: use DLPack");
    return -1;
  }
  if (!format) {
    PyErr_SetString(
        PyExc_BufferError,
        "NumPy has no dtype for bf16: use DLPack, cast the tensor, or install ml_dtypes");
    return -1;
  }
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && tensor.rank() > 1) {
    PyErr_SetString(PyExc_BufferError, "the tensor is row-major, not column-major");
    return -1;
  }
  if (own.read_only && (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "the tensor is shared and read-only");
    return -1;
  }
  const unsigned rank = tensor.rank();
  auto* numbers = new Py_ssize_t[2 * rank + 1];
  Py_ssize_t stride = DTypeSize(tensor.dtype());
  for (unsigned axis = rank; axis-- > 0;) {
    numbers[axis] = tensor.size(axis);
    numbers[rank + axis] = stride;
    stride *= tensor.size(axis);
  }
  static char nothing;
  view->buf = tensor.raw() ? const_cast<void*>(tensor.raw()) : &nothing;
  view->obj = Py_NewRef(self);
  view->len = tensor.num_bytes();
  view->itemsize = DTypeSize(tensor.dtype());
  view->readonly = own.read_only;
  view->ndim = static_cast<int>(rank);
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) ? numbers : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? numbers + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = numbers;
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
                       {0, nullptr}};

/// NumPy's name of the dtype of an object; empty if it has none.
std::string DTypeNameOf(nb::handle object) {
  if (!nb::hasattr(object, "dtype")) return "";
  const nb::object dtype = object.attr("dtype");
  const nb::object name = OrHang([&] { return nb::steal(PyObject_Str(dtype.ptr())); });
  if (!name.is_valid()) throw nb::python_error();
  return TextOf(name);
}

[[noreturn]] void RaiseNoDType(nb::handle object, const char* format) {
  std::string name = DTypeNameOf(object);
  if (name.empty()) name = format ? format : "";
  std::string message = "elements of dtype '" + name + "' have no dtype in pdl";
  if (name.size() > 1 && name[0] == '>')
    message += "; array.astype(array.dtype.newbyteorder('=')) swaps their bytes";
  if (name == "object")
    message += "; array.astype(\"float32\") converts them to numbers if possible";
  throw nb::type_error(message.c_str());
}

/// Throws for a masked array: the buffer that NumPy exports ignores the mask.
void CheckUnmasked(nb::handle object) {
  if (std::strcmp(Py_TYPE(object.ptr())->tp_name, "MaskedArray") != 0) return;
  if (nb::cast<bool>(CallIn("numpy.ma", "is_masked", object)))
    throw nb::type_error(
        "elements of the array are masked; array.filled(value) replaces them by a value");
}

/// ImportArray for an object with the buffer protocol. If `as` is given, a dtype of the same size,
/// the elements are reinterpreted as `as`.
PyTensor ImportBuffer(nb::handle object, std::optional<DType> as = std::nullopt) {
  CheckUnmasked(object);
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) {
    // NumPy exports no buffers of third-party dtypes, such as those of ml_dtypes.
    nb::python_error error;
    const std::string name = DTypeNameOf(object);
    if (name == "bfloat16")
      return ImportBuffer(CallPython(nb::object(object.attr("view")), "uint16"), DType::kBF16);
    if (name.empty()) throw error;
    RaiseNoDType(object, "");
  }
  std::optional<DType> dtype = DTypeOfFormat(view->format, view->itemsize);
  if (!dtype) {
    const std::string format = view->format ? view->format : "";
    PyBuffer_Release(view.get());
    RaiseNoDType(object, format.c_str());
  }
  if (as) dtype = as;
  const Sizes sizes(view->shape, view->shape + view->ndim);
  if (!PyBuffer_IsContiguous(view.get(), 'C')) {
    llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(*dtype, sizes);
    const bool copied = copy && PyBuffer_ToContiguous(copy->raw(), view.get(), view->len, 'C') == 0;
    PyBuffer_Release(view.get());
    if (copy && !copied) throw nb::python_error();
    return {Get(std::move(copy))};
  }
  const bool read_only = view->readonly != 0;
  void* data = view->buf;
  std::shared_ptr<void> owner(data, [view = view.release()](void*) {
    if (Py_IsInitialized()) {
      const AcquiredGil gil;
      PyBuffer_Release(view);
    }
    delete view;
  });
  return Aligned({Tensor(*dtype, sizes, std::move(owner)), read_only});
}

/// A tensor over the same memory, reinterpreted as another dtype of the same size.
PyTensor Reinterpret(const PyTensor& own, const std::string& name) {
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype || DTypeSize(*dtype) != DTypeSize(own.tensor.dtype()))
    throw nb::value_error("expected a dtype with the same size of elements");
  Tensor tensor = own.tensor;
  void* data = tensor.raw();
  std::shared_ptr<void> bytes(data, [tensor](void*) {});
  return {Tensor(*dtype, tensor.sizes(), std::move(bytes), tensor.device()), own.read_only};
}

/// A bool must be 0 or 1. NumPy also treats any other byte as true (`mask.view(bool)`); an array
/// with such bytes is copied.
PyTensor NormalizeBools(PyTensor array) {
  const Tensor& tensor = array.tensor;
  if (tensor.device().kind != DeviceKind::kCPU) return array;
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
  const auto size = static_cast<size_t>(tensor.num_bytes());
  uint8_t all = 0;
  for (size_t i = 0; i < size; ++i) all |= bytes[i];
  if (all <= 1) return array;
  Tensor copy = Get(Tensor::AllocateUninitialized(DType::kBool, tensor.sizes()));
  auto* to = static_cast<uint8_t*>(copy.raw());
  for (size_t i = 0; i < size; ++i) to[i] = bytes[i] != 0;
  return {std::move(copy)};
}

nb::tuple ShapeOf(const PyTensor& own) {
  nb::list sizes;
  for (const int64_t size : own.tensor.sizes()) sizes.append(size);
  return nb::tuple(sizes);
}

std::string Print(const PyTensor& own) {
  if (own.tensor.device().kind != DeviceKind::kCPU)
    return "on " + DeviceToString(own.tensor.device());
  return TensorToString(own.tensor);
}

}  // namespace

std::optional<DType> DTypeOfFormat(const char* format, Py_ssize_t item_size) {
  if (!format) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return std::nullopt;
  auto of_size = [&](DType one, DType two, DType four, DType eight) -> std::optional<DType> {
    if (item_size == 1) return one;
    if (item_size == 2) return two;
    if (item_size == 4) return four;
    if (item_size == 8) return eight;
    return std::nullopt;
  };
  if (std::strchr("bhilqn", *format))
    return of_size(DType::kI8, DType::kI16, DType::kI32, DType::kI64);
  if (std::strchr("BHILQN", *format))
    return of_size(DType::kU8, DType::kU16, DType::kU32, DType::kU64);
  switch (*format) {
    case 'e':
      return DType::kF16;
    case 'f':
      return DType::kF32;
    case 'd':
      return DType::kF64;
    case '?':
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

PyTensor Aligned(PyTensor array) {
  const Tensor& tensor = array.tensor;
  const auto address = reinterpret_cast<uintptr_t>(tensor.raw());
  if (address % static_cast<uintptr_t>(DTypeSize(tensor.dtype())) == 0) return array;
  Tensor copy = Get(Tensor::AllocateUninitialized(tensor.dtype(), tensor.sizes()));
  std::memcpy(copy.raw(), tensor.raw(), static_cast<size_t>(tensor.num_bytes()));
  return {std::move(copy)};
}

std::optional<PyTensor> ImportArray(nb::handle object) {
  if (nb::isinstance<PyTensor>(object) && nb::inst_ready(object))
    return *nb::inst_ptr<PyTensor>(object);
  std::optional<PyTensor> array =
      PyObject_CheckBuffer(object.ptr()) ? ImportBuffer(object) : ImportDlpack(object);
  if (array && array->tensor.dtype() == DType::kBool) return NormalizeBools(std::move(*array));
  return array;
}

std::optional<Tensor> ImportTensor(nb::handle object) {
  std::optional<PyTensor> array = ImportArray(object);
  if (!array) return std::nullopt;
  return std::move(array->tensor);
}

Constant CopyOf(nb::handle array) {
  const std::optional<Tensor> tensor = ImportTensor(array);
  if (!tensor) throw nb::type_error("expected an array");
  if (tensor->device().kind != DeviceKind::kCPU)
    throw nb::type_error("the array is on a GPU; copy it to the CPU first");
  return Constant::Copy(tensor->dtype(), tensor->sizes(), tensor->raw());
}

void BindTensor(nb::module_& module) {
  nb::class_<PyTensor>(module, "Tensor", nb::type_slots(slots), nb::is_weak_referenceable(),
                       "An array in memory. NumPy and libraries with DLPack access it without a "
                       "copy.")
      .def_prop_ro("shape", &ShapeOf, "The sizes, outermost first.")
      .def_prop_ro(
          "dtype", [](const PyTensor& own) { return DTypeName(own.tensor.dtype()).str(); },
          "The type of an element, as in the language: 'f32'.")
      .def_prop_ro(
          "ndim", [](const PyTensor& own) { return own.tensor.rank(); }, "The number of dims.")
      .def_prop_ro(
          "size", [](const PyTensor& own) { return own.tensor.num_elements(); },
          "The number of elements.")
      .def_prop_ro(
          "nbytes", [](const PyTensor& own) { return own.tensor.num_bytes(); },
          "The size of all elements in bytes.")
      .def_prop_ro(
          "device", [](const PyTensor& own) { return DeviceToString(own.tensor.device()); },
          "The device with its memory: 'cpu', 'cuda:0'.")
      .def_prop_ro(
          "type", [](const PyTensor& own) { return own.tensor.TypeString(); },
          "dtype and sizes, as in the language: 'f32[2, 3]'.")
      .def_prop_ro(
          "address",
          [](const PyTensor& own) { return reinterpret_cast<uintptr_t>(own.tensor.raw()); },
          "The address of its first element.")
      .def("__dlpack_device__", [](const PyTensor& own) { return DlpackDevice(own.tensor); })
      .def("__dlpack__", &ExportDlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none())
      .def("_view", &Reinterpret, nb::arg("dtype"))
      .def("__str__", &Print)
      .def("__repr__", [](const PyTensor& own) {
        return "tensor(" + Print(own) + ", " + own.tensor.TypeString() + ")";
      });
  module.def(
      "has_buffer", [](nb::handle object) { return PyObject_CheckBuffer(object.ptr()) != 0; },
      nb::arg("object").none(), "Whether an object supports the buffer protocol.");
  module.def(
      "tensor",
      [](nb::handle object) {
        std::optional<PyTensor> array = ImportArray(object);
        if (!array) throw nb::type_error("expected an array with the buffer protocol or DLPack");
        return std::move(*array);
      },
      nb::arg("array"), "A tensor that shares the memory of an array; read-only if the array is.");
}

}  // namespace pdl::python
