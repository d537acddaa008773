// Operators on sparse matrices, which are represented by dense CSR arrays: csr_matmul.
#include <algorithm>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/sequence/segment.h"
#include "pdl/op/cost.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// The number of multiply-adds of a task.
constexpr int64_t kGrainProducts = 1 << 15;
// The number of columns of the result that are accumulated at a time.
constexpr int64_t kColumns = 128;

template <class T>
void MultiplyRows(const T* values, const int64_t* offsets, const int64_t* indices, int64_t count,
                  const T* b, int64_t depth, int64_t columns, T* c, int64_t first, int64_t last) {
  using C = ComputeType<T>;
  C sums[kColumns];
  for (int64_t row = first; row < last; ++row) {
    // Offsets on a device are not checked, so they are clamped.
    const int64_t begin = std::clamp<int64_t>(offsets[row], 0, count);
    const int64_t end = std::clamp<int64_t>(offsets[row + 1], begin, count);
    for (int64_t column = 0; column < columns; column += kColumns) {
      const int64_t width = std::min(kColumns, columns - column);
      std::fill_n(sums, width, C(0));
      for (int64_t i = begin; i < end; ++i) {
        if (indices[i] < 0 || indices[i] >= depth) continue;
        const T* from = b + indices[i] * columns + column;
        if (values == nullptr) {
          for (int64_t j = 0; j < width; ++j) sums[j] += Element<T>::Load(from[j]);
        } else {
          const C factor = Element<T>::Load(values[i]);
          for (int64_t j = 0; j < width; ++j) sums[j] += factor * Element<T>::Load(from[j]);
        }
      }
      T* to = c + row * columns + column;
      for (int64_t j = 0; j < width; ++j) to[j] = Element<T>::Store(sums[j]);
    }
  }
}

template <class Context>
class CsrMatmulOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const Tensor& b = *inputs[2];
    const int64_t rows = outputs[0]->size(0), columns = outputs[0]->size(1);
    const int64_t count = inputs[1]->num_elements();
    const int64_t per_row = std::max<int64_t>(1, count / std::max<int64_t>(rows, 1)) * columns;
    const int64_t grain = std::max<int64_t>(1, kGrainProducts / std::max<int64_t>(per_row, 1));
    VisitDType(FloatTypes(), b.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* values = inputs.size() > 3 ? inputs[3]->template data<T>() : nullptr;
      context.ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
        MultiplyRows(values, inputs[0]->template data<int64_t>(),
                     inputs[1]->template data<int64_t>(), count, b.template data<T>(), b.size(0),
                     columns, outputs[0]->template data<T>(), begin, end);
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferCsrMatmul(InferenceContext& context) {
  const auto require_rank = [&](unsigned input, unsigned rank) -> llvm::Error {
    if (context.input(input).rank() == rank) return llvm::Error::success();
    return context.FailAt({input}, Code::kRank, "'{0}' must have {1} dim{2}, got {3}",
                          context.def().signature.inputs[input].name, rank, rank == 1 ? "" : "s",
                          context.input(input).ToString());
  };
  if (llvm::Error error = require_rank(0, 1)) return error;
  if (llvm::Error error = require_rank(1, 1)) return error;
  if (llvm::Error error = require_rank(2, 2)) return error;
  const Type& b = context.input(2);
  if (const auto& bound = context.input(1).index_bound) {
    if (llvm::Error error =
            context.RequireAtLeast(b.dims[0], *bound, {1, 2}, "a column index may be outside b")) {
      return error;
    }
  }
  if (context.has_input(3)) {
    if (llvm::Error error = require_rank(3, 1)) return error;
    if (llvm::Error error = RequireSameDType(context, 2, 3)) return error;
    if (llvm::Error error =
            context.RequireEqual(context.input(1).dims[0], context.input(3).dims[0], {1, 3},
                                 "the numbers of columns and values differ")) {
      return error;
    }
  }
  const Dim rows = context.input(0).dims[0] - 1;
  if (llvm::Error error = context.RequireAtLeast(
          rows, 0, {0}, "the offsets must have one element more than there are rows")) {
    return error;
  }
  context.SetOutput(Type(b.dtype, {rows, b.dims[1]}));
  return llvm::Error::success();
}

// Gathers for each nonzero element the gradient of its row of the result. Elements of no row, and
// those whose column is outside b, have the gradient 0, whatever they are.
void CsrMatmulGradient(GradientContext& g) {
  Value* indices = g.input(1);
  const Type& b = g.input(2)->type();
  const Dim count = indices->type().dims[0];
  const auto as_column = [&](Value* vector) {
    return g.Call("reshape", {vector}, {{"dims", Shape{count, 1}}});
  };
  Value* is_used = InSegments(g, g.input(0), count);
  if (!indices->type().index_bound) {
    Value* zero = g.Scalar(0, indices);
    Value* size = g.Call("size", {}, {{"dims", Shape{b.dims[0]}}, {"dtype", DType::kI64}});
    Value* is_inside = g.Call(
        "logical_and", {g.Call("greater_equal", {indices, zero}), g.Call("less", {indices, size})});
    is_used = g.Call("logical_and", {is_used, is_inside});
    indices = g.Call("where", {is_inside, indices, zero});
  }
  Value* rows = g.Call("segment_ids", {g.input(0)}, {{"dims", Shape{count}}});
  Value* dc = g.Call("gather", {g.output_gradient(), rows});
  Value* spread = dc;
  if (g.num_inputs() > 3) {
    spread = g.Mul(dc, as_column(g.input(3)));
    Value* taken = g.Call("gather", {g.input(2), indices});
    Value* products = g.Call("sum", {g.Mul(dc, taken)}, {{"axes", std::vector<int64_t>{1}}});
    g.SetInputGradient(3, g.Call("where", {is_used, products, g.Scalar(0, products)}));
  }
  spread = g.Call("where", {as_column(is_used), spread, g.Scalar(0, spread)});
  Value* zeros = g.Call("zeros", {}, {{"dims", b.dims}, {"dtype", b.dtype}});
  g.SetInputGradient(2, g.Call("scatter_add", {zeros, indices, spread}));
}

/// A multiply-add for each element of the matrix and each column of b.
double CsrMatmulOperations(const CallSizes& call) {
  return 2 * static_cast<double>(call.inputs[1].num_elements()) *
         static_cast<double>(call.inputs[2].sizes.back());
}

struct CsrMatmulMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Multiplies a sparse matrix in CSR format by a dense one; `s @ b` with sparse s is lowered "
        "to it. Row i of the matrix has the elements offsets[i]..offsets[i + 1]. Column indices "
        "that occur twice in a row accumulate. Without values all elements are 1, and row i of the "
        "result is the sum of some rows of b (a bag of embeddings). Column indices outside b are "
        "ignored. f16 and bf16 accumulate in f32.");
    AddInput("offsets", "[N + 1], the start of each row, then the end of the last one, from 0 on")
        .Accepts(DType::kI64)
        .OwnDType();
    AddInput("indices", "[K], the column index of each element, row by row")
        .Accepts(DType::kI64)
        .OwnDType();
    AddInput("b", "[D, M]").Accepts(kFloatSet);
    AddInput("values", "[K], the elements; default: ones").Accepts(kFloatSet).Optional();
    AddOutput("c", "[N, M]; dtype as b").DTypeOf("b").Rank(2);
    SetInference(InferCsrMatmul);
    SetGradient(CsrMatmulGradient);
    AddExample(
        "c = csr_matmul([0, 2, 3], [0, 2, 1], [[1.0], [10.0], [100.0]])  # = [[101.0], [10.0]]");
  }
};

}  // namespace

void RegisterSparseOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  registry.RegisterOp<CsrMatmulOp, CsrMatmulMaker>("csr_matmul");
  DeclareOperations("csr_matmul", CsrMatmulOperations);
}

}  // namespace pdl
