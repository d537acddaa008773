// Functions of matrices: expm.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/dense_solvers.h"
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

// The Padé approximation of exp with numerator and denominator of degree kDegree, for matrices
// whose 1-norm is at most kRadius (Higham, 2005): its coefficients, which are those of the
// numerator.
template <class T>
struct Pade;
template <>
struct Pade<float> {
  static constexpr int kDegree = 7;
  static constexpr double kRadius = 3.925724783138660;
  static constexpr double kCoefficients[] = {17297280, 8648640, 1995840, 277200,
                                             25200,    1512,    56,      1};
};
template <>
struct Pade<double> {
  static constexpr int kDegree = 13;
  static constexpr double kRadius = 5.371920351148152;
  static constexpr double kCoefficients[] = {64764752532480000,
                                             32382376266240000,
                                             7771770303897600,
                                             1187353796428800,
                                             129060195264000,
                                             10559470521600,
                                             670442572800,
                                             33522128640,
                                             1323241920,
                                             40840800,
                                             960960,
                                             16380,
                                             182,
                                             1};
};

template <class T>
class ExpmKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  ExpmKernel(MatrixSizes sizes, bool)
      : lu_(sizes.rows),
        x_(sizes.rows, sizes.rows),
        square_(sizes.rows, sizes.rows),
        power_(sizes.rows, sizes.rows),
        next_(sizes.rows, sizes.rows),
        odd_(sizes.rows, sizes.rows),
        even_(sizes.rows, sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Eigen::Index n = x_.rows();
    if (n == 0) return true;
    x_ = View(x, n, n);
    int exponent = 0;
    const double norm =
        static_cast<double>(x_.template cast<double>().cwiseAbs().colwise().sum().maxCoeff());
    std::frexp(std::min(norm / Pade<T>::kRadius, std::numeric_limits<double>::max()), &exponent);
    const int squarings = std::max(exponent, 0);
    for (Eigen::Index i = 0; i < x_.size(); ++i)
      x_.data()[i] = std::ldexp(x_.data()[i], -squarings);
    Approximate();
    for (int i = 0; i < squarings; ++i) {
      linalg::Multiply(x_, x_, &next_);
      x_.swap(next_);
    }
    View(results[0], n, n) = x_;
    return true;
  }

 private:
  // Replaces x by (even - odd)^-1 (even + odd), with the even and the odd powers of x.
  void Approximate() {
    constexpr auto& kCoefficients = Pade<T>::kCoefficients;
    linalg::Multiply(x_, x_, &square_);
    power_.setIdentity();
    even_ = static_cast<T>(kCoefficients[0]) * power_;
    odd_ = static_cast<T>(kCoefficients[1]) * power_;
    for (int k = 2; k < Pade<T>::kDegree; k += 2) {
      linalg::Multiply(power_, square_, &next_);
      power_.swap(next_);
      even_ += static_cast<T>(kCoefficients[k]) * power_;
      odd_ += static_cast<T>(kCoefficients[k + 1]) * power_;
    }
    linalg::Multiply(x_, odd_, &next_);
    odd_ = even_ - next_;
    x_ = even_ + next_;
    lu_.Compute(odd_);
    lu_.Solve(&x_);
  }

  linalg::LuSolver<T> lu_;
  Matrix<T> x_, square_, power_, next_, odd_, even_;
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
