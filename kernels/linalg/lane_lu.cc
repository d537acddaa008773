#include "kernels/linalg/lane_lu.h"

#include <cmath>

namespace pdl::linalg {
namespace {

template <class T>
LaneSet SetOf(const LaneIndex<T>& flags) {
  LaneSet set = 0;
  for (int l = 0; l < kLanes<T>; ++l) set |= static_cast<LaneSet>(flags.v[l] != 0) << l;
  return set;
}

// Exchanges row k with row pivots[k] of each lane, in columns [0, columns) of x.
template <class T>
PDL_INLINE void ExchangeRows(const LaneView<T>& x, int k, const LaneIndex<T>& pivot) {
  for (int i = k + 1; i < x.rows; ++i) {
    if (!AnyLane<T>([&](int l) { return pivot.v[l] == i; })) continue;
    for (int j = 0; j < x.columns; ++j) {
      Lanes<T>& upper = x(k, j);
      Lanes<T>& lower = x(i, j);
      ForLanes<T>([&](int l) {
        const T a = upper.v[l], b = lower.v[l];
        const bool exchange = pivot.v[l] == i;
        upper.v[l] = exchange ? b : a;
        lower.v[l] = exchange ? a : b;
      });
    }
  }
}

template <class T>
struct LuLoop {
  // The row of the largest absolute value in column k, at or below the diagonal.
  static PDL_INLINE void FindPivot(Lanes<T>* a, int n, int k, LaneIndex<T>* pivot) {
    Lanes<T> largest;
    LaneIndex<T> index;
    ForLanes<T>([&](int l) {
      largest.v[l] = Abs(a[k * n + k].v[l]);
      index.v[l] = k;
    });
    for (int i = k + 1; i < n; ++i) {
      const Lanes<T>& x = a[i * n + k];
      ForLanes<T>([&](int l) {
        const T value = Abs(x.v[l]);
        const bool larger = value > largest.v[l];
        largest.v[l] = larger ? value : largest.v[l];
        index.v[l] = larger ? LaneInt<T>(i) : index.v[l];
      });
    }
    *pivot = index;
  }

  static PDL_INLINE LaneSet Run(Lanes<T>* a, int n, LaneIndex<T>* pivots) {
    LaneIndex<T> singular = {};
    for (int k = 0; k < n; ++k) {
      FindPivot(a, n, k, pivots + k);
      ExchangeRows(RowMajor(a, n, n), k, pivots[k]);
      const Lanes<T>* top = a + k * n;
      Lanes<T> divisor;
      ForLanes<T>([&](int l) {
        const T pivot = top[k].v[l];
        singular.v[l] |= pivot == 0 ? 1 : 0;
        divisor.v[l] = pivot == 0 ? T(1) : pivot;  // the column is 0
      });
      for (int i = k + 1; i < n; ++i) {
        Lanes<T>* row = a + i * n;
        Lanes<T> factor;
        ForLanes<T>([&](int l) {
          factor.v[l] = row[k].v[l] / divisor.v[l];
          row[k].v[l] = factor.v[l];
        });
        for (int j = k + 1; j < n; ++j) {
          ForLanes<T>([&](int l) { row[j].v[l] -= factor.v[l] * top[j].v[l]; });
        }
      }
    }
    return SetOf<T>(singular);
  }
};

// Subtracts the products of elements [begin, end) of row i of a with those rows of x from row i of
// x, in kColumns columns from j on.
template <int kColumns, class T>
PDL_INLINE void SubtractRows(const Lanes<T>* a, int n, const LaneView<T>& x, int i, int j,
                             int begin, int end, Lanes<T>* sums) {
  for (int c = 0; c < kColumns; ++c) sums[c] = x(i, j + c);
  for (int k = begin; k < end; ++k) {
    const Lanes<T>& factor = a[i * n + k];
    for (int c = 0; c < kColumns; ++c) {
      const Lanes<T>& y = x(k, j + c);
      ForLanes<T>([&](int l) { sums[c].v[l] -= factor.v[l] * y.v[l]; });
    }
  }
}

// Substitution in kColumns columns of x from j on, whose rows before `begin` are 0.
template <int kColumns, class T>
PDL_INLINE void Substitute(const Lanes<T>* a, int n, const LaneView<T>& x, int j, int begin) {
  Lanes<T> sums[kColumns];
  for (int i = begin + 1; i < n; ++i) {
    SubtractRows<kColumns>(a, n, x, i, j, begin, i, sums);
    for (int c = 0; c < kColumns; ++c) x(i, j + c) = sums[c];
  }
  for (int i = n; i-- > 0;) {
    SubtractRows<kColumns>(a, n, x, i, j, i + 1, n, sums);
    const Lanes<T>& pivot = a[i * n + i];
    for (int c = 0; c < kColumns; ++c) {
      Lanes<T>& y = x(i, j + c);
      ForLanes<T>([&](int l) { y.v[l] = sums[c].v[l] / pivot.v[l]; });
    }
  }
}

// Substitution in all columns of x. If it is triangular, rows before the diagonal are 0.
template <class T>
PDL_INLINE void SubstituteAll(const Lanes<T>* a, int n, const LaneView<T>& x, bool triangular) {
  int j = 0;
  for (; j + 4 <= x.columns; j += 4) Substitute<4>(a, n, x, j, triangular ? j : 0);
  for (; j < x.columns; ++j) Substitute<1>(a, n, x, j, triangular ? j : 0);
}

template <class T>
struct SolveLoop {
  static PDL_INLINE void Run(const Lanes<T>* a, int n, const LaneIndex<T>* pivots,
                             const LaneView<T>& x) {
    for (int k = 0; k < n; ++k) ExchangeRows(x, k, pivots[k]);
    SubstituteAll(a, n, x, /*triangular=*/false);
  }
};

template <class T>
struct InvertLoop {
  static PDL_INLINE void Run(const Lanes<T>* a, int n, const LaneIndex<T>* pivots,
                             const LaneView<T>& y) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const T value = i == j ? T(1) : T(0);
        Lanes<T>& element = y(i, j);
        ForLanes<T>([&](int l) { element.v[l] = value; });
      }
    }
    SubstituteAll(a, n, y, /*triangular=*/true);
    // The inverse of p a is that of a, with its columns exchanged.
    for (int k = n; k-- > 0;) ExchangeRows(Transposed(y), k, pivots[k]);
  }
};

template <class T>
struct DeterminantLoop {
  static PDL_INLINE void Run(const Lanes<T>* a, int n, const LaneIndex<T>* pivots,
                             double* mantissas, int64_t* exponents) {
    constexpr int64_t kMantissaBits = (int64_t{1} << 52) - 1, kOne = int64_t{1023} << 52;
    for (int l = 0; l < kLanes<T>; ++l) {
      mantissas[l] = 1;
      exponents[l] = 0;
    }
    for (int k = 0; k < n; ++k) {
      const LaneIndex<T>& index = pivots[k];
      const Lanes<T>& pivot = a[k * n + k];
      ForLanes<T>([&](int l) {
        const double value = static_cast<double>(pivot.v[l]);
        const double magnitude = std::fabs(value);
        // Denormals are multiplied by a power of 2 first, so that their bits have an exponent.
        const bool denormal = magnitude < 0x1p-1022;
        const double normal = denormal ? magnitude * 0x1p60 : magnitude;
        const int64_t bits = __builtin_bit_cast(int64_t, normal);
        const int64_t exponent = (bits >> 52) - 1023 - (denormal ? 60 : 0);
        const double fraction = __builtin_bit_cast(double, (bits & kMantissaBits) | kOne);
        const bool negative = (value < 0) != (index.v[l] != k);
        double product = mantissas[l] * (negative ? -fraction : fraction);
        // Below 2, so that the next product is below 4.
        const bool large = std::fabs(product) >= 0x1.6a09e667f3bcdp+0;
        product = large ? product * 0.5 : product;
        mantissas[l] = value == 0 ? 0.0 : product;
        exponents[l] += exponent + (large ? 1 : 0);
      });
    }
  }
};

template <class T>
struct CholeskyLoop {
  // Elements of column j in kRows rows from i on, without the division by the diagonal.
  template <int kRows>
  static PDL_INLINE void Reduce(Lanes<T>* a, int n, int i, int j) {
    Lanes<T> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = a[(i + r) * n + j];
    for (int k = 0; k < j; ++k) {
      const Lanes<T>& factor = a[j * n + k];
      for (int r = 0; r < kRows; ++r) {
        const Lanes<T>& x = a[(i + r) * n + k];
        ForLanes<T>([&](int l) { sums[r].v[l] -= x.v[l] * factor.v[l]; });
      }
    }
    for (int r = 0; r < kRows; ++r) a[(i + r) * n + j] = sums[r];
  }

  static PDL_INLINE LaneSet Run(const LaneView<T>& x) {
    const int n = x.rows;
    Lanes<T>* const a = x.data;
    LaneIndex<T> failed = {};
    for (int j = 0; j < n; ++j) {
      int i = j;
      for (; i + 4 <= n; i += 4) Reduce<4>(a, n, i, j);
      for (; i < n; ++i) Reduce<1>(a, n, i, j);
      Lanes<T> inverse;
      ForLanes<T>([&](int l) {
        const T square = a[j * n + j].v[l];
        failed.v[l] |= square > 0 ? 0 : 1;
        const T root = std::sqrt(square > 0 ? square : T(1));
        inverse.v[l] = 1 / root;
        a[j * n + j].v[l] = root;
      });
      for (int k = j + 1; k < n; ++k) {
        ForLanes<T>([&](int l) { a[k * n + j].v[l] *= inverse.v[l]; });
      }
      for (int k = 0; k < j; ++k) a[k * n + j] = Lanes<T>{};
    }
    return SetOf<T>(failed);
  }
};

}  // namespace

template <class T>
LaneLu<T>::LaneLu(int n)
    : n_(n),
      factors_(AllocateLanes<T>(n * n)),
      pivots_(std::make_unique_for_overwrite<LaneIndex<T>[]>(static_cast<size_t>(n))) {}

template <class T>
LaneSet LaneLu<T>::Factor() {
  static const auto run = ChooseIsa<LuLoop<T>>();
  return run(factors_.get(), n_, pivots_.get());
}

template <class T>
void LaneLu<T>::Solve(const LaneView<T>& b) const {
  static const auto run = ChooseIsa<SolveLoop<T>>();
  run(factors_.get(), n_, pivots_.get(), b);
}

template <class T>
void LaneLu<T>::Invert(const LaneView<T>& y) const {
  static const auto run = ChooseIsa<InvertLoop<T>>();
  run(factors_.get(), n_, pivots_.get(), y);
}

template <class T>
void LaneLu<T>::Determinants(double* mantissa, int64_t* exponent) const {
  static const auto run = ChooseIsa<DeterminantLoop<T>>();
  run(factors_.get(), n_, pivots_.get(), mantissa, exponent);
}

template <class T>
LaneSet FactorCholesky(const LaneView<T>& x) {
  static const auto run = ChooseIsa<CholeskyLoop<T>>();
  return run(x);
}

template class LaneLu<float>;
template class LaneLu<double>;
template LaneSet FactorCholesky<float>(const LaneView<float>&);
template LaneSet FactorCholesky<double>(const LaneView<double>&);

}  // namespace pdl::linalg
