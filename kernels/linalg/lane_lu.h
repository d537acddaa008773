// LU and Cholesky decompositions of blocks of small matrices.
#ifndef PDL_KERNELS_LINALG_LANE_LU_H_
#define PDL_KERNELS_LINALG_LANE_LU_H_

#include "kernels/linalg/lanes.h"

namespace pdl::linalg {

/// The LU decomposition with partial pivoting of square matrices.
template <class T>
class LaneLu {
 public:
  explicit LaneLu(int n);

  /// Where matrices are loaded before Factor, which overwrites them.
  LaneView<T> matrix() const { return RowMajor(factors_.get(), n_, n_); }
  /// Decomposes the matrices. Returns the lanes with a pivot of 0, for which nothing can be solved.
  LaneSet Factor();
  /// Replaces b, matrices of n rows, by the solutions x of a x = b.
  void Solve(const LaneView<T>& b) const;
  /// Sets y, n by n, to the inverses.
  void Invert(const LaneView<T>& y) const;
  /// The determinant of matrix l is mantissa[l] * 2 ** exponent[l], with an absolute value of
  /// mantissa[l] near 1, or 0.
  void Determinants(double* mantissa, int64_t* exponent) const;

 private:
  int n_;
  LaneMemory<T> factors_;
  // Rows k and pivots_[k] were exchanged in step k.
  std::unique_ptr<LaneIndex<T>[]> pivots_;
};

/// Replaces the lower triangle of symmetric positive definite matrices by their Cholesky
/// decomposition, and the other elements by 0. Returns the lanes that are not positive definite.
template <class T>
LaneSet FactorCholesky(const LaneView<T>& x);

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANE_LU_H_
