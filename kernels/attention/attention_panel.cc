#include "kernels/attention/attention_panel.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/linear/panel_words.h"
#include "kernels/linear/register_gemm.h"

namespace pdl::attention {
namespace {

template <class C>
constexpr C kInfinity = std::numeric_limits<C>::infinity();
template <class C>
constexpr C kLog2E = static_cast<C>(1.4426950408889634074);

/// Transposes a square of 4 x 4 floats in registers.
PDL_INLINE void TurnSquare(const float* from, int64_t from_row, float* to, int64_t to_row) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_row);
  __m128 c = _mm_loadu_ps(from + 2 * from_row), d = _mm_loadu_ps(from + 3 * from_row);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_row, b);
  _mm_storeu_ps(to + 2 * to_row, c);
  _mm_storeu_ps(to + 3 * to_row, d);
}

/// Transposes a matrix, going along a few of its rows or, with kAlongResult, of the result's at a
/// time: along those that are not in the first-level cache.
template <bool kAlongResult, class C>
PDL_INLINE void TurnMatrix(const C* from, int64_t from_row, int64_t rows, int64_t columns, C* to,
                           int64_t to_row) {
  constexpr int64_t kSquare = std::is_same_v<C, float> ? 4 : 1;
  const int64_t whole_rows = rows / kSquare * kSquare;
  const int64_t whole_columns = columns / kSquare * kSquare;
  const int64_t outer = kAlongResult ? whole_columns : whole_rows;
  const int64_t inner = kAlongResult ? whole_rows : whole_columns;
  for (int64_t i = 0; i < outer; i += kSquare) {
    for (int64_t j = 0; j < inner; j += kSquare) {
      const int64_t r = kAlongResult ? j : i, c = kAlongResult ? i : j;
      if constexpr (kSquare == 4) {
        TurnSquare(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
      } else {
        to[c * to_row + r] = from[r * from_row + c];
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c) {
      to[c * to_row + r] = from[r * from_row + c];
    }
  }
}

template <class R>
struct TurnLoop {
  using C = typename R::Scalar;
  static PDL_INLINE void Run(const C* from, int64_t from_row, int64_t rows, int64_t columns,
                             C factor, C* to, int64_t lanes) {
    TurnMatrix<false>(from, from_row, rows, columns, to, lanes);
    for (int64_t c = 0; c < columns && rows < lanes; ++c) {
      std::fill(to + c * lanes + rows, to + (c + 1) * lanes, C(0));
    }
    if (factor == 1) return;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < lanes; i += R::kLanes) {
        C* at = to + c * lanes + i;
        R::Store(at, R::Mul(R::Load(at), R::Set(factor)));
      }
    }
  }
};

template <class R>
struct FinishLoop {
  using C = typename R::Scalar;
  static PDL_INLINE void Run(const PanelStep<C>& s, int64_t rows, C* to) {
    C factors[kMostLanes];
    // A query that attends to no key gives 0.
    for (int64_t i = 0; i < s.lanes; ++i) factors[i] = s.total[i] == 0 ? C(0) : C(1) / s.total[i];
    for (int64_t e = 0; e < s.width; ++e) {
      for (int64_t i = 0; i < s.lanes; i += R::kLanes) {
        C* at = s.sums + e * s.lanes + i;
        R::Store(at, R::Mul(R::Load(at), R::Load(factors + i)));
      }
    }
    TurnMatrix<true>(s.sums, s.lanes, s.width, rows, to, s.width);
  }
};

/// Whether products are those of pairs of bf16.
template <class R>
constexpr bool kMultipliesPairs = std::is_same_v<R, simd::RegisterBf16>;

template <class R>
struct PairRowsLoop {
  static PDL_INLINE void Run(const float* from, int64_t rows, int64_t columns, float* to) {
    for (int64_t row = 0; row < rows; row += 2, from += 2 * columns, to += columns) {
      const float* const second = row + 1 < rows ? from + columns : nullptr;
      int64_t i = 0;
      for (; i + R::kLanes <= columns; i += R::kLanes) {
        R::StorePairs(to + i, R::Load(from + i),
                      second == nullptr ? R::Set(0.0f) : R::Load(second + i));
      }
      if (i < columns)
        ToBf16PairsOfRows(from + i, second == nullptr ? nullptr : second + i, columns - i, to + i);
    }
  }
};

/// A panel of kVectors registers.
template <class R, int kVectors>
struct Panel {
  using C = typename R::Scalar;
  using V = typename R::V;
  static constexpr int64_t kLanes = kVectors * R::kLanes;

  template <bool kOfKeys, bool kIsAdded>
  static PDL_INLINE void ApplyMask(const PanelStep<C>& s) {
    const V low = R::Set(-kInfinity<C>), zero = R::Set(C(0));
    const V scale = R::Set(s.scale), unit = R::Set(kLog2E<C>);
    for (int64_t j = 0; j < s.num_keys; ++j) {
      for (int v = 0; v < kVectors; ++v) {
        C* at = s.scores + j * kLanes + v * R::kLanes;
        const V x = R::Load(at);
        const V m = kOfKeys ? R::Set(s.mask[j]) : R::Load(s.mask + j * kLanes + v * R::kLanes);
        R::Store(at, kIsAdded ? R::MulAdd(m, unit, R::Mul(x, scale)) : R::IfLess(m, zero, low, x));
      }
    }
  }

  static PDL_INLINE void ApplyAnyMask(const PanelStep<C>& s) {
    if (s.mask_of_keys) {
      s.mask_is_added ? ApplyMask<true, true>(s) : ApplyMask<true, false>(s);
    } else {
      s.mask_is_added ? ApplyMask<false, true>(s) : ApplyMask<false, false>(s);
    }
  }

  static PDL_INLINE void ApplyCausality(const PanelStep<C>& s) {
    C index[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) index[i] = static_cast<C>(i);
    const V low = R::Set(-kInfinity<C>);
    for (int64_t j = std::max<int64_t>(s.last_key + 1, 0); j < s.num_keys; ++j) {
      const V first = R::Set(static_cast<C>(j - s.last_key));
      for (int v = 0; v < kVectors; ++v) {
        C* at = s.scores + j * kLanes + v * R::kLanes;
        R::Store(at, R::IfLess(R::Load(index + v * R::kLanes), first, low, R::Load(at)));
      }
    }
  }

  /// Maxima pass over nan, which makes the total nan instead. So does an infinity; if a query has
  /// both, its maximum becomes nan here. `before` are the maxima before this step.
  static void FindNan(const PanelStep<C>& s, const C* before) {
    for (int64_t i = 0; i < kLanes; ++i) {
      if (s.largest[i] != kInfinity<C>) continue;
      bool has_nan = !s.is_first && before[i] != kInfinity<C> && s.total[i] != s.total[i];
      for (int64_t j = 0; j < s.num_keys; ++j) {
        const C score = s.scores[j * kLanes + i];
        has_nan |= score != score;
      }
      if (has_nan) s.largest[i] = std::numeric_limits<C>::quiet_NaN();
    }
  }

  /// Updates the maxima of the scores.
  static PDL_INLINE void UpdateLargest(const PanelStep<C>& s, const C* before) {
    V even[kVectors], odd[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      even[v] = odd[v] = s.is_first ? R::Set(-kInfinity<C>) : R::Load(s.largest + v * R::kLanes);
    }
    int64_t j = 0;
    for (; j + 2 <= s.num_keys; j += 2) {
      const C* at = s.scores + j * kLanes;
      for (int v = 0; v < kVectors; ++v) {
        even[v] = R::Max(R::Load(at + v * R::kLanes), even[v]);
        odd[v] = R::Max(R::Load(at + kLanes + v * R::kLanes), odd[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      if (j < s.num_keys) {
        even[v] = R::Max(R::Load(s.scores + j * kLanes + v * R::kLanes), even[v]);
      }
      R::Store(s.largest + v * R::kLanes, R::Max(odd[v], even[v]));
    }
    bool has_infinity = false;
    for (int64_t i = 0; i < kLanes; ++i) has_infinity |= s.largest[i] == kInfinity<C>;
    if (has_infinity) FindNan(s, before);
  }

  /// Replaces scores by probabilities, relative to that of the maximum; sets the factors by which
  /// earlier ones become smaller.
  static PDL_INLINE void Exponentiate(const PanelStep<C>& s, C* factors) {
    const V scale = R::Set(s.mask_is_added ? C(1) : s.scale);
    const V zero = R::Set(C(0));
    V base[kVectors], sums[kVectors], more[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const V largest = R::Load(s.largest + v * R::kLanes);
      // If no key has been attended to, all probabilities are 2^(-inf - 0).
      const V none = R::Set(std::numeric_limits<C>::lowest());
      base[v] = R::IfLess(largest, none, zero, largest);
      sums[v] = more[v] = zero;
    }
    // The difference comes first: that of products of large scores may exceed any power.
    const auto power = [&](const C* scores, int v) {
      const V difference = R::Sub(R::Load(scores + v * R::kLanes), base[v]);
      return simd::Exp2<R>(R::Mul(difference, scale));
    };
    for (int v = 0; v < kVectors && !s.is_first; ++v)
      R::Store(factors + v * R::kLanes, power(factors, v));
    for (int64_t j = 0; j < s.num_keys; ++j) {
      C* at = s.scores + j * kLanes;
      for (int v = 0; v < kVectors; ++v) {
        const V p = power(at, v);
        R::Store(at + v * R::kLanes, p);
        sums[v] = R::Add(sums[v], p);
      }
      if (j % 16 != 15) continue;
      for (int v = 0; v < kVectors; ++v) {
        more[v] = R::Add(more[v], sums[v]);
        sums[v] = zero;
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      C* total = s.total + v * R::kLanes;
      V sum = R::Add(more[v], sums[v]);
      if (!s.is_first) sum = R::MulAdd(R::Load(total), R::Load(factors + v * R::kLanes), sum);
      R::Store(total, sum);
    }
  }

  static PDL_INLINE void Step(const PanelStep<C>& s) {
    simd::RunThinGemm<R, kVectors, false>(
        {s.num_keys, s.depth, s.keys, s.depth, s.queries, kLanes, s.scores, kLanes, nullptr});
    if (s.mask != nullptr) ApplyAnyMask(s);
    if (s.last_key + 1 < s.num_keys) ApplyCausality(s);
    // The maxima so far; then the factors.
    C factors[kLanes];
    if (!s.is_first) std::copy_n(s.largest, kLanes, factors);
    UpdateLargest(s, factors);
    Exponentiate(s, factors);
    // Sums of more than 64 terms would be less accurate.
    constexpr int64_t kTerms = kMultipliesPairs<R> ? 32 : 64;
    int64_t words = s.num_keys;
    if constexpr (kMultipliesPairs<R>) {
      PairRowsLoop<R>::Run(s.scores, s.num_keys, kLanes, s.scores);
      words = WordsOf(WordKind::kBf16Pairs, s.num_keys);
    }
    for (int64_t k = 0; k < words; k += kTerms) {
      simd::RunThinGemm<R, kVectors, true>({s.width, std::min(kTerms, words - k),
                                            s.values + k * s.width, s.width, s.scores + k * kLanes,
                                            kLanes, s.sums, kLanes,
                                            s.is_first || k > 0 ? nullptr : factors, k > 0});
    }
  }
};

template <class R>
struct StepLoop {
  static PDL_INLINE void Run(const PanelStep<typename R::Scalar>& s) {
    if (s.lanes == R::kLanes) {
      Panel<R, 1>::Step(s);
    } else {
      Panel<R, 2>::Step(s);
    }
  }
};

template <class R>
struct LanesLoop {
  static PDL_INLINE int64_t Run() {
    static_assert(2 * R::kLanes <= kMostLanes);
    return 2 * R::kLanes;
  }
};

}  // namespace

template <class C>
PanelLoops<C> ChoosePanelLoops() {
  return {ChooseRegister<C, LanesLoop>()(), ChooseRegister<C, StepLoop>(),
          ChooseRegister<C, TurnLoop>(), ChooseRegister<C, FinishLoop>()};
}

template PanelLoops<float> ChoosePanelLoops();
template PanelLoops<double> ChoosePanelLoops();

PanelLoops<float> ChooseBf16PanelLoops() {
  return {ChooseBf16Register<LanesLoop>()(), ChooseBf16Register<StepLoop>(),
          ChooseBf16Register<TurnLoop>(), ChooseBf16Register<FinishLoop>(),
          ChooseBf16Register<PairRowsLoop>()};
}

}  // namespace pdl::attention
