// Least squares: lstsq.
#include "kernels/linalg/lane_svd.h"
#include "kernels/linalg/matrix_gradient.h"
#include "kernels/linalg/matrix_inference.h"
#include "kernels/linalg/solution_batch.h"
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
using linalg::View;

struct LstsqOptions {
  /// Negative: the default.
  double rcond = -1;
  void Initialize(const AttributeReader& attributes) {
    if (attributes.Has("rcond")) rcond = attributes.Float("rcond");
  }
  template <class T>
  T Rcond(MatrixSizes sizes) const {
    if (rcond >= 0) return static_cast<T>(rcond);
    const Index size = std::max(sizes.rows, sizes.columns);
    return static_cast<T>(size) * std::numeric_limits<T>::epsilon();
  }
};

template <class T>
class LstsqKernel {
 public:
  static constexpr llvm::StringLiteral kProblem = "";
  using Options = LstsqOptions;

  LstsqKernel(MatrixSizes sizes, Index right_sides, const Options& options)
      : sizes_(sizes),
        rcond_(options.Rcond<T>(sizes)),
        svd_(/*full=*/false),
        a_(sizes.rows, sizes.columns),
        right_(sizes.rows, right_sides),
        solution_(sizes.columns, right_sides) {}

  bool IsFinite(const T* a) const { return linalg::IsFinite(a, sizes_.num_elements()); }
  bool Factor(const T* a) {
    if (sizes_.rows == 0) return true;
    a_ = View(a, sizes_.rows, sizes_.columns);
    svd_.Compute(a_);
    const auto& s = svd_.s();
    rank_ = 0;
    while (rank_ < s.size() && s[rank_] > rcond_ * s[0]) ++rank_;
    return true;
  }
  void Solve(const T* b, T* x) {
    if (sizes_.rows == 0) {
      solution_.setZero();
    } else {
      right_ = View(b, right_.rows(), right_.cols());
      linalg::MultiplyTransposed(svd_.u(), right_, &projected_);
      for (Index i = 0; i < projected_.rows(); ++i) {
        if (i < rank_) {
          projected_.row(i) /= svd_.s()[i];
        } else {
          projected_.row(i).setZero();
        }
      }
      linalg::Multiply(svd_.v(), projected_, &solution_);
    }
    View(x, solution_.rows(), solution_.cols()) = solution_;
  }

 private:
  MatrixSizes sizes_;
  T rcond_;
  Index rank_ = 0;
  linalg::SvdSolver<T> svd_;
  Matrix<T> a_;
  Matrix<T> right_, solution_, projected_;
};

template <class T>
class LstsqLanes {
 public:
  LstsqLanes(MatrixSizes sizes, Index right_sides, const LstsqOptions& options)
      : rows_(static_cast<int>(sizes.rows)),
        columns_(static_cast<int>(sizes.columns)),
        right_sides_(static_cast<int>(right_sides)),
        rcond_(options.Rcond<T>(sizes)),
        svd_(rows_, columns_, /*full=*/false),
        b_(linalg::AllocateLanes<T>(rows_ * right_sides_)),
        projected_(linalg::AllocateLanes<T>(std::min(rows_, columns_) * right_sides_)),
        x_(linalg::AllocateLanes<T>(columns_ * right_sides_)) {}

  LaneView<T> a() const { return svd_.matrix(); }
  LaneView<T> b() const { return linalg::RowMajor(b_.get(), rows_, right_sides_); }
  LaneView<T> x() const { return linalg::RowMajor(x_.get(), columns_, right_sides_); }
  LaneSet Factor() {
    svd_.Factor();
    return 0;
  }
  void Solve() {
    const LaneView<T> u = svd_.u(), s = svd_.s();
    const LaneView<T> projected = linalg::RowMajor(projected_.get(), s.columns, right_sides_);
    linalg::MultiplyBlocks(Transposed(u), b(), projected);
    const linalg::Lanes<T>& largest = s(0, 0);
    for (int i = 0; i < projected.rows; ++i) {
      const linalg::Lanes<T>& value = s(0, i);
      for (int j = 0; j < right_sides_; ++j) {
        linalg::Lanes<T>& element = projected(i, j);
        linalg::ForLanes<T>([&](int l) {
          const bool is_zero = !(value.v[l] > rcond_ * largest.v[l]);
          element.v[l] = is_zero ? T(0) : element.v[l] / (is_zero ? T(1) : value.v[l]);
        });
      }
    }
    linalg::MultiplyBlocks(svd_.v(), projected, x());
  }

 private:
  int rows_, columns_, right_sides_;
  T rcond_;
  linalg::LaneSvd<T> svd_;
  linalg::LaneMemory<T> b_, projected_, x_;
};
template <class Context>
using LstsqOp = linalg::SolutionOp<Context, LstsqKernel, LstsqLanes>;

// From the derivative of the pseudoinverse of matrices of constant rank (Golub and Pereyra, 1973).
// With the pseudoinverse p of a:
//   db = p^T dx, da = -db x^T + (b - a x) (p db)^T + (p^T x) (dx - a^T db)^T
void LstsqGradient(GradientContext& g) {
  MatrixCalls m(g);
  const Equation e(g);
  const auto lstsq = [&](Value* a, Value* b) {
    llvm::SmallVector<NamedAttribute, 1> attributes;
    if (g.attributes().Has("rcond")) attributes.push_back({"rcond", g.attributes().Float("rcond")});
    return g.Call("lstsq", {a, b}, attributes);
  };
  Value* transposed = m.Transpose(e.a);
  Value* db = lstsq(transposed, e.dx);
  Value* residual = g.Sub(e.b, m.Product(e.a, e.x));
  Value* outside = g.Sub(e.dx, m.ProductTN(e.a, db));
  Value* da =
      g.Add(m.ProductNT(residual, lstsq(e.a, db)), m.ProductNT(lstsq(transposed, e.x), outside));
  e.SetGradients(g, g.Sub(da, m.ProductNT(db, e.x)), db);
}

struct LstsqMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The least squares solution of a @ x = b, by a singular value decomposition: of all x that "
        "minimize the Euclidean norm of a @ x - b for each right side, the one with the smallest "
        "norm. Dims before the last two are batch dims and broadcast; a one-dimensional b is one "
        "right side for all matrices. The gradient is that for matrices of constant rank, in which "
        "the singular values that are taken for 0 are 0. A matrix a with a nan or an infinity "
        "gives nan.");
    AddInput("a", "[..., M, N]").Accepts(kMatrixSet);
    AddInput("b", "[..., M, K], or [M]; dtype as a").Accepts(kMatrixSet);
    AddOutput("x", "[..., N, K], or [..., N]; dtype as a");
    AddAttr<double>("rcond",
                    "singular values up to this fraction of the largest one are taken for 0; by "
                    "default max(M, N) times the machine epsilon of the dtype")
        .Optional()
        .AtLeast(0)
        .LessThan(1);
    AddExample("x = lstsq([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, 3.0, 3.0])  # = [1.5, 0.5]");
    SetInference([](InferenceContext& context) { return InferSolution(context, false); });
    SetGradient(LstsqGradient);
  }
};

}  // namespace

void RegisterLeastSquaresOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<LstsqOp, LstsqMaker>("lstsq");
}

}  // namespace pdl
