// Determinants: det, slogdet, cofactor.
#include "kernels/linalg/dense_solvers.h"
#include "kernels/linalg/lane_lu.h"
#include "kernels/linalg/matrix_batch.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "kernels/linalg/svd_solver.h"
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

// --- det ----------------------------------------------------------------------------------------

// Decomposes one matrix for the determinant, mantissa * 2 ** exponent.
template <class T>
class DeterminantKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  DeterminantKernel(MatrixSizes sizes, bool) : x_(sizes.rows, sizes.rows), lu_(sizes.rows) {}

 protected:
  double Compute(const T* x, int64_t* exponent) {
    *exponent = 0;
    if (x_.rows() == 0) return 1;
    x_ = View(x, x_.rows(), x_.rows());
    lu_.Compute(x_);
    return lu_.Determinant(exponent);
  }

 private:
  Matrix<T> x_;
  linalg::LuSolver<T> lu_;
};

// The same for a block.
template <class T>
class DeterminantLanes {
 public:
  DeterminantLanes(MatrixSizes sizes, bool) : lu_(static_cast<int>(sizes.rows)) {}

  LaneView<T> operand() const { return lu_.matrix(); }

 protected:
  void Compute() {
    lu_.Factor();
    lu_.Determinants(mantissa_, exponent_);
  }

  double mantissa_[linalg::kLanes<T>];
  int64_t exponent_[linalg::kLanes<T>];

 private:
  linalg::LaneLu<T> lu_;
};

// mantissa * 2 ** exponent.
double PowerOfTwoTimes(double mantissa, int64_t exponent) {
  constexpr int64_t kFar = 4 * std::numeric_limits<double>::max_exponent;
  return std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -kFar, kFar)));
}

template <class T>
struct DetKernel : DeterminantKernel<T> {
  using DeterminantKernel<T>::DeterminantKernel;
  bool Run(const T* x, Results<T> results) {
    int64_t exponent = 0;
    const double mantissa = this->Compute(x, &exponent);
    results[0][0] = static_cast<T>(PowerOfTwoTimes(mantissa, exponent));
    return true;
  }
};

template <class T>
class DetLanes : public DeterminantLanes<T> {
 public:
  using DeterminantLanes<T>::DeterminantLanes;
  LaneSet Run() {
    this->Compute();
    for (int l = 0; l < linalg::kLanes<T>; ++l)
      y_[0].v[l] = static_cast<T>(PowerOfTwoTimes(this->mantissa_[l], this->exponent_[l]));
    return 0;
  }
  LaneView<T> result(size_t) const { return linalg::RowMajor(y_.get(), 1, 1); }

 private:
  linalg::LaneMemory<T> y_ = linalg::AllocateLanes<T>(1);
};
template <class Context>
using DetOp = linalg::MatrixOp<Context, DetKernel, DetLanes>;

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

// The logarithm of |mantissa| * 2 ** exponent.
double Logarithm(double mantissa, int64_t exponent) {
  constexpr double kLn2 = 0.693147180559945309417;
  return std::log(std::abs(mantissa)) + static_cast<double>(exponent) * kLn2;
}
template <class T>
T SignOfNumber(double x) {
  return static_cast<T>((x > 0) - (x < 0));
}

template <class T>
struct SlogdetKernel : DeterminantKernel<T> {
  using DeterminantKernel<T>::DeterminantKernel;
  bool Run(const T* x, Results<T> results) {
    int64_t exponent = 0;
    const double mantissa = this->Compute(x, &exponent);
    results[0][0] = SignOfNumber<T>(mantissa);
    results[1][0] = static_cast<T>(Logarithm(mantissa, exponent));
    return true;
  }
};

template <class T>
class SlogdetLanes : public DeterminantLanes<T> {
 public:
  using DeterminantLanes<T>::DeterminantLanes;
  LaneSet Run() {
    this->Compute();
    for (int l = 0; l < linalg::kLanes<T>; ++l) {
      y_[0].v[l] = SignOfNumber<T>(this->mantissa_[l]);
      y_[1].v[l] = static_cast<T>(Logarithm(this->mantissa_[l], this->exponent_[l]));
    }
    return 0;
  }
  LaneView<T> result(size_t output) const { return linalg::RowMajor(y_.get() + output, 1, 1); }

 private:
  linalg::LaneMemory<T> y_ = linalg::AllocateLanes<T>(2);
};
template <class Context>
using SlogdetOp = linalg::MatrixOp<Context, SlogdetKernel, SlogdetLanes>;

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

// Products of all of n singular values but one, products[i] without values[i].
template <class Values, class Products>
void ProductsOfOthers(const Values& values, int64_t n, Products& products) {
  auto product = values[0];
  product = 1;
  for (int64_t i = 0; i < n; ++i) {
    products[i] = product;
    product *= values[i];
  }
  product = 1;
  for (int64_t i = n; i-- > 0;) {
    products[i] *= product;
    product *= values[i];
  }
}

template <class T>
class CofactorKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "", kProblem = "";

  CofactorKernel(MatrixSizes sizes, bool)
      : lu_(sizes.rows),
        svd_(/*full=*/true),
        x_(sizes.rows, sizes.rows),
        y_(sizes.rows, sizes.rows),
        products_(sizes.rows) {}

  bool Run(const T* x, Results<T> results) {
    const Index n = y_.rows();
    if (n == 0) return true;
    x_ = View(x, n, n);
    lu_.Compute(x_);
    // Of a matrix that is far from singular, det(x) x^-T is accurate.
    constexpr T kFar = T(0.01);
    if (!lu_.IsSingular() && lu_.ReciprocalCondition() >= kFar) {
      int64_t exponent = 0;
      const double mantissa = lu_.Determinant(&exponent);
      y_.setIdentity();
      lu_.Solve(&y_);
      y_.transposeInPlace();
      y_ *= static_cast<T>(PowerOfTwoTimes(mantissa, exponent));
    } else {
      FromSingularValues();
    }
    View(results[0], n, n) = y_;
    return true;
  }

 private:
  // With x = u s v^T: det(u) det(v) u p v^T, where p[i] is the product of all s but s[i].
  void FromSingularValues() {
    svd_.Compute(x_);
    ProductsOfOthers(svd_.s(), svd_.s().size(), products_);
    products_ *= Sign(svd_.u()) * Sign(svd_.v());
    x_ = products_.asDiagonal() * svd_.u().transpose();
    linalg::MultiplyTransposed(x_, Matrix<T>(svd_.v().transpose()), &y_);
  }
  // The determinant of an orthogonal matrix.
  T Sign(const Matrix<T>& x) {
    int64_t exponent = 0;
    lu_.Compute(x);
    return lu_.Determinant(&exponent) < 0 ? T(-1) : T(1);
  }

  linalg::LuSolver<T> lu_;
  linalg::SvdSolver<T> svd_;
  Matrix<T> x_, y_;
  linalg::Column<T> products_;
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
