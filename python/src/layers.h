// The user's own layers: their declarations, and the files that they consist of.
#ifndef PYTHON_SRC_LAYERS_H_
#define PYTHON_SRC_LAYERS_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

void BindLayers(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_LAYERS_H_
