// Determinants: det, slogdet, cofactor.
#include "kernels/linalg/lu_solver.h"
#include "kernels/linalg/matrix_batch.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "kernels/linalg/svd_solver.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using Eigen::Index;
using linalg::Matrix;
using linalg::MatrixSizes;
using linalg::Results;
using linalg::View;

// --- det ----------------------------------------------------------------------------------------

template <class T, int N>
class DetKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  DetKernel(MatrixSizes sizes, bool) : n_(sizes.rows), lu_(sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    if (n_ > 0) lu_.Compute(x);
    results[0][0] = n_ > 0 ? lu_.Determinant() : T(1);
    return true;
  }

 private:
  Index n_;
  linalg::LuSolver<T, N> lu_;
};
template <class Context>
using DetOp = linalg::MatrixOp<Context, DetKernel, linalg::SmallSizes::kYes>;

// One number for each matrix.
llvm::Error InferDet(InferenceContext& context) {
  llvm::Expected<MatrixDims> x = ReadSquareMatrices(context, 0);
  if (!x) return x.takeError();
  context.SetOutput(Type(context.input(0).dtype, x->batch));
  return llvm::Error::success();
}

struct DetMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The determinant of square matrices; 1 if they have no rows. The gradient is finite for "
        "singular matrices, too; that of the gradient requires invertible ones. A matrix with a "
        "nan or an infinity gives nan. See also `slogdet`, which does not overflow.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("y", "[...]; dtype as x");
    AddExample("y = det([[1.0, 2.0], [3.0, 4.0]])  # = -2.0");
    properties().onnx_name = "Det";
    SetInference(InferDet);
    SetGradient([](GradientContext& g) {
      MatrixCalls m(g);
      Value* cofactors = g.Call("cofactor", {g.input(0)});
      g.SetInputGradient(0, g.Mul(m.PerMatrix(g.output_gradient()), cofactors));
    });
  }
};

// --- slogdet ------------------------------------------------------------------------------------

template <class T, int N>
class SlogdetKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  SlogdetKernel(MatrixSizes sizes, bool) : n_(sizes.rows), lu_(sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    T sign = 1;
    double log = 0;
    if (n_ > 0) {
      lu_.Compute(x);
      sign = lu_.PermutationSign();
      for (Index i = 0; i < n_; ++i) {
        const T pivot = lu_.pivots()[i];
        sign *= static_cast<T>((pivot > 0) - (pivot < 0));
        log += std::log(static_cast<double>(std::abs(pivot)));
      }
    }
    results[0][0] = sign == 0 ? T(0) : sign;
    results[1][0] = static_cast<T>(log);
    return true;
  }

 private:
  Index n_;
  linalg::LuSolver<T, N> lu_;
};
template <class Context>
using SlogdetOp = linalg::MatrixOp<Context, SlogdetKernel, linalg::SmallSizes::kYes>;

llvm::Error InferSlogdet(InferenceContext& context) {
  if (llvm::Error error = InferDet(context)) return error;
  context.SetOutput(1, context.outputs()[0]);
  return llvm::Error::success();
}

struct SlogdetMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The sign and the logarithm of the absolute value of the determinant of square matrices, "
        "as in NumPy: det = sign * exp(logabsdet). They are 0 and -inf if the matrix is singular, "
        "for which the gradient is an error of the run. A matrix with a nan or an infinity gives "
        "nan.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("sign", "[...]: 1, -1 or 0, without a gradient; dtype as x");
    AddOutput("logabsdet", "[...]; dtype as x");
    AddExample("sign, log = slogdet([[0.0, 1.0], [1.0, 0.0]])\ny = sign  # = -1.0");
    SetInference(InferSlogdet);
    SetGradient([](GradientContext& g) {
      MatrixCalls m(g);
      if (g.output_gradient(1) == nullptr) return;
      Value* transposed = m.Transpose(g.Call("inverse", {g.input(0)}));
      g.SetInputGradient(0, g.Mul(m.PerMatrix(g.output_gradient(1)), transposed));
    });
  }
};

// --- cofactor -----------------------------------------------------------------------------------

template <class T, int N>
class CofactorKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  CofactorKernel(MatrixSizes sizes, bool)
      : lu_(sizes.rows),
        basis_(sizes.rows),
        svd_(/*full=*/true),
        y_(sizes.rows, sizes.rows),
        products_(sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Index n = y_.rows();
    if (n == 0) return true;
    lu_.Compute(x);
    // Of a matrix that is far from singular, det(x) x^-T is accurate.
    constexpr T kFar = T(0.01);
    if (!lu_.IsSingular() && lu_.lu().rcond() >= kFar) {
      y_ = lu_.lu().inverse().transpose();
      y_ *= lu_.Determinant();
    } else {
      FromSingularValues(View<N, N>(x, n, n));
    }
    View<N, N>(results[0], n, n) = y_;
    return true;
  }

 private:
  // With x = u s v^T: det(u) det(v) u p v^T, where p[i] is the product of all s but s[i].
  void FromSingularValues(const Matrix<T, N, N>& x) {
    svd_.Compute(x);
    const auto& s = svd_.s();
    T product = 1;
    for (Index i = 0; i < s.size(); ++i) {
      products_[i] = product;
      product *= s[i];
    }
    product = 1;
    for (Index i = s.size(); i-- > 0;) {
      products_[i] *= product;
      product *= s[i];
    }
    const T sign = Sign(svd_.u()) * Sign(svd_.v());
    y_.noalias() = svd_.u() * (sign * products_).asDiagonal() * svd_.v().transpose();
  }
  // The determinant of an orthogonal matrix.
  T Sign(const Matrix<T, N, N>& x) {
    basis_.compute(x);
    return basis_.determinant() < 0 ? T(-1) : T(1);
  }

  linalg::LuSolver<T, N> lu_;
  Eigen::PartialPivLU<Matrix<T, N, N>> basis_;
  linalg::SvdSolver<T, N> svd_;
  Matrix<T, N, N> y_;
  linalg::Column<T, N> products_;
};
template <class Context>
using CofactorOp = linalg::MatrixOp<Context, CofactorKernel>;

// With y = det(x) x^-T: (sum(dy * y) y - y dy^T y) / det(x).
void CofactorGradient(GradientContext& g) {
  MatrixCalls m(g);
  Value* y = g.output();
  Value* dy = g.output_gradient();
  const std::vector<int64_t> axes = {-2, -1};
  Value* sum = g.Call("sum", {g.Mul(dy, y)}, {{"axes", axes}, {"keep", true}});
  Value* difference = g.Sub(g.Mul(sum, y), m.Product(y, m.ProductTN(dy, y)));
  g.SetInputGradient(0, g.Div(difference, m.PerMatrix(g.Call("det", {g.input(0)}))));
}

struct CofactorMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The cofactors of square matrices: y[i, j] is (-1) ** (i + j) times the determinant of x "
        "without row i and column j. It is the gradient of `det`, and the transposed adjugate, "
        "det(x) * transpose(inverse(x)) of invertible matrices, but is defined for singular ones, "
        "too; its gradient is finite for invertible ones only. A matrix with a nan or an infinity "
        "gives nan.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("y", "type as x");
    AddExample("y = cofactor([[1.0, 2.0], [3.0, 4.0]])  # = [[4.0, -3.0], [-2.0, 1.0]]");
    SetInference(InferSquare);
    SetGradient(CofactorGradient);
  }
};

}  // namespace

void RegisterDeterminantOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<DetOp, DetMaker>("det");
  registry.RegisterOp<SlogdetOp, SlogdetMaker>("slogdet");
  registry.RegisterOp<CofactorOp, CofactorMaker>("cofactor");
}

}  // namespace pdl
