// Reductions over any axes, and the index of the largest or smallest element along an axis.
#ifndef PDL_KERNELS_REDUCTION_REDUCTION_KERNEL_H_
#define PDL_KERNELS_REDUCTION_REDUCTION_KERNEL_H_

#include <cstdint>
#include <utility>

#include "kernels/core/axis_split.h"
#include "kernels/core/element.h"
#include "kernels/core/strided_copy.h"
#include "pdl/op/operator.h"

namespace pdl {

enum class Reduction {
  kSum,
  kMean,
  kNorm,
  kMax,
  kMin,
  kProd,
  kAny,
  kAll,
  kCountNonzero,
  kLogSumExp
};

/// The loops over elements, compiled for one dtype. Sums and products of floats are accumulated in
/// double, those of integers in 64 bits, minima and maxima in the compute type.
struct ReduceLoops {
  static constexpr int64_t kLargestAccumulator = 16;

  int64_t accumulator_size = 8;  // in bytes
  int64_t result_size = 8;
  /// Accumulates n contiguous elements into *sum.
  void (*row)(const void* in, int64_t n, void* sum) = nullptr;
  /// Accumulates `rows` consecutive rows of n elements each into `rows` accumulators.
  void (*short_rows)(const void* in, int64_t rows, int64_t n, void* sums) = nullptr;
  /// Accumulates n elements into n accumulators.
  void (*columns)(const void* in, int64_t n, void* sums) = nullptr;
  /// Initializes n accumulators.
  void (*start)(void* sums, int64_t n) = nullptr;
  /// Merges n accumulators into n others.
  void (*merge)(const void* from, int64_t n, void* sums) = nullptr;
  /// Writes n results, each of `count` elements.
  void (*finish)(const void* sums, int64_t n, int64_t count, void* out) = nullptr;
};

ReduceLoops ReduceLoopsOf(Reduction reduction, DType dtype);

/// Plans the pass of a reduction over its input. The order in which a result is accumulated depends
/// on the sizes only.
class ReducePlan : public CallState {
 public:
  ReducePlan(Reduction reduction, DType dtype, llvm::ArrayRef<int64_t> sizes,
             llvm::ArrayRef<unsigned> axes);
  int64_t workspace_bytes() const { return workspace_bytes_; }
  void Run(const void* in, void* out, CPUContext& context) const;

 private:
  /// Accumulates one piece of the results [first, first + n) into `sums`.
  void Accumulate(const char* in, int64_t first, int64_t n, int64_t piece, char* sums) const;
  void AccumulateRows(const char* in, int64_t first, int64_t n, int64_t piece, char* sums) const;
  void AccumulateColumns(const char* in, int64_t first, int64_t piece, int64_t n, char* sums) const;
  /// The range of results of a chunk.
  std::pair<int64_t, int64_t> ChunkResults(int64_t chunk) const;

  ReduceLoops loops_;
  int64_t input_size_ = 1, output_size_ = 1;  // of an element, in bytes
  int64_t num_results_ = 0;
  int64_t count_ = 1;  // elements of each result

  // The innermost dim is either reduced (`inner_` elements of one result are contiguous), or it is
  // kept (elements of `inner_` results are). The views iterate over the other dims, in elements.
  bool inner_stays_ = false;
  int64_t inner_ = 1;
  StridedView kept_;
  StridedView reduced_;
  int64_t runs_ = 1;  // of inner_ elements, for each result or for inner_ of them

  // A chunk is a few adjacent results. If there are few large chunks, each is accumulated in pieces
  // of `piece_length_` runs (or, of a single run, elements), which are then merged.
  int64_t width_ = 1;
  int64_t chunks_per_row_ = 1;
  int64_t chunks_ = 0;
  int64_t units_ = 1;  // of which pieces are made
  int64_t piece_length_ = 1;
  int64_t pieces_ = 1;
  int64_t grain_ = 1;
  int64_t workspace_bytes_ = 0;
};

/// The index of the largest (or smallest) element along an axis: the first of equal ones, or the
/// first nan.
class ArgMinMaxPlan : public CallState {
 public:
  ArgMinMaxPlan(bool smallest, DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t axis);
  void Run(const void* in, int64_t* out, CPUContext& context) const;

 private:
  void (*loop_)(const void* in, int64_t axis, int64_t inner, int64_t* out) = nullptr;
  AxisSplit split_;
  int64_t element_size_ = 1;
};

}  // namespace pdl

#endif  // PDL_KERNELS_REDUCTION_REDUCTION_KERNEL_H_
