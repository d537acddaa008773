// Decompositions of large matrices, one by one. The templates of Eigen, which take long to compile,
// are instantiated once, here.
#ifndef PDL_KERNELS_LINALG_DENSE_SOLVERS_H_
#define PDL_KERNELS_LINALG_DENSE_SOLVERS_H_

#include <memory>

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

/// The LU decomposition with partial pivoting of square matrices.
template <class T>
class LuSolver {
 public:
  explicit LuSolver(Eigen::Index n);
  LuSolver(LuSolver&&) noexcept;
  ~LuSolver();

  /// Decomposes x, which is finite.
  void Compute(const Matrix<T>& x);
  /// Whether a pivot is 0.
  bool IsSingular() const;
  /// Estimates the reciprocal of the condition number.
  T ReciprocalCondition() const;
  /// Replaces b by the solution of x y = b.
  void Solve(Matrix<T>* b) const;
  /// The determinant is the result times 2 ** exponent; its absolute value is near 1, or 0.
  double Determinant(int64_t* exponent) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Replaces b by the solution of a x = b with an upper triangular a; the other elements of a are
/// not read.
template <class T>
void SolveUpper(const Matrix<T>& a, Matrix<T>* b);

/// Replaces the lower triangle of x by the Cholesky decomposition of the matrix that it is of, and
/// the other elements by 0. Returns false if that is not positive definite.
template <class T>
bool FactorCholesky(Matrix<T>* x);

/// x = q r. q has as many columns as it had before; x becomes r, of which only the upper triangle
/// is set.
template <class T>
void FactorQr(Matrix<T>* x, Matrix<T>* q);

/// x v = v diag(w) of a symmetric x, of which the lower triangle is read, with w in increasing
/// order. Returns false if the iteration did not converge.
template <class T>
bool FactorSymmetric(const Matrix<T>& x, Column<T>* w, Matrix<T>* v);

/// c = a b, or a^T b.
template <class T>
void Multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>* c);
template <class T>
void MultiplyTransposed(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>* c);

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_DENSE_SOLVERS_H_
