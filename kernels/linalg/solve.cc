// Systems of linear equations: solve, triangular_solve, inverse.
#include "kernels/linalg/lu_solver.h"
#include "kernels/linalg/matrix_batch.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using Eigen::Index;
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

template <class T, int N>
class SolveKernel {
 public:
  static constexpr llvm::StringLiteral kProblem = "is singular";
  using Options = NoOptions;

  SolveKernel(MatrixSizes sizes, Index right_sides, const Options&)
      : lu_(sizes.rows), right_(sizes.rows, right_sides), solution_(sizes.rows, right_sides) {}

  bool IsFinite(const T* a) const {
    return linalg::IsFinite(a, int64_t{right_.rows()} * right_.rows());
  }
  bool Factor(const T* a) {
    lu_.Compute(a);
    return !lu_.IsSingular();
  }
  void Solve(const T* b, T* x) {
    right_ = View<N>(b, right_.rows(), right_.cols());
    solution_ = lu_.lu().solve(right_);
    View<N>(x, right_.rows(), right_.cols()) = solution_;
  }

 private:
  linalg::LuSolver<T, N> lu_;
  Matrix<T, N, Eigen::Dynamic> right_, solution_;
};
template <class Context>
using SolveOp = linalg::SolutionOp<Context, SolveKernel, linalg::SmallSizes::kYes>;

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

template <class T, int N>
class TriangularSolveKernel {
 public:
  static constexpr llvm::StringLiteral kProblem = "has a 0 on its diagonal";
  using Options = TriangularOptions;

  TriangularSolveKernel(MatrixSizes sizes, Index right_sides, const Options& options)
      : is_upper_(options.upper),
        transpose_(options.transpose),
        unit_(options.unit),
        a_(sizes.rows, sizes.rows),
        x_(sizes.rows, right_sides) {}

  // The other triangle is never read.
  bool IsFinite(const T* a) const {
    const Index n = a_.rows();
    bool is_finite = true;
    for (Index i = 0; i < n; ++i) {
      const Index begin = is_upper_ ? i + unit_ : 0, end = is_upper_ ? n : i + !unit_;
      is_finite &= linalg::IsFinite(a + i * n + begin, end - begin);
    }
    return is_finite;
  }
  bool Factor(const T* a) {
    const auto view = View<N, N>(a, a_.rows(), a_.rows());
    if (transpose_) {
      a_ = view.transpose();
    } else {
      a_ = view;
    }
    return unit_ || !(a_.diagonal().array() == T(0)).any();
  }
  void Solve(const T* b, T* x) {
    x_ = View<N>(b, x_.rows(), x_.cols());
    const bool is_upper = is_upper_ != transpose_;
    if (is_upper && unit_) {
      a_.template triangularView<Eigen::UnitUpper>().solveInPlace(x_);
    } else if (is_upper) {
      a_.template triangularView<Eigen::Upper>().solveInPlace(x_);
    } else if (unit_) {
      a_.template triangularView<Eigen::UnitLower>().solveInPlace(x_);
    } else {
      a_.template triangularView<Eigen::Lower>().solveInPlace(x_);
    }
    View<N>(x, x_.rows(), x_.cols()) = x_;
  }

 private:
  bool is_upper_, transpose_, unit_;
  Matrix<T, N, N> a_;
  Matrix<T, N, Eigen::Dynamic> x_;
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

template <class T, int N>
class InverseKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "";
  static constexpr llvm::StringLiteral kProblem = "is singular";

  InverseKernel(MatrixSizes sizes, bool) : lu_(sizes.rows), y_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    if (y_.rows() == 0) return true;
    lu_.Compute(x);
    if (lu_.IsSingular()) return false;
    y_ = lu_.lu().inverse();
    View<N, N>(results[0], y_.rows(), y_.rows()) = y_;
    return true;
  }

 private:
  linalg::LuSolver<T, N> lu_;
  Matrix<T, N, N> y_;
};
template <class Context>
using InverseOp = linalg::MatrixOp<Context, InverseKernel, linalg::SmallSizes::kYes>;

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
