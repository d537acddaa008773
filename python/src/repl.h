// An interactive session, for notebooks.
#ifndef PYTHON_SRC_REPL_H_
#define PYTHON_SRC_REPL_H_

#include <nanobind/nanobind.h>

namespace pdl::python {

void BindRepl(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_REPL_H_
