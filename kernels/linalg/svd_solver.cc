#include "kernels/linalg/svd_solver.h"

#include <Eigen/SVD>

namespace pdl::linalg {

/// The Jacobi method, for square matrices of a fixed size.
template <class T, int N>
struct SvdSolver<T, N>::Parts {
  explicit Parts(bool) {}
  void Compute(const Matrix<T, N, N>& x) {
    svd.compute(x, Eigen::ComputeFullU | Eigen::ComputeFullV);
  }
  const Matrix<T, N, N>& u() const { return svd.matrixU(); }
  const Matrix<T, N, N>& v() const { return svd.matrixV(); }
  const Column<T, N>& s() const { return svd.singularValues(); }

  Eigen::JacobiSVD<Matrix<T, N, N>, Eigen::NoQRPreconditioner> svd;
};

/// The Jacobi method for small matrices, and divide and conquer for others.
template <class T>
struct DynamicParts {
  explicit DynamicParts(bool full)
      : options(full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                     : Eigen::ComputeThinU | Eigen::ComputeThinV) {}
  void Compute(const Matrix<T>& x) {
    constexpr Eigen::Index kSmall = 16;
    is_small = std::min(x.rows(), x.cols()) < kSmall;
    if (is_small) {
      small.compute(x, options);
    } else {
      large.compute(x, options);
    }
  }
  const Matrix<T>& u() const { return is_small ? small.matrixU() : large.matrixU(); }
  const Matrix<T>& v() const { return is_small ? small.matrixV() : large.matrixV(); }
  const Column<T>& s() const { return is_small ? small.singularValues() : large.singularValues(); }

  unsigned options;
  bool is_small = true;
  Eigen::JacobiSVD<Matrix<T>> small;
  Eigen::BDCSVD<Matrix<T>> large;
};
template <>
struct SvdSolver<float, Eigen::Dynamic>::Parts : DynamicParts<float> {
  using DynamicParts::DynamicParts;
};
template <>
struct SvdSolver<double, Eigen::Dynamic>::Parts : DynamicParts<double> {
  using DynamicParts::DynamicParts;
};

template <class T, int N>
SvdSolver<T, N>::SvdSolver(bool full) : parts_(std::make_unique<Parts>(full)) {}
template <class T, int N>
SvdSolver<T, N>::SvdSolver(SvdSolver&&) noexcept = default;
template <class T, int N>
SvdSolver<T, N>::~SvdSolver() = default;
template <class T, int N>
void SvdSolver<T, N>::Compute(const Matrix<T, N, N>& x) {
  parts_->Compute(x);
}
template <class T, int N>
const Matrix<T, N, N>& SvdSolver<T, N>::u() const {
  return parts_->u();
}
template <class T, int N>
const Matrix<T, N, N>& SvdSolver<T, N>::v() const {
  return parts_->v();
}
template <class T, int N>
const Column<T, N>& SvdSolver<T, N>::s() const {
  return parts_->s();
}

template class SvdSolver<float, 2>;
template class SvdSolver<float, 3>;
template class SvdSolver<float, 4>;
template class SvdSolver<float, Eigen::Dynamic>;
template class SvdSolver<double, 2>;
template class SvdSolver<double, 3>;
template class SvdSolver<double, 4>;
template class SvdSolver<double, Eigen::Dynamic>;

}  // namespace pdl::linalg
