// Tile functions: how an elementwise operator computes one contiguous run of elements.
// Module: runtime
#ifndef PDL_OP_TILE_H_
#define PDL_OP_TILE_H_

#include <cstdint>

namespace pdl {

/// Computes `output[i] = f(inputs[0][i], inputs[1][i], …)` for i in [0, n).
/// Pointers are aligned to their element only. `output` may be exactly one of the inputs, or lie
/// apart from all of them. `parameters` is what Tile::parameters points at. Never fails.
using TileFunction = void (*)(const void* const* inputs, void* output, int64_t n,
                              const void* parameters);

/// An elementwise call, ready to be run over any piece of its operands; the planner chains such
/// tiles into fused groups. All pointers live as long as the operator that gave them.
struct Tile {
  /// Every input has n elements.
  TileFunction dense = nullptr;
  /// As `dense`, with stores that pass by the cache, for an output larger than it. The output is
  /// aligned to 64 bytes and apart from the inputs; a store fence (StreamFence) is the caller's.
  /// Null where there is no such form.
  TileFunction stream = nullptr;
  /// scalar[i]: as `dense`, but input i is one element that serves all n. Null where there is no
  /// such form; the caller then repeats the element into a buffer and calls `dense`.
  TileFunction scalar[3] = {nullptr, nullptr, nullptr};
  /// The attributes, in the form that the functions expect.
  const void* parameters = nullptr;
};

}  // namespace pdl

#endif  // PDL_OP_TILE_H_
