// Singular value decompositions of large matrices, one by one.
#ifndef PDL_KERNELS_LINALG_SVD_SOLVER_H_
#define PDL_KERNELS_LINALG_SVD_SOLVER_H_

#include "kernels/linalg/dense_solvers.h"

namespace pdl::linalg {

/// x = u diag(s) v^T, with s in decreasing order, by the same algorithm as LaneSvd.
template <class T>
class SvdSolver {
 public:
  /// With `full`, u and v are square, else they have as many columns as there are singular values.
  explicit SvdSolver(bool full) : full_(full) {}

  /// Decomposes a matrix with one element or more, all finite.
  void Compute(const Matrix<T>& x);
  const Matrix<T>& u() const { return is_wide_ ? short_basis_ : long_basis_; }
  const Matrix<T>& v() const { return is_wide_ ? long_basis_ : short_basis_; }
  const Column<T>& s() const { return s_; }

 private:
  bool full_, is_wide_ = false;
  // The columns of x_ are those of the matrix, or of its transpose, if it has fewer rows.
  Matrix<T> x_, rotated_, gram_, rotations_, long_basis_, short_basis_;
  Column<T> s_, squares_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_SVD_SOLVER_H_
