#include "kernels/linear/panel_gemm.h"

#include <algorithm>

#include "kernels/linear/register_gemm.h"

namespace pdl {
namespace {

/// The maximum number of rows of a panel in one sum: they stay in the first-level cache while all
/// rows of a are multiplied by them.
constexpr int64_t kDepth = 256;
constexpr int64_t kLineFloats = 16;  // of a cache line

/// A part of the rows of b: `runs` runs from `first_run` on, and of each, `length` elements from
/// `begin` on. In a, they begin at `a_begin`.
struct DepthBlock {
  int64_t first_run = 0, runs = 1, begin = 0, length = 0, a_begin = 0;
};

template <class R>
struct PanelGemmLoop {
  using V = typename R::V;
  static constexpr int64_t kRows = R::kBlockRows, kColumns = 2 * R::kLanes;

  /// kCount rows of a block from `row` on, and kVectors registers of columns of a panel.
  template <int kCount, int kVectors>
  static PDL_INLINE void Tile(const float* const* runs, const DepthBlock& depth, const float* b,
                              float* c, int64_t c_row, bool adds) {
    V sums[kCount][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] = R::Set(0.0f);
    }
    for (int64_t run = 0; run < depth.runs; ++run, runs += kRows) {
      const float* a[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) a[i] = runs[i] + depth.a_begin;
      for (int64_t k = 0; k < depth.length; ++k, b += kColumns) {
        V right[kVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) right[v] = R::Load(b + v * R::kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) {
          const V left = R::Set(a[i][k]);
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) sums[i][v] = R::MulAdd(left, right[v], sums[i][v]);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        float* to = c + i * c_row + v * R::kLanes;
        if (adds) sums[i][v] = R::Add(R::Load(to), sums[i][v]);
        R::Store(to, sums[i][v]);
      }
    }
  }

  template <int kVectors>
  static PDL_INLINE void Rows(int64_t rows, const float* const* runs, const DepthBlock& depth,
                              const float* b, float* c, int64_t c_row, bool adds) {
    if (rows == kRows) return Tile<kRows, kVectors>(runs, depth, b, c, c_row, adds);
    int64_t row = 0;
    if constexpr (kRows > 8) {
      if (row + 8 <= rows) {
        Tile<8, kVectors>(runs, depth, b, c, c_row, adds);
        row += 8;
      }
    }
    if (row + 4 <= rows) {
      Tile<4, kVectors>(runs + row, depth, b, c + row * c_row, c_row, adds);
      row += 4;
    }
    if (row + 2 <= rows) {
      Tile<2, kVectors>(runs + row, depth, b, c + row * c_row, c_row, adds);
      row += 2;
    }
    if (row < rows) Tile<1, kVectors>(runs + row, depth, b, c + row * c_row, c_row, adds);
  }

  /// A block of rows of one panel. Incomplete registers of columns go through a buffer.
  static PDL_INLINE void Panel(int64_t rows, int64_t columns, const float* const* runs,
                               const DepthBlock& depth, const float* b, float* c, int64_t c_row,
                               bool adds) {
    alignas(64) float buffer[kRows * kColumns];
    const bool is_whole = columns == kColumns || columns == R::kLanes;
    float* to = is_whole ? c : buffer;
    const int64_t to_row = is_whole ? c_row : kColumns;
    if (columns > R::kLanes) {
      Rows<2>(rows, runs, depth, b, to, to_row, adds && is_whole);
    } else {
      Rows<1>(rows, runs, depth, b, to, to_row, adds && is_whole);
    }
    if (is_whole) return;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const float sum = buffer[i * kColumns + j];
        c[i * c_row + j] = adds ? c[i * c_row + j] + sum : sum;
      }
    }
  }

  static PDL_INLINE void Block(const PanelGemm& g, const DepthBlock& depth, bool adds) {
    const float* b = g.b + (depth.first_run * g.run_length + depth.begin) * kColumns;
    const int64_t panel = g.runs * g.run_length * kColumns;
    // While a panel is used, the next one is read from memory.
    const int64_t lines = depth.runs * depth.length * kColumns / kLineFloats;
    const int64_t lines_a_block = lines * kRows / g.rows + 1;
    for (int64_t j = 0; j < g.columns; j += kColumns, b += panel) {
      const float* const* runs = g.runs_of_a + depth.first_run * kRows;
      const int64_t columns = std::min(kColumns, g.columns - j);
      const float *ahead = b + panel, *ahead_end = ahead + lines * kLineFloats;
      if (j + kColumns >= g.columns) ahead_end = ahead;
      for (int64_t i = 0; i < g.rows; i += kRows, runs += g.runs * kRows) {
        const float* stop = std::min(ahead_end, ahead + lines_a_block * kLineFloats);
        for (; ahead < stop; ahead += kLineFloats) __builtin_prefetch(ahead, 0, 2);
        Panel(std::min(kRows, g.rows - i), columns, runs, depth, b, g.c + i * g.c_row + j, g.c_row,
              adds);
      }
    }
  }

  static PDL_INLINE void Run(const PanelGemm& g) {
    DepthBlock depth;
    depth.a_begin = g.a_offset;
    if (g.run_length <= kDepth) {
      depth.length = g.run_length;
      const int64_t most = kDepth / g.run_length;
      for (; depth.first_run < g.runs; depth.first_run += most) {
        depth.runs = std::min(most, g.runs - depth.first_run);
        Block(g, depth, depth.first_run > 0);
      }
      return;
    }
    const int64_t parts = (g.run_length + kDepth - 1) / kDepth;
    const int64_t length = (g.run_length + parts - 1) / parts;
    for (; depth.first_run < g.runs; ++depth.first_run) {
      for (depth.begin = 0; depth.begin < g.run_length; depth.begin += length) {
        depth.length = std::min(length, g.run_length - depth.begin);
        depth.a_begin = g.a_offset + depth.begin;
        Block(g, depth, depth.first_run + depth.begin > 0);
      }
    }
  }
};

template <class R>
struct PanelRowsLoop {
  static PDL_INLINE int64_t Run() { return R::kBlockRows; }
};

}  // namespace

PanelGemmFunction ScatteredRowsGemm() { return ChooseRegister<float, PanelGemmLoop>(); }
int64_t PanelRows() { return ChooseRegister<float, PanelRowsLoop>()(); }

}  // namespace pdl
