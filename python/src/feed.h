// What a caller gives to a run: arrays by the names of inputs.
#ifndef PYTHON_SRC_FEED_H_
#define PYTHON_SRC_FEED_H_

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "pdl/graph.h"
#include "pdl/scope.h"
#include "pdl/tensor.h"

namespace pdl::python {

/// Tensors, each with the place of its input.
using FedTensors = llvm::SmallVector<std::pair<unsigned, Tensor>, 4>;

/// The inputs of a network, a ragged or sparse one as the dense tensors that it is kept as.
class Feed {
 public:
  explicit Feed(const Graph& graph);

  /// The tensors over the arrays of a dict; numbers and lists take the dtype of the input. Throws
  /// where a name is no input. Needs the GIL.
  FedTensors Read(nanobind::handle dict) const;
  /// The Scope has these inputs then and no others.
  void Put(const FedTensors& tensors, Scope* scope) const;
  /// Forgets what Put has put there.
  void Clear(const FedTensors& tensors, Scope* scope) const;

 private:
  struct Input {
    std::string name;
    DType dtype;
    /// The name, interned.
    nanobind::object key;
  };
  unsigned Find(nanobind::handle name) const;
  std::vector<Input> inputs_;
};

/// The interned string.
nanobind::object Intern(const std::string& text);

}  // namespace pdl::python

#endif  // PYTHON_SRC_FEED_H_
