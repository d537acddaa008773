// The iteration of a fused group over its result, and its accesses to the inputs.
#ifndef PDL_RUNTIME_FUSED_LAYOUT_H_
#define PDL_RUNTIME_FUSED_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/operator.h"
#include "runtime/fused_epilogue.h"

namespace pdl {

/// The maximum number of elements of a tile.
inline constexpr int64_t kMaxFusedTile = 1024;
/// Inputs that are broadcast along short rows are first expanded, a tile at a time, into buffers
/// with this total size.
inline constexpr int64_t kExpandedBytes = 32 << 10;
inline constexpr int64_t kLineBytes = 64;

/// The access to one input. The result's dims, merged where every input allows it, are `rows` ×
/// `length`; rows are enumerated by an odometer over `FusedLayout::outer`.
struct FusedInput {
  enum class Kind : uint8_t { kDense, kScalar, kBroadcast } kind = Kind::kDense;
  int64_t element_size = 0;
  /// The stride between rows for each outer dim, and the stride between elements of a row (0 or 1),
  /// in elements.
  llvm::SmallVector<int64_t, 4> outer_strides;
  int64_t inner_stride = 1;
};

/// The iteration of a group over its operands, computed when sizes are known.
struct FusedLayout : CallState {
  int64_t total = 0;
  /// All inputs are dense or scalar, so that all rows form one run.
  bool flat = true;
  /// Broadcast inputs are expanded. `expanded_tile` elements fit into the buffer of each, which has
  /// `expanded_bytes`.
  bool expands = false;
  int64_t expanded_tile = 0, expanded_bytes = 0;
  int64_t rows = 1, length = 0;
  llvm::SmallVector<int64_t, 4> outer;
  llvm::SmallVector<FusedInput, 4> inputs;
  llvm::SmallVector<bool, 2> exceeds_cache;  // for each output

  /// If the group begins with a row producer: its state, the number and length of its rows, and how
  /// many are computed before the tiles process them.
  std::shared_ptr<const CallState> rows_state;
  int64_t made_rows = 0, row_length = 1, rows_at_once = 1;
  /// The rows are long and only used inside the group.
  bool rows_in_workspace = false;

  /// If the group begins with a tiled producer: the output that its tiles are written to, or -1 and
  /// their offset in the workspace, after the workspace of the call.
  int pieces_output = -1;
  int64_t pieces_at = 0;
  AbsorbedEpilogue absorbed;
};

/// Whether a broadcast input is a single row that is used for all rows.
inline bool IsOneRow(const FusedInput& input) {
  return llvm::all_of(input.outer_strides, [](int64_t stride) { return stride == 0; });
}

/// Computes the layout of a group of tiles with this result. `is_in_tiles[k]`: tiles read input k,
/// so it has the result's dims or is broadcast to them.
std::shared_ptr<FusedLayout> MakeFusedLayout(llvm::ArrayRef<OperandType> inputs,
                                             const std::vector<bool>& is_in_tiles,
                                             const OperandType& result);

}  // namespace pdl

#endif  // PDL_RUNTIME_FUSED_LAYOUT_H_
