#include "kernels/reduction/reduction_kernel.h"

#include <algorithm>
#include <cstring>

namespace pdl {
namespace {

constexpr int64_t kWidestChunk = 4096;
constexpr int64_t kMostRows = 64;  // results of a chunk, if the innermost dim is reduced
constexpr int64_t kLanes = 1024;   // adjacent accumulators, if rows are short
constexpr int64_t kShortRow = 16;
constexpr int64_t kPieceElements = 1 << 16;
constexpr int64_t kMostPieces = 64;
constexpr int64_t kManyChunks = 16;

// The offset of element `index` of a view.
int64_t OffsetOf(const StridedView& view, int64_t index) {
  int64_t offset = 0;
  for (size_t d = view.sizes.size(); d-- > 1;) {
    offset += index % view.sizes[d] * view.strides[d];
    index /= view.sizes[d];
  }
  return view.sizes.empty() ? 0 : offset + index * view.strides[0];
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

ReducePlan::ReducePlan(Reduction reduction, DType dtype, llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<unsigned> axes)
    : loops_(ReduceLoopsOf(reduction, dtype)),
      input_size_(DTypeSize(dtype)),
      output_size_(loops_.result_size),
      num_results_(1) {
  // Adjacent dims that are both reduced, or both kept, are merged.
  llvm::SmallVector<int64_t, 6> joined;
  llvm::SmallVector<bool, 6> is_reduced;
  for (unsigned d = 0; d < sizes.size(); ++d) {
    const bool reduced = llvm::is_contained(axes, d);
    (reduced ? count_ : num_results_) *= sizes[d];
    if (sizes[d] == 1) continue;
    if (!joined.empty() && is_reduced.back() == reduced) {
      joined.back() *= sizes[d];
    } else {
      joined.push_back(sizes[d]);
      is_reduced.push_back(reduced);
    }
  }
  if (num_results_ == 0) return;
  const auto strides = RowMajorStrides(joined);
  inner_stays_ = joined.empty() || !is_reduced.back();
  inner_ = joined.empty() ? 1 : joined.back();
  for (size_t d = 0; d + 1 < joined.size(); ++d) {
    StridedView& view = is_reduced[d] ? reduced_ : kept_;
    view.sizes.push_back(joined[d]);
    view.strides.push_back(strides[d]);
  }
  runs_ = reduced_.num_elements();
  if (inner_stays_) {
    width_ = std::min(inner_, kWidestChunk);
    chunks_per_row_ = CeilDiv(inner_, width_);
    chunks_ = num_results_ / inner_ * chunks_per_row_;
  } else {
    width_ = std::clamp<int64_t>(kPieceElements / 2 / std::max<int64_t>(count_, 1), 1, kMostRows);
    chunks_ = CeilDiv(num_results_, width_);
  }
  if (count_ == 0) {
    runs_ = units_ = 0;
    return;
  }
  units_ = !inner_stays_ && runs_ == 1 ? inner_ : runs_;
  const int64_t chunk_elements = width_ * count_;
  if (chunks_ < kManyChunks && chunk_elements >= 2 * kPieceElements) {
    const int64_t target = std::min({units_, CeilDiv(chunk_elements, kPieceElements), kMostPieces});
    piece_length_ = CeilDiv(units_, target);
  } else {
    piece_length_ = units_;
  }
  pieces_ = CeilDiv(units_, piece_length_);
  grain_ = std::max<int64_t>(1, kPieceElements / (chunk_elements / pieces_));
  if (pieces_ > 1) workspace_bytes_ = chunks_ * pieces_ * width_ * loops_.accumulator_size;
}

std::pair<int64_t, int64_t> ReducePlan::ChunkResults(int64_t chunk) const {
  if (!inner_stays_) {
    const int64_t first = chunk * width_;
    return {first, std::min(width_, num_results_ - first)};
  }
  const int64_t column = chunk % chunks_per_row_ * width_;
  return {chunk / chunks_per_row_ * inner_ + column, std::min(width_, inner_ - column)};
}

void ReducePlan::Run(const void* in, void* out, CPUContext& context) const {
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  char* partial = static_cast<char*>(context.workspace());
  const int64_t partial_bytes = width_ * loops_.accumulator_size;
  context.ParallelFor(chunks_ * pieces_, grain_, [&](int64_t begin, int64_t end) {
    alignas(64) char sums[kWidestChunk * ReduceLoops::kLargestAccumulator];
    for (int64_t task = begin; task < end; ++task) {
      const auto [first, n] = ChunkResults(task / pieces_);
      Accumulate(from, first, n, task % pieces_, sums);
      if (pieces_ == 1) {
        loops_.finish(sums, n, count_, to + first * output_size_);
      } else {
        std::memcpy(partial + task * partial_bytes, sums,
                    static_cast<size_t>(n * loops_.accumulator_size));
      }
    }
  });
  if (pieces_ == 1) return;
  for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
    const auto [first, n] = ChunkResults(chunk);
    char* sums = partial + chunk * pieces_ * partial_bytes;
    for (int64_t piece = 1; piece < pieces_; ++piece) {
      loops_.merge(sums + piece * partial_bytes, n, sums);
    }
    loops_.finish(sums, n, count_, to + first * output_size_);
  }
}

void ReducePlan::Accumulate(const char* in, int64_t first, int64_t n, int64_t piece,
                            char* sums) const {
  loops_.start(sums, n);
  if (count_ == 0) return;
  if (inner_stays_) {
    AccumulateColumns(in, first, piece, n, sums);
  } else {
    AccumulateRows(in, first, n, piece, sums);
  }
}

void ReducePlan::AccumulateRows(const char* in, int64_t first, int64_t n, int64_t piece,
                                char* sums) const {
  const int64_t begin = piece * piece_length_;
  const int64_t end = std::min(units_, begin + piece_length_);
  if (runs_ == 1 && inner_ <= kShortRow && pieces_ == 1) {
    // A single run for each result: the runs of consecutive results are consecutive.
    loops_.short_rows(in + first * inner_ * input_size_, n, inner_, sums);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const char* at = in + OffsetOf(kept_, first + i) * input_size_;
    char* sum = sums + i * loops_.accumulator_size;
    if (runs_ == 1) {
      loops_.row(at + begin * input_size_, end - begin, sum);
      continue;
    }
    for (int64_t run = begin; run < end; ++run) {
      loops_.row(at + OffsetOf(reduced_, run) * input_size_, inner_, sum);
    }
  }
}

void ReducePlan::AccumulateColumns(const char* in, int64_t first, int64_t piece, int64_t n,
                                   char* sums) const {
  const int64_t begin = piece * piece_length_;
  const int64_t end = std::min(units_, begin + piece_length_);
  in += (OffsetOf(kept_, first / inner_) + first % inner_) * input_size_;
  // The innermost reduced dim is adjacent to the kept one, so its short rows are contiguous and are
  // accumulated as one long row, into several accumulators for each result.
  const int64_t rows = reduced_.sizes.empty() ? 1 : reduced_.sizes.back();
  const int64_t rows_at_once = chunks_per_row_ == 1 ? std::clamp<int64_t>(kLanes / n, 1, rows) : 1;
  loops_.start(sums, n * rows_at_once);
  for (int64_t run = begin; run < end;) {
    const int64_t count = std::min({rows_at_once, rows - run % rows, end - run});
    loops_.columns(in + OffsetOf(reduced_, run) * input_size_, n * count, sums);
    run += count;
  }
  for (int64_t row = 1; row < rows_at_once; ++row) {
    loops_.merge(sums + row * n * loops_.accumulator_size, n, sums);
  }
}

}  // namespace pdl
