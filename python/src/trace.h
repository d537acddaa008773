#ifndef PYTHON_SRC_TRACE_H_
#define PYTHON_SRC_TRACE_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

/// Binds what pdl.trace records with.
void BindTrace(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TRACE_H_
