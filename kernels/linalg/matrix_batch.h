// Kernels on batches of matrices: small ones in blocks (lanes.h), the others one by one with Eigen.
//
// Which of the two depends on the sizes of a matrix only, and a block is complete if there are
// fewer matrices. Pieces of the batch run in parallel. Operands of Eigen are copied to memory of
// its alignment first: its order of summation depends on the alignment of the operands.
#ifndef PDL_KERNELS_LINALG_MATRIX_BATCH_H_
#define PDL_KERNELS_LINALG_MATRIX_BATCH_H_

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/element.h"
#include "kernels/core/strided_copy.h"
#include "kernels/linalg/lanes.h"
#include "kernels/linalg/matrix_error.h"
#include "pdl/op/operator.h"

namespace pdl::linalg {

using MatrixTypes = TypeList<float, double>;

/// The sizes of each matrix of a batch.
struct MatrixSizes {
  Eigen::Index rows = 0, columns = 0;
  int64_t num_elements() const { return int64_t{rows} * columns; }
};

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The matrix of a tensor, which is row-major.
template <class T>
auto View(T* data, Eigen::Index rows, Eigen::Index columns) {
  using Plain =
      Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Target = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Target>(data, rows, columns);
}

/// Whether no element is nan or infinite.
template <class T>
bool IsFinite(const T* data, int64_t n) {
  bool is_finite = true;
  for (int64_t i = 0; i < n; ++i) {
    is_finite &= std::abs(data[i]) <= std::numeric_limits<T>::max();
  }
  return is_finite;
}

template <class T>
void FillNan(T* data, int64_t n) {
  std::fill_n(data, n, std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void FillNan(LaneSet set, const LaneView<T>& x) {
  if (set == 0) return;
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.columns; ++j) {
      for (int l = 0; l < kLanes<T>; ++l) {
        if ((set >> l & 1) != 0) FillNan(x(i, j).v + l, 1);
      }
    }
  }
}

/// The lower triangle of the symmetric part of x, (x + x^T) / 2; the other triangle of `out` is
/// unspecified.
template <class T>
void LoadSymmetricPart(const T* x, Matrix<T>* out) {
  const Eigen::Index n = out->rows();
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) {
      const T below = x[i * n + j], above = x[j * n + i];
      (*out)(i, j) = below == above ? below : below / 2 + above / 2;
    }
  }
}

/// The sign, 1 or -1, that makes the element of a vector with the largest absolute value positive.
/// Of elements that are nearly as large, the first one counts, so that rounding does not decide.
template <class Vector>
auto SignOf(const Vector& x) {
  using T = typename Vector::Scalar;
  const T limit = T(0.999) * x.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= limit) return x[i] < 0 ? T(-1) : T(1);
  }
  return T(1);
}

/// Where each matrix of a batch begins in an operand, whose batch dims are broadcast.
class MatrixOffsets {
 public:
  /// `sizes` are those of the operand, `batch` the batch dims of the result, and `elements` the
  /// elements of one matrix.
  MatrixOffsets(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> batch, int64_t elements);

  int64_t operator[](int64_t matrix) const {
    int64_t offset = 0;
    for (size_t d = view_.sizes.size(); d-- > 0;) {
      const int64_t index = d == 0 ? matrix : matrix % view_.sizes[d];
      offset += index * view_.strides[d];
      if (d > 0) matrix /= view_.sizes[d];
    }
    return offset * elements_;
  }

 private:
  StridedView view_;
  int64_t elements_ = 0;
};

/// The first matrix of a batch that has no result.
class FirstFailure {
 public:
  explicit FirstFailure(int64_t count) : count_(count), first_(count) {}

  /// Called by any thread.
  void Report(int64_t matrix) {
    int64_t known = first_;
    while (matrix < known && !first_.compare_exchange_weak(known, matrix)) {
    }
  }
  /// -1 if all have results.
  int64_t Get() const { return first_ == count_ ? -1 : first_.load(); }

 private:
  int64_t count_;
  std::atomic<int64_t> first_;
};

/// Calls `make()`, which allocates memory, for each piece of a range of `count` tasks, and
/// compute(made, i) for each task i of the piece. `work` is roughly the number of operations of
/// one.
template <class Make, class Compute>
void ForEachTask(CPUContext& context, int64_t count, int64_t work, Make make, Compute compute) {
  constexpr int64_t kGrainWork = 1 << 16;
  const int64_t grain = std::max<int64_t>(1, kGrainWork / std::max<int64_t>(1, work));
  context.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    auto made = make();
    for (int64_t i = begin; i < end; ++i) compute(made, i);
  });
}

/// The largest number of rows or columns of matrices that are computed in blocks.
inline constexpr Eigen::Index kMaxLaneSize = 32;

/// For operators without a kernel for blocks.
template <class T>
struct NoLanes {};
template <template <class> class LaneKernel>
inline constexpr bool kHasLanes = !std::is_same_v<LaneKernel<float>, NoLanes<float>>;
inline bool FitLanes(MatrixSizes sizes) {
  return sizes.num_elements() > 0 && std::max(sizes.rows, sizes.columns) <= kMaxLaneSize;
}

/// The lanes of a block of consecutive matrices of a batch; after the last matrix, it is repeated.
template <class T>
struct LaneRange {
  LaneRange(int64_t block, int64_t count)
      : begin(block * kLanes<T>), size(std::min<int64_t>(kLanes<T>, count - begin)) {}
  int64_t matrix(int64_t lane) const { return begin + std::min(lane, size - 1); }
  bool Has(LaneSet set, int64_t lane) const { return lane < size && (set >> lane & 1) != 0; }

  int64_t begin, size;
};
template <class T>
int64_t CountBlocks(int64_t count) {
  return (count + kLanes<T> - 1) / kLanes<T>;
}

/// Writes the results of a block, consecutive matrices of `elements` elements from `to` on; nan for
/// those of `not_finite`.
template <class T>
void StoreBlock(const LaneRange<T>& range, LaneSet not_finite, const LaneView<T>& result,
                int64_t elements, T* to) {
  T* each[kLanes<T>] = {};
  for (int64_t l = 0; l < range.size; ++l) {
    T* matrix = to + range.matrix(l) * elements;
    if (range.Has(not_finite, l)) {
      FillNan(matrix, elements);
    } else {
      each[l] = matrix;
    }
  }
  StoreLanes(result, each);
}

/// The pointers to the results for one matrix, in the order of the operator's outputs.
template <class T>
using Results = T* const*;

/// An operator with one operand, x: [..., M, N], which computes each matrix independently. A matrix
/// with a nan or an infinity gives nan. `Kernel<T>` computes one matrix:
///
///   Kernel(MatrixSizes sizes, bool option)    // allocates memory
///   bool Run(const T* x, Results<T> results)  // false: x has no result
///   static constexpr llvm::StringLiteral kOption, kProblem;
///
/// kOption is the bool attribute that it is given, or empty; kProblem why a matrix has no result.
/// `LaneKernel<T>` computes a block of small ones:
///
///   LaneKernel(MatrixSizes sizes, bool option)    // allocates memory
///   LaneView<T> operand() const                   // where x is loaded to
///   LaneSet Run()                                 // returns the lanes without a result
///   LaneView<T> result(size_t output) const
template <class Context, template <class> class Kernel, template <class> class LaneKernel = NoLanes>
class MatrixOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const llvm::ArrayRef<int64_t> sizes = inputs[0]->sizes();
    const llvm::ArrayRef<int64_t> batch = sizes.drop_back(2);
    const MatrixSizes size = {sizes[sizes.size() - 2], sizes.back()};
    int64_t count = 1, failed = -1;
    for (const int64_t n : batch) count *= n;
    if (count == 0) return llvm::Error::success();
    VisitDType(MatrixTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      failed = RunBatch(Batch<T>(*inputs[0], outputs, size, count), context);
    });
    if (failed < 0) return llvm::Error::success();
    return MatrixError(this->def().signature.inputs[0].name, batch, failed,
                       Kernel<float>::kProblem);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    constexpr llvm::StringLiteral kOption = Kernel<float>::kOption;
    if (!kOption.empty()) option_ = attributes.Bool(kOption);
    return llvm::Error::success();
  }

 private:
  static constexpr size_t kMaxResults = 3;

  // The operand and the results of one run.
  template <class T>
  struct Batch {
    Batch(const Tensor& x, llvm::ArrayRef<Tensor*> outputs, MatrixSizes matrix_sizes,
          int64_t num_matrices)
        : from(x.template data<T>()),
          num_results(outputs.size()),
          sizes(matrix_sizes),
          stride(matrix_sizes.num_elements()),
          count(num_matrices) {
      for (size_t j = 0; j < outputs.size(); ++j) {
        to[j] = outputs[j]->template data<T>();
        elements[j] = outputs[j]->num_elements() / count;
      }
    }

    const T* from;
    T* to[kMaxResults] = {};
    int64_t elements[kMaxResults] = {};
    size_t num_results;
    MatrixSizes sizes;
    int64_t stride, count;
  };

  // Returns the first matrix without a result, or -1.
  template <class T>
  int64_t RunBatch(const Batch<T>& batch, Context& context) const {
    const int64_t work = 4 * batch.stride * std::max(batch.sizes.rows, batch.sizes.columns);
    FirstFailure failure(batch.count);
    if constexpr (kHasLanes<LaneKernel>) {
      if (FitLanes(batch.sizes)) {
        ForEachTask(
            context, CountBlocks<T>(batch.count), work,
            [&] { return LaneKernel<T>(batch.sizes, option_); },
            [&](LaneKernel<T>& kernel, int64_t i) { RunBlock(batch, kernel, i, failure); });
        return failure.Get();
      }
    }
    ForEachTask(
        context, batch.count, work, [&] { return Kernel<T>(batch.sizes, option_); },
        [&](Kernel<T>& kernel, int64_t i) { RunMatrix(batch, kernel, i, failure); });
    return failure.Get();
  }

  template <class T>
  static void RunBlock(const Batch<T>& batch, LaneKernel<T>& kernel, int64_t block,
                       FirstFailure& failure) {
    const LaneRange<T> range(block, batch.count);
    const T* from[kLanes<T>];
    for (int64_t l = 0; l < kLanes<T>; ++l) from[l] = batch.from + range.matrix(l) * batch.stride;
    LoadLanes(from, kernel.operand());
    const LaneSet not_finite = ReplaceNonFinite(kernel.operand());
    const LaneSet failed = kernel.Run() & ~not_finite;
    for (size_t j = 0; j < batch.num_results; ++j) {
      StoreBlock(range, not_finite, kernel.result(j), batch.elements[j], batch.to[j]);
    }
    for (int64_t l = 0; failed != 0 && l < range.size; ++l) {
      if (range.Has(failed, l)) failure.Report(range.matrix(l));
    }
  }

  template <class T>
  static void RunMatrix(const Batch<T>& batch, Kernel<T>& kernel, int64_t i,
                        FirstFailure& failure) {
    const T* matrix = batch.from + i * batch.stride;
    T* results[kMaxResults] = {};
    for (size_t j = 0; j < batch.num_results; ++j) results[j] = batch.to[j] + i * batch.elements[j];
    if (IsFinite(matrix, batch.stride)) {
      if (!kernel.Run(matrix, results)) failure.Report(i);
      return;
    }
    for (size_t j = 0; j < batch.num_results; ++j) FillNan(results[j], batch.elements[j]);
  }

  bool option_ = false;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_MATRIX_BATCH_H_
