// How matmuls that RunPanelGemm computes are cut into blocks, one for each task.
#ifndef PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_
#define PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_

#include <cstdint>

namespace pdl {

/// A matmul, and what its blocks depend on besides its sizes.
struct PanelWork {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t threads = 1;
  /// Whether a block may have a part of the columns.
  bool cuts_columns = true;
  /// The result of a block of more than `least_rows` rows has at most this many bytes.
  int64_t block_bytes = 0, least_rows = 1;
  /// Blocks but the last ones have a multiple of this number of rows.
  int64_t rows_multiple = 1;
};

/// The largest number of groups of blocks that run at the same time, each with scratch memory.
inline constexpr int64_t kMostBlockGroups = 16;

/// The rows and columns of a block; the last ones may have fewer. The blocks are computed in
/// `groups` groups of consecutive ones.
struct PanelBlocks {
  int64_t rows = 0, columns = 0, count = 1, groups = 1;
};

/// Cuts the matmul such that the threads need the least time, according to a model of its costs.
/// The blocks have no influence on the bits of the result.
PanelBlocks CutIntoPanelBlocks(const PanelWork& work);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_
