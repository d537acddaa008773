// QR decompositions of blocks of small matrices.
#ifndef PDL_KERNELS_LINALG_LANE_QR_H_
#define PDL_KERNELS_LINALG_LANE_QR_H_

#include "kernels/linalg/lanes.h"

namespace pdl::linalg {

/// x = q r by Householder reflections, where the diagonal of r is nonnegative.
template <class T>
class LaneQr {
 public:
  /// q has `rank` columns: the number of rows, or the smaller one of rows and columns.
  LaneQr(int rows, int columns, int rank);

  /// Where matrices are loaded before Factor, which overwrites them.
  LaneView<T> matrix() const { return ColumnMajor(x_.get(), rows_, columns_); }
  void Factor();
  LaneView<T> q() const { return ColumnMajor(q_.get(), rows_, rank_); }
  LaneView<T> r() const { return {x_.get(), rank_, columns_, 1, rows_}; }

 private:
  int rows_, columns_, rank_;
  LaneMemory<T> x_, q_, taus_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANE_QR_H_
