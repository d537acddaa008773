// Singular value decompositions of batches of matrices.
#ifndef PDL_KERNELS_LINALG_SVD_SOLVER_H_
#define PDL_KERNELS_LINALG_SVD_SOLVER_H_

#include <memory>

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

/// x = u diag(s) v^T, with s in decreasing order; for matrices of N rows and columns, or
/// Eigen::Dynamic. Declared for the sizes of VisitSize; the templates of Eigen, which take long to
/// compile, are instantiated once.
template <class T, int N>
class SvdSolver {
 public:
  /// With `full`, u and v are square, else they have as many columns as there are singular values.
  explicit SvdSolver(bool full);
  SvdSolver(SvdSolver&&) noexcept;
  ~SvdSolver();

  /// Decomposes a matrix with one element or more, all finite.
  void Compute(const Matrix<T, N, N>& x);
  const Matrix<T, N, N>& u() const;
  const Matrix<T, N, N>& v() const;
  const Column<T, N>& s() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_SVD_SOLVER_H_
