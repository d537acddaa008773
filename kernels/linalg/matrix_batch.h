// Kernels on batches of matrices, computed with Eigen.
//
// Eigen computes each matrix in one thread; pieces of the batch run in parallel. Matrices of a
// fixed small size have kernels of their own, which need no memory. Operands are copied to memory
// of Eigen's alignment first: its order of summation depends on the alignment of the operands.
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
#include "pdl/op/operator.h"

namespace pdl::linalg {

using MatrixTypes = TypeList<float, double>;

/// The sizes of each matrix of a batch.
struct MatrixSizes {
  Eigen::Index rows = 0, columns = 0;
  int64_t num_elements() const { return int64_t{rows} * columns; }
};

/// A matrix of R rows and C columns, Eigen::Dynamic if they are not known at compile time.
template <class T, int R = Eigen::Dynamic, int C = Eigen::Dynamic>
using Matrix = Eigen::Matrix<T, R, C>;
template <class T, int R = Eigen::Dynamic>
using Column = Eigen::Matrix<T, R, 1>;

/// The matrix of a tensor, which is row-major.
template <int R = Eigen::Dynamic, int C = Eigen::Dynamic, class T>
auto View(T* data, Eigen::Index rows, Eigen::Index columns) {
  constexpr int kOrder = C == 1 ? Eigen::ColMajor : Eigen::RowMajor;
  using Plain = Eigen::Matrix<std::remove_const_t<T>, R, C, kOrder>;
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

/// The lower triangle of the symmetric part of x, (x + x^T) / 2; the other triangle of `out` is
/// unspecified.
template <class T, int N>
void LoadSymmetricPart(const T* x, Matrix<T, N, N>* out) {
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

/// Calls f(std::integral_constant<int, N>()) with N = n if there are kernels for square matrices of
/// this size, else with Eigen::Dynamic.
template <class F>
void VisitSize(MatrixSizes sizes, F f) {
  switch (sizes.rows == sizes.columns ? sizes.rows : 0) {
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(std::integral_constant<int, Eigen::Dynamic>());
  }
}

/// Whether an operator has kernels for small square matrices of a fixed size.
enum class SmallSizes : bool { kNo, kYes };
template <SmallSizes kSmall, class F>
void VisitSizeIf(MatrixSizes sizes, F f) {
  if constexpr (kSmall == SmallSizes::kYes) {
    VisitSize(sizes, f);
  } else {
    f(std::integral_constant<int, Eigen::Dynamic>());
  }
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
      offset += matrix % view_.sizes[d] * view_.strides[d];
      matrix /= view_.sizes[d];
    }
    return offset * elements_;
  }

 private:
  StridedView view_;
  int64_t elements_ = 0;
};

/// Calls `make()`, which allocates memory, for each piece of a batch of `count` matrices, and
/// compute(made, i) for each matrix i of the piece, which returns whether the matrix has a result.
/// `work` is roughly the number of operations for one matrix. Returns the first matrix without a
/// result, or -1.
template <class Make, class Compute>
int64_t ForEachMatrix(CPUContext& context, int64_t count, int64_t work, Make make,
                      Compute compute) {
  constexpr int64_t kGrainWork = 1 << 16;
  std::atomic<int64_t> first = count;
  const int64_t grain = std::max<int64_t>(1, kGrainWork / std::max<int64_t>(1, work));
  context.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    auto made = make();
    for (int64_t i = begin; i < end; ++i) {
      if (compute(made, i)) continue;
      int64_t known = first;
      while (i < known && !first.compare_exchange_weak(known, i)) {
      }
    }
  });
  return first == count ? -1 : first.load();
}

/// The Error about matrix `matrix` of an operand with these batch dims: "matrix [1, 0] of 'a' is
/// singular".
llvm::Error MatrixError(llvm::StringRef operand, llvm::ArrayRef<int64_t> batch, int64_t matrix,
                        llvm::StringRef problem);

/// The pointers to the results for one matrix, in the order of the operator's outputs.
template <class T>
using Results = T* const*;

/// An operator with one operand, x: [..., M, N], which computes each matrix independently. A matrix
/// with a nan or an infinity gives nan. `Kernel<T, N>` is for matrices of N rows and columns, or
/// Eigen::Dynamic:
///
///   Kernel(MatrixSizes sizes, bool option)    // allocates memory
///   bool Run(const T* x, Results<T> results)  // false: x has no result
///   static constexpr llvm::StringLiteral kOption, kProblem;
///
/// kOption is the bool attribute that it is given, or empty; kProblem why a matrix has no result.
template <class Context, template <class, int> class Kernel, SmallSizes kSmall = SmallSizes::kNo>
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
      VisitSizeIf<kSmall>(size, [&](auto n) {
        failed = RunBatch<T, decltype(n)::value>(*inputs[0], outputs, size, count, context);
      });
    });
    if (failed < 0) return llvm::Error::success();
    return MatrixError(this->def().signature.inputs[0].name, batch, failed,
                       Kernel<float, Eigen::Dynamic>::kProblem);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    constexpr llvm::StringLiteral kOption = Kernel<float, Eigen::Dynamic>::kOption;
    if (!kOption.empty()) option_ = attributes.Bool(kOption);
    return llvm::Error::success();
  }

 private:
  static constexpr size_t kMaxResults = 3;

  template <class T, int N>
  int64_t RunBatch(const Tensor& x, llvm::ArrayRef<Tensor*> outputs, MatrixSizes size,
                   int64_t count, Context& context) const {
    const T* from = x.template data<T>();
    T* to[kMaxResults] = {};
    int64_t elements[kMaxResults] = {};
    for (size_t j = 0; j < outputs.size(); ++j) {
      to[j] = outputs[j]->template data<T>();
      elements[j] = outputs[j]->num_elements() / count;
    }
    const int64_t stride = size.num_elements();
    const int64_t work = 4 * stride * std::max(size.rows, size.columns);
    return ForEachMatrix(
        context, count, work, [&] { return Kernel<T, N>(size, option_); },
        [&](auto& kernel, int64_t i) {
          const T* matrix = from + i * stride;
          T* results[kMaxResults] = {};
          for (size_t j = 0; j < outputs.size(); ++j) results[j] = to[j] + i * elements[j];
          if (IsFinite(matrix, stride)) return kernel.Run(matrix, results);
          for (size_t j = 0; j < outputs.size(); ++j) FillNan(results[j], elements[j]);
          return true;
        });
  }

  bool option_ = false;
};

/// Whether the last matrix of a Solver could be decomposed.
enum class Factored : uint8_t { kYes, kNotFinite, kNo };

/// A kernel of SolutionOp, which decomposes a matrix that is used several times in a row once.
template <class Kernel>
struct Solver {
  Kernel kernel;
  int64_t last = -1;
  Factored state = Factored::kYes;

  /// Decomposes the matrix at element `at` of the operand.
  template <class T>
  void Factor(const T* a, int64_t at) {
    if (at == last) return;
    last = at;
    if (!kernel.IsFinite(a + at)) {
      state = Factored::kNotFinite;
    } else {
      state = kernel.Factor(a + at) ? Factored::kYes : Factored::kNo;
    }
  }
};

/// An operator with two operands: x in `a x = b`, with a: [..., M, N] and b: [..., M, K] or [M]. A
/// matrix a with a nan or an infinity gives nan. `Kernel<T, N>` is for matrices a of N rows and
/// columns, or Eigen::Dynamic:
///
///   Kernel(MatrixSizes sizes, Eigen::Index right_sides, const Options& options)
///   bool IsFinite(const T* a)
///   bool Factor(const T* a)            // false: a has no solution
///   void Solve(const T* b, T* x)       // for the last a
///   struct Options { void Initialize(const AttributeReader&); }
///   static constexpr llvm::StringLiteral kProblem;
template <class Context, template <class, int> class Kernel, SmallSizes kSmall = SmallSizes::kNo>
class SolutionOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const llvm::ArrayRef<int64_t> a = inputs[0]->sizes();
    const MatrixSizes size = {a[a.size() - 2], a.back()};
    int64_t failed = -1;
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitDType(MatrixTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      VisitSizeIf<kSmall>(size, [&](auto n) {
        failed = RunBatch<T, decltype(n)::value>(inputs, *outputs[0], size, context);
      });
    });
    if (failed < 0) return llvm::Error::success();
    return MatrixError(this->def().signature.inputs[0].name, a.drop_back(2), failed,
                       Kernel<float, Eigen::Dynamic>::kProblem);
  }

 protected:
  using Options = typename Kernel<float, Eigen::Dynamic>::Options;

  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    options_.Initialize(attributes);
    return llvm::Error::success();
  }

 private:
  /// Returns the number of the first matrix of a without a solution, or -1.
  template <class T, int N>
  int64_t RunBatch(llvm::ArrayRef<const Tensor*> inputs, Tensor& output, MatrixSizes size,
                   Context& context) const {
    const bool is_vector = inputs[1]->sizes().size() == 1;
    const llvm::ArrayRef<int64_t> x = output.sizes();
    const llvm::ArrayRef<int64_t> batch = x.drop_back(is_vector ? 1 : 2);
    const int64_t right_sides = is_vector ? 1 : x.back();
    const int64_t result = size.columns * right_sides, right = size.rows * right_sides;
    const MatrixOffsets a_at(inputs[0]->sizes().drop_back(2), batch, size.num_elements());
    const MatrixOffsets b_at(inputs[1]->sizes().drop_back(is_vector ? 1 : 2), batch, right);
    const T* a = inputs[0]->template data<T>();
    const T* b = inputs[1]->template data<T>();
    T* to = output.template data<T>();
    const int64_t work =
        2 * size.num_elements() * (std::max(size.rows, size.columns) + right_sides);
    const int64_t failed = ForEachMatrix(
        context, output.num_elements() / result, work,
        [&] { return Solver<Kernel<T, N>>{Kernel<T, N>(size, right_sides, options_)}; },
        [&](auto& solver, int64_t i) {
          solver.Factor(a, a_at[i]);
          if (solver.state == Factored::kYes) {
            solver.kernel.Solve(b + b_at[i], to + i * result);
          } else {
            FillNan(to + i * result, result);
          }
          return solver.state != Factored::kNo;
        });
    return failed < 0 ? -1 : a_at[failed] / std::max<int64_t>(1, size.num_elements());
  }

  Options options_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_MATRIX_BATCH_H_
