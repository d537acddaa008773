#include "kernels/linear/panel_gemm.h"

#include <algorithm>

#include "kernels/core/register_epilogue.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/register_gemm.h"
#include "runtime/cancellation.h"

namespace pdl {
namespace {

/// The maximum number of elements of packed rows of a in one sum. As many rows of words of a panel
/// stay in the first-level cache while all rows of a are multiplied by them.
constexpr int64_t kDepth = 256;
constexpr int64_t kLineWords = 16;  // of a cache line
/// The rows of a that are packed together: with a panel of b, they stay in the second-level cache.
constexpr int64_t kPackedRows = 192;
/// The maximum number of blocks of rows that convert the pairs of a panel when they use them; more
/// blocks use a copy of floats.
constexpr int64_t kBlocksOfPairs = 4;
/// The minimum number of panels for which rows of a are packed.
constexpr int64_t kPanelsToPack = 8;

/// A part of the rows of b: `runs` runs from `first_run` on, and of each, `length` words from
/// `begin` on. In a, they begin at element `a_begin`.
struct DepthBlock {
  int64_t first_run = 0, runs = 1, begin = 0, length = 0, a_begin = 0;

  int64_t total() const { return runs * length; }
};

/// The product of rows of a and a part of the rows of one panel.
struct PanelBlock {
  int64_t rows = 0, columns = 0;
  const float* const* runs = nullptr;
  int64_t runs_of_row = 1;  // of all parts
  DepthBlock depth;
  /// The rows of a, packed by PackRows, or null: they are read at `runs`.
  const float* packed = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  int64_t c_row = 0;
  /// Adds the sums to c.
  bool adds = false;
  /// Empty before the last part of the sums. `column` is that of c.
  const RegisterEpilogue* epilogue = nullptr;
  int64_t column = 0;
  /// The cache lines of the next panel, and how many of them are read from memory for a block of
  /// rows.
  const float* ahead = nullptr;
  int64_t num_ahead = 0, num_ahead_of_rows = 0;
};

/// The lines that a tile reads from memory: one for each `steps` steps. With few rows, a line for
/// each step is not the complete panel, but reading two was slower.
struct Ahead {
  const float* from = nullptr;
  int64_t steps = 1;
};

/// Whether there are tiles of `count` rows, for blocks of at most `most` rows.
constexpr bool IsTile(int64_t count, int64_t most) {
  return count == most || (count < most && (count <= 6 || count == 8));
}

/// How packed rows are divided into blocks: of `most` rows, and the last ones such that as few
/// multiply-adds as possible wait for one another: a block of fewer than four rows takes as long as
/// one of four.
template <int64_t kMost>
class RowBlocks {
 public:
  /// The rows of the first block of `rows`, which is not 0.
  static constexpr int64_t First(int64_t rows) {
    return rows >= 2 * kMost ? kMost : kTable.first[rows];
  }

 private:
  struct Table {
    int64_t first[2 * kMost] = {}, cost[2 * kMost] = {};
  };
  static constexpr Table MakeTable() {
    Table table;
    for (int64_t rows = 1; rows < 2 * kMost; ++rows) {
      for (int64_t count = 1; count <= std::min(rows, kMost); ++count) {
        if (!IsTile(count, kMost)) continue;
        const int64_t cost = std::max<int64_t>(count, 4) + table.cost[rows - count];
        // Of several ways, the one with the largest first block.
        if (table.first[rows] != 0 && cost > table.cost[rows]) continue;
        table.first[rows] = count;
        table.cost[rows] = cost;
      }
    }
    return table;
  }
  static constexpr Table kTable = MakeTable();
};

template <class R>
struct PanelBlockLoop {
  using V = typename R::V;
  using Words = decltype(R::template LoadWords<0>(nullptr));
  static constexpr int64_t kRows = R::kBlockRows, kColumns = 2 * R::kLanes;
  static_assert(kPackedRows % kRows == 0, "rows are computed in parts of complete blocks");

  /// kCount rows and kVectors registers of columns. `c` has `c_row` elements between rows. Rows of
  /// a are at `packed` or, without kPacked, at `runs`. With kPacked, lines are read from memory
  /// from `ahead.from` on, one by one: all at once, they would wait for one another.
  template <int kCount, int kVectors, bool kPacked>
  static PDL_INLINE void Tile(const PanelBlock& block, const float* const* runs,
                              const float* packed, float* c, Ahead ahead = {}) {
    V sums[kCount][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] = R::Set(0.0f);
    }
    const float* b = block.b;
    const int64_t num_runs = kPacked ? 1 : block.depth.runs;
    const int64_t length = kPacked ? block.depth.total() : block.depth.length;
    for (int64_t run = 0; run < num_runs; ++run) {
      [[maybe_unused]] const float* a[kCount];
      if constexpr (!kPacked) {
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) a[i] = runs[i] + block.depth.a_begin;
        runs += kRows;
      }
      for (int64_t k = 0; k < length;) {
        int64_t stop = length;
        if constexpr (kPacked) {
          __builtin_prefetch(ahead.from, 0, 2);
          ahead.from += kLineWords;
          stop = std::min(length, k + ahead.steps);
        }
        const auto step = [&]<int kStep>() __attribute__((always_inline)) {
          Words right[kVectors];
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v)
            right[v] = R::template LoadWords<kStep>(b + v * R::kLanes);
#pragma GCC unroll 16
          for (int i = 0; i < kCount; ++i) {
            Words left;
            if constexpr (kPacked) {
              left = R::SplatWord(packed + (k * R::kSteps + kStep) * kCount + i);
            } else {
              left = R::SplatWord(a[i] + k);
            }
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) sums[i][v] = R::MulAdd(left, right[v], sums[i][v]);
          }
        };
        for (; k < stop; ++k, b += kColumns) {
          step.template operator()<0>();
          if constexpr (R::kSteps == 2) step.template operator()<1>();
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

  /// Reads the next lines from memory.
  static PDL_INLINE void Prefetch(const PanelBlock& block, int64_t* num_ahead) {
    const int64_t stop = std::min(block.num_ahead, *num_ahead + block.num_ahead_of_rows);
    for (; *num_ahead < stop; ++*num_ahead)
      __builtin_prefetch(block.ahead + *num_ahead * kLineWords, 0, 2);
  }

  template <int kVectors>
  static PDL_INLINE void Rows(const PanelBlock& block) {
    const float* const* runs = block.runs;
    int64_t num_ahead = 0;
    float* c = block.c;
    int64_t rows = block.rows;
    for (; rows >= kRows; rows -= kRows, runs += block.runs_of_row * kRows) {
      Prefetch(block, &num_ahead);
      Tile<kRows, kVectors, false>(block, runs, nullptr, c);
      c += kRows * block.c_row;
    }
    const auto rest = [&]<int kCount>() __attribute__((always_inline)) {
      Tile<kCount, kVectors, false>(block, runs, nullptr, c);
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
    block.columns > R::kLanes ? Rows<2>(block) : Rows<1>(block);
  }
};

/// The same for packed rows. GCC 12 would keep a sum in memory if one function had both loops.
template <class R>
struct PackedBlockLoop {
  using Panel = PanelBlockLoop<R>;
  static constexpr int64_t kRows = R::kBlockRows;

  template <int kVectors>
  static PDL_INLINE void Rows(const PanelBlock& block) {
    const float* packed = block.packed;
    int64_t rows = block.rows;
    Ahead ahead{.from = block.ahead};
    ahead.steps = std::max<int64_t>(1, block.depth.total() / block.num_ahead_of_rows);
    float* c = block.c;
    const auto run = [&]<int kCount>() __attribute__((always_inline)) {
      Panel::template Tile<kCount, kVectors, true>(block, nullptr, packed, c, ahead);
      ahead.from += block.num_ahead_of_rows * kLineWords;
      packed += kCount * R::kSteps * block.depth.total();
      c += kCount * block.c_row;
      rows -= kCount;
    };
    while (rows > 0) {
      const int64_t count = RowBlocks<kRows>::First(rows);
      if (count == kRows) {
        run.template operator()<kRows>();
        continue;
      }
      if constexpr (kRows > 8) {
        if (count == 8) run.template operator()<8>();
        if (count == 6) run.template operator()<6>();
      }
      if constexpr (kRows > 5) {
        if (count == 5) run.template operator()<5>();
      }
      if constexpr (kRows > 4) {
        if (count == 4) run.template operator()<4>();
      }
      if (count == 3) run.template operator()<3>();
      if (count == 2) run.template operator()<2>();
      if (count == 1) run.template operator()<1>();
    }
  }

  static PDL_INLINE void Run(const PanelBlock& block) {
    block.columns > R::kLanes ? Rows<2>(block) : Rows<1>(block);
  }
};

template <class R>
struct Bf16WeightsBlockLoop : PackedBlockLoop<simd::Bf16Weights<R>> {};

/// Rows of words of a panel as floats: two rows for each.
template <class R>
struct PanelOfPairsLoop {
  static PDL_INLINE void Run(const float* words, int64_t rows, float* to) {
    constexpr int64_t kColumns = 2 * R::kLanes;
    for (int64_t row = 0; row < rows; ++row, words += kColumns, to += 2 * kColumns) {
      for (int64_t j = 0; j < kColumns; j += R::kLanes) {
        R::Store(to + j, R::LowBf16(words + j));
        R::Store(to + kColumns + j, R::HighBf16(words + j));
      }
    }
  }
};

using PanelBlockFunction = void (*)(const PanelBlock& block);

/// A panel of which not all columns of a register belong to c: it is computed in a buffer, some
/// rows at a time.
void RunIncompletePanel(const PanelBlock& block, PanelBlockFunction run) {
  constexpr int64_t kMostColumns = 32;
  alignas(64) float buffer[kPackedRows * kMostColumns], bias[kMostColumns] = {};
  const int64_t columns = PanelColumns();
  if (block.adds) std::fill_n(buffer, std::min(block.rows, kPackedRows) * columns, 0.0f);
  PanelBlock part = block;
  part.c = buffer;
  part.c_row = columns;
  part.column = 0;
  RegisterEpilogue epilogue = *block.epilogue;
  part.epilogue = &epilogue;
  if (epilogue.bias != nullptr) {
    std::copy_n(epilogue.bias + block.column, block.columns, bias);
    epilogue.bias = bias;
  }
  // Packed rows are no more than that.
  for (int64_t row = 0; row < block.rows; row += kPackedRows) {
    part.rows = std::min(kPackedRows, block.rows - row);
    float* const c = block.c + row * block.c_row;
    for (int64_t i = 0; block.adds && i < part.rows; ++i)
      std::copy_n(c + i * block.c_row, block.columns, buffer + i * columns);
    run(part);
    for (int64_t i = 0; i < part.rows; ++i)
      std::copy_n(buffer + i * columns, block.columns, c + i * block.c_row);
    part.runs += block.runs_of_row * kPackedRows;
  }
}

template <class R>
struct RowBlocksLoop {
  static PDL_INLINE int64_t Run(int64_t rows) { return RowBlocks<R::kBlockRows>::First(rows); }
};

/// Element k of row i becomes to[k * kCount + i].
template <int kCount>
void PackBlock(const float* const* rows, int64_t length, float* to) {
  const float* from[kCount];
  std::copy_n(rows, kCount, from);
  int64_t k = 0;
  for (; kCount > 1 && k + 4 <= length; k += 4, to += 4 * kCount) {
#pragma GCC unroll 3
    for (int i = 0; i + 4 <= kCount; i += 4) {
      __m128 a = _mm_loadu_ps(from[i] + k), b = _mm_loadu_ps(from[i + 1] + k);
      __m128 c = _mm_loadu_ps(from[i + 2] + k), d = _mm_loadu_ps(from[i + 3] + k);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_storeu_ps(to + i, a);
      _mm_storeu_ps(to + kCount + i, b);
      _mm_storeu_ps(to + 2 * kCount + i, c);
      _mm_storeu_ps(to + 3 * kCount + i, d);
    }
    constexpr int kPair = kCount / 4 * 4;  // the first row after the groups of four
    if constexpr (kCount % 4 >= 2) {
      const __m128 a = _mm_loadu_ps(from[kPair] + k), b = _mm_loadu_ps(from[kPair + 1] + k);
      const __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
      float* const pair = to + kPair;
      _mm_storel_pi(reinterpret_cast<__m64*>(pair), low);
      _mm_storeh_pi(reinterpret_cast<__m64*>(pair + kCount), low);
      _mm_storel_pi(reinterpret_cast<__m64*>(pair + 2 * kCount), high);
      _mm_storeh_pi(reinterpret_cast<__m64*>(pair + 3 * kCount), high);
    }
    if constexpr (kCount % 2 == 1) {
      for (int j = 0; j < 4; ++j) to[j * kCount + kCount - 1] = from[kCount - 1][k + j];
    }
  }
  for (; k < length; ++k, to += kCount)
    for (int i = 0; i < kCount; ++i) to[i] = from[i][k];
}

/// PackBlock for `count` rows.
void PackBlock(const float* const* rows, int64_t count, int64_t length, float* to) {
  switch (count) {
    case 1:
      return PackBlock<1>(rows, length, to);
    case 2:
      return PackBlock<2>(rows, length, to);
    case 3:
      return PackBlock<3>(rows, length, to);
    case 4:
      return PackBlock<4>(rows, length, to);
    case 5:
      return PackBlock<5>(rows, length, to);
    case 6:
      return PackBlock<6>(rows, length, to);
    case 8:
      return PackBlock<8>(rows, length, to);
    case 12:
      return PackBlock<12>(rows, length, to);
  }
  __builtin_unreachable();
}

/// Packs rows [first, first + count) of a, in the blocks in which they are computed.
void PackRows(const PanelGemm& g, const DepthBlock& depth, int64_t first, int64_t count,
              float* to) {
  static const auto next_block = ChooseRegister<float, RowBlocksLoop>();
  constexpr int64_t kMostRows = 16;
  const int64_t block_rows = PanelRows();
  alignas(64) float pairs[kMostRows][kDepth];
  // The last word may have an element less; in `to` it has 0 instead.
  const int64_t of_words = ElementsOf(g.words) * depth.length;
  const int64_t elements = std::min(of_words, g.run_length - ElementsOf(g.words) * depth.begin);
  for (const int64_t end = first + count; first < end;) {
    const int64_t rows = next_block(end - first);
    for (int64_t run = 0; run < depth.runs; ++run) {
      const float* from[kMostRows];
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t block = (first + i) / block_rows, in_block = (first + i) % block_rows;
        from[i] = g.runs_of_a[(block * g.runs + depth.first_run + run) * block_rows + in_block] +
                  depth.a_begin;
        if (g.words != WordKind::kBf16Pairs) continue;
        ToBf16Pairs(from[i], elements, pairs[i]);
        from[i] = pairs[i];
      }
      if (g.words == WordKind::kBf16Pairs) {
        PackBlock(from, rows, depth.length, to);
        to += rows * depth.length;
        continue;
      }
      PackBlock(from, rows, elements, to);
      std::fill(to + rows * elements, to + rows * of_words, 0.0f);
      to += rows * of_words;
    }
    first += rows;
  }
}

/// The product of rows [first_row, first_row + rows) of a and a part of the rows of b. `is_first`
/// and `is_last`: whether it is the first or last part of the sums.
void RunDepth(const PanelGemm& g, int64_t first_row, int64_t rows, const DepthBlock& depth,
              bool is_first, bool is_last) {
  EndIfCancelled(CurrentCancellation());
  static const PanelBlockFunction run_in_place = ChooseRegister<float, PanelBlockLoop>();
  static const PanelBlockFunction run_packed = ChooseRegister<float, PackedBlockLoop>();
  static const PanelBlockFunction run_pairs = ChooseBf16Register<PackedBlockLoop>();
  static const PanelBlockFunction run_weights = ChooseRegister<float, Bf16WeightsBlockLoop>();
  static const auto make_floats = ChooseRegister<float, PanelOfPairsLoop>();
  const bool has_weights = g.words == WordKind::kBf16Weights;
  const bool makes_floats = has_weights && rows > kBlocksOfPairs * PanelRows();
  const PanelBlockFunction run = g.words == WordKind::kBf16Pairs ? run_pairs
                                 : has_weights && !makes_floats  ? run_weights
                                 : g.scratch == nullptr          ? run_in_place
                                                                 : run_packed;
  const int64_t block_rows = PanelRows(), panel_columns = PanelColumns();
  const int64_t run_words = WordsOf(g.words, g.run_length);
  const int64_t panel = g.runs * run_words * panel_columns;
  // While a panel is used, the next one is read from memory.
  const int64_t lines = depth.total() * panel_columns / kLineWords;
  PanelBlock block;
  block.rows = rows;
  if (g.scratch != nullptr) {
    PackRows(g, depth, first_row, rows, g.scratch);
    block.packed = g.scratch;
  }
  block.runs = g.runs_of_a + depth.first_run * block_rows;
  block.runs_of_row = g.runs;
  block.depth = depth;
  float* const panel_of_floats =
      makes_floats ? g.scratch + std::min(g.rows, kPackedRows) * kDepth : nullptr;
  if (makes_floats) block.depth.length *= 2;
  block.c_row = g.c_row;
  block.adds = !is_first;
  block.num_ahead_of_rows = lines * block_rows / rows + 1;
  const RegisterEpilogue none;
  block.epilogue = is_last ? &g.epilogue : &none;
  const int64_t first_row_of_b = depth.first_run * run_words + depth.begin;
  const float* const first = g.b + first_row_of_b * panel_columns;
  // Of the next part of the sums, or of the next rows.
  const float* const next = is_last ? g.b : first + depth.total() * panel_columns;
  for (int64_t j = 0; j < g.columns; j += panel_columns) {
    block.columns = std::min(panel_columns, g.columns - j);
    const float* const words = first + j / panel_columns * panel;
    block.b = words;
    if (makes_floats) {
      make_floats(words, depth.total(), panel_of_floats);
      block.b = panel_of_floats;
    }
    block.c = g.c + first_row * g.c_row + j;
    block.column = j;
    const bool has_next = j + panel_columns < g.columns;
    block.num_ahead = lines;
    block.ahead = has_next ? words + panel : next;
    if (block.columns == panel_columns || 2 * block.columns == panel_columns) {
      run(block);
    } else {
      RunIncompletePanel(block, run);
    }
  }
}

/// Rows [first, first + rows) of c.
void RunRows(const PanelGemm& g, int64_t first, int64_t rows) {
  DepthBlock depth;
  depth.a_begin = g.a_offset;
  const int64_t run_words = WordsOf(g.words, g.run_length);
  const int64_t most_words = g.words == WordKind::kBf16Weights ? kDepth / 2 : kDepth;
  if (run_words <= most_words) {
    depth.length = run_words;
    const int64_t most = most_words / run_words;
    for (; depth.first_run < g.runs; depth.first_run += most) {
      depth.runs = std::min(most, g.runs - depth.first_run);
      RunDepth(g, first, rows, depth, depth.first_run == 0, depth.first_run + depth.runs == g.runs);
    }
    return;
  }
  const int64_t parts = (run_words + most_words - 1) / most_words;
  const int64_t length = (run_words + parts - 1) / parts;
  for (; depth.first_run < g.runs; ++depth.first_run) {
    for (depth.begin = 0; depth.begin < run_words; depth.begin += length) {
      depth.length = std::min(length, run_words - depth.begin);
      depth.a_begin = g.a_offset + ElementsOf(g.words) * depth.begin;
      const bool is_end = depth.begin + depth.length == run_words;
      RunDepth(g, first, rows, depth, depth.first_run + depth.begin == 0,
               is_end && depth.first_run + 1 == g.runs);
    }
  }
}

template <class R>
struct PanelRowsLoop {
  static PDL_INLINE int64_t Run() { return R::kBlockRows; }
};

}  // namespace

int64_t PanelScratchBytes(int64_t rows, int64_t columns, WordKind words) {
  const bool is_narrow = columns < kPanelsToPack * PanelColumns();
  if (words == WordKind::kFloat && is_narrow) return 0;
  const int64_t of_panel = words == WordKind::kBf16Weights ? PanelColumns() : 0;
  return (std::min(rows, kPackedRows) + of_panel) * kDepth * static_cast<int64_t>(sizeof(float));
}

void RunPanelGemm(const PanelGemm& g) {
  if (g.scratch == nullptr) return RunRows(g, 0, g.rows);
  // In equal parts.
  const int64_t parts = (g.rows + kPackedRows - 1) / kPackedRows;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t first = g.rows * i / parts;
    RunRows(g, first, g.rows * (i + 1) / parts - first);
  }
}

int64_t PanelRows() { return ChooseRegister<float, PanelRowsLoop>()(); }

}  // namespace pdl
