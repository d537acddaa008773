// Layouts of the operands, and loops over blocks of them, that the kernels of attention and its
// gradient share. No array here has the size of queries times keys.
#ifndef PDL_KERNELS_ATTENTION_ATTENTION_BLOCKS_H_
#define PDL_KERNELS_ATTENTION_ATTENTION_BLOCKS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/core/element.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/indexing/along_axis.h"
#include "kernels/linear/gemm.h"
#include "pdl/op/operator.h"

namespace pdl::attention {

/// The number of rows of queries, and of keys, that are computed together.
inline constexpr int64_t kRows = 32;
inline constexpr int64_t kColumns = 64;
/// The most pieces that the tasks of a call are processed in.
inline constexpr int64_t kMostPieces = 64;

/// The sizes of q [blocks, heads, rows, depth], k [blocks, groups, columns, depth] and v [blocks,
/// groups, columns, width], and the strides of the mask.
struct Sizes4 {
  int64_t blocks = 1, heads = 1, groups = 1, rows = 0, columns = 0, depth = 0, width = 0;
  double scale = 1;
  bool causal = false;
  bool has_mask = false, mask_is_bool = false;
  /// The sizes of the dims before the last two, and the mask's strides; 0 where it is broadcast.
  Sizes lead_sizes, mask_lead_strides;
  int64_t mask_row = 0, mask_column = 0;

  int64_t num_heads() const { return blocks * heads; }
  /// The index of the first key of a head of q, over all blocks, in rows of k and v.
  int64_t FirstKey(int64_t head) const {
    return (head / heads * groups + head % heads / (heads / groups)) * columns;
  }
  int64_t MaskOffset(int64_t head) const {
    return has_mask ? AlongAxis::Offset(head, lead_sizes, mask_lead_strides) : 0;
  }
  /// The number of keys, from the first on, that row `row` of the queries attends to.
  int64_t NumVisible(int64_t row, int64_t past) const {
    if (!causal) return columns;
    // Prevents the overflow of past + row.
    if (past >= columns) return columns;
    return std::clamp<int64_t>(past + row + 1, 0, columns);
  }
};

/// `mask` is null if there is none.
inline Sizes4 MakeSizes(const OperandType& q, const OperandType& k, const OperandType& v,
                        const OperandType* mask, const AttributeReader& attributes) {
  Sizes4 s;
  const size_t rank = q.sizes.size();
  s.rows = q.sizes[rank - 2];
  s.depth = q.sizes[rank - 1];
  s.columns = k.sizes[rank - 2];
  s.width = v.sizes[rank - 1];
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (d + 3 < rank) s.blocks *= q.sizes[d];
    s.lead_sizes.push_back(q.sizes[d]);
  }
  if (rank > 2) {
    s.heads = q.sizes[rank - 3];
    s.groups = k.sizes[rank - 3];
  }
  s.scale = attributes.Has("scale") ? attributes.Float("scale")
                                    : 1.0 / std::sqrt(static_cast<double>(s.depth));
  s.causal = attributes.Bool("causal");
  if (mask == nullptr) return s;
  s.has_mask = true;
  s.mask_is_bool = mask->dtype == DType::kBool;
  const auto dense = RowMajorStrides(mask->sizes);
  const size_t missing = rank - mask->sizes.size();
  const auto stride = [&](size_t d) -> int64_t {
    return d < missing || mask->sizes[d - missing] == 1 ? 0 : dense[d - missing];
  };
  for (size_t d = 0; d + 2 < rank; ++d) s.mask_lead_strides.push_back(stride(d));
  s.mask_row = stride(rank - 2);
  s.mask_column = stride(rank - 1);
  return s;
}

/// The value of the scalar operand `past`, or 0 if there is none.
inline int64_t PastOf(llvm::ArrayRef<const Tensor*> inputs, unsigned index) {
  if (inputs.size() <= index) return 0;
  const Tensor& past = *inputs[index];
  const int64_t value = past.dtype() == DType::kI64 ? *past.data<int64_t>() : *past.data<int32_t>();
  return std::max<int64_t>(value, std::numeric_limits<int64_t>::min() / 2);
}

/// Converts n elements to the compute type.
template <class T>
struct LoadLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const T* from, int64_t n, C* to) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Element<T>::Load(from[i]);
  }
};

/// Transposes a matrix of `rows` rows of `width` elements to `width` rows with stride kColumns.
template <class T>
struct LoadTurnedLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const T* from, int64_t rows, int64_t width, C* to) {
    for (int64_t begin = 0; begin < width; begin += 16) {
      const int64_t end = std::min(width, begin + 16);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t d = begin; d < end; ++d) {
          to[d * kColumns + i] = Element<T>::Load(from[i * width + d]);
        }
      }
    }
  }
};

/// A row of a mask as numbers, from elements `stride` apart: those that exclude a key as -1, others
/// as 0; or, if it is not of bools, those to add.
template <class T>
struct LoadMaskLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const void* mask, bool is_bool, int64_t stride, int64_t n, C* to) {
    if (is_bool && stride == 1) {
      const uint8_t* on = static_cast<const uint8_t*>(mask);
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] = on[j] != 0 ? C(0) : C(-1);
    } else if (is_bool) {
      const uint8_t* on = static_cast<const uint8_t*>(mask);
      for (int64_t j = 0; j < n; ++j) to[j] = on[j * stride] != 0 ? C(0) : C(-1);
    } else {
      const T* added = static_cast<const T*>(mask);
      for (int64_t j = 0; j < n; ++j) to[j] = Element<T>::Load(added[j * stride]);
    }
  }
};

template <class T>
struct StoreLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const C* from, int64_t n, C factor, T* to) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Element<T>::Store(from[i] * factor);
  }
};

/// to = to * factor + from.
template <class C>
struct AddScaledLoop {
  static PDL_INLINE void Run(const C* from, int64_t n, C factor, C* to) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = to[i] * factor + from[i];
  }
};

/// The dot products of one row with `rows` rows, for too few rows to use a matmul.
template <class T>
struct DotsLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const C* x, const T* rows, int64_t n, int64_t width, C* to) {
    for (int64_t j = 0; j < n; ++j) {
      C sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t d = 0; d < width; ++d) sum += x[d] * Element<T>::Load(rows[j * width + d]);
      to[j] = sum;
    }
  }
};

/// Scales a row of scores and adds its part of the mask, whose elements are `stride` apart; returns
/// the maximum, or nan if there is one.
template <class T>
struct ScoreRowLoop {
  using C = ComputeType<T>;
  static PDL_INLINE C Run(C* scores, int64_t n, C scale, const void* mask, bool is_bool,
                          int64_t stride) {
    constexpr C kLow = -std::numeric_limits<C>::infinity();
    if (mask == nullptr) {
      for (int64_t j = 0; j < n; ++j) scores[j] *= scale;
    } else if (is_bool) {
      const bool* on = static_cast<const bool*>(mask);
      for (int64_t j = 0; j < n; ++j) scores[j] = on[j * stride] ? scores[j] * scale : kLow;
    } else {
      const T* added = static_cast<const T*>(mask);
      for (int64_t j = 0; j < n; ++j) {
        scores[j] = scores[j] * scale + Element<T>::Load(added[j * stride]);
      }
    }
    C largest = kLow;
    int has_nan = 0;
#pragma omp simd reduction(max : largest) reduction(| : has_nan)
    for (int64_t j = 0; j < n; ++j) {
      largest = scores[j] > largest ? scores[j] : largest;
      has_nan |= scores[j] != scores[j] ? 1 : 0;
    }
    return has_nan != 0 ? std::numeric_limits<C>::quiet_NaN() : largest;
  }
};

/// Computes exp(x - shift) of a row in place; returns the sum.
template <class C>
struct ExpRowLoop {
  static PDL_INLINE C Run(C* x, int64_t n, C shift) {
    C sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; ++j) {
      x[j] = math::Exp(x[j] - shift);
      sum += x[j];
    }
    return sum;
  }
};

/// The loops, compiled for this processor.
template <class T>
struct Loops {
  using C = ComputeType<T>;
  decltype(&LoadLoop<T>::Run) load = ChooseIsa<LoadLoop<T>>();
  decltype(&LoadTurnedLoop<T>::Run) load_turned = ChooseIsa<LoadTurnedLoop<T>>();
  decltype(&LoadMaskLoop<T>::Run) load_mask = ChooseIsa<LoadMaskLoop<T>>();
  decltype(&StoreLoop<T>::Run) store = ChooseIsa<StoreLoop<T>>();
  decltype(&AddScaledLoop<C>::Run) add_scaled = ChooseIsa<AddScaledLoop<C>>();
  decltype(&DotsLoop<T>::Run) dots = ChooseIsa<DotsLoop<T>>();
  decltype(&ScoreRowLoop<T>::Run) score_row = ChooseIsa<ScoreRowLoop<T>>();
  decltype(&ExpRowLoop<C>::Run) exp_row = ChooseIsa<ExpRowLoop<C>>();
  GemmFunction gemm = PlainGemm(kDTypeOf<C>);

  /// c[m, n] = a * b. The row stride of b is `b_row`, that of c is `c_row`; element (i, k) of a is
  /// at a[i * a_row + k * a_column].
  void Multiply(int64_t m, int64_t n, int64_t k, const C* a, int64_t a_row, int64_t a_column,
                const C* b, int64_t b_row, C* c, int64_t c_row) const {
    gemm(GemmShape{m, n, k, a_row, a_column, b_row, 1, c_row}, a, b, c);
  }
};

/// Takes the next part of a task's workspace.
template <class C>
C* Take(char** memory, int64_t elements) {
  C* part = reinterpret_cast<C*>(*memory);
  *memory += (elements * static_cast<int64_t>(sizeof(C)) + 63) / 64 * 64;
  return part;
}

}  // namespace pdl::attention

#endif  // PDL_KERNELS_ATTENTION_ATTENTION_BLOCKS_H_
