// Tile functions: the inner loops of elementwise operators over contiguous elements.
// Module: runtime
#ifndef PDL_OP_TILE_H_
#define PDL_OP_TILE_H_

#include <cstdint>
#include <limits>

namespace pdl {

/// Computes `output[i] = f(inputs[0][i], inputs[1][i], …)` for i in [0, n). Pointers are aligned to
/// their element type only. `output` is either equal to one of the inputs or does not overlap any.
/// `parameters` is Tile::parameters. Never fails.
using TileFunction = void (*)(const void* const* inputs, void* output, int64_t n,
                              const void* parameters);

/// A function of one f32 that tiled producers can apply to a result in registers.
struct RegisterActivation {
  enum class Kind : uint8_t {
    kNone,       // x
    kClamp,      // min(max(x, low), high); nan stays nan
    kHardSwish,  // m * min(max(m / 6 + 0.5, 0), 1) with m = max(x, -3) and 1 / 6 in f32
  };
  Kind kind = Kind::kNone;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// The tile functions of an elementwise call, which can run over any contiguous part of its
/// operands; the planner chains them into fused groups. All pointers are valid for the lifetime of
/// the operator.
struct Tile {
  /// Every input has n elements.
  TileFunction dense = nullptr;
  /// As `dense`, with non-temporal stores, for an output larger than the cache. The output must be
  /// aligned to 64 bytes and must not overlap the inputs; the caller issues the store fence
  /// (StreamFence). Null if not available.
  TileFunction stream = nullptr;
  /// scalar[i]: as `dense`, but input i is a single element that is broadcast. Null if not
  /// available; the caller then fills a buffer with the element and calls `dense`.
  TileFunction scalar[3] = {nullptr, nullptr, nullptr};
  /// The attributes, in the representation that the functions expect.
  const void* parameters = nullptr;
  /// For f32 only: whether the functions compute inputs[0] + inputs[1], and what they compute of
  /// one input, to the bit.
  bool is_sum = false;
  RegisterActivation activation;
};

/// An operation of a tiled producer on each f32 result before it is stored: activation(x + bias).
struct RegisterEpilogue {
  bool is_empty() const {
    return bias == nullptr && activation.kind == RegisterActivation::Kind::kNone;
  }
  /// An element for each element of the last dim; null: there is no bias.
  const float* bias = nullptr;
  RegisterActivation activation;
};

}  // namespace pdl

#endif  // PDL_OP_TILE_H_
