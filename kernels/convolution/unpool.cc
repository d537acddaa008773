// max_unpool, which writes elements to the indices that max_pool_index found, and plane_gather, its
// reverse.
#include <algorithm>

#include "kernels/convolution/window_attributes.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/error.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

struct Planes {
  int64_t count = 0;
  int64_t from = 0, to = 0;  // elements of one plane of the input and of the result

  Planes(const Tensor& x, const Tensor& y) : count(x.sizes()[0] * x.sizes()[1]) {
    if (count == 0) return;
    from = x.num_elements() / count;
    to = y.num_elements() / count;
  }

  template <class F>
  void ForEach(CPUContext& context, F f) const {
    context.ParallelFor(count, 1 + kGrainElements / (1 + from + to),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t plane = begin; plane < end; ++plane) f(plane);
                        });
  }
};

template <class Context>
class MaxUnpoolOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const Planes planes(*inputs[0], *outputs[0]);
    const int64_t* indices = static_cast<const int64_t*>(inputs[1]->raw());
    VisitDType(NumberTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      planes.ForEach(context, [&](int64_t plane) {
        T* to = y + plane * planes.to;
        std::fill_n(to, planes.to, T{});
        for (int64_t i = plane * planes.from; i < (plane + 1) * planes.from; ++i) {
          const int64_t place = indices[i];
          if (place >= 0 && place < planes.to) to[place] = Sum(to[place], x[i]);
        }
      });
    });
    return llvm::Error::success();
  }

 private:
  template <class T>
  static T Sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return Element<T>::Store(Element<T>::Load(a) + Element<T>::Load(b));
    }
  }
};

template <class Context>
class PlaneGatherOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const Planes planes(*inputs[0], *outputs[0]);
    const int64_t* indices = static_cast<const int64_t*>(inputs[1]->raw());
    VisitDType(AnyTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      planes.ForEach(context, [&](int64_t plane) {
        const T* from = x + plane * planes.from;
        for (int64_t i = plane * planes.to; i < (plane + 1) * planes.to; ++i) {
          const int64_t place = indices[i];
          y[i] = place >= 0 && place < planes.from ? from[place] : T{};
        }
      });
    });
    return llvm::Error::success();
  }
};

// --- declarations -------------------------------------------------------------------------------

llvm::Error InferMaxUnpool(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  if (llvm::Error error =
          RequireSameDims(context, 0, 1, "x and the indices must have the same dims"))
    return error;
  const Type& x = context.input(0);
  auto size = ReadSpatialAttribute(context, "size", x.rank() - 2, 0);
  if (!size) return size.takeError();
  Shape dims = {x.dims[0], x.dims[1]};
  dims.append(size->begin(), size->end());
  context.SetOutput(Type(x.dtype, dims));
  return llvm::Error::success();
}

llvm::Error InferPlaneGather(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& x = context.input(0);
  const Type& indices = context.input(1);
  if (llvm::Error error = RequireSpatialRank(context, 1, x.rank() - 2)) return error;
  for (unsigned d = 0; d < 2; ++d) {
    if (llvm::Error error = context.RequireEqual(x.dims[d], indices.dims[d], {0, 1},
                                                 "x and the indices must have the same planes")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, indices.dims));
  return llvm::Error::success();
}

/// Requires that the indices are in [0, n) for planes of n elements of `x`.
llvm::Error CheckPlaneIndices(const Tensor& indices, const Tensor& x) {
  const int64_t size = Planes(x, x).from;
  const int64_t* const values = indices.data<int64_t>();
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    if (values[i] >= 0 && values[i] < size) continue;
    return MakeUserError(Code::kIndexRange, "index {0}{1} is outside the planes of {2}", values[i],
                         ElementPlace(i, indices.sizes()), x.TypeString());
  }
  return llvm::Error::success();
}

struct MaxUnpoolMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Writes the elements of x at given indices into planes of zeros: the reverse of max_pool, "
        "with the indices that max_pool_index returns. Elements with equal indices are summed. "
        "Indices outside the plane are ignored. Integers wrap around.");
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims").Accepts(kNumberSet);
    AddInput("indices", "row-major indices in the planes of the result; dims as x")
        .Accepts(DType::kI64)
        .OwnDType()
        .Selector();
    AddOutput("y", "[N, C, size...]; dtype as x").DTypeOf("x");
    AddAttr<Shape>("size", "the spatial sizes of the result: one for all dims, or one for each")
        .Positional();
    AddExample("y = max_unpool([[[5.0, 3.0]]], [[[1, 3]]], 4)  # = [[[0.0, 5.0, 0.0, 3.0]]]");
    SetInference(InferMaxUnpool);
    SetIndexCheck([](const AttributeReader&, llvm::ArrayRef<const Tensor*> operands,
                     llvm::ArrayRef<const Tensor*> results) {
      return CheckPlaneIndices(*operands[1], *results[0]);
    });
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      g.SetInputGradient(0, g.Call("plane_gather", {g.output_gradient(), g.input(1)}));
    });
  }
};

struct PlaneGatherMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Gathers the elements of x at given indices in each plane, as max_pool_index returns them: "
        "the reverse of max_unpool. Gives 0 for an index outside the plane.");
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims").Accepts(kAnySet);
    AddInput("indices", "[N, C, ...]: row-major indices in the planes of x")
        .Accepts(DType::kI64)
        .OwnDType()
        .Selector();
    AddOutput("y", "dims as the indices, dtype as x").DTypeOf("x").DimsOf("indices");
    AddExample("y = plane_gather([[[1.0, 5.0, 2.0, 3.0]]], [[[1, 3]]])  # = [[[5.0, 3.0]]]");
    SetInference(InferPlaneGather);
    SetIndexCheck([](const AttributeReader&, llvm::ArrayRef<const Tensor*> operands,
                     llvm::ArrayRef<const Tensor*>) {
      return CheckPlaneIndices(*operands[1], *operands[0]);
    });
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      const llvm::ArrayRef<Dim> size = SpatialDims(g.input(0)->type());
      g.SetInputGradient(0, g.Call("max_unpool", {g.output_gradient(), g.input(1)},
                                   {{"size", Shape(size.begin(), size.end())}}));
    });
  }
};

}  // namespace

void RegisterUnpoolOps(OpRegistry& registry) {
  registry.BeginFamily("Pooling");
  registry.RegisterOp<MaxUnpoolOp, MaxUnpoolMaker>("max_unpool");
  registry.RegisterOp<PlaneGatherOp, PlaneGatherMaker>("plane_gather");
}

}  // namespace pdl
