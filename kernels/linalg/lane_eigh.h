// Eigenvalues of blocks of small symmetric matrices.
#ifndef PDL_KERNELS_LINALG_LANE_EIGH_H_
#define PDL_KERNELS_LINALG_LANE_EIGH_H_

#include "kernels/linalg/lanes.h"

namespace pdl::linalg {

/// x v = v diag(w), with w in increasing order and orthonormal v, oriented as by OrientLanes: by
/// Householder reflections to tridiagonal form, and QR iterations with implicit shifts.
template <class T>
class LaneEigh {
 public:
  explicit LaneEigh(int n);

  /// Where matrices are loaded before Factor, which reads the lower triangle, and overwrites it.
  LaneView<T> matrix() const { return RowMajor(x_.get(), n_, n_); }
  /// Decomposes the matrices. Returns the lanes that did not converge.
  LaneSet Factor();
  LaneView<T> w() const { return RowMajor(w_.get(), 1, n_); }
  LaneView<T> v() const { return ColumnMajor(x_.get(), n_, n_); }

 private:
  int n_;
  // x_ are the reflectors, then the eigenvectors in order; q_ are the eigenvectors.
  LaneMemory<T> x_, q_, w_, off_, work_;
  std::unique_ptr<LaneIndex<T>[]> order_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANE_EIGH_H_
