#ifndef PDL_FRONTEND_ELABORATE_FINGERPRINT_H_
#define PDL_FRONTEND_ELABORATE_FINGERPRINT_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// What each value of a graph is computed from, as a number: where two are equal, in one graph or
/// in two, the values are. Good within one process.
class Fingerprints {
 public:
  /// `leaf` gives a number for what an input, parameter or state was given; nullopt where that is
  /// nothing, or its initializer. `size` gives one for the size that a symbol has now, `training`
  /// for the mode.
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
