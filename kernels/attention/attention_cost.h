// The arithmetic operations of attention and its gradient, for profiles.
#ifndef PDL_KERNELS_ATTENTION_ATTENTION_COST_H_
#define PDL_KERNELS_ATTENTION_ATTENTION_COST_H_

#include <algorithm>

#include "pdl/op/cost.h"

namespace pdl {

inline double LastSize(const OperandType& operand) {
  return static_cast<double>(operand.sizes.back());
}

/// The number of pairs of a query and a key that it attends to, of a call whose first operands are
/// q and k. With `causal`, as if the last query attended to all keys.
inline double AttendedPairs(const CallSizes& call) {
  const Sizes& q = call.inputs[0].sizes;
  double rows = 1;
  for (const int64_t size : llvm::ArrayRef(q).drop_back()) rows *= static_cast<double>(size);
  const auto queries = static_cast<double>(q[q.size() - 2]);
  const Sizes& k = call.inputs[1].sizes;
  const auto keys = static_cast<double>(k[k.size() - 2]);
  if (!call.attributes().Bool("causal") || queries == 0) return rows * keys;
  // The last min(queries, keys) queries attend to one key more each, up to all of them.
  const double growing = std::min(queries, keys);
  const double before = queries > keys ? queries * keys - growing * keys : 0;
  return rows / queries * (before + growing * keys - growing * (growing - 1) / 2);
}

}  // namespace pdl

#endif  // PDL_KERNELS_ATTENTION_ATTENTION_COST_H_
