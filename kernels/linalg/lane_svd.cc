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
    constexpr T kTiny = std::numeric_limits<T>::min();
    LaneIndex<T> rotated;
    ForLanes<T>([&](int l) {
      const T x = p->v[l], y = q->v[l], product = dot.v[l];
      const T square = product * product;
      const bool rotates = square > limit * (x * y) && square >= kTiny;
      const T difference = y - x;
      const T root = std::sqrt(difference * difference + 4 * square);
      const T divisor = difference < 0 ? difference - root : difference + root;
      const T tangent = rotates ? 2 * product / (rotates ? divisor : T(1)) : T(0);
      const T cosine = 1 / std::sqrt(1 + tangent * tangent);
      c->v[l] = cosine;
      s->v[l] = cosine * tangent;
      const T change = tangent * product;
      p->v[l] = x - change > 0 ? x - change : T(0);
      q->v[l] = y + change > 0 ? y + change : T(0);
      rotated.v[l] = rotates ? 1 : 0;
    });
    return AnyLane<T>([&](int l) { return rotated.v[l] != 0; });
  }

  // Rotates the columns of x until they are orthogonal, and those of v. x has n columns of m
  // elements. `squares` becomes the norms.
  static PDL_INLINE void Run(Lanes<T>* x, int m, int n, Lanes<T>* v, Lanes<T>* squares) {
    constexpr int kMaxSweeps = 30;
    const T limit = kEpsilon * kEpsilon * static_cast<T>(m);
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
// of 0, too.
template <class T>
struct NormalizeLoop {
  static PDL_INLINE void Run(Lanes<T>* x, int m, int n, Lanes<T>* taus, Lanes<T>* q, int columns) {
    FactorQr(x, m, n, taus);
    FormBasis(x, m, taus, n, 0, q, m, columns);
    for (int j = 0; j < n; ++j) {
      Lanes<T> sign;
      ForLanes<T>([&](int l) { sign.v[l] = x[j * m + j].v[l] < 0 ? T(-1) : T(1); });
      for (int i = 0; i < m; ++i) {
        ForLanes<T>([&](int l) { q[j * m + i].v[l] *= sign.v[l]; });
      }
    }
  }
};

}  // namespace

template <class T>
LaneSvd<T>::LaneSvd(int rows, int columns, bool full)
    : is_wide_(rows < columns),
      full_(full),
      long_(std::max(rows, columns)),
      short_(std::min(rows, columns)),
      gram_(short_),
      x_(AllocateLanes<T>(long_ * short_)),
      rotated_(AllocateLanes<T>(long_ * short_)),
      long_basis_(AllocateLanes<T>(long_ * (full ? long_ : short_))),
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
  const LaneView<T> x = ColumnMajor(x_.get(), long_, short_);
  const LaneView<T> rotated = ColumnMajor(rotated_.get(), long_, short_);
  MultiplyBlocks(Transposed(x), x, gram_.matrix());
  gram_.Factor();
  Lanes<T>* const v = gram_.v().data;
  MultiplyBlocks(x, gram_.v(), rotated);
  rotate(rotated.data, long_, short_, v, s_.get());
  SortLanes(s_.get(), short_, /*descending=*/true, order_.get());
  PermuteLanes(rotated.data, order_.get(), short_, long_, x_.get());
  PermuteLanes(v, order_.get(), short_, short_, short_basis_.get());
  normalize(x_.get(), long_, short_, taus_.get(), long_basis_.get(), full_ ? long_ : short_);
  Lanes<T>* const of_u = is_wide_ ? short_basis_.get() : long_basis_.get();
  Lanes<T>* const of_v = is_wide_ ? long_basis_.get() : short_basis_.get();
  OrientLanes(short_, of_u, is_wide_ ? short_ : long_, of_v, is_wide_ ? long_ : short_);
  MultiplyLanes(back, s_.get(), short_);
}

template class LaneSvd<float>;
template class LaneSvd<double>;

}  // namespace pdl::linalg
