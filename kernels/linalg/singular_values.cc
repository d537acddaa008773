// Singular values: svd.
#include "kernels/linalg/lane_svd.h"
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
using linalg::MatrixSizes;
using linalg::Results;
using linalg::View;

template <class T>
class SvdKernel {
 public:
  static constexpr llvm::StringLiteral kOption = "full_matrices";
  static constexpr llvm::StringLiteral kProblem = "";

  SvdKernel(MatrixSizes sizes, bool full) : sizes_(sizes), full_(full), solver_(full) {}

  bool Run(const T* x, Results<T> results) {
    const Index rows = sizes_.rows, columns = sizes_.columns, rank = std::min(rows, columns);
    auto u = View(results[0], rows, full_ ? rows : rank);
    auto vt = View(results[2], full_ ? columns : rank, columns);
    if (rank == 0) {
      u.setIdentity();
      vt.setIdentity();
      return true;
    }
    solver_.Compute(View(x, rows, columns));
    u = solver_.u();
    View(results[1], rank, 1) = solver_.s();
    vt = solver_.v().transpose();
    for (Index i = 0; i < rank; ++i) {
      const T sign = linalg::SignOf(u.col(i));
      u.col(i) *= sign;
      vt.row(i) *= sign;
    }
    return true;
  }

 private:
  MatrixSizes sizes_;
  bool full_;
  linalg::SvdSolver<T> solver_;
};

template <class T>
class SvdLanes {
 public:
  SvdLanes(MatrixSizes sizes, bool full)
      : solver_(static_cast<int>(sizes.rows), static_cast<int>(sizes.columns), full) {}

  LaneView<T> operand() const { return solver_.matrix(); }
  LaneSet Run() {
    solver_.Factor();
    return 0;
  }
  LaneView<T> result(size_t output) const {
    return output == 0 ? solver_.u() : output == 1 ? solver_.s() : Transposed(solver_.v());
  }

 private:
  linalg::LaneSvd<T> solver_;
};
template <class Context>
using SvdOp = linalg::MatrixOp<Context, SvdKernel, SvdLanes>;

llvm::Error InferSvd(InferenceContext& context) {
  llvm::Expected<MatrixDims> x = ReadMatrices(context, 0);
  if (!x) return x.takeError();
  const DType dtype = context.input(0).dtype;
  const bool full = context.attributes().Bool("full_matrices");
  const Dim rank = x->SmallerSize();
  context.SetOutput(0, Type(dtype, x->With({x->rows, full ? x->rows : rank})));
  context.SetOutput(1, Type(dtype, x->With({rank})));
  context.SetOutput(2, Type(dtype, x->With({full ? x->columns : rank, x->columns})));
  return llvm::Error::success();
}

// Adds b to a, which may be null.
Value* Sum(GradientContext& g, Value* a, Value* b) { return a == nullptr ? b : g.Add(a, b); }

// With skew(x) = x - x^T and gaps(i, j) = s[j]^2 - s[i]^2:
//   u (diag(ds) + (skew(u^T du) / gaps) s + s (skew(v^T dv) / gaps)) v^T
//     + (I - u u^T) du s^-1 v^T + u s^-1 dv^T (I - v v^T)
// where the last two terms are 0 if u and v, respectively, are square
// (Townsend, "Differentiating the Singular Value Decomposition", 2016).
void SvdGradient(GradientContext& g) {
  MatrixCalls m(g);
  Value* u = g.output(0);
  Value* s = g.output(1);
  Value* vt = g.output(2);
  Value* du = g.output_gradient(0);
  Value* ds = g.output_gradient(1);
  Value* dvt = g.output_gradient(2);
  const Dim rank = s->type().dims.back();
  if (g.attributes().Bool("full_matrices")) {
    if ((du != nullptr && u->type().dims.back() != rank) ||
        (dvt != nullptr && vt->type().dims[vt->type().rank() - 2] != rank)) {
      return g.Fail("u and vt of full_matrices=true are unique for square matrices only");
    }
    u = m.Columns(u, Dim(0), rank);
    vt = m.Rows(vt, Dim(0), rank);
  }
  Value* inner = ds == nullptr ? nullptr : g.Call("diag", {ds});
  Value* outer = nullptr;
  Value* inverse_gaps = nullptr;
  if (du != nullptr || dvt != nullptr) inverse_gaps = m.InverseGaps(g.Mul(s, s));
  if (du != nullptr) {
    Value* turn = m.ProductTN(u, du);
    inner = Sum(g, inner, g.Mul(g.Mul(m.SkewPart(turn), inverse_gaps), m.AsRow(s)));
    if (u->type().dims[u->type().rank() - 2] != rank) {
      Value* outside = g.Div(g.Sub(du, m.Product(u, turn)), m.AsRow(s));
      outer = m.Product(outside, vt);
    }
  }
  if (dvt != nullptr) {
    Value* turn = m.ProductNT(vt, dvt);
    inner = Sum(g, inner, g.Mul(g.Mul(m.AsColumn(s), m.SkewPart(turn)), inverse_gaps));
    if (vt->type().dims.back() != rank) {
      Value* outside = g.Div(g.Sub(dvt, m.ProductTN(turn, vt)), m.AsColumn(s));
      outer = Sum(g, outer, m.Product(u, outside));
    }
  }
  Value* dx = m.Product(m.Product(u, inner), vt);
  g.SetInputGradient(0, outer == nullptr ? dx : g.Add(dx, outer));
}

struct SvdMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The singular value decomposition of matrices: x = (u * s) @ vt, where u has orthonormal "
        "columns and vt orthonormal rows. The element of each column of u with the largest "
        "absolute value is positive. The vectors of a singular value that occurs several times are "
        "unspecified. The gradient of u and vt is finite if the singular values differ from each "
        "other and from 0; that of s always is. "
        "With `full_matrices`, only square matrices have a gradient of u and vt. A matrix with a "
        "nan or an infinity gives nan.");
    AddInput("x", "[..., M, N]").Accepts(kMatrixSet);
    AddOutput("u", "[..., M, min(M, N)]; dtype as x");
    AddOutput("s", "[..., min(M, N)]: the singular values in decreasing order; dtype as x");
    AddOutput("vt", "[..., min(M, N), N]; dtype as x");
    AddAttr<bool>("full_matrices", "whether u is [..., M, M], and vt [..., N, N]").Default(false);
    AddExample("u, s, vt = svd([[0.0, 2.0], [3.0, 0.0]])\ny = s  # = [3.0, 2.0]");
    SetInference(InferSvd);
    SetGradient(SvdGradient);
  }
};

}  // namespace

void RegisterSingularValuesOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.RegisterOp<SvdOp, SvdMaker>("svd");
}

}  // namespace pdl
