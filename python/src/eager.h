// Calls of operators on arrays, at once: the networks that were made for earlier calls.
#ifndef PYTHON_SRC_EAGER_H_
#define PYTHON_SRC_EAGER_H_

#include <nanobind/nanobind.h>

#include <string>

#include "feed.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"

namespace pdl::python {

/// Of one operator. A network is found by the types of the tensors and by the values of the other
/// arguments, so that a call like an earlier one is not written and compiled again. Needs the GIL.
class EagerCalls {
 public:
  /// What the call gives; NotImplemented where it is none of those that are kept.
  nanobind::object Call(nanobind::args positional, nanobind::kwargs named);
  /// Keeps the network of such a call, whose inputs are its tensors in their order. `finish` makes
  /// what the call gives of a list of outputs; None: the one output is it.
  void Keep(nanobind::tuple positional, nanobind::dict named, nanobind::object network,
            nanobind::object finish);
  void Clear() { kept_.clear(); }

 private:
  struct Kept {
    nanobind::object network, finish;
  };
  /// More calls than that are forgotten together.
  static constexpr unsigned kMost = 256;
  llvm::StringMap<Kept> kept_;
};

void BindEager(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_EAGER_H_
