// Small matrices, computed many at once: each matrix is in one lane of the processor's vectors.
//
// A block is kLanes matrices of the same size, interleaved: element (i, j) of all of them is one
// `Lanes`. Algorithms are ordinary loops over rows and columns, whose innermost loop is over the
// lanes (ForLanes). It has no branches, so the compiler makes vector code of it, and no lane reads
// another one: the bits of a result do not depend on the other matrices of the block.
//
// Branches in the loops over rows and columns may depend on all lanes (AnyLane) if they only skip
// work without effect.
#ifndef PDL_KERNELS_LINALG_LANES_H_
#define PDL_KERNELS_LINALG_LANES_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/vector_math.h"

namespace pdl::linalg {

/// The number of matrices of a block: those of which one element fills a cache line.
template <class T>
inline constexpr int kLanes = static_cast<int>(64 / sizeof(T));

/// The signed integer type as wide as T.
template <class T>
using LaneInt = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

/// One number for each matrix of a block.
template <class T>
struct alignas(64) Lanes {
  T v[kLanes<T>];
};
/// One index for each matrix of a block of T.
template <class T>
using LaneIndex = Lanes<LaneInt<T>>;
/// A set of lanes: bit l is lane l.
using LaneSet = uint32_t;

/// Calls f(l) for all lanes, which may be computed together: f has no branches, and writes only
/// element l of arrays.
template <class T, class F>
PDL_INLINE void ForLanes(F f) {
#pragma omp simd
  for (int l = 0; l < kLanes<T>; ++l) f(l);
}

/// Whether f(l) holds for any lane.
template <class T, class F>
PDL_INLINE bool AnyLane(F f) {
  LaneInt<T> any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < kLanes<T>; ++l) any |= static_cast<LaneInt<T>>(f(l));
  return any != 0;
}

template <class T>
PDL_INLINE T Abs(T x) {
  return math::Abs(x);
}

/// A matrix in each lane: element (i, j) is data[i * row_stride + j * column_stride].
template <class T>
struct LaneView {
  Lanes<T>* data = nullptr;
  int rows = 0, columns = 0;
  int row_stride = 0, column_stride = 0;

  Lanes<T>& operator()(int i, int j) const { return data[i * row_stride + j * column_stride]; }
};
/// Matrices whose rows are contiguous.
template <class T>
LaneView<T> RowMajor(Lanes<T>* data, int rows, int columns) {
  return {data, rows, columns, columns, 1};
}
/// Matrices whose columns are contiguous.
template <class T>
LaneView<T> ColumnMajor(Lanes<T>* data, int rows, int columns) {
  return {data, rows, columns, 1, rows};
}
template <class T>
LaneView<T> Transposed(const LaneView<T>& x) {
  return {x.data, x.columns, x.rows, x.column_stride, x.row_stride};
}

/// Memory for `count` elements of a block, not initialized.
template <class T>
using LaneMemory = std::unique_ptr<Lanes<T>[]>;
template <class T>
LaneMemory<T> AllocateLanes(int count) {
  return std::make_unique_for_overwrite<Lanes<T>[]>(static_cast<size_t>(count));
}

/// Copies kLanes row-major matrices into a block.
template <class T>
void LoadLanes(const T* const* from, const LaneView<T>& to);

/// Copies the matrices of a block to row-major matrices, without those whose pointer is null. A
/// zero is written as +0: its sign may depend on the other lanes.
template <class T>
void StoreLanes(const LaneView<T>& from, T* const* to);

/// Makes the matrices with a nan or an infinity identity matrices, with which all algorithms end,
/// and returns the set of these lanes.
template <class T>
LaneSet ReplaceNonFinite(const LaneView<T>& x);

/// The lower triangle of the symmetric part of x, (x + x^T) / 2; the other triangle stays.
template <class T>
void TakeSymmetricPart(const LaneView<T>& x);

/// Powers of 2, one for each lane, as two factors each, since 2^exponent may not be a T.
template <class T>
struct LaneScale {
  Lanes<T> first, second;
};
/// Multiplies each matrix of `count` contiguous elements by a power of 2, so that sums of squares
/// of its elements neither overflow nor lose digits to underflow. Sets `back` to the inverse power.
template <class T>
void ScaleLanes(Lanes<T>* x, int count, LaneScale<T>* back);
template <class T>
void MultiplyLanes(const LaneScale<T>& scale, Lanes<T>* x, int count);

/// Sets order[j] to the index of the j-th smallest (or largest, if `descending`) of n values, which
/// it sorts; equal ones stay in their order.
template <class T>
void SortLanes(Lanes<T>* values, int n, bool descending, LaneIndex<T>* order);
/// Vector j of `to` is vector order[j] of `from`; both have n vectors of `length` elements.
template <class T>
void PermuteLanes(const Lanes<T>* from, const LaneIndex<T>* order, int n, int length, Lanes<T>* to);

/// Multiplies each of n vectors x of `length` elements by 1 or -1, so that the element with the
/// largest absolute value is positive; of elements that are nearly as large, the first one counts,
/// so that rounding does not decide. Those of y, if given, get the same signs.
template <class T>
void OrientLanes(int n, Lanes<T>* x, int length, Lanes<T>* y, int y_length);

/// c = a b. No element of c is an element of a or b.
template <class T>
void MultiplyBlocks(const LaneView<T>& a, const LaneView<T>& b, const LaneView<T>& c);

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LANES_H_
