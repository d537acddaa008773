#include "kernels/linalg/lane_eigh.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/lane_reflector.h"

namespace pdl::linalg {
namespace {

// Tridiagonal matrices: their diagonals, the elements next to them, and a basis, column-major.
// e[-1] and e[n - 1] are not elements, but are accessed.
template <class T>
struct Tridiagonal {
  int n;
  Lanes<T>* d;
  Lanes<T>* e;
  Lanes<T>* q;
};

// x, symmetric with a lower triangle in rows of n, is Q t Q^T.
template <class T>
struct TridiagonalizeLoop {
  // w = tau (x v - (tau v^T x v / 2) v), for the last m rows and columns.
  static PDL_INLINE void MultiplyTrailing(const Lanes<T>* x, int n, int m, const Lanes<T>* v,
                                          const Lanes<T>& tau, Lanes<T>* w) {
    for (int i = 0; i < m; ++i) {
      const Lanes<T>* row = x + i * n;
      const Lanes<T> factor = v[i];
      Lanes<T> sum = {};
      for (int j = 0; j < i; ++j) {
        ForLanes<T>([&](int l) {
          sum.v[l] += row[j].v[l] * v[j].v[l];
          w[j].v[l] += row[j].v[l] * factor.v[l];
        });
      }
      ForLanes<T>([&](int l) { w[i].v[l] = sum.v[l] + row[i].v[l] * factor.v[l]; });
    }
    Lanes<T> product = {};
    for (int i = 0; i < m; ++i) {
      ForLanes<T>([&](int l) {
        w[i].v[l] *= tau.v[l];
        product.v[l] += w[i].v[l] * v[i].v[l];
      });
    }
    ForLanes<T>([&](int l) { product.v[l] *= tau.v[l] / 2; });
    for (int i = 0; i < m; ++i) {
      ForLanes<T>([&](int l) { w[i].v[l] -= product.v[l] * v[i].v[l]; });
    }
  }

  // The vectors of the reflectors are in rows of x, above its diagonal.
  static PDL_INLINE void Run(Lanes<T>* x, const Tridiagonal<T>& t, Lanes<T>* work) {
    const int n = t.n;
    Lanes<T>* const taus = work;
    Lanes<T>* const w = work + n;
    for (int k = 0; k + 1 < n; ++k) {
      const int m = n - k - 1;
      Lanes<T>* v = x + k * n + k + 1;
      for (int i = 0; i < m; ++i) v[i] = x[(k + 1 + i) * n + k];
      MakeReflector(v, m, taus + k);
      t.d[k] = x[k * n + k];
      t.e[k] = v[0];
      ForLanes<T>([&](int l) { v[0].v[l] = 1; });
      Lanes<T>* rest = x + (k + 1) * n + k + 1;
      MultiplyTrailing(rest, n, m, v, taus[k], w);
      for (int i = 0; i < m; ++i) {
        Lanes<T>* row = rest + i * n;
        const Lanes<T> vi = v[i], wi = w[i];
        for (int j = 0; j <= i; ++j) {
          ForLanes<T>([&](int l) { row[j].v[l] -= vi.v[l] * w[j].v[l] + wi.v[l] * v[j].v[l]; });
        }
      }
    }
    t.d[n - 1] = x[n * n - 1];
    t.e[-1] = t.e[n - 1] = Lanes<T>{};
    FormBasis(x + 1, n, taus, n - 1, 1, t.q, n, n);
  }
};

// QR iterations with implicit shifts: the last element next to the diagonal becomes 0, then the one
// before it, and so on (Golub and Van Loan, "Matrix Computations", 8.3). All lanes have the same
// last row; where the unreduced part begins differs. A rotation of a lane that has converged, or
// whose part begins later, is the identity.
template <class T>
struct IterateLoop {
  static constexpr T kEpsilon = std::numeric_limits<T>::epsilon();

  // Makes negligible elements before row `last` 0. Sets begin to the row where the part that ends
  // at `last` begins, and returns the first one of all lanes.
  static PDL_INLINE int FindParts(const Tridiagonal<T>& t, int last, LaneIndex<T>* begin) {
    // Elements that are this small relative to the norm of a scaled matrix may underflow later.
    constexpr T kTiny = std::numeric_limits<T>::min() / (kEpsilon * kEpsilon);
    const T tiny = std::sqrt(kTiny);
    LaneIndex<T> found = {};
    for (int k = 0; k < last; ++k) {
      ForLanes<T>([&](int l) {
        const T e = Abs(t.e[k].v[l]);
        const T limit = kEpsilon * (Abs(t.d[k].v[l]) + Abs(t.d[k + 1].v[l]));
        const bool negligible = e <= limit || e <= tiny;
        t.e[k].v[l] = negligible ? T(0) : t.e[k].v[l];
        found.v[l] = negligible ? LaneInt<T>(k + 1) : found.v[l];
      });
    }
    *begin = found;
    int first = last;
    for (int l = 0; l < kLanes<T>; ++l) first = std::min(first, static_cast<int>(found.v[l]));
    return first;
  }

  // The eigenvalue of the last two rows that is closer to the last element.
  static PDL_INLINE void Shift(const Tridiagonal<T>& t, int last, Lanes<T>* shift) {
    ForLanes<T>([&](int l) {
      const T a = t.d[last - 1].v[l], b = t.d[last].v[l], e = t.e[last - 1].v[l];
      const T half = (a - b) / 2;
      const T root = std::sqrt(half * half + e * e);
      const T sum = half < 0 ? half - root : half + root;
      const T divisor = e == 0 ? T(1) : sum;
      shift->v[l] = b - e * (e / divisor);
    });
  }

  static PDL_INLINE void Rotate(Lanes<T>* p, Lanes<T>* q, int n, const Lanes<T>& c,
                                const Lanes<T>& s) {
    for (int i = 0; i < n; ++i) {
      ForLanes<T>([&](int l) {
        const T a = p[i].v[l], b = q[i].v[l];
        p[i].v[l] = c.v[l] * a + s.v[l] * b;
        q[i].v[l] = c.v[l] * b - s.v[l] * a;
      });
    }
  }

  static PDL_INLINE void Step(const Tridiagonal<T>& t, int first, int last,
                              const LaneIndex<T>& begin) {
    Lanes<T> shift, x = {}, z = {};
    Shift(t, last, &shift);
    for (int k = first; k < last; ++k) {
      Lanes<T> c, s;
      Lanes<T>& before = t.e[k - 1];
      Lanes<T>& after = t.e[k + 1];
      ForLanes<T>([&](int l) {
        const T d0 = t.d[k].v[l], d1 = t.d[k + 1].v[l], e = t.e[k].v[l];
        const bool active = k >= begin.v[l];
        const bool starts = k == begin.v[l];
        const T a = starts ? d0 - shift.v[l] : x.v[l];
        const T b = starts ? e : z.v[l];
        const T square = a * a + b * b;
        const bool rotates = active && square >= std::numeric_limits<T>::min();
        const T r = std::sqrt(rotates ? square : T(1));
        const T cosine = rotates ? a / r : T(1);
        const T sine = rotates ? b / r : T(0);
        c.v[l] = cosine;
        s.v[l] = sine;
        const T old = before.v[l], bulge = after.v[l];
        before.v[l] = rotates && !starts ? r : old;
        const T upper = cosine * d0 + sine * e, upper_e = cosine * e + sine * d1;
        const T lower_e = cosine * e - sine * d0, lower = cosine * d1 - sine * e;
        t.d[k].v[l] = rotates ? cosine * upper + sine * upper_e : d0;
        t.d[k + 1].v[l] = rotates ? cosine * lower - sine * lower_e : d1;
        const T next = rotates ? cosine * upper_e - sine * upper : e;
        t.e[k].v[l] = next;
        x.v[l] = next;
        z.v[l] = sine * bulge;
        after.v[l] = cosine * bulge;
      });
      Rotate(t.q + k * t.n, t.q + (k + 1) * t.n, t.n, c, s);
    }
  }

  static PDL_INLINE LaneSet Run(const Tridiagonal<T>& t) {
    constexpr int kMaxSteps = 40;
    LaneSet failed = 0;
    for (int last = t.n - 1; last > 0; --last) {
      LaneIndex<T> begin;
      int steps = 0;
      for (; steps < kMaxSteps; ++steps) {
        const int first = FindParts(t, last, &begin);
        if (first == last) break;
        Step(t, first, last, begin);
      }
      if (steps < kMaxSteps) continue;
      for (int l = 0; l < kLanes<T>; ++l) failed |= LaneSet(begin.v[l] < last) << l;
    }
    return failed;
  }
};

}  // namespace

template <class T>
LaneEigh<T>::LaneEigh(int n)
    : n_(n),
      x_(AllocateLanes<T>(n * n)),
      q_(AllocateLanes<T>(n * n)),
      w_(AllocateLanes<T>(n)),
      off_(AllocateLanes<T>(n + 1)),
      work_(AllocateLanes<T>(2 * n)),
      order_(std::make_unique_for_overwrite<LaneIndex<T>[]>(static_cast<size_t>(n))) {}

template <class T>
LaneSet LaneEigh<T>::Factor() {
  static const auto tridiagonalize = ChooseIsa<TridiagonalizeLoop<T>>();
  static const auto iterate = ChooseIsa<IterateLoop<T>>();
  LaneScale<T> back;
  ScaleLanes(x_.get(), n_ * n_, &back);
  const Tridiagonal<T> t = {n_, w_.get(), off_.get() + 1, q_.get()};
  tridiagonalize(x_.get(), t, work_.get());
  const LaneSet failed = iterate(t);
  SortLanes(w_.get(), n_, /*descending=*/false, order_.get());
  PermuteLanes(q_.get(), order_.get(), n_, n_, x_.get());
  OrientLanes<T>(n_, x_.get(), n_, nullptr, 0);
  MultiplyLanes(back, w_.get(), n_);
  return failed;
}

template class LaneEigh<float>;
template class LaneEigh<double>;

}  // namespace pdl::linalg
