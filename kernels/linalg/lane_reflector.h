// Householder reflections of blocks of small matrices: 1 - tau v v^T, with v[0] = 1.
#ifndef PDL_KERNELS_LINALG_LANE_REFLECTOR_H_
#define PDL_KERNELS_LINALG_LANE_REFLECTOR_H_

#include <cmath>
#include <limits>

#include "kernels/linalg/lanes.h"

namespace pdl::linalg {

/// Replaces the n numbers x by their reflection, of which only x[0] is not 0, followed by the
/// other elements of v. A tail whose squares underflow is taken for 0.
template <class T>
PDL_INLINE void MakeReflector(Lanes<T>* x, int n, Lanes<T>* tau) {
  Lanes<T> sum = {}, factor;
  for (int i = 1; i < n; ++i) {
    ForLanes<T>([&](int l) { sum.v[l] += x[i].v[l] * x[i].v[l]; });
  }
  ForLanes<T>([&](int l) {
    const T first = x[0].v[l];
    const bool reflects = sum.v[l] >= std::numeric_limits<T>::min();
    const T norm = std::sqrt(first * first + sum.v[l]);
    const T image = reflects ? (first < 0 ? norm : -norm) : first;
    const T divisor = reflects ? image : T(1);
    const T difference = reflects ? first - image : T(1);
    factor.v[l] = (reflects ? T(1) : T(0)) / difference;
    tau->v[l] = reflects ? -difference / divisor : T(0);
    x[0].v[l] = image;
  });
  for (int i = 1; i < n; ++i) {
    ForLanes<T>([&](int l) { x[i].v[l] *= factor.v[l]; });
  }
}

/// Reflects kCount vectors of n elements, `stride` apart.
template <int kCount, class T>
PDL_INLINE void ReflectSome(const Lanes<T>* v, const Lanes<T>& tau, int n, Lanes<T>* x,
                            int stride) {
  Lanes<T> sums[kCount];
  for (int c = 0; c < kCount; ++c) sums[c] = x[c * stride];
  for (int i = 1; i < n; ++i) {
    for (int c = 0; c < kCount; ++c) {
      const Lanes<T>& element = x[c * stride + i];
      ForLanes<T>([&](int l) { sums[c].v[l] += v[i].v[l] * element.v[l]; });
    }
  }
  for (int c = 0; c < kCount; ++c) {
    ForLanes<T>([&](int l) {
      sums[c].v[l] *= tau.v[l];
      x[c * stride].v[l] -= sums[c].v[l];
    });
  }
  for (int i = 1; i < n; ++i) {
    for (int c = 0; c < kCount; ++c) {
      Lanes<T>& element = x[c * stride + i];
      ForLanes<T>([&](int l) { element.v[l] -= sums[c].v[l] * v[i].v[l]; });
    }
  }
}

/// Reflects `count` vectors of n elements, `stride` apart.
template <class T>
PDL_INLINE void Reflect(const Lanes<T>* v, const Lanes<T>& tau, int n, Lanes<T>* x, int stride,
                        int count) {
  constexpr int kAtOnce = 4;
  int j = 0;
  for (; j + kAtOnce <= count; j += kAtOnce) {
    ReflectSome<kAtOnce>(v, tau, n, x + j * stride, stride);
  }
  for (; j < count; ++j) ReflectSome<1>(v, tau, n, x + j * stride, stride);
}

/// Decomposes column-major x, rows by columns: afterwards its upper triangle is that of r, and the
/// other elements are those of the reflectors.
template <class T>
PDL_INLINE void FactorQr(Lanes<T>* x, int rows, int columns, Lanes<T>* taus) {
  const int count = rows < columns ? rows : columns;
  for (int k = 0; k < count; ++k) {
    Lanes<T>* pivot = x + k * rows + k;
    MakeReflector(pivot, rows - k, taus + k);
    Reflect(pivot, taus[k], rows - k, pivot + rows, rows, columns - k - 1);
  }
}

/// The first `columns` columns of the product of `count` reflections, column-major with n rows.
/// The vector of reflection k begins at v + k * (n_v + 1), and the reflection at row `first` + k.
template <class T>
PDL_INLINE void FormBasis(const Lanes<T>* v, int n_v, const Lanes<T>* taus, int count, int first,
                          Lanes<T>* q, int n, int columns) {
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < n; ++i) {
      const T value = i == j ? T(1) : T(0);
      ForLanes<T>([&](int l) { q[j * n + i].v[l] = value; });
    }
  }
  for (int k = count; k-- > 0;) {
    const int row = first + k;
    // Columns before `row` are still those of the identity, whose elements from `row` on are 0.
    if (row < columns) {
      Reflect(v + k * (n_v + 1), taus[k], n - row, q + row * n + row, n, columns - row);
    }
  }
}

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANE_REFLECTOR_H_
