#include "kernels/linear/panel_gemm.h"

#include <algorithm>

#include "kernels/core/register_epilogue.h"
#include "kernels/linear/gemm.h"
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

/// The product of rows of a and a part of the rows of one panel.
struct PanelBlock {
  int64_t rows = 0, columns = 0;
  const float* const* runs = nullptr;
  int64_t runs_of_row = 1;  // of all parts
  DepthBlock depth;
  const float* b = nullptr;
  float* c = nullptr;
  int64_t c_row = 0;
  /// Adds the sums to c.
  bool adds = false;
  /// Empty before the last part of the sums. `column` is that of c.
  const RegisterEpilogue* epilogue = nullptr;
  int64_t column = 0;
  /// The cache lines that are read from memory next, and how many of them for a block of rows.
  const float* ahead = nullptr;
  int64_t num_ahead = 0, num_ahead_of_rows = 0;
};

template <class R>
struct PanelBlockLoop {
  using V = typename R::V;
  static constexpr int64_t kRows = R::kBlockRows, kColumns = 2 * R::kLanes;

  /// kCount rows and kVectors registers of columns. `c` has `c_row` elements between rows.
  template <int kCount, int kVectors>
  static PDL_INLINE void Tile(const PanelBlock& block, const float* const* runs, float* c) {
    V sums[kCount][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] = R::Set(0.0f);
    }
    const float* b = block.b;
    for (int64_t run = 0; run < block.depth.runs; ++run, runs += kRows) {
      const float* a[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) a[i] = runs[i] + block.depth.a_begin;
      for (int64_t k = 0; k < block.depth.length; ++k, b += kColumns) {
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
    if (block.adds) {
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] = R::Add(R::Load(c + i * block.c_row + v * R::kLanes), sums[i][v]);
      }
    }
    simd::VisitEpilogue(*block.epilogue,
                        [&]<bool kHasBias, RegisterActivation::Kind kActivation>()
                            __attribute__((always_inline)) {
                              Store<kCount, kVectors, kHasBias, kActivation>(sums, c, block);
                            });
  }

  template <int kCount, int kVectors, bool kHasBias, RegisterActivation::Kind kActivation>
  static PDL_INLINE void Store(const V (&sums)[kCount][kVectors], float* c,
                               const PanelBlock& block) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        R::Store(c + i * block.c_row + v * R::kLanes,
                 simd::ApplyEpilogue<R, kHasBias, kActivation>(*block.epilogue, sums[i][v],
                                                               block.column + v * R::kLanes));
    }
  }

  template <int kVectors>
  static PDL_INLINE void Rows(const PanelBlock& block) {
    const float* const* runs = block.runs;
    int64_t num_ahead = 0;
    float* c = block.c;
    int64_t rows = block.rows;
    for (; rows >= kRows; rows -= kRows, runs += block.runs_of_row * kRows) {
      const int64_t stop = std::min(block.num_ahead, num_ahead + block.num_ahead_of_rows);
      for (; num_ahead < stop; ++num_ahead)
        __builtin_prefetch(block.ahead + num_ahead * kLineFloats, 0, 2);
      Tile<kRows, kVectors>(block, runs, c);
      c += kRows * block.c_row;
    }
    const auto rest = [&]<int kCount>() __attribute__((always_inline)) {
      Tile<kCount, kVectors>(block, runs, c);
      runs += kCount;
      c += kCount * block.c_row;
      rows -= kCount;
    };
    if constexpr (kRows > 8) {
      if (rows >= 8) rest.template operator()<8>();
    }
    if (rows >= 4) rest.template operator()<4>();
    if (rows >= 2) rest.template operator()<2>();
    if (rows >= 1) rest.template operator()<1>();
  }

  static PDL_INLINE void Run(const PanelBlock& block) {
    if (block.columns > R::kLanes) {
      Rows<2>(block);
    } else {
      Rows<1>(block);
    }
  }
};

using PanelBlockFunction = void (*)(const PanelBlock& block);

/// A panel of which not all columns of a register belong to c: it is computed in a buffer, some
/// rows at a time.
void RunIncompletePanel(const PanelBlock& block, PanelBlockFunction run, int64_t block_rows) {
  constexpr int64_t kMostRows = 16, kMostColumns = 32;
  alignas(64) float buffer[kMostRows * kMostColumns] = {}, bias[kMostColumns] = {};
  PanelBlock part = block;
  part.c = buffer;
  part.c_row = kMostColumns;
  part.column = 0;
  RegisterEpilogue epilogue = *block.epilogue;
  part.epilogue = &epilogue;
  if (epilogue.bias != nullptr) {
    std::copy_n(epilogue.bias + block.column, block.columns, bias);
    epilogue.bias = bias;
  }
  for (int64_t row = 0; row < block.rows; row += block_rows) {
    part.rows = std::min(block_rows, block.rows - row);
    float* const c = block.c + row * block.c_row;
    for (int64_t i = 0; block.adds && i < part.rows; ++i)
      std::copy_n(c + i * block.c_row, block.columns, buffer + i * kMostColumns);
    run(part);
    for (int64_t i = 0; i < part.rows; ++i)
      std::copy_n(buffer + i * kMostColumns, block.columns, c + i * block.c_row);
    part.runs += block.runs_of_row * block_rows;
  }
}

/// The product of all rows of a and a part of the rows of b, which is the first or last one.
void RunDepth(const PanelGemm& g, const DepthBlock& depth, bool is_first, bool is_last) {
  static const PanelBlockFunction run = ChooseRegister<float, PanelBlockLoop>();
  const int64_t block_rows = PanelRows(), panel_columns = PanelColumns();
  const int64_t panel = g.runs * g.run_length * panel_columns;
  // While a panel is used, the next one is read from memory.
  const int64_t lines = depth.runs * depth.length * panel_columns / kLineFloats;
  PanelBlock block;
  block.rows = g.rows;
  block.runs = g.runs_of_a + depth.first_run * block_rows;
  block.runs_of_row = g.runs;
  block.depth = depth;
  block.c_row = g.c_row;
  block.adds = !is_first;
  block.num_ahead_of_rows = lines * block_rows / g.rows + 1;
  const RegisterEpilogue none;
  block.epilogue = is_last ? &g.epilogue : &none;
  const float* const first = g.b + (depth.first_run * g.run_length + depth.begin) * panel_columns;
  for (int64_t j = 0; j < g.columns; j += panel_columns) {
    block.columns = std::min(panel_columns, g.columns - j);
    block.b = first + j / panel_columns * panel;
    block.c = g.c + j;
    block.column = j;
    const bool has_next = j + panel_columns < g.columns;
    block.num_ahead = has_next ? lines : 0;
    if (has_next) block.ahead = block.b + panel;
    if (block.columns == panel_columns || 2 * block.columns == panel_columns) {
      run(block);
    } else {
      RunIncompletePanel(block, run, block_rows);
    }
  }
}

template <class R>
struct PanelRowsLoop {
  static PDL_INLINE int64_t Run() { return R::kBlockRows; }
};

}  // namespace

void RunPanelGemm(const PanelGemm& g) {
  DepthBlock depth;
  depth.a_begin = g.a_offset;
  if (g.run_length <= kDepth) {
    depth.length = g.run_length;
    const int64_t most = kDepth / g.run_length;
    for (; depth.first_run < g.runs; depth.first_run += most) {
      depth.runs = std::min(most, g.runs - depth.first_run);
      RunDepth(g, depth, depth.first_run == 0, depth.first_run + depth.runs == g.runs);
    }
    return;
  }
  const int64_t parts = (g.run_length + kDepth - 1) / kDepth;
  const int64_t length = (g.run_length + parts - 1) / parts;
  for (; depth.first_run < g.runs; ++depth.first_run) {
    for (depth.begin = 0; depth.begin < g.run_length; depth.begin += length) {
      depth.length = std::min(length, g.run_length - depth.begin);
      depth.a_begin = g.a_offset + depth.begin;
      const bool is_end = depth.begin + depth.length == g.run_length;
      RunDepth(g, depth, depth.first_run + depth.begin == 0,
               is_end && depth.first_run + 1 == g.runs);
    }
  }
}

int64_t PanelRows() { return ChooseRegister<float, PanelRowsLoop>()(); }

}  // namespace pdl
