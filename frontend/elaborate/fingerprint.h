#ifndef PDL_FRONTEND_ELABORATE_FINGERPRINT_H_
#define PDL_FRONTEND_ELABORATE_FINGERPRINT_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// A hash of the computation of each value of a graph: equal hashes, in one graph or in two, mean
/// equal values. Only valid within one process.
class Fingerprints {
 public:
  /// `leaf` returns a hash of the value given to an input, parameter or state; nullopt if it has
  /// none, or its initializer counts. `size` returns one for the current size of a symbol, and
  /// `training` is the mode.
  using Leaf = llvm::function_ref<std::optional<uint64_t>(const Value*)>;
  using Size = llvm::function_ref<uint64_t(llvm::StringRef)>;
  Fingerprints(const Graph& graph, Leaf leaf, Size size, bool training);

  uint64_t operator[](const Value* value) const { return numbers_[graph_.number(value)]; }

 private:
  uint64_t OfVariable(const Value* value);
  uint64_t OfBlock(BlockId block);
  uint64_t OfOp(const Op& op);
  uint64_t OfSizes(uint64_t hash, const Type& type);

  const Graph& graph_;
  Leaf leaf_;
  Size size_;
  bool training_;
  std::vector<uint64_t> numbers_;  // by Graph::number
  llvm::DenseMap<uint32_t, uint64_t> blocks_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FINGERPRINT_H_
