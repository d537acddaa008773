// Makes IndexMaps, with which kernels address strided and broadcast operands.
#ifndef PDL_KERNELS_CORE_INDEX_MAP_H_
#define PDL_KERNELS_CORE_INDEX_MAP_H_

#include <array>
#include <cassert>
#include <cstdint>

#include "kernels/core/index_map.cuh"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/error.h"
#include "pdl/op/tensor.h"

namespace pdl::cuda {

/// The strides of a dense row-major tensor.
inline Sizes DenseStrides(llvm::ArrayRef<int64_t> sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t axis = sizes.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * sizes[axis];
  return strides;
}

/// The strides with which a dense operand of sizes `from` is read as one of sizes `to`, as NumPy
/// broadcasts; 0 along broadcast axes.
inline Sizes BroadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  assert(from.size() <= to.size() && "an operand of higher rank than the result");
  const Sizes dense = DenseStrides(from);
  Sizes strides(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) strides[missing + axis] = dense[axis];
  }
  return strides;
}

inline Divisor MakeDivisor(uint32_t divisor) {
  assert(divisor >= 1 && divisor <= 0x7fffffffu && "divisor out of range");
  uint32_t shift = 0;
  while ((uint64_t{1} << shift) < divisor) ++shift;
  const uint64_t multiplier =
      ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1;
  return {divisor, static_cast<uint32_t>(multiplier), shift};
}

/// The map of an index space of these sizes; axes are merged where all operands allow it. Returns
/// an Error if more than kMaxAxes axes remain.
template <size_t kOperands>
llvm::Expected<IndexMap<kOperands>> MakeIndexMap(
    llvm::ArrayRef<int64_t> sizes, const std::array<llvm::ArrayRef<int64_t>, kOperands>& strides) {
  IndexMap<kOperands> map;
  for (int64_t size : sizes) map.num_elements *= size;
  if (map.num_elements == 0) return map;

  // Built from the innermost axis outward, then reversed.
  llvm::SmallVector<int64_t, 8> merged;
  std::array<llvm::SmallVector<int64_t, 8>, kOperands> merged_strides;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1) continue;
    bool merges = !merged.empty();
    for (size_t k = 0; k < kOperands && merges; ++k)
      merges = strides[k][axis] == merged_strides[k].back() * merged.back();
    if (merges) {
      merged.back() *= sizes[axis];
      continue;
    }
    merged.push_back(sizes[axis]);
    for (size_t k = 0; k < kOperands; ++k) merged_strides[k].push_back(strides[k][axis]);
  }
  if (merged.size() > kMaxAxes)
    return MakeUserError(Code::kRank, "at most {0} axes may remain after merging on cuda, got {1}",
                         kMaxAxes, merged.size());

  map.rank = static_cast<int>(merged.size());
  map.narrow = map.num_elements <= 0x7fffffff;
  for (int axis = 0; axis < map.rank; ++axis) {
    const size_t from = merged.size() - 1 - static_cast<size_t>(axis);
    map.sizes[axis] = merged[from];
    map.divisors[axis] = map.narrow ? MakeDivisor(static_cast<uint32_t>(merged[from])) : Divisor();
    for (size_t k = 0; k < kOperands; ++k) map.strides[k][axis] = merged_strides[k][from];
  }
  return map;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CORE_INDEX_MAP_H_
