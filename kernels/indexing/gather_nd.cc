// Operators that gather by index tuples, or by an index for each element: gather_nd,
// take_along_axis.
#include <algorithm>
#include <cstring>

#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/indexing/along_axis.h"
#include "kernels/indexing/index_range.h"
#include "kernels/indexing/nd_inference.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

int64_t GrainOf(int64_t row_bytes) {
  return std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(row_bytes, 16));
}

// --- gather_nd ----------------------------------------------------------------------------------

template <class Context>
class GatherNdOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    preparation.state = std::make_shared<NdState>(
        context.inputs()[0].sizes, context.inputs()[1].sizes, this->attributes().Int("batch_dims"));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const NdState& s = *context.template state<NdState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      const Bits* x = static_cast<const Bits*>(inputs[0]->raw());
      Bits* y = static_cast<Bits*>(outputs[0]->raw());
      const Bits missing = static_cast<Bits>(MissingBits(outputs[0]->dtype()));
      const IndexReader indices(*inputs[1], 0);
      const int64_t row_bytes = s.inner * static_cast<int64_t>(sizeof(Bits));
      context.ParallelFor(s.blocks * s.count, GrainOf(row_bytes), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t position = TuplePosition(indices, row, s.sizes);
          Bits* to = y + row * s.inner;
          if (position < 0) {
            std::fill_n(to, s.inner, missing);
          } else {
            const Bits* from = x + (row / s.count * s.positions + position) * s.inner;
            std::memcpy(to, from, static_cast<size_t>(row_bytes));
          }
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferGatherNd(InferenceContext& context) {
  auto dims = NdDims(context);
  if (!dims) return dims.takeError();
  const Type& x = context.input(0);
  Type type(x.dtype, *dims);
  if (context.input(1).index_bound) type.index_bound = x.index_bound;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

void GatherNdGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  Value* zeros = g.Call("zeros", {}, {{"dims", x.dims}, {"dtype", x.dtype}});
  const int64_t batch_dims = g.attributes().Int("batch_dims");
  g.SetInputGradient(0, g.Call("scatter_nd", {zeros, g.input(1), g.output_gradient()},
                               {{"reduction", std::string("add")}, {"batch_dims", batch_dims}}));
}

struct GatherNdMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Takes elements or slices of x at index tuples: y[i, ...] is x[indices[i, 0], ..., "
        "indices[i, K - 1], ...]. Negative indices count from the end. If an index is out of range "
        "the result is nan, or 0 for integers and bool.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("indices", "[..., K]: index tuples for K axes of x after the first `batch_dims` ones")
        .Accepts(kIndexSet)
        .OwnDType()
        .Selector();
    AddOutput(
        "y",
        "dtype as x; the dims of the indices without K, then the dims of x that are not indexed")
        .DTypeOf("x");
    AddAttr<int64_t>("batch_dims", "number of leading axes that x and the indices share")
        .Default(0)
        .AtLeast(0);
    AddExample("y = gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])  # = [2, 3]");
    properties().moves_elements = true;
    SetInference(InferGatherNd);
    SetIndexCheck(CheckIndexTuples);
    SetGradient(GatherNdGradient);
  }
};

// --- take_along_axis ----------------------------------------------------------------------------

template <class Context>
class TakeAlongAxisOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    preparation.state =
        std::make_shared<AlongAxis>(context.outputs()[0].sizes, context.inputs()[0].sizes,
                                    context.inputs()[1].sizes, this->attributes().Int("axis"));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const AlongAxis& s = *context.template state<AlongAxis>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      const Bits missing = static_cast<Bits>(MissingBits(outputs[0]->dtype()));
      const Bits* x = static_cast<const Bits*>(inputs[0]->raw());
      Bits* y = static_cast<Bits*>(outputs[0]->raw());
      const IndexReader positions(*inputs[1], s.size);
      const int64_t grain = GrainOf(s.inner * static_cast<int64_t>(sizeof(Bits)));
      context.ParallelFor(s.outer * s.count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end;) {
          // The rest of a block.
          const int64_t block = row / s.count, first = row % s.count;
          const int64_t last = std::min(end, row - first + s.count);
          const Bits* from = x + AlongAxis::Offset(block, s.outer_sizes, s.outer_strides);
          int64_t line = AlongAxis::Offset(block, s.outer_sizes, s.index_outer_strides) +
                         first * s.index_stride;
          // Local variables: the compiler must assume that y overlaps s.
          const int64_t inner = s.inner, stride = s.stride, index_stride = s.index_stride;
          if (inner == 1) {
            for (; row < last; ++row, line += index_stride) {
              const int64_t position = positions[line];
              y[row] = position < 0 ? missing : from[position * stride];
            }
          }
          for (; row < last; ++row, line += index_stride) {
            Bits* to = y + row * inner;
            for (int64_t c = 0; s.is_dense && c < inner; ++c) {
              const int64_t position = positions[line + c];
              to[c] = position < 0 ? missing : from[position * stride + c];
            }
            for (int64_t c = 0; !s.is_dense && c < inner; ++c) {
              const int64_t position = positions[line + s.IndexInnerOffset(c)];
              to[c] = position < 0 ? missing : from[position * stride + s.InnerOffset(c)];
            }
          }
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferTakeAlongAxis(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& indices = context.input(1);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (x.rank() != indices.rank()) {
    return context.FailAt({0, 1}, Code::kRank, "ranks differ: {0} and {1}", x.rank(),
                          indices.rank());
  }
  if (llvm::Error error = CheckIndexBound(context, x.dims[*axis], 0, 1)) return error;
  Shape other_dims = x.dims, other_index_dims = indices.dims;
  other_dims[*axis] = other_index_dims[*axis] = 1;
  auto dims = BroadcastDims(context, other_dims, other_index_dims);
  if (!dims) return dims.takeError();
  (*dims)[*axis] = indices.dims[*axis];
  Type type(x.dtype, *dims);
  if (indices.index_bound) type.index_bound = x.index_bound;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// Broadcasts `value` to the result along all axes but `axis`.
Value* Spread(GradientContext& g, Value* value, const Shape& result, size_t axis) {
  Shape dims = result;
  dims[axis] = value->type().dims[axis];
  if (llvm::ArrayRef<Dim>(dims) == llvm::ArrayRef<Dim>(value->type().dims)) return value;
  return g.Call("broadcast_to", {value}, {{"dims", dims}});
}

void TakeAlongAxisGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  const int64_t given = g.attributes().Int("axis");
  const size_t axis = static_cast<size_t>(given < 0 ? given + x.rank() : given);
  const Shape result = g.output()->type().dims;
  Shape dims = result;
  dims[axis] = x.dims[axis];
  Value* zeros = g.Call("zeros", {}, {{"dims", dims}, {"dtype", x.dtype}});
  Value* dx = g.Call("scatter", {zeros, Spread(g, g.input(1), result, axis), g.output_gradient()},
                     {{"axis", static_cast<int64_t>(axis)}, {"reduction", std::string("add")}});
  g.SetInputGradient(0, g.SumTo(dx, g.input(0)));
}

struct TakeAlongAxisMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Takes elements of x along an axis, with separate indices for each line, like NumPy's "
        "take_along_axis: with axis=1, y[i, j] is x[i, indices[i, j]]. A negative index counts "
        "from the end; for an index out of range the result is nan, or 0 for integers and bool.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("indices", "indices along the axis; rank as x, broadcast with x along the other axes")
        .Accepts(kIndexSet)
        .OwnDType()
        .Selector();
    AddOutput("y", "dtype as x; the broadcast dims, with the indices' size along the axis")
        .DTypeOf("x");
    AddAttr<int64_t>("axis", "axis of x; a negative axis counts from the end").Default(-1);
    AddExample(
        "y = take_along_axis([[1, 2, 3], [4, 5, 6]], [[0, -1], [1, 1]])  # = [[1, 3], [5, 5]]");
    properties().moves_elements = true;
    SetInference(InferTakeAlongAxis);
    SetIndexCheck(CheckIndicesAlongAxis);
    SetGradient(TakeAlongAxisGradient);
  }
};

}  // namespace

void RegisterGatherNdOps(OpRegistry& registry) {
  registry.BeginFamily("Indexing");
  registry.RegisterOp<GatherNdOp, GatherNdMaker>("gather_nd");
  registry.RegisterOp<TakeAlongAxisOp, TakeAlongAxisMaker>("take_along_axis");
}

}  // namespace pdl
