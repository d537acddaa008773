// LU decompositions of large matrices, one by one.
#ifndef PDL_KERNELS_LINALG_LU_SOLVER_H_
#define PDL_KERNELS_LINALG_LU_SOLVER_H_

#include <memory>

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

/// The LU decomposition with partial pivoting of square matrices; the templates of Eigen, which
/// take long to compile, are instantiated once.
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

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LU_SOLVER_H_
