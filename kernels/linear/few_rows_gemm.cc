// f32 matmuls of few rows by a matrix that is read once, as it is stored: limited by the speed of
// memory.
#include <algorithm>
#include <vector>

#include "kernels/linear/gemm.h"
#include "kernels/linear/register_gemm.h"

namespace pdl {
namespace {

/// The maximum number of rows of b in one sum, for accuracy. In a panel they stay in the cache,
/// since many rows of a read them several times.
constexpr int64_t kSteps = 128;

/// b in panels of two registers of columns, each with its rows one after the other; a by columns.
template <class R>
struct PanelsLoop {
  static constexpr int64_t kColumns = 2 * R::kLanes;

  static PDL_INLINE void Run(const GemmShape& s, const void* a, const void* b, void* c) {
    alignas(64) float last[kFewRows * kColumns];
    simd::ThinGemm<float> g;
    g.m = s.m;
    g.a_row = s.a_column;
    g.b_row = kColumns;
    for (int64_t j = 0; j < s.n; j += kColumns) {
      float* to = static_cast<float*>(c) + j;
      const bool is_whole = j + kColumns <= s.n;
      g.c = is_whole ? to : last;
      g.c_row = is_whole ? s.c_row : kColumns;
      for (int64_t k = 0; k < s.k; k += kSteps) {
        g.k = std::min(kSteps, s.k - k);
        g.a = static_cast<const float*>(a) + k * R::kSteps * s.a_column;
        g.b = static_cast<const float*>(b) + j * s.k + k * kColumns;
        g.adds = k > 0;
        simd::RunThinGemm<R, 2, /*kByColumns=*/true, /*kPrefetches=*/true>(g);
      }
      if (is_whole) continue;
      for (int64_t i = 0; i < s.m; ++i) {
        std::copy_n(last + i * kColumns, s.n - j, to + i * s.c_row);
      }
    }
  }
};

template <class R>
struct Bf16WeightsLoop : PanelsLoop<simd::Bf16Weights<R>> {};

template <class R>
struct PanelColumnsLoop {
  static PDL_INLINE int64_t Run() { return PanelsLoop<R>::kColumns; }
};

/// b transposed: each element is a dot product of two runs of memory.
template <class R>
struct FewRowsTurnedLoop {
  using V = typename R::V;
  static constexpr int kTogether = 4;  // rows of a transposed b, and rows of a

  // kRows rows of a by kColumns rows of b. The order of a sum depends on s.k only.
  template <int kRows, int kColumns>
  static PDL_INLINE void Block(const GemmShape& s, const float* a, const float* b, float* c) {
    V sums[kRows][kTogether];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kTogether; ++j) sums[i][j] = R::Set(0.0f);
    }
    int64_t k = 0;
    for (; k + R::kLanes <= s.k; k += R::kLanes) {
      V right[kColumns];
#pragma GCC unroll 4
      for (int j = 0; j < kColumns; ++j) {
        right[j] = R::Load(b + j * s.b_column + k);
        // The rows that are multiplied next.
        __builtin_prefetch(b + (j + kColumns) * s.b_column + k);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        const V left = R::Load(a + i * s.a_row + k);
#pragma GCC unroll 4
        for (int j = 0; j < kColumns; ++j) sums[i][j] = R::MulAdd(left, right[j], sums[i][j]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      float four[kTogether];
      R::SumLanes(sums[i][0], sums[i][1], sums[i][2], sums[i][3], four);
      for (int j = 0; j < kColumns; ++j) {
        for (int64_t d = k; d < s.k; ++d) four[j] += a[i * s.a_row + d] * b[j * s.b_column + d];
        c[i * s.c_row + j] = four[j];
      }
    }
  }

  template <int kColumns>
  static PDL_INLINE void Rows(const GemmShape& s, const float* a, const float* b, float* c) {
    int64_t i = 0;
    for (; i + 4 <= s.m; i += 4) Block<4, kColumns>(s, a + i * s.a_row, b, c + i * s.c_row);
    if (i + 2 <= s.m) {
      Block<2, kColumns>(s, a + i * s.a_row, b, c + i * s.c_row);
      i += 2;
    }
    if (i < s.m) Block<1, kColumns>(s, a + i * s.a_row, b, c + i * s.c_row);
  }

  static PDL_INLINE void Run(const GemmShape& s, const void* a_raw, const void* b_raw,
                             void* c_raw) {
    const float *a = static_cast<const float*>(a_raw), *b = static_cast<const float*>(b_raw);
    float* c = static_cast<float*>(c_raw);
    int64_t j = 0;
    for (; j + kTogether <= s.n; j += kTogether) Rows<kTogether>(s, a, b + j * s.b_column, c + j);
    for (; j < s.n; ++j) Rows<1>(s, a, b + j * s.b_column, c + j);
  }
};

}  // namespace

GemmFunction FewRowsTurnedGemm() { return ChooseRegister<float, FewRowsTurnedLoop>(); }
GemmFunction PanelsGemm(WordKind words) {
  switch (words) {
    case WordKind::kFloat:
      return ChooseRegister<float, PanelsLoop>();
    case WordKind::kBf16Weights:
      return ChooseRegister<float, Bf16WeightsLoop>();
    case WordKind::kBf16Pairs:
      return ChooseBf16Register<PanelsLoop>();
  }
  __builtin_unreachable();
}
int64_t PanelColumns() { return ChooseRegister<float, PanelColumnsLoop>()(); }

namespace {

/// Packs n columns of b into a panel of floats.
void PackPanel(const GemmShape& s, const float* b, int64_t n, float* panel) {
  const int64_t columns = PanelColumns();
  if (s.b_column == 1) {
    for (int64_t k = 0; k < s.k; ++k) std::copy_n(b + k * s.b_row, n, panel + k * columns);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < s.k; ++k) {
      panel[k * columns + i] = b[i * s.b_column + k * s.b_row];
    }
  }
}

/// The same, into a panel of pairs.
void PackPanelOfPairs(const GemmShape& s, const float* b, int64_t n, float* panel) {
  const int64_t columns = PanelColumns();
  std::vector<float> rows;
  for (int64_t k = 0; k < s.k; k += 2, panel += columns) {
    const float* from[2] = {b + k * s.b_row, k + 1 < s.k ? b + (k + 1) * s.b_row : nullptr};
    if (s.b_column != 1) {
      // The elements of a row are not adjacent.
      rows.resize(static_cast<size_t>(2 * n));
      for (int row = 0; row < 2; ++row) {
        if (from[row] == nullptr) continue;
        float* to = rows.data() + row * n;
        for (int64_t i = 0; i < n; ++i) to[i] = from[row][i * s.b_column];
        from[row] = to;
      }
    }
    ToBf16PairsOfRows(from[0], from[1], n, panel);
  }
}

}  // namespace

void PackPanels(const GemmShape& s, const float* b, WordKind words, float* to, int64_t panel_rows) {
  const int64_t columns = PanelColumns();
  for (int64_t j = 0; j < s.n; j += columns) {
    float* panel = to + j * panel_rows;
    const int64_t n = std::min(columns, s.n - j);
    if (n < columns) std::fill_n(panel, WordsOf(words, s.k) * columns, 0.0f);
    (words == WordKind::kFloat ? PackPanel : PackPanelOfPairs)(s, b + j * s.b_column, n, panel);
  }
}

}  // namespace pdl
