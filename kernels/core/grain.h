// How much a piece of a parallel loop does at least, and into how many pieces work is split at
// most.
#ifndef PDL_KERNELS_CORE_GRAIN_H_
#define PDL_KERNELS_CORE_GRAIN_H_

#include <cstdint>

namespace pdl {

/// Elements of loops that compute each of them.
inline constexpr int64_t kGrainElements = 1 << 14;
/// Elements of loops that move or convert them.
inline constexpr int64_t kGrainMoves = 1 << 15;
/// Bytes of loops that copy blocks.
inline constexpr int64_t kGrainBytes = 1 << 17;
/// Pieces of one product, convolution or pooling. The same for any number of threads, so results do
/// not depend on it.
inline constexpr int64_t kMaxPieces = 16;

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_GRAIN_H_
