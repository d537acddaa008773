#include "kernels/linalg/dense_solvers.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

namespace pdl::linalg {

template <class T>
struct LuSolver<T>::Parts {
  Eigen::PartialPivLU<Matrix<T>> lu;
};

template <class T>
LuSolver<T>::LuSolver(Eigen::Index n)
    : parts_(std::make_unique<Parts>(Parts{Eigen::PartialPivLU<Matrix<T>>(n)})) {}
template <class T>
LuSolver<T>::LuSolver(LuSolver&&) noexcept = default;
template <class T>
LuSolver<T>::~LuSolver() = default;

template <class T>
void LuSolver<T>::Compute(const Matrix<T>& x) {
  parts_->lu.compute(x);
}

template <class T>
bool LuSolver<T>::IsSingular() const {
  return (parts_->lu.matrixLU().diagonal().array() == T(0)).any();
}

template <class T>
T LuSolver<T>::ReciprocalCondition() const {
  return parts_->lu.rcond();
}

template <class T>
void LuSolver<T>::Solve(Matrix<T>* b) const {
  *b = parts_->lu.permutationP() * *b;
  parts_->lu.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(*b);
  SolveUpper(parts_->lu.matrixLU(), b);
}

template <class T>
double LuSolver<T>::Determinant(int64_t* exponent) const {
  const Matrix<T>& factors = parts_->lu.matrixLU();
  double product = static_cast<double>(parts_->lu.permutationP().determinant());
  *exponent = 0;
  for (Eigen::Index i = 0; i < factors.rows(); ++i) {
    int of_pivot = 0, of_product = 0;
    product *= std::frexp(static_cast<double>(factors(i, i)), &of_pivot);
    product = 2 * std::frexp(product, &of_product);
    *exponent += of_pivot + of_product - 1;
  }
  if (std::abs(product) < 0x1.6a09e667f3bcdp+0) return product;
  ++*exponent;
  return product / 2;
}

template <class T>
void SolveUpper(const Matrix<T>& a, Matrix<T>* b) {
  a.template triangularView<Eigen::Upper>().solveInPlace(*b);
}

template <class T>
bool FactorCholesky(Matrix<T>* x) {
  Eigen::LLT<Eigen::Ref<Matrix<T>>> llt(*x);
  if (x->rows() > 0 && llt.info() != Eigen::Success) return false;
  for (Eigen::Index j = 1; j < x->cols(); ++j) x->col(j).head(j).setZero();
  return true;
}

template <class T>
void FactorQr(Matrix<T>* x, Matrix<T>* q) {
  const Eigen::HouseholderQR<Eigen::Ref<Matrix<T>>> qr(*x);
  q->setIdentity();
  q->applyOnTheLeft(qr.householderQ());
}

template <class T>
bool FactorSymmetric(const Matrix<T>& x, Column<T>* w, Matrix<T>* v) {
  const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(x);
  *w = solver.eigenvalues();
  *v = solver.eigenvectors();
  return solver.info() == Eigen::Success;
}

template <class T>
void Multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>* c) {
  c->noalias() = a * b;
}
template <class T>
void MultiplyTransposed(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>* c) {
  c->noalias() = a.transpose() * b;
}

#define PDL_INSTANTIATE(T)                                                    \
  template class LuSolver<T>;                                                 \
  template void SolveUpper<T>(const Matrix<T>&, Matrix<T>*);                  \
  template bool FactorCholesky<T>(Matrix<T>*);                                \
  template void FactorQr<T>(Matrix<T>*, Matrix<T>*);                          \
  template bool FactorSymmetric<T>(const Matrix<T>&, Column<T>*, Matrix<T>*); \
  template void Multiply<T>(const Matrix<T>&, const Matrix<T>&, Matrix<T>*);  \
  template void MultiplyTransposed<T>(const Matrix<T>&, const Matrix<T>&, Matrix<T>*);
PDL_INSTANTIATE(float)
PDL_INSTANTIATE(double)
#undef PDL_INSTANTIATE

}  // namespace pdl::linalg
