// A cache of networks for eager calls of operators.
#ifndef PYTHON_SRC_EAGER_H_
#define PYTHON_SRC_EAGER_H_

#include <nanobind/nanobind.h>

#include <string>

#include "feed.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"

namespace pdl::python {

/// The cache of one operator. The key consists of the types of the tensors and the values of the
/// other arguments, so that equal calls are not rendered and compiled again. Needs the GIL.
class EagerCalls {
 public:
  /// The result of the call; NotImplemented if it is not in the cache.
  nanobind::object Call(nanobind::args positional, nanobind::kwargs named);
  /// Caches the network of a call, whose inputs are the tensors among the arguments, in order.
  /// `finish` maps the list of outputs to the result; if it is None, the result is the only output.
  void Keep(nanobind::tuple positional, nanobind::dict named, nanobind::object network,
            nanobind::object finish);
  void Clear() { kept_.clear(); }

 private:
  struct Kept {
    nanobind::object network, finish;
  };
  /// The cache is cleared when it is full.
  static constexpr unsigned kMost = 256;
  llvm::StringMap<Kept> kept_;
};

void BindEager(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_EAGER_H_
