// Operators for `a x = b` on batches of matrices.
#ifndef PDL_KERNELS_LINALG_SOLUTION_BATCH_H_
#define PDL_KERNELS_LINALG_SOLUTION_BATCH_H_

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

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

/// The same for a LaneKernel of SolutionOp and blocks of matrices.
template <class T, class LaneKernel>
struct LaneSolver {
  LaneKernel kernel;
  int64_t last[kLanes<T>];
  bool is_factored = false;
  LaneSet not_finite = 0, failed = 0;

  /// Decomposes the matrices at these elements of the operand.
  void Factor(const T* a, const int64_t (&at)[kLanes<T>]) {
    if (is_factored && std::equal(std::begin(at), std::end(at), last)) return;
    std::copy(std::begin(at), std::end(at), last);
    is_factored = true;
    const T* from[kLanes<T>];
    for (int l = 0; l < kLanes<T>; ++l) from[l] = a + at[l];
    LoadLanes(from, kernel.a());
    not_finite = ReplaceNonFinite(kernel.a());
    failed = kernel.Factor() & ~not_finite;
  }
};

/// An operator with two operands: x in `a x = b`, with a: [..., M, N] and b: [..., M, K] or [M]. A
/// matrix a with a nan or an infinity gives nan. `Kernel<T>` computes one matrix:
///
///   Kernel(MatrixSizes sizes, Eigen::Index right_sides, const Options& options)
///   bool IsFinite(const T* a)
///   bool Factor(const T* a)            // false: a has no solution
///   void Solve(const T* b, T* x)       // for the last a
///   struct Options { void Initialize(const AttributeReader&); }
///   static constexpr llvm::StringLiteral kProblem;
///
/// `LaneKernel<T>` computes a block of small ones:
///
///   LaneKernel(MatrixSizes sizes, Eigen::Index right_sides, const Options& options)
///   LaneView<T> a() const, b() const, x() const   // a and b are loaded, x is the result
///   LaneSet Factor()                              // returns the lanes without a solution
///   void Solve()                                  // may be called several times
template <class Context, template <class> class Kernel, template <class> class LaneKernel = NoLanes>
class SolutionOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const llvm::ArrayRef<int64_t> a = inputs[0]->sizes();
    int64_t failed = -1;
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitDType(MatrixTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      failed = RunBatch(Batch<T>(inputs, *outputs[0]), context);
    });
    if (failed < 0) return llvm::Error::success();
    return MatrixError(this->def().signature.inputs[0].name, a.drop_back(2), failed,
                       Kernel<float>::kProblem);
  }

 protected:
  using Options = typename Kernel<float>::Options;

  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    options_.Initialize(attributes);
    return llvm::Error::success();
  }

 private:
  // The operands and the result of one run.
  template <class T>
  struct Batch {
    Batch(llvm::ArrayRef<const Tensor*> inputs, Tensor& output)
        : Batch(inputs, output, inputs[1]->sizes().size() == 1) {}
    Batch(llvm::ArrayRef<const Tensor*> inputs, Tensor& output, bool is_vector)
        : sizes{inputs[0]->sizes().drop_back(1).back(), inputs[0]->sizes().back()},
          right_sides(is_vector ? 1 : output.sizes().back()),
          elements(sizes.columns * right_sides),
          count(output.num_elements() / elements),
          a(inputs[0]->template data<T>()),
          b(inputs[1]->template data<T>()),
          x(output.template data<T>()),
          a_at(inputs[0]->sizes().drop_back(2), output.sizes().drop_back(is_vector ? 1 : 2),
               sizes.num_elements()),
          b_at(inputs[1]->sizes().drop_back(is_vector ? 1 : 2),
               output.sizes().drop_back(is_vector ? 1 : 2), sizes.rows * right_sides) {}

    MatrixSizes sizes;
    // The columns of b, the elements of x for each matrix, and the number of matrices.
    int64_t right_sides, elements, count;
    const T* a;
    const T* b;
    T* x;
    MatrixOffsets a_at, b_at;
  };

  // Returns the number of the first matrix of a without a solution, or -1.
  template <class T>
  int64_t RunBatch(const Batch<T>& batch, Context& context) const {
    FirstFailure failure(batch.count);
    RunTasks(batch, context, failure);
    const int64_t failed = failure.Get();
    return failed < 0 ? -1 : batch.a_at[failed] / std::max<int64_t>(1, batch.sizes.num_elements());
  }

  template <class T>
  void RunTasks(const Batch<T>& batch, Context& context, FirstFailure& failure) const {
    const MatrixSizes sizes = batch.sizes;
    const int64_t work =
        2 * sizes.num_elements() * (std::max(sizes.rows, sizes.columns) + batch.right_sides);
    if constexpr (kHasLanes<LaneKernel>) {
      if (FitLanes(sizes) && batch.right_sides <= 2 * kMaxLaneSize) {
        using Lanes = LaneSolver<T, LaneKernel<T>>;
        return ForEachTask(
            context, CountBlocks<T>(batch.count), work,
            [&] { return Lanes{LaneKernel<T>(sizes, batch.right_sides, options_), {}}; },
            [&](Lanes& solver, int64_t i) { RunBlock(batch, solver, i, failure); });
      }
    }
    ForEachTask(
        context, batch.count, work,
        [&] { return Solver<Kernel<T>>{Kernel<T>(sizes, batch.right_sides, options_)}; },
        [&](Solver<Kernel<T>>& solver, int64_t i) { RunMatrix(batch, solver, i, failure); });
  }

  template <class T>
  static void RunBlock(const Batch<T>& batch, LaneSolver<T, LaneKernel<T>>& solver, int64_t block,
                       FirstFailure& failure) {
    const LaneRange<T> range(block, batch.count);
    int64_t a_at[kLanes<T>];
    const T* b[kLanes<T>];
    for (int64_t l = 0; l < kLanes<T>; ++l) {
      a_at[l] = batch.a_at[range.matrix(l)];
      b[l] = batch.b + batch.b_at[range.matrix(l)];
    }
    solver.Factor(batch.a, a_at);
    for (int64_t l = 0; solver.failed != 0 && l < range.size; ++l) {
      if (range.Has(solver.failed, l)) failure.Report(range.matrix(l));
    }
    LoadLanes(b, solver.kernel.b());
    solver.kernel.Solve();
    StoreBlock(range, solver.not_finite, solver.kernel.x(), batch.elements, batch.x);
  }

  template <class T>
  static void RunMatrix(const Batch<T>& batch, Solver<Kernel<T>>& solver, int64_t i,
                        FirstFailure& failure) {
    solver.Factor(batch.a, batch.a_at[i]);
    T* x = batch.x + i * batch.elements;
    if (solver.state == Factored::kYes) {
      solver.kernel.Solve(batch.b + batch.b_at[i], x);
    } else {
      FillNan(x, batch.elements);
    }
    if (solver.state == Factored::kNo) failure.Report(i);
  }

  Options options_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_SOLUTION_BATCH_H_
