// Operators on diagonals and triangles of matrices: triu, tril, eye, diag, diagonal.
#include <algorithm>
#include <cstring>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/strided_copy.h"
#include "kernels/linalg/matrix_inference.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// A kernel that writes matrices row by row.
struct RowsState : CallState {
  int64_t rows = 0, height = 1, width = 1, grain = 1;

  explicit RowsState(llvm::ArrayRef<int64_t> sizes) {
    height = sizes[sizes.size() - 2];
    width = sizes.back();
    rows = 1;
    for (const int64_t size : sizes.drop_back()) rows *= size;
    if (width == 0) rows = 0;
    grain = std::max<int64_t>(1, kGrainMoves / std::max<int64_t>(1, width));
  }
};

template <class Context>
class MatrixOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    preparation.state = std::make_shared<RowsState>(context.outputs()[0].sizes);
    return preparation;
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    k_ = attributes.Int("k");
    return llvm::Error::success();
  }
  int64_t k_ = 0;
};

// --- triu, tril ---------------------------------------------------------------------------------

template <class Context, bool kUpper>
class TriangleOp : public MatrixOp<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto preparation = MatrixOp<Context>::Prepare(context);
    if (preparation) preparation->in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const RowsState& s = *context.template state<RowsState>();
    const int64_t bytes = DTypeSize(inputs[0]->dtype());
    const char* in = static_cast<const char*>(inputs[0]->raw());
    char* out = static_cast<char*>(outputs[0]->raw());
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        // The first column of the upper triangle, or the first one after the lower triangle.
        const int64_t diagonal = row % s.height + this->k_;
        const int64_t border = std::clamp<int64_t>(kUpper ? diagonal : diagonal + 1, 0, s.width);
        const int64_t left = border * bytes, all = s.width * bytes;
        const char* from = in + row * all;
        char* to = out + row * all;
        const int64_t keep = kUpper ? left : 0, keep_end = kUpper ? all : left;
        const int64_t clear = kUpper ? 0 : left, clear_end = kUpper ? left : all;
        if (from != to) {
          std::memcpy(to + keep, from + keep, static_cast<size_t>(keep_end - keep));
        }
        std::memset(to + clear, 0, static_cast<size_t>(clear_end - clear));
      }
    });
    return llvm::Error::success();
  }
};
template <class Context>
using TriuOp = TriangleOp<Context, true>;
template <class Context>
using TrilOp = TriangleOp<Context, false>;

llvm::Error CheckDiagonalNumber(InferenceContext& context) {
  const int64_t k = context.attributes().Int("k");
  constexpr int64_t kMost = int64_t{1} << 31;
  if (k > -kMost && k < kMost) return llvm::Error::success();
  return context.FailAtAttribute("k", Code::kAttributeRange, "the matrix has no diagonal {0}", k);
}

llvm::Error InferTriangle(InferenceContext& context) {
  if (llvm::Error error = CheckDiagonalNumber(context)) return error;
  if (llvm::Error error = RequireMatrix(context, 0)) return error;
  return InferSameAsFirst(context);
}

template <bool kUpper>
struct TriangleMaker : OpProtoMaker {
  void Make() override {
    const std::string side = kUpper ? "upper" : "lower";
    AddComment("The " + side + " triangle of matrices: the elements on and " +
               (kUpper ? "above" : "below") + " a diagonal, and 0 elsewhere.");
    AddInput("x", "[..., N, M]").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("k", "the diagonal: 0 is the main one, 1 the one above it, -1 the one below")
        .Default(0)
        .Positional();
    AddExample(kUpper ? "y = triu([[1, 2], [3, 4]])  # = [[1, 2], [0, 4]]"
                      : "y = tril([[1, 2], [3, 4]])  # = [[1, 0], [3, 4]]");
    properties().widening = IntegerWidening::kModular;
    SetInference(InferTriangle);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(
          0, g.Call(g.op().type(), {g.output_gradient()}, {{"k", g.attributes().Int("k")}}));
    });
  }
};

// --- eye ----------------------------------------------------------------------------------------

template <class Context>
class EyeOp : public MatrixOp<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const RowsState& s = *context.template state<RowsState>();
    VisitDType(AnyTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = static_cast<T*>(outputs[0]->raw());
      const T one = Element<T>::Store(static_cast<ComputeType<T>>(1));
      context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
        std::memset(static_cast<void*>(out + begin * s.width), 0,
                    static_cast<size_t>((end - begin) * s.width) * sizeof(T));
        for (int64_t row = begin; row < end; ++row) {
          const int64_t column = row % s.height + this->k_;
          if (column >= 0 && column < s.width) out[row * s.width + column] = one;
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferEye(InferenceContext& context) {
  if (llvm::Error error = CheckDiagonalNumber(context)) return error;
  const size_t rank = context.attributes().Dims("dims").size();
  if (rank < 2) {
    return context.FailAtAttribute("dims", Code::kRank,
                                   "'dims' must have at least two sizes, got {0}", rank);
  }
  return InferFromAttributes(context, kAnySet);
}

struct EyeMaker : OpProtoMaker {
  void Make() override {
    AddComment("Returns matrices with ones on a diagonal and zeros elsewhere.");
    AddOutput("y", "`dims`; of `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the dims of the result; the last two are those of a matrix")
        .Positional();
    AddAttr<DType>("dtype", "the dtype of the elements").Default(DType::kF32);
    AddAttr<int64_t>("k", "the diagonal: 0 is the main one, 1 the one above it, -1 the one below")
        .Default(0);
    AddExample("y = eye([2, 3])  # = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]");
    SetInference(InferEye);
  }
};

// --- diag ---------------------------------------------------------------------------------------

template <class Context>
class DiagOp : public MatrixOp<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const RowsState& s = *context.template state<RowsState>();
    const int64_t k = this->k_;
    const int64_t n = inputs[0]->sizes().back();
    VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      const Bits* in = static_cast<const Bits*>(inputs[0]->raw());
      Bits* out = static_cast<Bits*>(outputs[0]->raw());
      context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
        std::fill(out + begin * s.width, out + end * s.width, Bits(0));
        for (int64_t row = begin; row < end; ++row) {
          const int64_t i = row % s.height, block = row / s.height;
          const int64_t place = k < 0 ? i + k : i;
          if (place >= 0 && place < n) out[row * s.width + i + k] = in[block * n + place];
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferDiag(InferenceContext& context) {
  if (llvm::Error error = CheckDiagonalNumber(context)) return error;
  Type type = context.input(0);
  if (type.is_scalar()) {
    return context.FailAt({0}, Code::kRank, "'x' must have at least one dim, got {0}",
                          type.ToString());
  }
  const Dim size = type.dims.back() + std::abs(context.attributes().Int("k"));
  type.dims.back() = size;
  type.dims.push_back(size);
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct DiagMaker : OpProtoMaker {
  void Make() override {
    AddComment("Returns square matrices with the rows of x on a diagonal, and zeros elsewhere.");
    AddInput("x", "[..., N]").Accepts(kAnySet);
    AddOutput("y", "[..., N + |k|, N + |k|]; dtype as x").DTypeOf("x");
    AddAttr<int64_t>("k", "the diagonal: 0 is the main one, 1 the one above it, -1 the one below")
        .Default(0);
    AddExample("y = diag([1, 2])  # = [[1, 0], [0, 2]]");
    SetInference(InferDiag);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(
          0, g.Call("diagonal", {g.output_gradient()}, {{"k", g.attributes().Int("k")}}));
    });
  }
};

// --- diagonal -----------------------------------------------------------------------------------

struct CopyState : CallState {
  StridedCopy copy;
};

template <class Context>
class DiagonalOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const OperandType& y = context.outputs()[0];
    const int64_t k = this->attributes().Int("k");
    const size_t rank = x.sizes.size();
    const auto strides = RowMajorStrides(x.sizes);
    StridedView view;
    if (y.num_elements() > 0) view.offset = k < 0 ? -k * x.sizes.back() : k;
    for (size_t d = 0; d + 2 < rank; ++d) {
      view.sizes.push_back(x.sizes[d]);
      view.strides.push_back(strides[d]);
    }
    view.sizes.push_back(y.sizes.back());
    view.strides.push_back(x.sizes.back() + 1);
    view.Collapse();
    auto state = std::make_shared<CopyState>();
    state->copy = StridedCopy(std::move(view), DTypeSize(x.dtype));
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<CopyState>()->copy.Run(inputs[0]->raw(), outputs[0]->raw(), context);
    return llvm::Error::success();
  }
};

llvm::Error InferDiagonal(InferenceContext& context) {
  if (llvm::Error error = RequireMatrix(context, 0)) return error;
  if (llvm::Error error = CheckDiagonalNumber(context)) return error;
  Type type = context.input(0);
  const int64_t k = context.attributes().Int("k");
  Dim columns = type.dims.pop_back_val(), rows = type.dims.pop_back_val();
  if (k > 0) columns = columns - k;
  if (k < 0) rows = rows + k;
  const Dim length = rows == columns ? rows : Dim::Min(rows, columns);
  type.dims.push_back(k == 0 ? length : Dim::Max(length, 0));
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// The gradient on the diagonal of square matrices, cropped or padded to the size of x.
void DiagonalGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  Value* square = g.Call("diag", {g.output_gradient()}, {{"k", g.attributes().Int("k")}});
  if (square == nullptr) return;
  const Dim size = square->type().dims.back();
  const Dim rows = x.dims[x.rank() - 2], columns = x.dims[x.rank() - 1];
  if (rows != size || columns != size) {
    square = g.Call("pad", {square},
                    {{"before", Shape{0, 0}},
                     {"after", Shape{rows - size, columns - size}},
                     {"axes", std::vector<int64_t>{-2, -1}}});
  }
  g.SetInputGradient(0, square);
}

struct DiagonalMaker : OpProtoMaker {
  void Make() override {
    AddComment("Returns the elements on a diagonal of matrices.");
    AddInput("x", "[..., N, M]").Accepts(kAnySet);
    AddOutput("y", "[..., length of the diagonal]; dtype as x").DTypeOf("x");
    AddAttr<int64_t>("k", "the diagonal: 0 is the main one, 1 the one above it, -1 the one below")
        .Default(0);
    AddExample("y = diagonal([[1, 2, 3], [4, 5, 6]], k=1)  # = [2, 6]");
    SetInference(InferDiagonal);
    SetGradient(DiagonalGradient);
  }
};

}  // namespace

void RegisterDiagonalOps(OpRegistry& registry) {
  registry.BeginFamily("Diagonals and triangles");
  registry.RegisterOp<TriuOp, TriangleMaker<true>>("triu");
  registry.RegisterOp<TrilOp, TriangleMaker<false>>("tril");
  registry.RegisterOp<EyeOp, EyeMaker>("eye");
  registry.RegisterOp<DiagOp, DiagMaker>("diag");
  registry.RegisterOp<DiagonalOp, DiagonalMaker>("diagonal");
}

}  // namespace pdl
