#include "kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/isa_dispatch.h"

namespace pdl {
namespace {

constexpr int64_t kWidestChunk = 4096;
constexpr int64_t kMostRows = 64;  // results of a chunk, where the innermost dim is reduced
constexpr int64_t kLanes = 1024;   // accumulators side by side, where rows are short
constexpr int64_t kShortRow = 16;
constexpr int64_t kPieceElements = 1 << 16;
constexpr int64_t kMostPieces = 64;
constexpr int64_t kManyChunks = 16;

// What is accumulated: its type, its start, one step, and how it ends.
template <class T>
struct Summing {
  static constexpr bool kReal = !std::is_integral_v<ComputeType<T>>;
  using Acc = std::conditional_t<kReal, double, uint64_t>;
  using Out = std::conditional_t<kReal, T, int64_t>;
  static PDL_INLINE Acc Start() { return Acc(0); }
  static PDL_INLINE Acc Step(Acc sum, Acc x) { return sum + x; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += static_cast<Acc>(Element<T>::Load(in[i]));
    return sum;
  }
  static PDL_INLINE Out Finish(Acc sum, int64_t) {
    if constexpr (kReal) {
      return Element<T>::Store(static_cast<ComputeType<T>>(sum));
    } else {
      return static_cast<int64_t>(sum);
    }
  }
};

template <class T>
struct Averaging : Summing<T> {
  static PDL_INLINE T Finish(double sum, int64_t count) {
    return Element<T>::Store(static_cast<ComputeType<T>>(sum / static_cast<double>(count)));
  }
};

template <class T>
struct Norming : Summing<T> {
  static PDL_INLINE double Include(double sum, double x) { return sum + x * x; }
  static PDL_INLINE double Row(const T* in, int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(Element<T>::Load(in[i]));
      sum += x * x;
    }
    return sum;
  }
  static PDL_INLINE T Finish(double sum, int64_t) {
    return Element<T>::Store(static_cast<ComputeType<T>>(std::sqrt(sum)));
  }
};

template <class T>
struct Maximizing {
  using Acc = ComputeType<T>;
  using Out = T;
  static PDL_INLINE Acc Start() {
    if constexpr (std::is_floating_point_v<Acc>) return -std::numeric_limits<Acc>::infinity();
    return std::numeric_limits<Acc>::lowest();
  }
  static PDL_INLINE Acc Step(Acc best, Acc x) { return (x > best) | (x != x) ? x : best; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc best = Start();
    int has_nan = 0;
#pragma omp simd reduction(max : best) reduction(| : has_nan)
    for (int64_t i = 0; i < n; ++i) {
      const Acc x = Element<T>::Load(in[i]);
      best = x > best ? x : best;
      has_nan |= x != x ? 1 : 0;
    }
    if constexpr (std::is_floating_point_v<Acc>) {
      if (has_nan != 0) return std::numeric_limits<Acc>::quiet_NaN();
    }
    return best;
  }
  static PDL_INLINE Out Finish(Acc best, int64_t) { return Element<T>::Store(best); }
};

template <class T>
struct Minimizing {
  using Acc = ComputeType<T>;
  using Out = T;
  static PDL_INLINE Acc Start() {
    if constexpr (std::is_floating_point_v<Acc>) return std::numeric_limits<Acc>::infinity();
    return std::numeric_limits<Acc>::max();
  }
  static PDL_INLINE Acc Step(Acc best, Acc x) { return (x < best) | (x != x) ? x : best; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc best = Start();
    int has_nan = 0;
#pragma omp simd reduction(min : best) reduction(| : has_nan)
    for (int64_t i = 0; i < n; ++i) {
      const Acc x = Element<T>::Load(in[i]);
      best = x < best ? x : best;
      has_nan |= x != x ? 1 : 0;
    }
    if constexpr (std::is_floating_point_v<Acc>) {
      if (has_nan != 0) return std::numeric_limits<Acc>::quiet_NaN();
    }
    return best;
  }
  static PDL_INLINE Out Finish(Acc best, int64_t) { return Element<T>::Store(best); }
};

// Takes one element in; Step joins what was accumulated apart.
template <class R, class Acc>
PDL_INLINE Acc Include(Acc acc, Acc x) {
  if constexpr (requires { R::Include(acc, x); }) {
    return R::Include(acc, x);
  } else {
    return R::Step(acc, x);
  }
}

template <class R, class T>
struct RowLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, void* sum) {
    using Acc = typename R::Acc;
    Acc* acc = static_cast<Acc*>(sum);
    *acc = R::Step(*acc, R::Row(static_cast<const T*>(in), n));
  }
};

template <class R, class T>
struct ShortRowsLoop {
  static PDL_INLINE void Run(const void* in, int64_t rows, int64_t n, void* sums) {
    using Acc = typename R::Acc;
    const T* x = static_cast<const T*>(in);
    Acc* acc = static_cast<Acc*>(sums);
    for (int64_t i = 0; i < rows; ++i) {
      Acc sum = acc[i];
      for (int64_t j = 0; j < n; ++j) {
        sum = Include<R>(sum, static_cast<Acc>(Element<T>::Load(x[i * n + j])));
      }
      acc[i] = sum;
    }
  }
};

template <class R, class T>
struct ColumnsLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, void* sums) {
    using Acc = typename R::Acc;
    const T* x = static_cast<const T*>(in);
    Acc* acc = static_cast<Acc*>(sums);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      acc[i] = Include<R>(acc[i], static_cast<Acc>(Element<T>::Load(x[i])));
    }
  }
};

template <class R, class T>
ReduceLoops MakeLoops() {
  using Acc = typename R::Acc;
  using Out = typename R::Out;
  ReduceLoops loops;
  loops.accumulator_size = sizeof(Acc);
  loops.row = ChooseIsa<RowLoop<R, T>>();
  loops.short_rows = ChooseIsa<ShortRowsLoop<R, T>>();
  loops.columns = ChooseIsa<ColumnsLoop<R, T>>();
  loops.start = [](void* sums, int64_t n) { std::fill_n(static_cast<Acc*>(sums), n, R::Start()); };
  loops.merge = [](const void* from, int64_t n, void* sums) {
    for (int64_t i = 0; i < n; ++i) {
      Acc& acc = static_cast<Acc*>(sums)[i];
      acc = R::Step(acc, static_cast<const Acc*>(from)[i]);
    }
  };
  loops.finish = [](const void* sums, int64_t n, int64_t count, void* out) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<Out*>(out)[i] = R::Finish(static_cast<const Acc*>(sums)[i], count);
    }
  };
  return loops;
}

ReduceLoops LoopsOf(Reduction reduction, DType dtype) {
  ReduceLoops loops;
  switch (reduction) {
    case Reduction::kSum:
      VisitDType(AnyTypes(), dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        loops = MakeLoops<Summing<T>, T>();
      });
      break;
    case Reduction::kMean:
      VisitDType(FloatTypes(), dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        loops = MakeLoops<Averaging<T>, T>();
      });
      break;
    case Reduction::kNorm:
      VisitDType(FloatTypes(), dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        loops = MakeLoops<Norming<T>, T>();
      });
      break;
    case Reduction::kMax:
      VisitDType(NumberTypes(), dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        loops = MakeLoops<Maximizing<T>, T>();
      });
      break;
    case Reduction::kMin:
      VisitDType(NumberTypes(), dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        loops = MakeLoops<Minimizing<T>, T>();
      });
      break;
  }
  return loops;
}

// Element `index` of a walk, as an offset.
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
    : loops_(LoopsOf(reduction, dtype)), input_size_(DTypeSize(dtype)), num_results_(1) {
  const bool widens = reduction == Reduction::kSum && !IsFloat(dtype);
  output_size_ = widens ? 8 : input_size_;
  // Neighbouring dims that are both reduced, or both stay, are one.
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
    const int64_t wanted = std::min({units_, CeilDiv(chunk_elements, kPieceElements), kMostPieces});
    piece_length_ = CeilDiv(units_, wanted);
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
    alignas(64) char sums[kWidestChunk * 8];
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
    // A single run for each result: the results' runs follow one another.
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
  // The innermost reduced dim lies next to the one that stays, so its short rows are one long one,
  // which is accumulated into several accumulators for each result.
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

// --- argmax -------------------------------------------------------------------------------------

namespace {

// The places in `inner` columns of `axis` rows.
template <class T>
struct ArgmaxLoop {
  static PDL_INLINE void Run(const void* in, int64_t axis, int64_t inner, int64_t* out) {
    using C = ComputeType<T>;
    const T* x = static_cast<const T*>(in);
    if (inner == 1) {
      // A flag that is true is the largest.
      C best;
      if constexpr (std::is_same_v<T, bool>) {
        best = true;
      } else {
        best = Maximizing<T>::Row(x, axis);
      }
      int64_t i = 0;
      while (i < axis) {
        const C value = Element<T>::Load(x[i]);
        if (value == best || value != value) break;
        ++i;
      }
      *out = i < axis ? i : 0;
      return;
    }
    constexpr int64_t kColumns = 256;
    for (int64_t begin = 0; begin < inner; begin += kColumns) {
      const int64_t n = std::min(kColumns, inner - begin);
      C best[kColumns];
      int64_t place[kColumns];
      for (int64_t j = 0; j < n; ++j) {
        best[j] = Element<T>::Load(x[begin + j]);
        place[j] = 0;
      }
      for (int64_t a = 1; a < axis; ++a) {
        const T* row = x + a * inner + begin;
        for (int64_t j = 0; j < n; ++j) {
          const C value = Element<T>::Load(row[j]);
          const bool better = (value > best[j]) | ((value != value) & (best[j] == best[j]));
          best[j] = better ? value : best[j];
          place[j] = better ? a : place[j];
        }
      }
      for (int64_t j = 0; j < n; ++j) out[begin + j] = place[j];
    }
  }
};

}  // namespace

ArgmaxPlan::ArgmaxPlan(DType dtype, llvm::ArrayRef<int64_t> sizes, unsigned axis)
    : axis_(sizes[axis]), element_size_(DTypeSize(dtype)) {
  for (unsigned d = 0; d < sizes.size(); ++d) {
    if (d < axis) outer_ *= sizes[d];
    if (d > axis) inner_ *= sizes[d];
  }
  VisitDType(AnyTypes(), dtype,
             [&](auto tag) { loop_ = ChooseIsa<ArgmaxLoop<typename decltype(tag)::type>>(); });
}

void ArgmaxPlan::Run(const void* in, int64_t* out, CPUContext& context) const {
  if (inner_ == 0) return;
  const int64_t elements = std::max<int64_t>(1, axis_ * inner_);
  const int64_t grain = std::max<int64_t>(1, kPieceElements / elements);
  context.ParallelFor(outer_, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      loop_(static_cast<const char*>(in) + i * axis_ * inner_ * element_size_, axis_, inner_,
            out + i * inner_);
    }
  });
}

}  // namespace pdl
