// Functions of matrices: expm.
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/linalg/matrix_batch.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using linalg::Matrix;
using linalg::MatrixSizes;
using linalg::Results;
using linalg::View;

template <class T>
class ExpmKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  ExpmKernel(MatrixSizes sizes, bool) : x_(sizes.rows, sizes.rows), y_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Eigen::Index n = x_.rows();
    if (n == 0) return true;
    x_ = View(x, n, n);
    y_ = x_.exp();
    View(results[0], n, n) = y_;
    return true;
  }

 private:
  Matrix<T> x_, y_;
};
template <class Context>
using ExpmOp = linalg::MatrixOp<Context, ExpmKernel>;

// The derivative of exp at x^T in the direction of dy is a block of exp([x^T dy; 0 x^T]) (Najfeld
// and Havel, 1995).
void ExpmGradient(GradientContext& g) {
  MatrixCalls m(g);
  Value* x = m.Transpose(g.input(0));
  const Dim n = g.input(0)->type().dims.back();
  const auto concat = [&](Value* a, Value* b, int64_t axis) {
    return g.Call("concat", {a, b}, {{"axis", axis}});
  };
  Value* blocks = concat(concat(x, g.output_gradient(), -1), concat(m.Zeros(x), x, -1), -2);
  Value* y = g.Call("expm", {blocks});
  g.SetInputGradient(0, m.Columns(m.Rows(y, Dim(0), n), n, 2 * n));
}

struct ExpmMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The matrix exponential of square matrices, 1 + x + x @ x / 2 + …, by scaling and squaring "
        "of a Padé approximation (Higham, 2005). A matrix with a nan or an infinity gives nan.");
    AddInput("x", "[..., N, N]").Accepts(kMatrixSet);
    AddOutput("y", "type as x");
    AddExample("y = expm([[0.0, 2.0], [0.0, 0.0]])  # = [[1.0, 2.0], [0.0, 1.0]]");
    SetInference(InferSquare);
    SetGradient(ExpmGradient);
  }
};

}  // namespace

void RegisterMatrixFunctionOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<ExpmOp, ExpmMaker>("expm");
}

}  // namespace pdl
