#include "kernels/normalization/moments.h"

#include <algorithm>
#include <cmath>

namespace pdl {
namespace {

constexpr int64_t kPieceElements = 1 << 16;
constexpr int64_t kMostPieces = 64;
constexpr int64_t kManyTasks = 16;
constexpr int64_t kWidestChunk = 512;

// Adds n elements to n sums.
template <class T>
struct MomentsColumnsLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, const double* shifts, double* sums,
                             double* squares) {
    const T* x = static_cast<const T*>(in);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const double distance = static_cast<double>(Element<T>::Load(x[i])) - shifts[i];
      sums[i] += distance;
      squares[i] += distance * distance;
    }
  }
};

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

MomentsPlan::MomentsPlan(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<bool> kept,
                         int64_t ddof, bool root)
    : ddof_(static_cast<double>(ddof)), root_(root), element_size_(DTypeSize(dtype)) {
  VisitDType(FloatTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    row_ = ChooseIsa<MomentsRowLoop<T>>();
    columns_ = ChooseIsa<MomentsColumnsLoop<T>>();
    load_ = [](const void* in) {
      return static_cast<double>(Element<T>::Load(*static_cast<const T*>(in)));
    };
    store_ = [](double value, void* out) {
      *static_cast<T*>(out) = Element<T>::Store(static_cast<ComputeType<T>>(value));
    };
  });
  // Adjacent dims that are all kept, or all reduced, are merged.
  llvm::SmallVector<int64_t, 6> joined;
  llvm::SmallVector<bool, 6> stays;
  for (size_t d = 0; d < sizes.size(); ++d) {
    (kept[d] ? num_results_ : count_) *= sizes[d];
    if (sizes[d] == 1) continue;
    if (!joined.empty() && stays.back() == kept[d]) {
      joined.back() *= sizes[d];
    } else {
      joined.push_back(sizes[d]);
      stays.push_back(kept[d]);
    }
  }
  if (num_results_ == 0 || count_ == 0) return;
  const auto strides = RowMajorStrides(joined);
  inner_stays_ = !joined.empty() && stays.back();
  inner_ = joined.empty() ? 1 : joined.back();
  for (size_t d = 0; d + 1 < joined.size(); ++d) {
    StridedView& view = stays[d] ? kept_ : reduced_;
    view.sizes.push_back(joined[d]);
    view.strides.push_back(strides[d]);
  }
  runs_ = reduced_.num_elements();
  width_ = inner_stays_ ? std::min(inner_, kWidestChunk) : 1;
  units_ = !inner_stays_ && runs_ == 1 ? inner_ : runs_;
  const int64_t tasks =
      inner_stays_ ? num_results_ / inner_ * CeilDiv(inner_, width_) : num_results_;
  int64_t pieces = 1;
  if (tasks < kManyTasks) {
    pieces =
        std::clamp<int64_t>(width_ * count_ / kPieceElements, 1, std::min(units_, kMostPieces));
  }
  piece_length_ = CeilDiv(units_, pieces);
  pieces_ = CeilDiv(units_, piece_length_);
  if (pieces_ > 1) {
    workspace_bytes_ = pieces_ * num_results_ * static_cast<int64_t>(sizeof(ShiftedSums));
  }
}

void MomentsPlan::Finish(const ShiftedSums& sums, int64_t result, char* mean,
                         char* variance) const {
  const double count = static_cast<double>(count_);
  if (mean != nullptr) store_(sums.Mean(count), mean + result * element_size_);
  const double spread = sums.Variance(count, ddof_);
  store_(root_ ? std::sqrt(spread) : spread, variance + result * element_size_);
}

void MomentsPlan::Run(const void* in, void* mean, void* variance, CPUContext& context) const {
  const char* from = static_cast<const char*>(in);
  char* mean_out = static_cast<char*>(mean);
  char* variance_out = static_cast<char*>(variance);
  if (count_ == 0) {
    for (int64_t i = 0; i < num_results_; ++i) Finish({}, i, mean_out, variance_out);
  } else if (num_results_ > 0 && inner_stays_) {
    RunColumns(from, mean_out, variance_out, context);
  } else if (num_results_ > 0) {
    RunRows(from, mean_out, variance_out, context);
  }
  if (pieces_ == 1) return;
  const auto* partial = static_cast<const ShiftedSums*>(context.workspace());
  for (int64_t i = 0; i < num_results_; ++i) {
    ShiftedSums sums = partial[i];
    for (int64_t piece = 1; piece < pieces_; ++piece) {
      sums.sum += partial[piece * num_results_ + i].sum;
      sums.square += partial[piece * num_results_ + i].square;
    }
    Finish(sums, i, mean_out, variance_out);
  }
}

void MomentsPlan::RunRows(const char* in, char* mean, char* variance, CPUContext& context) const {
  auto* partial = static_cast<ShiftedSums*>(context.workspace());
  const int64_t grain = std::max<int64_t>(1, kPieceElements / 4 / (count_ / pieces_ + 1));
  context.ParallelFor(num_results_ * pieces_, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t result = task / pieces_, piece = task % pieces_;
      const char* at = in + OffsetOf(kept_, result) * element_size_;
      const int64_t begin = piece * piece_length_;
      const int64_t end = std::min(units_, begin + piece_length_);
      ShiftedSums sums;
      sums.shift = ShiftOf(load_(at));
      if (runs_ == 1) {
        row_(at + begin * element_size_, end - begin, &sums);
      } else {
        for (int64_t run = begin; run < end; ++run) {
          row_(at + OffsetOf(reduced_, run) * element_size_, inner_, &sums);
        }
      }
      if (pieces_ == 1) {
        Finish(sums, result, mean, variance);
      } else {
        partial[piece * num_results_ + result] = sums;
      }
    }
  });
}

void MomentsPlan::RunColumns(const char* in, char* mean, char* variance,
                             CPUContext& context) const {
  auto* partial = static_cast<ShiftedSums*>(context.workspace());
  const int64_t chunks_per_row = CeilDiv(inner_, width_);
  const int64_t chunks = num_results_ / inner_ * chunks_per_row;
  // The innermost reduced dim is adjacent to the kept one, so its short rows are contiguous and are
  // processed as one long row, with several sums for each result.
  const int64_t rows = reduced_.sizes.empty() ? 1 : reduced_.sizes.back();
  const int64_t rows_at_once =
      chunks_per_row == 1 ? std::clamp<int64_t>(kWidestChunk / width_, 1, rows) : 1;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / 4 / (width_ * count_ / pieces_ + 1));
  context.ParallelFor(chunks * pieces_, grain, [&](int64_t first, int64_t last) {
    double shifts[kWidestChunk], sums[kWidestChunk], squares[kWidestChunk];
    for (int64_t task = first; task < last; ++task) {
      const int64_t chunk = task / pieces_, piece = task % pieces_;
      const int64_t column = chunk % chunks_per_row * width_;
      const int64_t n = std::min(width_, inner_ - column);
      const int64_t block = chunk / chunks_per_row;
      const char* at = in + (OffsetOf(kept_, block) + column) * element_size_;
      for (int64_t i = 0; i < n * rows_at_once; ++i) {
        shifts[i] = i < n ? ShiftOf(load_(at + i * element_size_)) : shifts[i - n];
        sums[i] = squares[i] = 0;
      }
      const int64_t end = std::min(units_, (piece + 1) * piece_length_);
      for (int64_t run = piece * piece_length_; run < end;) {
        const int64_t count = std::min({rows_at_once, rows - run % rows, end - run});
        columns_(at + OffsetOf(reduced_, run) * element_size_, n * count, shifts, sums, squares);
        run += count;
      }
      for (int64_t i = 0; i < n; ++i) {
        ShiftedSums result{shifts[i], 0, 0};
        for (int64_t row = 0; row < rows_at_once; ++row) {
          result.sum += sums[row * n + i];
          result.square += squares[row * n + i];
        }
        const int64_t number = block * inner_ + column + i;
        if (pieces_ == 1) {
          Finish(result, number, mean, variance);
        } else {
          partial[piece * num_results_ + number] = result;
        }
      }
    }
  });
}

}  // namespace pdl
