// pdl.Tensor, and conversion from and to arrays of other libraries without copies.
#ifndef PYTHON_SRC_TENSOR_H_
#define PYTHON_SRC_TENSOR_H_

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "pdl/op/tensor.h"

namespace pdl::python {

/// The C++ object of pdl.Tensor.
struct PyTensor {
  Tensor tensor;
  /// Its memory must not be written to: it is shared with a network, or with a read-only array.
  bool read_only = false;
};

/// The tensor over the memory of a pdl.Tensor or an object with the buffer protocol or DLPack,
/// which it keeps alive. Arrays that are not row-major or not aligned are copied. nullopt if the
/// object is none of these; throws if it is not supported, for example because of its dtype.
std::optional<PyTensor> ImportArray(nanobind::handle object);
/// ImportArray, for reading only.
std::optional<Tensor> ImportTensor(nanobind::handle object);

/// A copy of an array on the CPU; throws TypeError for other objects.
Constant CopyOf(nanobind::handle array);

/// The dtype for the format and size of a buffer's elements; nullopt if there is none.
std::optional<DType> DTypeOfFormat(const char* format, Py_ssize_t item_size);

void BindTensor(nanobind::module_& module);

// dlpack.cc
std::optional<PyTensor> ImportDlpack(nanobind::handle object);
/// `__dlpack__` of the array API standard.
nanobind::object ExportDlpack(const PyTensor& tensor, nanobind::object stream,
                              std::optional<std::pair<int, int>> max_version,
                              std::optional<std::pair<int, int>> device, std::optional<bool> copy);
std::pair<int, int> DlpackDevice(const Tensor& tensor);

/// `array`, or a copy if its memory is not aligned for its elements. CPU only.
PyTensor Aligned(PyTensor array);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TENSOR_H_
