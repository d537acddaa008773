#include "kernels/linear/panel_blocks.h"

#include <algorithm>

#include "kernels/core/float_copy.h"
#include "kernels/linear/gemm.h"

namespace pdl {
namespace {

/// The minimum number of multiply-adds of a block, and the number of blocks beyond which more of
/// them do not help.
constexpr int64_t kSmallWork = int64_t{1} << 20;
constexpr int64_t kMostBlocks = 16;

int64_t DivideUp(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor; }

/// The time for all blocks, relative to that for the multiplications by one thread.
double CostOf(const PanelWork& work, int64_t block_rows, int64_t block_columns, int64_t count) {
  // Packing a row takes as long as multiplying it by 12 columns, and so does reading it elsewhere
  // in memory. Reading a column takes as long as multiplying it by three rows, which are also lost
  // if the last rows do not fill the registers.
  constexpr double kPackedColumns = 12, kReadRows = 3;
  const double cost = 1 + kReadRows / static_cast<double>(block_rows) +
                      kPackedColumns / static_cast<double>(block_columns);
  // Threads wait for those that compute the last blocks, or are slower by some of the time of a
  // block.
  constexpr double kSlower = 0.05;
  const double turns = static_cast<double>(DivideUp(count, work.threads)) + kSlower;
  return work.threads == 1 ? cost : cost * turns / static_cast<double>(count);
}

}  // namespace

PanelBlocks CutIntoPanelBlocks(const PanelWork& work) {
  const int64_t all = work.rows * work.columns * work.depth;
  const int64_t target = std::clamp<int64_t>(all / kSmallWork, 1, kMostBlocks);
  PanelBlocks best;
  double least = 0;
  for (int64_t parts = 1; parts <= (work.cuts_columns ? target : 1); ++parts) {
    const int64_t columns =
        parts == 1 ? work.columns : RoundUp(DivideUp(work.columns, parts), PanelColumns());
    const int64_t in_bytes = work.block_bytes / (columns * static_cast<int64_t>(sizeof(float)));
    const int64_t most_rows = std::max({work.least_rows, in_bytes, int64_t{1}});
    // The fewest parts, and then as many as divide the work among the threads.
    const int64_t first = DivideUp(work.rows, most_rows);
    const int64_t last = std::max(first + (target > 1 ? work.threads - 1 : 0), target / parts);
    for (int64_t row_parts = first; row_parts <= std::min(last, work.rows); ++row_parts) {
      const int64_t rows = DivideUp(work.rows, row_parts);
      const int64_t count = DivideUp(work.rows, rows) * DivideUp(work.columns, columns);
      const double cost = CostOf(work, rows, columns, count);
      if (best.rows != 0 && cost >= least) continue;
      best = {rows, columns};
      least = cost;
    }
  }
  return best;
}

int64_t ThreadsOf(const DeviceContext& context) {
  return context.is_native() ? static_cast<const CPUContext&>(context).threads() : 1;
}

}  // namespace pdl
