// Attention of a panel of queries, one in each lane of a few registers. Scores, probabilities and
// sums are stored by keys or elements of values, with the queries of the panel in a row, so that
// maxima and sums over keys need no operations across lanes, and keys and values are read as they
// are.
#ifndef PDL_KERNELS_ATTENTION_ATTENTION_PANEL_H_
#define PDL_KERNELS_ATTENTION_ATTENTION_PANEL_H_

#include <cstdint>

namespace pdl::attention {

/// The largest number of queries in a panel, for any instruction set.
inline constexpr int64_t kMostLanes = 32;

/// A step of FlashAttention (Dao et al., arXiv:2205.14135): a panel of queries meets a block of
/// keys. Rows of the arrays of the panel are `lanes` elements apart.
template <class C>
struct PanelStep {
  int64_t lanes = 0;  // as PanelLoops::LanesFor gives it
  int64_t depth = 0, width = 0, num_keys = 0;
  /// Products of bf16 read words of two elements instead (panel_words.h): queries and keys of
  /// adjacent ones, of which there are `depth`, and values of two keys.
  const C* queries = nullptr;  // [depth, lanes]
  const C* keys = nullptr;     // [num_keys, depth]
  const C* values = nullptr;   // [num_keys, width]
  /// Of the scores; positive. Multiplied by log2(e), because probabilities are powers of 2.
  C scale = 1;

  /// Query i attends to keys 0 to `last_key` + i, counted from that of the block.
  int64_t last_key = 0;
  /// The mask, if there is one: [num_keys, lanes], or [num_keys] for all queries alike. Scores
  /// where it is negative are excluded; or it is added to the scaled scores.
  const C* mask = nullptr;
  bool mask_of_keys = false, mask_is_added = false;

  C* scores = nullptr;  // [num_keys, lanes], for temporary use
  /// Of all steps so far; `is_first` initializes them.
  bool is_first = false;
  C* sums = nullptr;     // [width, lanes], of values with their probabilities
  C* largest = nullptr;  // score of each query; without a mask that is added, before scaling
  C* total = nullptr;    // of the probabilities
};

/// The loops for the registers of this processor.
template <class C>
struct PanelLoops {
  /// The number of lanes of a panel.
  int64_t most_lanes = 0;
  /// For so few queries a panel has half the lanes.
  int64_t LanesFor(int64_t queries) const {
    return queries <= most_lanes / 2 ? most_lanes / 2 : most_lanes;
  }

  void (*step)(const PanelStep<C>& step) = nullptr;
  /// Transposes `rows` rows of `columns` elements, which are `from_row` apart, times `factor`, to
  /// `columns` rows of `lanes` elements; the lanes from `rows` on are 0.
  void (*turn)(const C* from, int64_t from_row, int64_t rows, int64_t columns, C factor, C* to,
               int64_t lanes) = nullptr;
  /// The results: sums / total, transposed to `rows` rows of `width` elements. Overwrites the sums.
  void (*finish)(const PanelStep<C>& step, int64_t rows, C* to) = nullptr;
  /// For products of bf16: words of the elements of rows 2 i and 2 i + 1, or 0 after the last one,
  /// as row i. May be in place.
  void (*pair_rows)(const C* from, int64_t rows, int64_t columns, C* to) = nullptr;
};

template <class C>
PanelLoops<C> ChoosePanelLoops();
/// Loops whose products are those of operands rounded to bf16, with sums in f32; requires
/// HasBf16Products().
PanelLoops<float> ChooseBf16PanelLoops();

}  // namespace pdl::attention

#endif  // PDL_KERNELS_ATTENTION_ATTENTION_PANEL_H_
