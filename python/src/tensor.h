// pdl.Tensor, and arrays of other libraries as tensors and back, without copies.
#ifndef PYTHON_SRC_TENSOR_H_
#define PYTHON_SRC_TENSOR_H_

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "pdl/op/tensor.h"

namespace pdl::python {

/// What Python holds of a tensor.
struct PyTensor {
  Tensor tensor;
  /// Its memory may not be written to: others share it, such as a network its weights, or it is an
  /// array's that cannot be written to.
  bool read_only = false;
};

/// The tensor over the memory of a pdl.Tensor, of what has the buffer protocol or of what has
/// DLPack; it keeps that object alive. What is not row-major, or not aligned, is copied. Nothing
/// where the object is none of these; throws where it is one that cannot be taken (its dtype, say).
std::optional<PyTensor> ImportArray(nanobind::handle object);
/// The same, to be read only.
std::optional<Tensor> ImportTensor(nanobind::handle object);

/// A copy of the elements of an array, which lies on the CPU; throws where it is none.
Constant CopyOf(nanobind::handle array);

/// The dtype of a buffer's element, by its format and size; nothing where there is none.
std::optional<DType> DTypeOfFormat(const char* format, Py_ssize_t item_size);

void BindTensor(nanobind::module_& module);

// dlpack.cc
std::optional<PyTensor> ImportDlpack(nanobind::handle object);
/// `__dlpack__` of the array API standard.
nanobind::object ExportDlpack(const PyTensor& tensor, nanobind::object stream,
                              std::optional<std::pair<int, int>> max_version,
                              std::optional<std::pair<int, int>> device, std::optional<bool> copy);
std::pair<int, int> DlpackDevice(const Tensor& tensor);

/// `array`, or where its memory is not aligned for its elements a copy. CPU only.
PyTensor Aligned(PyTensor array);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TENSOR_H_
