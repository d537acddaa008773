// How a fused group goes over its result, and how it reads each input.
#ifndef PDL_RUNTIME_FUSED_LAYOUT_H_
#define PDL_RUNTIME_FUSED_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The most elements of one tile.
inline constexpr int64_t kMaxFusedTile = 1024;
/// Inputs that are broadcast along short rows are first expanded, a tile at a time, into buffers of
/// so many bytes together.
inline constexpr int64_t kExpandedBytes = 32 << 10;
inline constexpr int64_t kLineBytes = 64;

/// How one input is read. The result's dims, merged where every input allows, are `rows` ×
/// `length`; rows are counted by an odometer over `FusedLayout::outer`.
struct FusedInput {
  enum class Kind : uint8_t { kDense, kScalar, kBroadcast } kind = Kind::kDense;
  int64_t element_size = 0;
  /// Elements from one row to the next for each outer dim, and from one element to the next: 0
  /// or 1.
  llvm::SmallVector<int64_t, 4> outer_strides;
  int64_t inner_stride = 1;
};

/// How a group walks its operands, known when sizes are.
struct FusedLayout : CallState {
  int64_t total = 0;
  /// All inputs are dense or scalar: the rows are one run.
  bool flat = true;
  /// Broadcast inputs are expanded; `expanded_tile` elements fit the buffers of all of them, and
  /// `expanded_bytes` is one's.
  bool expands = false;
  int64_t expanded_tile = 0, expanded_bytes = 0;
  int64_t rows = 1, length = 0;
  llvm::SmallVector<int64_t, 4> outer;
  llvm::SmallVector<FusedInput, 4> inputs;
  llvm::SmallVector<bool, 2> exceeds_cache;  // of each output

  /// Where the group begins with a call that makes rows: its state, its rows and their elements,
  /// and how many are made before the tiles go over them.
  std::shared_ptr<const CallState> rows_state;
  int64_t made_rows = 0, row_length = 1, rows_at_once = 1;
  /// The rows are long, and needed by the group alone.
  bool rows_in_workspace = false;

  /// Where it begins with a call that makes pieces: the output that they are written to, or -1 and
  /// their place in the workspace, behind that of the call.
  int pieces_output = -1;
  int64_t pieces_at = 0;
};

/// Whether a broadcast input is one row that serves all.
inline bool IsOneRow(const FusedInput& input) {
  return llvm::all_of(input.outer_strides, [](int64_t stride) { return stride == 0; });
}

/// The layout of a group of tiles with this result. `is_in_tiles[k]`: input k is read by tiles, so
/// it has the result's dims or is broadcast to them.
std::shared_ptr<FusedLayout> MakeFusedLayout(llvm::ArrayRef<OperandType> inputs,
                                             const std::vector<bool>& is_in_tiles,
                                             const OperandType& result);

}  // namespace pdl

#endif  // PDL_RUNTIME_FUSED_LAYOUT_H_
