#include "kernels/linalg/svd_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace pdl::linalg {
namespace {

// The sums of parts are always in the same order, whatever the alignment.
template <class T>
PDL_INLINE T Dot(const T* p, const T* q, int64_t n) {
  constexpr int kParts = 2;
  Lanes<T> sums[kParts] = {};
  int64_t i = 0;
  for (; i + kParts * kLanes<T> <= n; i += kParts * kLanes<T>) {
    for (int k = 0; k < kParts; ++k) {
      const T* a = p + i + k * kLanes<T>;
      const T* b = q + i + k * kLanes<T>;
      ForLanes<T>([&](int l) { sums[k].v[l] += a[l] * b[l]; });
    }
  }
  T sum = 0;
  for (; i < n; ++i) sum += p[i] * q[i];
  for (int l = 0; l < kLanes<T>; ++l) sum += sums[0].v[l] + sums[1].v[l];
  return sum;
}

template <class T>
PDL_INLINE void Rotate(T* p, T* q, int64_t n, T c, T s) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T a = p[i], b = q[i];
    p[i] = c * a - s * b;
    q[i] = s * a + c * b;
  }
}

// Rotates n columns of x, of m elements, until they are orthogonal, and those of v. `squares` are
// their squared norms.
template <class T>
struct ColumnJacobiLoop {
  static PDL_INLINE void Run(T* x, int64_t m, int64_t n, T* v, T* squares) {
    constexpr int kMaxSweeps = 30;
    constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
    const T limit = kEpsilon * kEpsilon * static_cast<T>(m);
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < kMaxSweeps; ++sweep) {
      rotated = false;
      for (int64_t j = 0; j < n; ++j) squares[j] = Dot(x + j * m, x + j * m, m);
      for (int64_t p = 0; p + 1 < n; ++p) {
        for (int64_t q = p + 1; q < n; ++q) {
          const T product = Dot(x + p * m, x + q * m, m), square = product * product;
          if (square <= limit * (squares[p] * squares[q])) continue;
          if (square < std::numeric_limits<T>::min()) continue;
          rotated = true;
          const T difference = squares[q] - squares[p];
          const T root = std::sqrt(difference * difference + 4 * square);
          const T tangent = 2 * product / (difference + (difference < 0 ? -root : root));
          const T c = 1 / std::sqrt(1 + tangent * tangent), s = c * tangent;
          Rotate(x + p * m, x + q * m, m, c, s);
          Rotate(v + p * n, v + q * n, n, c, s);
          squares[p] = std::max(squares[p] - tangent * product, T(0));
          squares[q] = std::max(squares[q] + tangent * product, T(0));
        }
      }
    }
    for (int64_t j = 0; j < n; ++j) squares[j] = Dot(x + j * m, x + j * m, m);
  }
};

// The power of 2 that makes the largest absolute value of x one near 2^kScaled, so that sums of
// squares neither overflow nor lose digits to underflow.
template <class T>
int ScaleExponent(const Matrix<T>& x) {
  constexpr int kScaled = sizeof(T) == 4 ? 20 : 200;
  const T largest = x.cwiseAbs().maxCoeff();
  return largest == 0 ? 0 : kScaled - std::ilogb(largest);
}

}  // namespace

template <class T>
void SvdSolver<T>::Compute(const Matrix<T>& x) {
  static const auto rotate = ChooseIsa<ColumnJacobiLoop<T>>();
  is_wide_ = x.rows() < x.cols();
  if (is_wide_) {
    x_ = x.transpose();
  } else {
    x_ = x;
  }
  const Eigen::Index m = x_.rows(), n = x_.cols();
  const int exponent = ScaleExponent(x_);
  for (Eigen::Index i = 0; i < x_.size(); ++i) x_.data()[i] = std::ldexp(x_.data()[i], exponent);
  // Nearly orthogonal columns, in decreasing order.
  gram_.resize(n, n);
  rotated_.resize(m, n);
  MultiplyTransposed(x_, x_, &gram_);
  if (FactorSymmetric(gram_, &squares_, &short_basis_)) {
    rotations_ = short_basis_.rowwise().reverse();
  } else {
    rotations_.setIdentity(n, n);
  }
  Multiply(x_, rotations_, &rotated_);
  squares_.resize(n);
  rotate(rotated_.data(), m, n, rotations_.data(), squares_.data());
  std::vector<Eigen::Index> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return squares_[a] > squares_[b]; });
  s_.resize(n);
  short_basis_.resize(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const Eigen::Index from = order[static_cast<size_t>(j)];
    s_[j] = std::ldexp(std::sqrt(squares_[from]), -exponent);
    x_.col(j) = rotated_.col(from);
    short_basis_.col(j) = rotations_.col(from);
  }
  // An orthonormal basis whose first vectors are the directions of these columns, some of which may
  // be 0.
  long_basis_.resize(m, full_ ? m : n);
  FactorQr(&x_, &long_basis_);
  for (Eigen::Index j = 0; j < n; ++j) {
    if (x_(j, j) < 0) long_basis_.col(j) *= T(-1);
  }
}

template class SvdSolver<float>;
template class SvdSolver<double>;

}  // namespace pdl::linalg
