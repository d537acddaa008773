// Singular value decompositions of blocks of small matrices.
#ifndef PDL_KERNELS_LINALG_LANE_SVD_H_
#define PDL_KERNELS_LINALG_LANE_SVD_H_

#include "kernels/linalg/lane_eigh.h"
#include "kernels/linalg/lanes.h"

namespace pdl::linalg {

/// x = u diag(s) v^T, with s in decreasing order, and u oriented as by OrientLanes: by Jacobi
/// rotations of the columns of x, or of its rows, if there are fewer. Before that, the eigenvectors
/// of x^T x make the columns nearly orthogonal, so that few rotations remain; those decide how
/// accurate the result is.
template <class T>
class LaneSvd {
 public:
  /// With `full`, u and v are square, else they have as many columns as there are singular values.
  /// No size is 0.
  LaneSvd(int rows, int columns, bool full);

  /// Where matrices are loaded before Factor, which overwrites them.
  LaneView<T> matrix() const {
    const LaneView<T> x = ColumnMajor(x_.get(), long_, short_);
    return is_wide_ ? Transposed(x) : x;
  }
  /// Decomposes the matrices.
  void Factor();
  LaneView<T> u() const { return is_wide_ ? ShortBasis() : LongBasis(); }
  LaneView<T> v() const { return is_wide_ ? LongBasis() : ShortBasis(); }
  LaneView<T> s() const { return RowMajor(s_.get(), 1, short_); }

 private:
  LaneView<T> LongBasis() const {
    return ColumnMajor(long_basis_.get(), long_, full_ ? long_ : short_);
  }
  LaneView<T> ShortBasis() const { return ColumnMajor(short_basis_.get(), short_, short_); }

  bool is_wide_, full_;
  // The larger and the smaller size; the columns of x_ have `long_` elements.
  int long_, short_;
  LaneEigh<T> gram_;
  LaneMemory<T> x_, rotated_, long_basis_, short_basis_, s_, taus_;
  std::unique_ptr<LaneIndex<T>[]> order_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANE_SVD_H_
