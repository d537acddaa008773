#include "kernels/linalg/lane_svd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/lane_reflector.h"

namespace pdl::linalg {
namespace {

template <class T>
struct JacobiLoop {
  static constexpr T kEpsilon = std::numeric_limits<T>::epsilon();

  static PDL_INLINE void Dot(const Lanes<T>* p, const Lanes<T>* q, int n, Lanes<T>* result) {
    Lanes<T> even = {}, odd = {};
    int i = 0;
    for (; i + 2 <= n; i += 2) {
      ForLanes<T>([&](int l) {
        even.v[l] += p[i].v[l] * q[i].v[l];
        odd.v[l] += p[i + 1].v[l] * q[i + 1].v[l];
      });
    }
    if (i < n) {
      ForLanes<T>([&](int l) { even.v[l] += p[i].v[l] * q[i].v[l]; });
    }
    ForLanes<T>([&](int l) { result->v[l] = even.v[l] + odd.v[l]; });
  }

  static PDL_INLINE void Rotate(Lanes<T>* p, Lanes<T>* q, int n, const Lanes<T>& c,
                                const Lanes<T>& s) {
    for (int i = 0; i < n; ++i) {
      ForLanes<T>([&](int l) {
        const T a = p[i].v[l], b = q[i].v[l];
        p[i].v[l] = c.v[l] * a - s.v[l] * b;
        q[i].v[l] = s.v[l] * a + c.v[l] * b;
      });
    }
  }

  // The rotation that makes columns with these squared norms and this dot product orthogonal; the
  // identity if they are nearly so. Updates the norms.
  static PDL_INLINE bool FindRotation(T limit, const Lanes<T>& dot, Lanes<T>* p, Lanes<T>* q,
                                      Lanes<T>* c, Lanes<T>* s) {
    LaneIndex<T> rotated;
    ForLanes<T>([&](int l) {
      const T x = p->v[l], y = q->v[l], product = dot.v[l];
      const bool rotates = Abs(product) > limit * (std::sqrt(x) * std::sqrt(y));
      const T difference = y - x;
      const T cotangent = difference / (2 * (rotates ? product : T(1)));
      // Where its square is much larger than 1, it may overflow.
      const bool is_far = Abs(cotangent) > 1 / kEpsilon;
      const T near = is_far ? T(1) : cotangent;
      const T root = std::sqrt(1 + near * near);
      const T close = 1 / (near < 0 ? near - root : near + root);
      const T tangent = rotates ? (is_far ? product / difference : close) : T(0);
      const T cosine = 1 / std::sqrt(1 + tangent * tangent);
      c->v[l] = cosine;
      s->v[l] = cosine * tangent;
      p->v[l] = rotates ? std::max(x - tangent * product, T(0)) : x;
      q->v[l] = rotates ? std::max(y + tangent * product, T(0)) : y;
      rotated.v[l] = rotates ? 1 : 0;
    });
    return AnyLane<T>([&](int l) { return rotated.v[l] != 0; });
  }

  // Rotates the columns of x until they are orthogonal, and those of v, which are the identity
  // before. x has n columns of m elements.
  static PDL_INLINE void Run(Lanes<T>* x, int m, int n, Lanes<T>* v, Lanes<T>* squares) {
    constexpr int kMaxSweeps = 30;
    const T limit = kEpsilon * std::sqrt(static_cast<T>(m));
    FormBasis<T>(nullptr, 0, nullptr, 0, 0, v, n, n);
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < kMaxSweeps; ++sweep) {
      rotated = false;
      for (int j = 0; j < n; ++j) Dot(x + j * m, x + j * m, m, squares + j);
      for (int p = 0; p + 1 < n; ++p) {
        for (int q = p + 1; q < n; ++q) {
          Lanes<T> dot, c, s;
          Dot(x + p * m, x + q * m, m, &dot);
          if (!FindRotation(limit, dot, squares + p, squares + q, &c, &s)) continue;
          rotated = true;
          Rotate(x + p * m, x + q * m, m, c, s);
          Rotate(v + p * n, v + q * n, n, c, s);
        }
      }
    }
    for (int j = 0; j < n; ++j) {
      Dot(x + j * m, x + j * m, m, squares + j);
      ForLanes<T>([&](int l) { squares[j].v[l] = std::sqrt(squares[j].v[l]); });
    }
  }
};

// An orthonormal basis whose first vectors are the directions of the n columns of x, which are
// orthogonal and in the order of their norms: that of a QR decomposition, which exists for columns
// of 0, too. `determinant` is multiplied by that of a square basis.
template <class T>
struct NormalizeLoop {
  static PDL_INLINE void Run(Lanes<T>* x, int m, int n, Lanes<T>* taus, Lanes<T>* q, int columns,
                             Lanes<T>* determinant) {
    FactorQr(x, m, n, taus);
    FormBasis(x, m, taus, n, 0, q, m, columns);
    for (int j = 0; j < n; ++j) {
      Lanes<T> sign;
      ForLanes<T>([&](int l) {
        sign.v[l] = x[j * m + j].v[l] < 0 ? T(-1) : T(1);
        const T reflection = taus[j].v[l] == 0 ? T(1) : T(-1);
        determinant->v[l] *= sign.v[l] * reflection;
      });
      for (int i = 0; i < m; ++i) {
        ForLanes<T>([&](int l) { q[j * m + i].v[l] *= sign.v[l]; });
      }
    }
  }
};

// The determinant of a permutation.
template <class T>
void PermutationSign(const LaneIndex<T>* order, int n, Lanes<T>* sign) {
  for (int l = 0; l < kLanes<T>; ++l) {
    int inversions = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) inversions += order[j].v[l] > order[i].v[l] ? 1 : 0;
    }
    sign->v[l] = inversions % 2 == 0 ? T(1) : T(-1);
  }
}

}  // namespace

template <class T>
LaneSvd<T>::LaneSvd(int rows, int columns, bool full)
    : is_wide_(rows < columns),
      full_(full),
      long_(std::max(rows, columns)),
      short_(std::min(rows, columns)),
      x_(AllocateLanes<T>(long_ * short_)),
      sorted_(AllocateLanes<T>(long_ * short_)),
      long_basis_(AllocateLanes<T>(long_ * (full ? long_ : short_))),
      rotations_(AllocateLanes<T>(short_ * short_)),
      short_basis_(AllocateLanes<T>(short_ * short_)),
      s_(AllocateLanes<T>(short_)),
      taus_(AllocateLanes<T>(short_)),
      order_(std::make_unique_for_overwrite<LaneIndex<T>[]>(static_cast<size_t>(short_))) {}

template <class T>
void LaneSvd<T>::Factor() {
  static const auto rotate = ChooseIsa<JacobiLoop<T>>();
  static const auto normalize = ChooseIsa<NormalizeLoop<T>>();
  LaneScale<T> back;
  ScaleLanes(x_.get(), long_ * short_, &back);
  rotate(x_.get(), long_, short_, rotations_.get(), s_.get());
  SortLanes(s_.get(), short_, /*descending=*/true, order_.get());
  PermuteLanes(x_.get(), order_.get(), short_, long_, sorted_.get());
  PermuteLanes(rotations_.get(), order_.get(), short_, short_, short_basis_.get());
  PermutationSign(order_.get(), short_, &orientation_);
  normalize(sorted_.get(), long_, short_, taus_.get(), long_basis_.get(), full_ ? long_ : short_,
            &orientation_);
  Lanes<T>* const of_u = is_wide_ ? short_basis_.get() : long_basis_.get();
  Lanes<T>* const of_v = is_wide_ ? long_basis_.get() : short_basis_.get();
  OrientLanes(short_, of_u, is_wide_ ? short_ : long_, of_v, is_wide_ ? long_ : short_);
  MultiplyLanes(back, s_.get(), short_);
}

template class LaneSvd<float>;
template class LaneSvd<double>;

}  // namespace pdl::linalg
