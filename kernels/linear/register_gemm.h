// Matmuls of small matrices in the caches, in blocks that are accumulated in registers: parts of
// larger kernels, templates over the registers of an instruction set.
#ifndef PDL_KERNELS_LINEAR_REGISTER_GEMM_H_
#define PDL_KERNELS_LINEAR_REGISTER_GEMM_H_

#include "kernels/core/registers.h"

namespace pdl::simd {

/// The operands of c[m, n] = a[m, k] * b[k, n], where n is a fixed number of registers, and k
/// counts words of b. Element (i, j) of a is at a[i * a_row + j] or, if it is read by columns, at
/// a[i + j * a_row]; it has R::kSteps elements for each word.
template <class T>
struct ThinGemm {
  int64_t m = 0, k = 0;
  const T* a = nullptr;
  int64_t a_row = 0;
  const T* b = nullptr;
  int64_t b_row = 0;
  T* c = nullptr;
  int64_t c_row = 0;
  /// If it is set: c = c * factors + a * b, with a factor for each column.
  const T* factors = nullptr;
  /// c += a * b.
  bool adds = false;
};

/// kRows rows of c, from `row` on, and kVectors registers of columns. `ahead` elements after each
/// row of b, a row is prefetched, if kPrefetches.
template <class R, int kRows, int kVectors, bool kByColumns, bool kPrefetches,
          class T = typename R::Scalar>
PDL_INLINE void ThinGemmRows(const ThinGemm<T>& g, int64_t row, int64_t ahead) {
  constexpr int kLine = 64 / sizeof(T);
  typename R::V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = R::Set(T(0));
  }
  const int64_t of_row = kByColumns ? 1 : g.a_row, of_step = kByColumns ? g.a_row : 1;
  const T *a = g.a + row * of_row, *b = g.b;
  const auto step = [&]<int kStep>() __attribute__((always_inline)) {
    decltype(R::template LoadWords<0>(b)) right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = R::template LoadWords<kStep>(b + v * R::kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const auto left = R::SplatWord(a + i * of_row);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = R::MulAdd(left, right[v], sums[i][v]);
    }
    a += of_step;
  };
  for (int64_t k = 0; k < g.k; ++k) {
    if constexpr (kPrefetches) {
      for (int i = 0; i < kVectors * R::kLanes; i += kLine) __builtin_prefetch(b + ahead + i);
    }
    step.template operator()<0>();
    if constexpr (R::kSteps == 2) step.template operator()<1>();
    b += g.b_row;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      T* c = g.c + (row + i) * g.c_row + v * R::kLanes;
      if (g.factors != nullptr) {
        sums[i][v] = R::MulAdd(R::Load(c), R::Load(g.factors + v * R::kLanes), sums[i][v]);
      } else if (g.adds) {
        sums[i][v] = R::Add(R::Load(c), sums[i][v]);
      }
      R::Store(c, sums[i][v]);
    }
  }
}

/// All rows of c. With kPrefetches, b is read from memory, and what follows it, which is as large,
/// is read next: it is prefetched while rows of c after the first ones need no more memory.
template <class R, int kVectors, bool kByColumns, bool kPrefetches = false>
PDL_INLINE void RunThinGemm(const ThinGemm<typename R::Scalar>& g) {
  int64_t row = 0, ahead = 0;
  const auto run = [&]<int kRows>() __attribute__((always_inline)) {
    ThinGemmRows<R, kRows, kVectors, kByColumns, kPrefetches>(g, row, ahead);
    row += kRows;
    ahead = g.k * g.b_row;
  };
  // Eight rows are two blocks of equal size rather than one of six.
  while (row + R::kBlockRows <= g.m && (R::kBlockRows > 8 || g.m - row != 8)) {
    run.template operator()<R::kBlockRows>();
  }
  if constexpr (R::kBlockRows > 8) {
    if (row + 8 <= g.m) run.template operator()<8>();
  }
  while (row + 4 <= g.m) run.template operator()<4>();
  if (row + 2 <= g.m) run.template operator()<2>();
  if (row < g.m) run.template operator()<1>();
}

}  // namespace pdl::simd

#endif  // PDL_KERNELS_LINEAR_REGISTER_GEMM_H_
