// Conversion of arrays by the names of inputs, the arguments of a run.
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

/// Tensors, each with the index of its input in Feed.
using FedTensors = llvm::SmallVector<std::pair<unsigned, Tensor>, 4>;

/// The inputs of a network. A ragged or sparse input consists of several dense tensors, its parts.
class Feed {
 public:
  explicit Feed(const Graph& graph);

  /// The tensors over the arrays of a dict, without copies. Other values are converted by
  /// `to_input` of pdl._arrays. Throws if a name is not an input, or a value cannot be converted.
  /// Needs the GIL.
  FedTensors Read(nanobind::handle mapping) const;
  /// Stores the tensors in a Scope.
  void Put(const FedTensors& tensors, Scope* scope) const;
  /// Removes the tensors of Put from the Scope.
  void Clear(const FedTensors& tensors, Scope* scope) const;
  /// The error of a run on these tensors; for a wrong dtype with a hint how to convert the array.
  llvm::Error WithConversion(llvm::Error error, const FedTensors& tensors) const;
  /// The names of the inputs that have no tensors.
  std::vector<std::string> Missing(const FedTensors& tensors) const;
  /// The number of rows of a batch if the first dims of all inputs with dims are the same symbol;
  /// else 1.
  int64_t CountRows(const FedTensors& tensors) const;
  /// The names of the declared inputs with dims, whose first size is the number of rows. A
  /// UserError if their first dims are not all the same symbol.
  llvm::Expected<std::vector<std::string>> RowInputs() const;

 private:
  struct Input {
    std::string name;
    /// The declared input that it is a part of, and the number of its parts.
    std::string declared;
    unsigned num_parts;
    /// The type of the declared input.
    std::string type;
    DType dtype;
    /// The name, interned.
    nanobind::object key;
    /// Its first size is the number of rows, plus one for offsets.
    bool has_rows, is_offsets;
  };
  unsigned Find(nanobind::handle name) const;
  /// Whether the array for `name` is a part of a ragged or sparse value: then others are given,
  /// too.
  bool IsPart(unsigned input, nanobind::handle name, nanobind::handle mapping) const;
  void Convert(unsigned input, nanobind::handle given, FedTensors* tensors) const;
  /// Adds the parts of a pdl.Ragged or pdl.Sparse.
  void AddParts(const Input& target, nanobind::handle value, FedTensors* tensors) const;
  std::vector<Input> inputs_;
  bool has_rows_ = true;
};

/// The interned string.
nanobind::object Intern(const std::string& text);

}  // namespace pdl::python

#endif  // PYTHON_SRC_FEED_H_
