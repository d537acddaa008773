// Reductions over any axes; the place of the largest or smallest element along one.
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
/// doubles, those of integers in 64 bits, extremes in the type that elements are computed in.
struct ReduceLoops {
  static constexpr int64_t kLargestAccumulator = 16;

  int64_t accumulator_size = 8;  // in bytes
  int64_t result_size = 8;
  /// Accumulates n elements that lie side by side into *sum.
  void (*row)(const void* in, int64_t n, void* sum) = nullptr;
  /// Accumulates rows of n elements each, one after another, into `rows` accumulators.
  void (*short_rows)(const void* in, int64_t rows, int64_t n, void* sums) = nullptr;
  /// Accumulates n elements into n accumulators.
  void (*columns)(const void* in, int64_t n, void* sums) = nullptr;
  /// Starts n accumulators.
  void (*start)(void* sums, int64_t n) = nullptr;
  /// Accumulates n accumulators into n others.
  void (*merge)(const void* from, int64_t n, void* sums) = nullptr;
  /// Writes n results, each of `count` elements.
  void (*finish)(const void* sums, int64_t n, int64_t count, void* out) = nullptr;
};

ReduceLoops ReduceLoopsOf(Reduction reduction, DType dtype);

/// How one reduction walks over its input. Each result is computed in an order that depends on the
/// sizes alone.
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
  /// The results that a chunk is made of.
  std::pair<int64_t, int64_t> ChunkResults(int64_t chunk) const;

  ReduceLoops loops_;
  int64_t input_size_ = 1, output_size_ = 1;  // of an element, in bytes
  int64_t num_results_ = 0;
  int64_t count_ = 1;  // elements of each result

  // The innermost dim is either reduced (`inner_` elements of one result lie side by side), or it
  // stays (elements of `inner_` results do). The views walk over the other dims, in elements.
  bool inner_stays_ = false;
  int64_t inner_ = 1;
  StridedView kept_;
  StridedView reduced_;
  int64_t runs_ = 1;  // of inner_ elements, for each result or for inner_ of them

  // A chunk is a few neighbouring results. Where chunks are few but large, each is accumulated in
  // pieces of `piece_length_` runs (or, of a single run, elements), which are then merged.
  int64_t width_ = 1;
  int64_t chunks_per_row_ = 1;
  int64_t chunks_ = 0;
  int64_t units_ = 1;  // that pieces are cut from
  int64_t piece_length_ = 1;
  int64_t pieces_ = 1;
  int64_t grain_ = 1;
  int64_t workspace_bytes_ = 0;
};

/// The place of the largest (or smallest) element along an axis: the first of equal ones, or the
/// first NaN.
class ArgExtremePlan : public CallState {
 public:
  ArgExtremePlan(bool smallest, DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t axis);
  void Run(const void* in, int64_t* out, CPUContext& context) const;

 private:
  void (*loop_)(const void* in, int64_t axis, int64_t inner, int64_t* out) = nullptr;
  AxisSplit split_;
  int64_t element_size_ = 1;
};

}  // namespace pdl

#endif  // PDL_KERNELS_REDUCTION_REDUCTION_KERNEL_H_
