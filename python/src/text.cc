#include "text.h"

namespace nb = nanobind;

namespace pdl::python {

nb::object Shown(llvm::StringRef text) {
  PyObject* string =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!string) throw nb::python_error();
  return nb::steal(string);
}

std::string TextOf(nb::handle string) {
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(string.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace pdl::python
