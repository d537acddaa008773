// Eigenvalues: eigh.
#include "kernels/linalg/dense_solvers.h"
#include "kernels/linalg/lane_eigh.h"
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

template <class T>
class EighKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "";
  static constexpr llvm::StringLiteral kProblem = "";

  EighKernel(MatrixSizes sizes, bool) : x_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Index n = x_.rows();
    if (n == 0) return true;
    linalg::LoadSymmetricPart(x, &x_);
    if (!linalg::FactorSymmetric(x_, &w_, &v_)) {
      linalg::FillNan(results[0], n);
      linalg::FillNan(results[1], n * n);
      return true;
    }
    for (Index j = 0; j < n; ++j) v_.col(j) *= linalg::SignOf(v_.col(j));
    View(results[0], n, 1) = w_;
    View(results[1], n, n) = v_;
    return true;
  }

 private:
  Matrix<T> x_, v_;
  linalg::Column<T> w_;
};

template <class T>
class EighLanes {
 public:
  EighLanes(MatrixSizes sizes, bool) : solver_(static_cast<int>(sizes.rows)) {}

  LaneView<T> operand() const { return solver_.matrix(); }
  LaneSet Run() {
    linalg::TakeSymmetricPart(solver_.matrix());
    const LaneSet failed = solver_.Factor();  // the iteration did not converge
    linalg::FillNan(failed, solver_.w());
    linalg::FillNan(failed, solver_.v());
    return 0;
  }
  LaneView<T> result(size_t output) const { return output == 0 ? solver_.w() : solver_.v(); }

 private:
  linalg::LaneEigh<T> solver_;
};
template <class Context>
using EighOp = linalg::MatrixOp<Context, EighKernel, EighLanes>;

llvm::Error InferEigh(InferenceContext& context) {
  llvm::Expected<MatrixDims> x = ReadSquareMatrices(context, 0);
  if (!x) return x.takeError();
  context.SetOutput(0, Type(context.input(0).dtype, x->With({x->rows})));
  context.SetOutput(1, context.input(0));
  return llvm::Error::success();
}

// v (diag(dw) + (v^T dv) / gaps) v^T. The eigenvectors depend on the symmetric part of x only.
void EighGradient(GradientContext& g) {
  MatrixCalls m(g);
  Value* v = g.output(1);
  Value* inner = nullptr;
  if (Value* dw = g.output_gradient(0)) inner = g.Call("diag", {dw});
  if (Value* dv = g.output_gradient(1)) {
    Value* turn = g.Mul(m.ProductTN(v, dv), m.InverseGaps(g.output(0)));
    inner = inner == nullptr ? turn : g.Add(inner, turn);
  }
  g.SetInputGradient(0, m.SymmetricPart(m.ProductNT(m.Product(v, inner), v)));
}

struct EighMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The eigenvalues and eigenvectors of symmetric matrices: x @ v = v * w. Of a matrix that "
        "is not symmetric, the symmetric part (x + transpose(x)) / 2 is decomposed. The element of "
        "each eigenvector with the largest absolute value is positive. The eigenvectors of an "
        "eigenvalue that occurs several times are unspecified, and the gradient of v is not finite "
        "there; that of w is. A matrix with a nan or an infinity gives nan.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("w", "[..., N]: the eigenvalues in increasing order; dtype as x");
    AddOutput("v", "the eigenvectors, as orthonormal columns; type as x");
    AddExample("w, v = eigh([[2.0, 0.0], [0.0, 1.0]])\ny = w  # = [1.0, 2.0]");
    SetInference(InferEigh);
    SetGradient(EighGradient);
  }
};

}  // namespace

void RegisterEigenvaluesOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<EighOp, EighMaker>("eigh");
}

}  // namespace pdl
