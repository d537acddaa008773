// pdl._pdl, the extension module of the Python package.
#include <nanobind/nanobind.h>

#include "eager.h"
#include "gil.h"
#include "layers.h"
#include "network.h"
#include "program.h"
#include "ranks.h"
#include "reflection.h"
#include "repl.h"
#include "tensor.h"
#include "trace.h"
#include "training.h"

NB_MODULE(_pdl, module) {
  // Objects in the package's caches live until the interpreter ends, which would be reported.
  nanobind::set_leak_warnings(false);
  pdl::python::BindTensor(module);
  pdl::python::BindProgram(module);
  pdl::python::BindNetwork(module);
  pdl::python::BindEager(module);
  pdl::python::BindFork();
  pdl::python::BindTrace(module);
  pdl::python::BindRanks(module);
  pdl::python::BindTraining(module);
  pdl::python::BindReflection(module);
  pdl::python::BindLayers(module);
  pdl::python::BindRepl(module);
}
