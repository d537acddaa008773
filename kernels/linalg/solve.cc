// Systems of linear equations: solve, triangular_solve, inverse.
#include "kernels/linalg/dense_solvers.h"
#include "kernels/linalg/lane_lu.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "kernels/linalg/solution_batch.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using Eigen::Index;
using linalg::LaneSet;
using linalg::LaneView;
using linalg::Matrix;
using linalg::MatrixSizes;
using linalg::Results;
using linalg::View;

llvm::Error InferSquareSolution(InferenceContext& context) {
  return InferSolution(context, /*square=*/true);
}

// --- solve --------------------------------------------------------------------------------------

struct NoOptions {
  void Initialize(const AttributeReader&) {}
};

template <class T>
class SolveKernel {
 public:
  static constexpr llvm::StringLiteral kProblem = "is singular";
  using Options = NoOptions;

  SolveKernel(MatrixSizes sizes, Index right_sides, const Options&)
      : lu_(sizes.rows), a_(sizes.rows, sizes.rows), x_(sizes.rows, right_sides) {}

  bool IsFinite(const T* a) const { return linalg::IsFinite(a, int64_t{a_.size()}); }
  bool Factor(const T* a) {
    a_ = View(a, a_.rows(), a_.rows());
    lu_.Compute(a_);
    return !lu_.IsSingular();
  }
  void Solve(const T* b, T* x) {
    x_ = View(b, x_.rows(), x_.cols());
    lu_.Solve(&x_);
    View(x, x_.rows(), x_.cols()) = x_;
  }

 private:
  linalg::LuSolver<T> lu_;
  Matrix<T> a_, x_;
};

template <class T>
class SolveLanes {
 public:
  SolveLanes(MatrixSizes sizes, Index right_sides, const NoOptions&)
      : n_(static_cast<int>(sizes.rows)),
        right_sides_(static_cast<int>(right_sides)),
        lu_(n_),
        x_(linalg::AllocateLanes<T>(n_ * right_sides_)) {}

  LaneView<T> a() const { return lu_.matrix(); }
  LaneView<T> b() const { return x(); }
  LaneView<T> x() const { return linalg::RowMajor(x_.get(), n_, right_sides_); }
  LaneSet Factor() { return lu_.Factor(); }
  void Solve() { lu_.Solve(x()); }

 private:
  int n_, right_sides_;
  linalg::LaneLu<T> lu_;
  linalg::LaneMemory<T> x_;
};
template <class Context>
using SolveOp = linalg::SolutionOp<Context, SolveKernel, SolveLanes>;

// db = a^-T dx, da = -db x^T.
void SolveGradient(GradientContext& g) {
  MatrixCalls m(g);
  const Equation e(g);
  Value* db = g.Call("solve", {m.Transpose(e.a), e.dx});
  e.SetGradients(g, g.Neg(m.ProductNT(db, e.x)), db);
}

struct SolveMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The solution x of the linear equations a @ x = b, by an LU decomposition with partial "
        "pivoting. Dims before the last two are batch dims and broadcast; a one-dimensional b is "
        "one right side for all matrices. A singular matrix is an error of the run; one with a nan "
        "or an infinity gives nan. For matrices that may be singular, use `lstsq`.");
    AddInput("a", "[..., N, N]").Accepts(kMatrixSet);
    AddInput("b", "[..., N, K], or [N]; dtype as a").Accepts(kMatrixSet);
    AddOutput("x", "[..., N, K], or [..., N]; dtype as a");
    AddExample("x = solve([[2.0, 1.0], [0.0, 4.0]], [4.0, 8.0])  # = [1.0, 2.0]");
    SetInference(InferSquareSolution);
    SetGradient(SolveGradient);
  }
};

// --- triangular_solve ---------------------------------------------------------------------------

struct TriangularOptions {
  bool upper = false, transpose = false, unit = false;
  void Initialize(const AttributeReader& attributes) {
    upper = attributes.Bool("upper");
    transpose = attributes.Bool("transpose_a");
    unit = attributes.Bool("unit_diagonal");
  }
};

// All cases are solved with an upper triangular matrix: a lower triangular one is one if the order
// of its rows and of its columns is reversed.
template <class T>
class TriangularSolveKernel {
 public:
  static constexpr llvm::StringLiteral kProblem = "has a 0 on its diagonal";
  using Options = TriangularOptions;

  TriangularSolveKernel(MatrixSizes sizes, Index right_sides, const Options& options)
      : options_(options), a_(sizes.rows, sizes.rows), x_(sizes.rows, right_sides) {}

  // The other triangle is never read.
  bool IsFinite(const T* a) const {
    const Index n = a_.rows();
    bool is_finite = true;
    for (Index i = 0; i < n; ++i) {
      const Index begin = options_.upper ? i + options_.unit : 0;
      const Index end = options_.upper ? n : i + !options_.unit;
      is_finite &= linalg::IsFinite(a + i * n + begin, end - begin);
    }
    return is_finite;
  }
  bool Factor(const T* a) {
    const auto view = View(a, a_.rows(), a_.rows());
    if (options_.transpose) {
      a_ = view.transpose();
    } else {
      a_ = view;
    }
    if (IsLower()) a_.reverseInPlace();
    if (options_.unit) a_.diagonal().setOnes();
    return !(a_.diagonal().array() == T(0)).any();
  }
  void Solve(const T* b, T* x) {
    auto right = View(b, x_.rows(), x_.cols());
    auto result = View(x, x_.rows(), x_.cols());
    if (IsLower()) {
      x_ = right.colwise().reverse();
      linalg::SolveUpper(a_, &x_);
      result = x_.colwise().reverse();
    } else {
      x_ = right;
      linalg::SolveUpper(a_, &x_);
      result = x_;
    }
  }

 private:
  bool IsLower() const { return options_.upper == options_.transpose; }

  Options options_;
  Matrix<T> a_, x_;
};
template <class Context>
using TriangularSolveOp = linalg::SolutionOp<Context, TriangularSolveKernel>;

// As for solve, and only the elements of a that are read have a gradient.
void TriangularSolveGradient(GradientContext& g) {
  MatrixCalls m(g);
  const Equation e(g);
  const bool upper = g.attributes().Bool("upper");
  const bool transpose = g.attributes().Bool("transpose_a");
  const bool unit = g.attributes().Bool("unit_diagonal");
  Value* db = g.Call("triangular_solve", {e.a, e.dx},
                     {{"upper", upper}, {"transpose_a", !transpose}, {"unit_diagonal", unit}});
  Value* da = g.Neg(transpose ? m.ProductNT(e.x, db) : m.ProductNT(db, e.x));
  const int64_t k = !unit ? 0 : upper ? 1 : -1;
  e.SetGradients(g, g.Call(upper ? "triu" : "tril", {da}, {{"k", k}}), db);
}

struct TriangularSolveMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The solution x of the linear equations a @ x = b with triangular matrices a, by "
        "substitution. The elements of the other triangle are not read. Dims before the last two "
        "are batch dims and broadcast; a one-dimensional b is one right side for all matrices. A 0 "
        "on the diagonal is an error of the run; a nan or an infinity in the triangle gives nan.");
    AddInput("a", "[..., N, N]").Accepts(kMatrixSet);
    AddInput("b", "[..., N, K], or [N]; dtype as a").Accepts(kMatrixSet);
    AddOutput("x", "[..., N, K], or [..., N]; dtype as a");
    AddAttr<bool>("upper", "whether a is upper triangular, else it is lower triangular")
        .Default(false);
    AddAttr<bool>("transpose_a", "solve transpose(a) @ x = b; `upper` is about a itself")
        .Default(false);
    AddAttr<bool>("unit_diagonal", "take 1 for the elements of the diagonal, which are not read")
        .Default(false);
    AddExample("x = triangular_solve([[2.0, 0.0], [1.0, 4.0]], [4.0, 10.0])  # = [2.0, 2.0]");
    SetInference(InferSquareSolution);
    SetGradient(TriangularSolveGradient);
  }
};

// --- inverse ------------------------------------------------------------------------------------

template <class T>
class InverseKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "";
  static constexpr llvm::StringLiteral kProblem = "is singular";

  InverseKernel(MatrixSizes sizes, bool) : lu_(sizes.rows), x_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Index n = x_.rows();
    if (n == 0) return true;
    x_ = View(x, n, n);
    lu_.Compute(x_);
    if (lu_.IsSingular()) return false;
    x_.setIdentity();
    lu_.Solve(&x_);
    View(results[0], n, n) = x_;
    return true;
  }

 private:
  linalg::LuSolver<T> lu_;
  Matrix<T> x_;
};

template <class T>
class InverseLanes {
 public:
  InverseLanes(MatrixSizes sizes, bool)
      : n_(static_cast<int>(sizes.rows)), lu_(n_), y_(linalg::AllocateLanes<T>(n_ * n_)) {}

  LaneView<T> operand() const { return lu_.matrix(); }
  LaneSet Run() {
    const LaneSet failed = lu_.Factor();
    lu_.Invert(result(0));
    return failed;
  }
  LaneView<T> result(size_t) const { return linalg::RowMajor(y_.get(), n_, n_); }

 private:
  int n_;
  linalg::LaneLu<T> lu_;
  linalg::LaneMemory<T> y_;
};
template <class Context>
using InverseOp = linalg::MatrixOp<Context, InverseKernel, InverseLanes>;

struct InverseMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The inverse of square matrices. A singular matrix is an error of the run; one with a nan "
        "or an infinity gives nan. `solve(a, b)` is faster and more accurate than inverse(a) @ b, "
        "and `pinv` is defined for all matrices.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("y", "type as x");
    AddExample("y = inverse([[2.0, 0.0], [1.0, 4.0]])  # = [[0.5, 0.0], [-0.125, 0.25]]");
    SetInference(InferSquare);
    SetGradient([](GradientContext& g) {
      MatrixCalls m(g);
      Value* right = m.ProductNT(g.output_gradient(), g.output());
      g.SetInputGradient(0, g.Neg(m.ProductTN(g.output(), right)));
    });
  }
};

}  // namespace

void RegisterSolveOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<SolveOp, SolveMaker>("solve");
  registry.RegisterOp<TriangularSolveOp, TriangularSolveMaker>("triangular_solve");
  registry.RegisterOp<InverseOp, InverseMaker>("inverse");
}

}  // namespace pdl
