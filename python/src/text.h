// Paths and other strings that may not be UTF-8, in Python.
#ifndef PYTHON_SRC_TEXT_H_
#define PYTHON_SRC_TEXT_H_

#include <nanobind/nanobind.h>

#include <string>

#include "llvm/ADT/StringRef.h"

namespace pdl::python {

/// The bytes of a path. In Python a string, with surrogates for bytes that are not UTF-8 (see
/// os.fsdecode).
struct Path {
  std::string bytes;
};

/// The string for people, with a replacement character for each byte that is not UTF-8.
nanobind::object Shown(llvm::StringRef text);
/// The string as UTF-8, with escapes for lone surrogates.
std::string TextOf(nanobind::handle string);

}  // namespace pdl::python

template <>
struct nanobind::detail::type_caster<pdl::python::Path> {
  NB_TYPE_CASTER(pdl::python::Path, const_name("str"))

  bool from_python(handle given, uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(given.ptr())) return false;
    const object encoded = steal(PyUnicode_EncodeFSDefault(given.ptr()));
    if (!encoded.is_valid()) return PyErr_Clear(), false;
    value.bytes.assign(PyBytes_AS_STRING(encoded.ptr()),
                       static_cast<size_t>(PyBytes_GET_SIZE(encoded.ptr())));
    return true;
  }

  static handle from_cpp(const pdl::python::Path& path, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(path.bytes.data(),
                                            static_cast<Py_ssize_t>(path.bytes.size()));
  }
};

#endif  // PYTHON_SRC_TEXT_H_
