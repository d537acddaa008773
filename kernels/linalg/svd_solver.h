// Singular value decompositions of large matrices, one by one.
#ifndef PDL_KERNELS_LINALG_SVD_SOLVER_H_
#define PDL_KERNELS_LINALG_SVD_SOLVER_H_

#include <memory>

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

/// x = u diag(s) v^T, with s in decreasing order; the templates of Eigen, which take long to
/// compile, are instantiated once.
template <class T>
class SvdSolver {
 public:
  /// With `full`, u and v are square, else they have as many columns as there are singular values.
  explicit SvdSolver(bool full);
  SvdSolver(SvdSolver&&) noexcept;
  ~SvdSolver();

  /// Decomposes a matrix with one element or more, all finite.
  void Compute(const Matrix<T>& x);
  const Matrix<T>& u() const;
  const Matrix<T>& v() const;
  const Column<T>& s() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_SVD_SOLVER_H_
