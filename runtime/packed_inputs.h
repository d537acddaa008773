#ifndef PDL_RUNTIME_PACKED_INPUTS_H_
#define PDL_RUNTIME_PACKED_INPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// The ragged and sparse inputs and outputs of a network, as they are stored in a Scope.
class PackedInputs {
 public:
  PackedInputs() = default;
  explicit PackedInputs(const Graph& graph);

  bool empty() const { return inputs_.empty() && outputs_.empty(); }
  /// Checks the inputs in the Scope that are on the CPU: that offsets are valid, and that inputs
  /// that share a ragged dim have the same lengths.
  llvm::Error Check(const Scope& scope) const;
  /// The names of outputs; those that are not dense are replaced by their parts.
  std::vector<std::string> Expand(llvm::ArrayRef<std::string> outputs) const;
  /// Returns "'x': f32[N, ~T]" for the input that `name` is a part of if no part of it is given;
  /// else an empty string.
  std::string Describe(const Scope& scope, llvm::StringRef name) const;
  /// The ragged or sparse input that a part belongs to: "x" for "x.offsets"; another name as it is.
  llvm::StringRef InputOf(llvm::StringRef part) const {
    const auto found = input_of_.find(part);
    return found == input_of_.end() ? part : llvm::StringRef(found->second);
  }
  bool IsPart(llvm::StringRef name) const { return input_of_.contains(name); }
  /// The inputs with the lengths `offsets`, the name of a part; none if it is another kind of part.
  llvm::ArrayRef<std::string> InputsWithLengths(llvm::StringRef offsets) const;
  /// The lengths of an input whose offsets are not given, if another input shares them.
  const Tensor* FindInstead(const Scope& scope, llvm::StringRef name) const;

 private:
  struct Input {
    std::string name;
    Type type;
    /// The type of its elements, packed; a sparse bool input has none.
    std::optional<Type> elements;
  };
  struct Lengths {
    std::string dim;
    std::vector<std::string>
        inputs;  // names of inputs, the first one is the one that the network reads
    std::vector<std::string> names;  // of their offsets
  };
  std::vector<Input> inputs_;
  llvm::StringMap<std::string> input_of_;  // by the names of parts
  std::vector<Lengths> lengths_;
  llvm::StringMap<std::vector<std::string>> outputs_;  // the parts of each
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PACKED_INPUTS_H_
