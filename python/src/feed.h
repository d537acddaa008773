// What a caller gives to a run: arrays by the names of inputs.
#ifndef PYTHON_SRC_FEED_H_
#define PYTHON_SRC_FEED_H_

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/scope.h"

namespace pdl::python {

/// Tensors, each with the place of its input.
using FedTensors = llvm::SmallVector<std::pair<unsigned, Tensor>, 4>;

/// The inputs of a network, a ragged or sparse one as the dense tensors that it is kept as.
class Feed {
 public:
  explicit Feed(const Graph& graph);

  /// The tensors over the arrays of a mapping; what is no array goes through `to_input` of
  /// pdl._arrays. Throws where a name is no input. Needs the GIL.
  FedTensors Read(nanobind::handle mapping) const;
  /// The Scope has these inputs then and no others.
  void Put(const FedTensors& tensors, Scope* scope) const;
  /// Forgets what Put has put there.
  void Clear(const FedTensors& tensors, Scope* scope) const;
  /// What a run on these tensors failed with; of a dtype that does not fit it tells what converts
  /// it.
  llvm::Error WithConversion(llvm::Error error, const FedTensors& tensors) const;
  /// The names of the inputs of which nothing is there.
  std::vector<std::string> Missing(const FedTensors& tensors) const;
  /// How many rows a batch has, where the first dim of all inputs that have dims is one and the
  /// same symbol; else 1.
  int64_t CountRows(const FedTensors& tensors) const;

 private:
  struct Input {
    std::string name;
    /// The input that it is a part of, and how many parts that has.
    std::string whole;
    unsigned num_parts;
    /// That input's type.
    std::string type;
    DType dtype;
    /// The name, interned.
    nanobind::object key;
    /// Its first size is the count of rows, and of offsets one more.
    bool has_rows, is_offsets;
  };
  unsigned Find(nanobind::handle name) const;
  void Convert(unsigned input, nanobind::handle given, FedTensors* tensors) const;
  std::vector<Input> inputs_;
  bool has_rows_ = true;
};

/// The interned string.
nanobind::object Intern(const std::string& text);

}  // namespace pdl::python

#endif  // PYTHON_SRC_FEED_H_
