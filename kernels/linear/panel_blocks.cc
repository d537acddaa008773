#include "kernels/linear/panel_blocks.h"

#include <algorithm>

#include "kernels/core/rounding.h"
#include "kernels/linear/gemm.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace pdl {
namespace {

/// Blocks of fewer multiply-adds do not gain from another thread.
constexpr int64_t kSmallPanels = int64_t{1} << 20;

// Reading a row, to pack it or to multiply it, takes as long as multiplying it by this number of
// columns.
constexpr int64_t kReadRow = 12;
// Reading a column takes as long as multiplying it by this number of rows; this includes registers
// that the last rows of a block do not fill.
constexpr int64_t kReadColumn = 3;

/// The time for a block, in multiplications of a row and a column. The columns of a panel are
/// multiplied together.
double CostOf(int64_t rows, int64_t columns) {
  columns = RoundUp(columns, PanelColumns());
  return static_cast<double>((rows + kReadColumn) * columns + kReadRow * rows);
}

/// The times of the groups of blocks.
llvm::SmallVector<double, kMostBlockGroups> CostsOfGroups(const PanelWork& work,
                                                          const PanelBlocks& blocks) {
  const int64_t in_row = DivideUp(work.columns, blocks.columns);
  const int64_t last_rows = work.rows - (blocks.count / in_row - 1) * blocks.rows;
  const int64_t last_columns = work.columns - (in_row - 1) * blocks.columns;
  // Of other blocks and the last ones of rows, and of columns.
  const double cost_of[2][2] = {
      {CostOf(blocks.rows, blocks.columns), CostOf(blocks.rows, last_columns)},
      {CostOf(last_rows, blocks.columns), CostOf(last_rows, last_columns)}};
  llvm::SmallVector<double, kMostBlockGroups> costs;
  for (int64_t group = 0; group < blocks.groups; ++group) {
    double cost = 0;
    const int64_t end = blocks.count * (group + 1) / blocks.groups;
    for (int64_t block = blocks.count * group / blocks.groups; block < end; ++block) {
      const bool is_last_row = block >= blocks.count - in_row;
      cost += cost_of[is_last_row][block % in_row == in_row - 1];
    }
    costs.push_back(cost);
  }
  return costs;
}

/// The time until all groups are done. Threads run those of their own range and then others, as
/// RunPieces does.
double TimeOf(llvm::ArrayRef<double> groups, int64_t threads) {
  struct Thread {
    size_t first, last;
    double time = 0;
  };
  llvm::SmallVector<Thread, kMostBlockGroups> all;
  const auto count = static_cast<size_t>(threads);
  for (size_t i = 0; i < count; ++i)
    all.push_back({groups.size() * i / count, groups.size() * (i + 1) / count});
  for (size_t done = 0; done < groups.size(); ++done) {
    const auto by_time = [](const Thread& a, const Thread& b) { return a.time < b.time; };
    Thread& next = *std::min_element(all.begin(), all.end(), by_time);
    Thread* from = &next;
    while (from->first == from->last) from = from == &all.back() ? all.begin() : from + 1;
    next.time += groups[from == &next ? from->first++ : --from->last];
  }
  double time = 0;
  for (const Thread& thread : all) time = std::max(time, thread.time);
  // One thread is a little slower than the others.
  constexpr double kSlower = 0.05;
  return time + kSlower * *std::max_element(groups.begin(), groups.end());
}

/// The time for all blocks.
double TimeOf(const PanelWork& work, const PanelBlocks& blocks, int64_t threads) {
  // Threads need about the same time for so many blocks.
  constexpr int64_t kManyBlocks = 1024;
  if (threads > 1 && blocks.count < kManyBlocks)
    return TimeOf(CostsOfGroups(work, blocks), threads);
  const double row_blocks = static_cast<double>(DivideUp(work.rows, blocks.rows));
  const double column_blocks = static_cast<double>(DivideUp(work.columns, blocks.columns));
  const double rows = static_cast<double>(work.rows);
  const double columns = static_cast<double>(RoundUp(work.columns, PanelColumns()));
  const double all = (rows + kReadColumn * row_blocks) * columns + kReadRow * rows * column_blocks;
  return all / static_cast<double>(threads);
}

}  // namespace

PanelBlocks CutIntoPanelBlocks(const PanelWork& work) {
  const int64_t all = work.rows * work.columns * work.depth;
  const int64_t target = std::clamp<int64_t>(all / kSmallPanels, 1, kMostBlockGroups);
  const int64_t threads = std::clamp<int64_t>(work.threads, 1, target);
  PanelBlocks best;
  double least = 0;
  int64_t before = 0;  // the columns of the parts before
  for (int64_t parts = 1; parts <= (work.cuts_columns ? target : 1); ++parts) {
    PanelBlocks blocks;
    blocks.columns = std::min(work.columns, RoundUp(DivideUp(work.columns, parts), PanelColumns()));
    if (blocks.columns == before) continue;
    before = blocks.columns;
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
      // As many for each thread.
      blocks.groups =
          threads == 1 ? 1 : std::min(blocks.count, kMostBlockGroups / threads * threads);
      const double time = TimeOf(work, blocks, threads);
      if (best.rows != 0 && time >= least) continue;
      best = blocks;
      least = time;
    }
  }
  return best;
}

}  // namespace pdl
