// Decompositions of matrices into triangular factors: cholesky, qr.
#include "kernels/linalg/dense_solvers.h"
#include "kernels/linalg/lane_lu.h"
#include "kernels/linalg/lane_qr.h"
#include "kernels/linalg/matrix_batch.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
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

// --- cholesky -----------------------------------------------------------------------------------

template <class T>
class CholeskyKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "upper";
  static constexpr llvm::StringLiteral kProblem = "is not positive definite";

  CholeskyKernel(MatrixSizes sizes, bool upper) : upper_(upper), x_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Index n = x_.rows();
    linalg::LoadSymmetricPart(x, &x_);
    if (!linalg::FactorCholesky(&x_)) return false;
    auto y = View(results[0], n, n);
    if (upper_) {
      y = x_.transpose();
    } else {
      y = x_;
    }
    return true;
  }

 private:
  bool upper_;
  Matrix<T> x_;
};

template <class T>
class CholeskyLanes {
 public:
  CholeskyLanes(MatrixSizes sizes, bool upper)
      : upper_(upper), n_(static_cast<int>(sizes.rows)), x_(linalg::AllocateLanes<T>(n_ * n_)) {}

  LaneView<T> operand() const { return linalg::RowMajor(x_.get(), n_, n_); }
  LaneSet Run() {
    linalg::TakeSymmetricPart(operand());
    return linalg::FactorCholesky(operand());
  }
  LaneView<T> result(size_t) const { return upper_ ? Transposed(operand()) : operand(); }

 private:
  bool upper_;
  int n_;
  linalg::LaneMemory<T> x_;
};
template <class Context>
using CholeskyOp = linalg::MatrixOp<Context, CholeskyKernel, CholeskyLanes>;

// With the lower factor l: s = l^-T P l^-1, where P is the lower triangle of l^T dl with half of
// its diagonal (Murray, arXiv:1602.07527). The factor depends on the symmetric part of x only.
void CholeskyGradient(GradientContext& g) {
  MatrixCalls m(g);
  const bool upper = g.attributes().Bool("upper");
  Value* l = upper ? m.Transpose(g.output()) : g.output();
  Value* dl = upper ? m.Transpose(g.output_gradient()) : g.output_gradient();
  Value* p = g.Call("tril", {m.ProductTN(l, g.Call("tril", {dl}))});
  Value* diagonal = g.Call("diag", {g.Call("diagonal", {p})});
  p = g.Sub(p, g.Mul(diagonal, g.Scalar(0.5, l)));
  const auto divide = [&](Value* x) {
    return g.Call("triangular_solve", {l, x}, {{"transpose_a", true}});
  };
  g.SetInputGradient(0, m.SymmetricPart(divide(m.Transpose(divide(p)))));
}

struct CholeskyMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The Cholesky decomposition of symmetric positive definite matrices: the lower triangular "
        "y with y @ transpose(y) = x. Of a matrix that is not symmetric, the symmetric part (x + "
        "transpose(x)) / 2 is decomposed. A matrix that is not positive definite is an error of "
        "the run; one with a nan or an infinity gives nan.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("y", "triangular; type as x");
    AddAttr<bool>("upper", "return the upper triangular y with transpose(y) @ y = x instead")
        .Default(false);
    AddExample("y = cholesky([[4.0, 2.0], [2.0, 10.0]])  # = [[2.0, 0.0], [1.0, 3.0]]");
    SetInference(InferSquare);
    SetGradient(CholeskyGradient);
  }
};

// --- qr -----------------------------------------------------------------------------------------

template <class T>
class QrKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "full_matrices";
  static constexpr llvm::StringLiteral kProblem = "";

  QrKernel(MatrixSizes sizes, bool full)
      : rows_(sizes.rows),
        columns_(sizes.columns),
        rank_(full ? rows_ : std::min(rows_, columns_)),
        x_(rows_, columns_),
        q_(rows_, rank_) {}

  bool Run(const T* x, Results<T> results) {
    auto r = View(results[1], rank_, columns_);
    r.setZero();
    if (rows_ > 0 && columns_ > 0) {
      x_ = View(x, rows_, columns_);
      linalg::FactorQr(&x_, &q_);
      r.template triangularView<Eigen::Upper>() = x_.topRows(rank_);
    } else {
      q_.setIdentity();
    }
    // The diagonal of r is made nonnegative, so that the result is unique.
    for (Index i = 0; i < std::min(rank_, columns_); ++i) {
      if (!std::signbit(r(i, i))) continue;
      r.row(i).tail(columns_ - i) *= T(-1);
      q_.col(i) *= T(-1);
    }
    View(results[0], rows_, rank_) = q_;
    return true;
  }

 private:
  Index rows_, columns_, rank_;
  Matrix<T> x_, q_;
};

template <class T>
class QrLanes {
 public:
  QrLanes(MatrixSizes sizes, bool full)
      : solver_(static_cast<int>(sizes.rows), static_cast<int>(sizes.columns),
                static_cast<int>(full ? sizes.rows : std::min(sizes.rows, sizes.columns))) {}

  LaneView<T> operand() const { return solver_.matrix(); }
  LaneSet Run() {
    solver_.Factor();
    return 0;
  }
  LaneView<T> result(size_t output) const { return output == 0 ? solver_.q() : solver_.r(); }

 private:
  linalg::LaneQr<T> solver_;
};
template <class Context>
using QrOp = linalg::MatrixOp<Context, QrKernel, QrLanes>;

llvm::Error InferQr(InferenceContext& context) {
  llvm::Expected<MatrixDims> x = ReadMatrices(context, 0);
  if (!x) return x.takeError();
  const DType dtype = context.input(0).dtype;
  const bool full = context.attributes().Bool("full_matrices");
  const Dim rank = full ? x->rows : x->SmallerSize();
  context.SetOutput(0, Type(dtype, x->With({x->rows, rank})));
  context.SetOutput(1, Type(dtype, x->With({rank, x->columns})));
  return llvm::Error::success();
}

// The gradient of x = q r with square r (Walter and Lehmann, arXiv:1009.6112): (dq + q c) r^-T,
// where c is the lower triangle of r dr^T - dq^T q, and its mirror image.
Value* TallQrGradient(GradientContext& g, Value* q, Value* r, Value* dq, Value* dr) {
  MatrixCalls m(g);
  Value* c = g.Sub(m.ProductNT(r, dr), m.ProductTN(dq, q));
  c = g.Add(g.Call("tril", {c}), m.Transpose(g.Call("tril", {c}, {{"k", int64_t{-1}}})));
  Value* all = g.Add(dq, m.Product(q, c));
  return m.Transpose(g.Call("triangular_solve", {r, m.Transpose(all)}, {{"upper", true}}));
}

// With more columns than rows, x = [left right] and r = [u v]: left = q u, and right = q v (Roberts
// and Roberts, arXiv:2009.10071).
void QrGradient(GradientContext& g) {
  MatrixCalls m(g);
  const Shape& dims = g.input(0)->type().dims;
  const Dim rows = dims[dims.size() - 2], columns = dims[dims.size() - 1];
  const Dim rank = g.output()->type().dims.back();
  const bool is_tall = rank == columns;
  if (g.attributes().Bool("full_matrices") && !is_tall && !(columns - rows).ProvablyAtLeast(0)) {
    return g.Fail("q of full_matrices=true is not unique if there are more rows than columns");
  }
  Value* q = g.output(0);
  Value* r = g.output(1);
  Value* dq = g.output_gradient(0) != nullptr ? g.output_gradient(0) : m.Zeros(q);
  Value* dr = g.output_gradient(1) != nullptr ? g.output_gradient(1) : m.Zeros(r);
  if (is_tall) return g.SetInputGradient(0, TallQrGradient(g, q, r, dq, dr));
  Value* right = m.Columns(g.input(0), rank, columns);
  Value* dv = m.Columns(dr, rank, columns);
  Value* left = TallQrGradient(g, q, m.Columns(r, Dim(0), rank), g.Add(dq, m.ProductNT(right, dv)),
                               m.Columns(dr, Dim(0), rank));
  g.SetInputGradient(0, g.Call("concat", {left, m.Product(q, dv)}, {{"axis", int64_t{-1}}}));
}

struct QrMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The QR decomposition of matrices: x = q @ r, where q has orthonormal columns and r is "
        "upper triangular. The diagonal of r is nonnegative. A matrix with a nan or an infinity "
        "gives nan. The gradient requires the first min(M, N) columns of x to be linearly "
        "independent, and min(M, N) columns of q.");
    AddInput("x", "[..., M, N]").Accepts(kMatrixSet);
    AddOutput("q", "[..., M, min(M, N)]; dtype as x");
    AddOutput("r", "[..., min(M, N), N]; dtype as x");
    AddAttr<bool>("full_matrices", "whether q is [..., M, M], and r [..., M, N]").Default(false);
    AddExample("q, r = qr([[3.0, 1.0], [4.0, 3.0]])\ny = r  # = [[5.0, 3.0], [0.0, 1.0]]");
    SetInference(InferQr);
    SetGradient(QrGradient);
  }
};

}  // namespace

void RegisterDecompositionOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<CholeskyOp, CholeskyMaker>("cholesky");
  registry.RegisterOp<QrOp, QrMaker>("qr");
}

}  // namespace pdl
