#include "kernels/linalg/svd_solver.h"

#include <Eigen/SVD>

namespace pdl::linalg {

/// Divide and conquer; with fewer rows or columns than 16, it is the Jacobi method.
template <class T>
struct SvdSolver<T>::Parts {
  explicit Parts(bool full)
      : options(full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                     : Eigen::ComputeThinU | Eigen::ComputeThinV) {}

  unsigned options;
  Eigen::BDCSVD<Matrix<T>> svd;
};

template <class T>
SvdSolver<T>::SvdSolver(bool full) : parts_(std::make_unique<Parts>(full)) {}
template <class T>
SvdSolver<T>::SvdSolver(SvdSolver&&) noexcept = default;
template <class T>
SvdSolver<T>::~SvdSolver() = default;
template <class T>
void SvdSolver<T>::Compute(const Matrix<T>& x) {
  parts_->svd.compute(x, parts_->options);
}
template <class T>
const Matrix<T>& SvdSolver<T>::u() const {
  return parts_->svd.matrixU();
}
template <class T>
const Matrix<T>& SvdSolver<T>::v() const {
  return parts_->svd.matrixV();
}
template <class T>
const Column<T>& SvdSolver<T>::s() const {
  return parts_->svd.singularValues();
}

template class SvdSolver<float>;
template class SvdSolver<double>;

}  // namespace pdl::linalg
