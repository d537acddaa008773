#ifndef PDL_RUNTIME_PACKED_INPUTS_H_
#define PDL_RUNTIME_PACKED_INPUTS_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// The ragged and sparse inputs and outputs of a network, as its runs find them in a Scope.
class PackedInputs {
 public:
  PackedInputs() = default;
  explicit PackedInputs(const Graph& graph);

  bool empty() const { return inputs_.empty() && outputs_.empty(); }
  /// Checks what the Scope has of the inputs, as far as it lies on the CPU: that offsets are
  /// offsets, and that inputs with one ragged dim have the same lengths.
  llvm::Error Check(const Scope& scope) const;
  /// Names of outputs with the parts of those that are not dense.
  std::vector<std::string> Expand(llvm::ArrayRef<std::string> outputs) const;
  /// "'x': f32[N, ~T]" of the input that `name` is a part of, where no part of it is given; else
  /// empty.
  std::string Describe(const Scope& scope, llvm::StringRef name) const;
  /// The inputs that have the lengths `offsets`, the name of a part; none where it is another part.
  llvm::ArrayRef<std::string> InputsWithLengths(llvm::StringRef offsets) const;
  /// The lengths of an input whose offsets are not given, where another one has the same.
  const Tensor* FindInstead(const Scope& scope, llvm::StringRef name) const;

 private:
  struct Input {
    std::string name;
    Type type;
  };
  struct Lengths {
    std::string dim;
    std::vector<std::string> inputs;  // names of inputs, the one that the network reads first
    std::vector<std::string> names;   // of their offsets
  };
  std::vector<Input> inputs_;
  std::vector<Lengths> lengths_;
  llvm::StringMap<std::vector<std::string>> outputs_;  // the parts of each
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PACKED_INPUTS_H_
