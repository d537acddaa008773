// How matmuls that RunPanelGemm computes are cut into blocks, one for each task.
#ifndef PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_
#define PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_

#include <cstdint>

#include "pdl/op/device_context.h"

namespace pdl {

/// A matmul, and what its blocks depend on besides its sizes.
struct PanelWork {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t threads = 1;
  /// Whether a block may have a part of the columns.
  bool cuts_columns = true;
  /// The result of a block of more than `least_rows` rows has at most this many bytes.
  int64_t block_bytes = 0, least_rows = 1;
};

/// The rows and columns of a block; the last ones may have fewer.
struct PanelBlocks {
  int64_t rows = 0, columns = 0;
};

/// Cuts the matmul such that the threads need the least time, according to a model of its costs.
/// The blocks have no influence on the bits of the result.
PanelBlocks CutIntoPanelBlocks(const PanelWork& work);

/// The threads of a context of the CPU.
int64_t ThreadsOf(const DeviceContext& context);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_PANEL_BLOCKS_H_
