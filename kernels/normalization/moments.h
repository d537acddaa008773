// Means and variances over any axes, in one pass over the data.
#ifndef PDL_KERNELS_NORMALIZATION_MOMENTS_H_
#define PDL_KERNELS_NORMALIZATION_MOMENTS_H_

#include <cstdint>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/strided_copy.h"
#include "kernels/core/tile_dispatch.h"
#include "pdl/op/operator.h"

namespace pdl {

/// Sums of the distances of elements from a shift, the first of the elements, and of the squares of
/// these distances. They are in double, so that subtracting the mean afterwards is precise.
struct ShiftedSums {
  double shift = 0, sum = 0, square = 0;

  double Mean(double count) const { return shift + sum / count; }
  /// The population variance if `ddof` is 0; nan or infinite if count - ddof is not positive.
  double Variance(double count, double ddof = 0) const {
    const double spread = square - sum * (sum / count);
    return (spread < 0 ? 0 : spread) / (ddof < count ? count - ddof : 0);
  }
};

/// `x` if distances from it are finite, else 0.
PDL_INLINE double ShiftOf(double x) { return x - x == 0 ? x : 0; }

/// Adds n contiguous elements to the sums of a row.
template <class T>
struct MomentsRowLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, ShiftedSums* sums) {
    const T* x = static_cast<const T*>(in);
    const double shift = sums->shift;
    double sum = 0, square = 0;
#pragma omp simd reduction(+ : sum, square)
    for (int64_t i = 0; i < n; ++i) {
      const double distance = static_cast<double>(Element<T>::Load(x[i])) - shift;
      sum += distance;
      square += distance * distance;
    }
    sums->sum += sum;
    sums->square += square;
  }
};

/// Plans the passes of `moments`, `variance` and `std` over their input. The order in which a
/// result is accumulated depends on the sizes only.
class MomentsPlan : public CallState {
 public:
  /// `kept` has for each axis whether it is kept. `ddof` is subtracted from the divisor of
  /// variances. With `root`, their square roots are written.
  MomentsPlan(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<bool> kept,
              int64_t ddof = 0, bool root = false);
  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// `mean` may be null if it is not needed.
  void Run(const void* in, void* mean, void* variance, CPUContext& context) const;

 private:
  using RowLoop = void (*)(const void* in, int64_t n, ShiftedSums* sums);
  using ColumnsLoop = void (*)(const void* in, int64_t n, const double* shifts, double* sums,
                               double* squares);

  void RunRows(const char* in, char* mean, char* variance, CPUContext& context) const;
  void RunColumns(const char* in, char* mean, char* variance, CPUContext& context) const;
  /// Writes one result.
  void Finish(const ShiftedSums& sums, int64_t result, char* mean, char* variance) const;

  double ddof_ = 0;
  bool root_ = false;
  int64_t element_size_ = 1;
  RowLoop row_ = nullptr;
  ColumnsLoop columns_ = nullptr;
  double (*load_)(const void* in) = nullptr;
  void (*store_)(double value, void* out) = nullptr;

  int64_t num_results_ = 1;
  int64_t count_ = 1;  // elements of each result
  // As in ReducePlan: the innermost dim is kept or reduced; the views iterate over the other dims.
  bool inner_stays_ = false;
  int64_t inner_ = 1;
  StridedView kept_, reduced_;
  int64_t runs_ = 1;
  int64_t width_ = 1;  // columns of a chunk
  int64_t units_ = 1;  // of which pieces are made: runs, or the elements of the only run
  int64_t piece_length_ = 1;
  int64_t pieces_ = 1;
  int64_t workspace_bytes_ = 0;
};

}  // namespace pdl

#endif  // PDL_KERNELS_NORMALIZATION_MOMENTS_H_
