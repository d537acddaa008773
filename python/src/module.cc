// pdl._pdl: what the Python package is made of.
#include <nanobind/nanobind.h>

#include "eager.h"
#include "fork.h"
#include "network.h"
#include "program.h"
#include "reflection.h"
#include "tensor.h"
#include "training.h"

NB_MODULE(_pdl, module) {
  // What lives in caches of the package until the interpreter ends is no leak.
  nanobind::set_leak_warnings(false);
  pdl::python::BindTensor(module);
  pdl::python::BindProgram(module);
  pdl::python::BindNetwork(module);
  pdl::python::BindEager(module);
  pdl::python::BindFork();
  pdl::python::BindTraining(module);
  pdl::python::BindReflection(module);
}
