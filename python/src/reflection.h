// Declarations of operators and layers, and explanations of error codes.
#ifndef PYTHON_SRC_REFLECTION_H_
#define PYTHON_SRC_REFLECTION_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

void BindReflection(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_REFLECTION_H_
