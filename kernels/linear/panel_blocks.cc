#include "kernels/linear/panel_blocks.h"

#include <algorithm>

#include "kernels/core/rounding.h"
#include "kernels/linear/gemm.h"

namespace pdl {
namespace {

/// Blocks of fewer multiply-adds do not gain from another thread.
constexpr int64_t kSmallPanels = int64_t{1} << 20;

/// The time for all blocks, relative to that for the multiplications by one thread.
double CostOf(const PanelBlocks& blocks, int64_t threads) {
  // Reading a row, to pack it or to multiply it, takes as long as multiplying it by 12 columns.
  // Reading a column takes as long as multiplying it by three rows; this includes registers that
  // the last rows of a block do not fill.
  constexpr double kReadRow = 12, kReadColumn = 3;
  const double cost = 1 + kReadColumn / static_cast<double>(blocks.rows) +
                      kReadRow / static_cast<double>(blocks.columns);
  if (threads == 1) return cost;
  // Threads wait for the one with the most blocks, and for one that is a little slower.
  constexpr double kSlower = 0.05;
  const double most = static_cast<double>(DivideUp(blocks.count, threads)) + kSlower;
  return cost * most / static_cast<double>(blocks.count);
}

}  // namespace

PanelBlocks CutIntoPanelBlocks(const PanelWork& work) {
  const int64_t all = work.rows * work.columns * work.depth;
  const int64_t target = std::clamp<int64_t>(all / kSmallPanels, 1, kMostBlockGroups);
  const int64_t threads = std::clamp<int64_t>(work.threads, 1, target);
  PanelBlocks best;
  double least = 0;
  for (int64_t parts = 1; parts <= (work.cuts_columns ? target : 1); ++parts) {
    PanelBlocks blocks;
    blocks.columns = std::min(work.columns, RoundUp(DivideUp(work.columns, parts), PanelColumns()));
    const int64_t in_bytes =
        work.block_bytes / (blocks.columns * static_cast<int64_t>(sizeof(float)));
    const int64_t most_rows = std::max({work.least_rows, in_bytes, int64_t{1}});
    // The fewest parts, and then as many as divide the work among the threads.
    const int64_t first = DivideUp(work.rows, most_rows);
    const int64_t last = std::min(work.rows, std::max(first + threads - 1, target / parts));
    for (int64_t row_parts = first; row_parts <= last; ++row_parts) {
      blocks.rows =
          std::min(work.rows, RoundUp(DivideUp(work.rows, row_parts), work.rows_multiple));
      blocks.count = DivideUp(work.rows, blocks.rows) * DivideUp(work.columns, blocks.columns);
      const double cost = CostOf(blocks, threads);
      if (best.rows != 0 && cost >= least) continue;
      best = blocks;
      least = cost;
    }
  }
  // As many for each thread.
  best.groups = std::min(best.count, kMostBlockGroups / threads * threads);
  if (threads == 1) best.groups = 1;
  return best;
}

}  // namespace pdl
