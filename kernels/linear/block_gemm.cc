// Matmuls of f32 and f64 in blocks that are accumulated in registers, with fused multiply-adds.
#include <algorithm>

#include "kernels/linear/gemm.h"
#include "kernels/linear/register_gemm.h"

namespace pdl {
namespace {

template <class R>
struct BlockGemmLoop {
  using T = typename R::Scalar;
  static constexpr int64_t kLanes = R::kLanes;
  static constexpr int64_t kColumns = 2 * kLanes;
  // kSteps rows of kColumns columns of b stay in the first-level cache, kRows by kSteps elements of
  // a in the second-level cache. kRows is a multiple of the rows of a block of every instruction
  // set.
  static constexpr int64_t kSteps = 128;
  static constexpr int64_t kRows = 120;
  // Larger operands are copied: at a stride of a power of two, rows would replace one another in
  // the caches. This is done for kPanels panels of b at a time, since it is read by rows.
  static constexpr int64_t kCachedBytes = 16 << 10;
  static constexpr int64_t kRowsToPack = 16;
  static constexpr int64_t kPanels = 4;
  static constexpr int64_t kPackedStride = kSteps + 64 / static_cast<int64_t>(sizeof(T));

  // c (or c +=) a b for g.k steps and all columns of c, kColumns at a time.
  template <bool kByColumns>
  static PDL_INLINE void AllColumns(const GemmShape& s, simd::ThinGemm<T> g, bool packs, const T* b,
                                    T* c) {
    alignas(64) T packed[kPanels][kSteps * kColumns];
    int64_t j = 0;
    while (j + kColumns <= s.n) {
      const int64_t panels = packs ? std::min(kPanels, (s.n - j) / kColumns) : 1;
      for (int64_t k = 0; packs && k < g.k; ++k) {
        for (int64_t p = 0; p < panels; ++p) {
          std::copy_n(b + k * s.b_row + j + p * kColumns, kColumns, packed[p] + k * kColumns);
        }
      }
      for (int64_t p = 0; p < panels; ++p, j += kColumns) {
        g.b = packs ? packed[p] : b + j;
        g.b_row = packs ? kColumns : s.b_row;
        g.c = c + j;
        simd::RunThinGemm<R, 2, kByColumns>(g);
      }
    }
    if (j + kLanes <= s.n) {
      g.b = b + j;
      g.b_row = s.b_row;
      g.c = c + j;
      simd::RunThinGemm<R, 1, kByColumns>(g);
      j += kLanes;
    }
    if (j < s.n) LastColumns<kByColumns>(s, g, b + j, c + j, s.n - j);
  }

  // Fewer columns than lanes, in copies that are filled up.
  template <bool kByColumns>
  static PDL_INLINE void LastColumns(const GemmShape& s, simd::ThinGemm<T> g, const T* b, T* c,
                                     int64_t columns) {
    alignas(64) T right[kSteps * kLanes];
    alignas(64) T result[kRows * kLanes];
    for (int64_t k = 0; k < g.k; ++k) {
      T* row = right + k * kLanes;
      std::fill_n(std::copy_n(b + k * s.b_row, columns, row), kLanes - columns, T(0));
    }
    if (g.adds) {
      for (int64_t i = 0; i < g.m; ++i) {
        T* row = result + i * kLanes;
        std::fill_n(std::copy_n(c + i * s.c_row, columns, row), kLanes - columns, T(0));
      }
    }
    g.b = right;
    g.b_row = kLanes;
    g.c = result;
    g.c_row = kLanes;
    simd::RunThinGemm<R, 1, kByColumns>(g);
    for (int64_t i = 0; i < g.m; ++i) {
      std::copy_n(result + i * kLanes, columns, c + i * s.c_row);
    }
  }

  static PDL_INLINE void Run(const GemmShape& s, const void* a_raw, const void* b_raw,
                             void* c_raw) {
    alignas(64) T packed[kRows * kPackedStride];
    const T *a = static_cast<const T*>(a_raw), *b = static_cast<const T*>(b_raw);
    T* c = static_cast<T*>(c_raw);
    simd::ThinGemm<T> g;
    const bool by_columns = s.a_column != 1;
    const bool packs =
        s.m >= kRowsToPack && s.k * s.n * static_cast<int64_t>(sizeof(T)) > kCachedBytes;
    g.c_row = s.c_row;
    for (int64_t i = 0; i < s.m; i += kRows) {
      g.m = std::min(kRows, s.m - i);
      for (int64_t k = 0; k == 0 || k < s.k; k += kSteps) {
        g.k = std::min(kSteps, s.k - k);
        g.adds = k > 0;
        g.a = a + i * s.a_row + k * s.a_column;
        g.a_row = by_columns ? s.a_column : s.a_row;
        const T* right = b + k * s.b_row;
        T* result = c + i * s.c_row;
        if (by_columns) {
          AllColumns<true>(s, g, packs, right, result);
          continue;
        }
        if (packs) {
          for (int64_t r = 0; r < g.m; ++r) {
            std::copy_n(g.a + r * g.a_row, g.k, packed + r * kPackedStride);
          }
          g.a = packed;
          g.a_row = kPackedStride;
        }
        AllColumns<false>(s, g, packs, right, result);
      }
    }
  }
};

}  // namespace

GemmFunction BlockGemm(DType dtype, const GemmShape& shape) {
  if (shape.b_column != 1 || (shape.a_column != 1 && shape.a_row != 1) || shape.m < 2) {
    return nullptr;
  }
  if (dtype == DType::kF32) return ChooseRegister<float, BlockGemmLoop>();
  return dtype == DType::kF64 ? ChooseRegister<double, BlockGemmLoop>() : nullptr;
}

}  // namespace pdl
