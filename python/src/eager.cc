#include "eager.h"

#include <cstring>
#include <optional>
#include <utility>

#include "gil.h"
#include "network.h"
#include "tensor.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

using Key = llvm::SmallString<128>;
/// Calls with longer keys, from long lists, are not cached.
constexpr size_t kMostBytes = 4096;

template <typename T>
void Append(Key& key, char tag, const T& value) {
  key.push_back(tag);
  key.append(llvm::StringRef(reinterpret_cast<const char*>(&value), sizeof value));
}

void AppendTensor(Key& key, const Tensor& tensor) {
  Append(key, 't', tensor.dtype());
  Append(key, 'd', tensor.device().kind);
  Append(key, 'i', tensor.device().index);
  Append(key, 'r', tensor.rank());
  for (const int64_t size : tensor.sizes()) Append(key, 's', size);
}

/// Adds an argument to the key, and if it is an array to `fed`. Returns false if arguments of its
/// type are not supported in keys.
bool AppendArgument(Key& key, nb::handle given, FedTensors& fed) {
  PyObject* object = given.ptr();
  if (given.is_none()) return key.push_back('n'), true;
  if (PyBool_Check(object)) return key.push_back(object == Py_True ? 'y' : 'f'), true;
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return false;
    return Append(key, 'l', value), true;
  }
  if (PyFloat_CheckExact(object)) return Append(key, 'g', PyFloat_AS_DOUBLE(object)), true;
  if (PyUnicode_CheckExact(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    // A lone surrogate; the call will be rejected.
    if (!text) return PyErr_Clear(), false;
    Append(key, 'u', size);
    key.append(llvm::StringRef(text, static_cast<size_t>(size)));
    return true;
  }
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
    Append(key, '(', size);
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!AppendArgument(key, PySequence_Fast_GET_ITEM(object, i), fed)) return false;
    return true;
  }
  std::optional<Tensor> tensor = ImportTensor(given);
  if (!tensor) return false;
  AppendTensor(key, *tensor);
  fed.emplace_back(static_cast<unsigned>(fed.size()), std::move(*tensor));
  return true;
}

/// Makes the key of a call. Returns false if it has no tensor, or an argument is not supported.
bool MakeKey(nb::handle positional, nb::handle named, Key& key, FedTensors& fed) {
  for (nb::handle given : nb::borrow<nb::tuple>(positional))
    if (!AppendArgument(key, given, fed)) return false;
  key.push_back('|');
  PyObject *name = nullptr, *given = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(named.ptr(), &position, &name, &given)) {
    const nb::object held = nb::borrow(given);
    if (!AppendArgument(key, name, fed) || !AppendArgument(key, held, fed)) return false;
  }
  return !fed.empty() && key.size() <= kMostBytes;
}

}  // namespace

nb::object EagerCalls::Call(nb::args positional, nb::kwargs named) {
  Key key;
  FedTensors fed;
  if (kept_.empty() || !MakeKey(positional, named, key, fed)) return nb::borrow(Py_NotImplemented);
  auto found = kept_.find(key);
  if (found == kept_.end()) return nb::borrow(Py_NotImplemented);
  // Another thread may clear the calls while this one runs.
  const Kept kept = found->second;
  static const RunOptions options;
  llvm::SmallVector<nb::object, 2> outputs =
      nb::inst_ptr<PyNetwork>(kept.network)->RunOn(fed, options);
  if (kept.finish.is_none()) return std::move(outputs.front());
  nb::list all;
  for (nb::object& output : outputs) all.append(std::move(output));
  return CallPython(kept.finish, all);
}

void EagerCalls::Keep(nb::tuple positional, nb::dict named, nb::object network, nb::object finish) {
  Key key;
  FedTensors fed;
  if (!nb::isinstance<PyNetwork>(network)) throw nb::type_error("expected a network");
  if (!MakeKey(positional, named, key, fed)) return;
  // An array for an attribute is not an input: its numbers are literals in the call.
  const Program& program = nb::inst_ptr<PyNetwork>(network)->program();
  if (fed.size() != program.graph->inputs().size()) return;
  if (kept_.size() >= kMost) kept_.clear();
  kept_[key] = {std::move(network), std::move(finish)};
}

void BindEager(nb::module_& module) {
  nb::class_<EagerCalls>(module, "EagerCalls")
      .def(nb::init<>())
      .def("__call__", &EagerCalls::Call)
      .def("keep", &EagerCalls::Keep, nb::arg("args"), nb::arg("kwargs"), nb::arg("network"),
           nb::arg("finish").none())
      .def("clear", &EagerCalls::Clear);
}

}  // namespace pdl::python
