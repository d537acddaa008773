// Operators with indices along one axis: gather, scatter_add, one_hot.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/core/element.h"
#include "kernels/core/float_copy.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/indexing/index_range.h"
#include "kernels/indexing/row_parts.h"
#include "kernels/indexing/sorted_updates.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// x is outer blocks of `size` rows of `inner` elements; the gathered tensor has `count` rows in
// each block.
struct GatherState : CallState {
  int64_t outer = 1, size = 1, inner = 1, count = 1;

  GatherState(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> indices, int64_t axis) {
    const int64_t rank = static_cast<int64_t>(x.size());
    if (axis < 0) axis += rank;
    for (int64_t d = 0; d < rank; ++d) {
      (d < axis ? outer : d > axis ? inner : size) *= x[static_cast<size_t>(d)];
    }
    for (const int64_t n : indices) count *= n;
  }
};

// The dims of x with an axis replaced by the dims of the indices.
Shape GatheredDims(llvm::ArrayRef<Dim> x, llvm::ArrayRef<Dim> indices, unsigned axis) {
  Shape dims(x.take_front(axis));
  dims.append(indices.begin(), indices.end());
  dims.append(x.begin() + axis + 1, x.end());
  return dims;
}

// --- gather -------------------------------------------------------------------------------------

template <class Context>
class GatherOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    preparation.state = std::make_shared<GatherState>(
        context.inputs()[0].sizes, context.inputs()[1].sizes, this->attributes().Int("axis"));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const GatherState& s = *context.template state<GatherState>();
    const uint64_t missing = MissingBits(outputs[0]->dtype());
    const auto run = [&](auto zero) {
      using Bits = decltype(zero);
      const Bits* x = static_cast<const Bits*>(inputs[0]->raw());
      Bits* y = static_cast<Bits*>(outputs[0]->raw());
      const IndexReader positions(*inputs[1], s.size);
      const int64_t row_bytes = s.inner * static_cast<int64_t>(sizeof(Bits));
      const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(row_bytes, 16));
      context.ParallelFor(s.outer * s.count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t position = positions[row % s.count];
          Bits* to = y + row * s.inner;
          if (position < 0) {
            std::fill_n(to, s.inner, static_cast<Bits>(missing));
            continue;
          }
          const Bits* from = x + (row / s.count * s.size + position) * s.inner;
          if (s.inner == 1) {
            *to = *from;
          } else {
            std::memcpy(to, from, static_cast<size_t>(row_bytes));
          }
        }
      });
    };
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitBits(outputs[0]->dtype(), run);
    return llvm::Error::success();
  }
};

llvm::Error InferGather(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = CheckIndexBound(context, x.dims[*axis], 0, 1)) return error;
  Type type(x.dtype, GatheredDims(x.dims, context.input(1).dims, *axis));
  // An index that is out of range yields 0, which satisfies any bound of at least 1.
  if (context.input(1).index_bound) type.index_bound = x.index_bound;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

void GatherGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  Value* zeros = g.Call("zeros", {}, {{"dims", x.dims}, {"dtype", x.dtype}});
  g.SetInputGradient(0, g.Call("scatter_add", {zeros, g.input(1), g.output_gradient()},
                               {{"axis", g.attributes().Int("axis")}}));
}

struct GatherMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Takes elements or slices of x at the given indices along an axis, like NumPy's take: with "
        "axis=0, y[i, ...] is x[indices[i], ...]. A negative index counts from the end. For an "
        "index out of range the result is nan, or 0 for integers and bool; indices declared `in "
        "0..V` are never out of range if V is at most the size of the axis, which is checked.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("indices", "indices along the axis").Accepts(kIndexSet).OwnDType().Ragged().Selector();
    AddOutput("y", "dtype as x; the dims of x, with the axis replaced by the dims of the indices")
        .DTypeOf("x");
    AddAttr<int64_t>("axis", "axis of x; a negative axis counts from the end").Default(0);
    properties().moves_elements = true;
    SetInference(InferGather);
    SetIndexCheck(CheckIndicesAlongAxis);
    SetGradient(GatherGradient);
    AddExample("y = gather([10.0, 20.0, 30.0], [2, 0, -1])  # = [30.0, 10.0, 30.0]");
  }
};

// --- scatter_add --------------------------------------------------------------------------------

template <class T>
struct AddRowLoop {
  static PDL_INLINE void Run(const void* from_raw, int64_t n, void* to_raw) {
    const T* from = static_cast<const T*>(from_raw);
    T* to = static_cast<T*>(to_raw);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = static_cast<T>(static_cast<uint64_t>(to[i]) + static_cast<uint64_t>(from[i]));
      } else {
        to[i] += from[i];
      }
    }
  }
};

/// Each task adds all updates to a part of each row, so each element gets its updates in order.
template <class Context>
class ScatterAddOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    auto state = std::make_shared<GatherState>(context.inputs()[0].sizes, context.inputs()[1].sizes,
                                               this->attributes().Int("axis"));
    if (IsHalf(context.inputs()[0].dtype))
      preparation.workspace_bytes = state->count * static_cast<int64_t>(sizeof(PlacedUpdate));
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const GatherState& s = *context.template state<GatherState>();
    if (inputs[0]->raw() != outputs[0]->raw()) {
      if (llvm::Error error =
              context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes())) {
        return error;
      }
    }
    if (inputs[2]->num_elements() == 0) return llvm::Error::success();
    const DType dtype = outputs[0]->dtype();
    const char* updates = static_cast<const char*>(inputs[2]->raw());
    char* y = static_cast<char*>(outputs[0]->raw());
    const IndexReader positions(*inputs[1], s.size);
    if (IsHalf(dtype)) {
      AddInF32(s, dtype, positions, updates, y, context);
      return llvm::Error::success();
    }
    void (*add)(const void* from, int64_t n, void* to) = nullptr;
    VisitDType(NumberTypes(), dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_arithmetic_v<T>) add = ChooseIsa<AddRowLoop<T>>();
    });
    ForEachRowPart({s.outer, s.count, s.inner, DTypeSize(dtype)}, context,
                   [&](const RowPart& part) {
                     for (int64_t i = 0; i < s.count; ++i) {
                       const int64_t position = positions[i];
                       if (position < 0) continue;
                       add(updates + part.Offset(part.block * s.count + i), part.n,
                           y + part.Offset(part.block * s.size + position));
                     }
                   });
    return llvm::Error::success();
  }

 private:
  /// Sorts the updates by their positions, and adds those of each position.
  static void AddInF32(const GatherState& s, DType dtype, const IndexReader& positions,
                       const char* updates, char* y, Context& context) {
    decltype(&CombineInF32Loop<float16, false>::Run) add = nullptr;
    VisitDType(NumberTypes(), dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_arithmetic_v<T>) add = ChooseIsa<CombineInF32Loop<T, false>>();
    });
    const auto sorted = SortUpdates(
        s.count, [&](int64_t i) { return positions[i]; },
        static_cast<PlacedUpdate*>(context.workspace()));
    ForEachRowPart(
        {s.outer, s.count, s.inner, DTypeSize(dtype)}, context, [&](const RowPart& part) {
          ForEachPosition(sorted, [&](llvm::ArrayRef<PlacedUpdate> of_row) {
            add(updates + part.Offset(part.block * s.count), s.inner * part.element, of_row, part.n,
                y + part.Offset(part.block * s.size + of_row[0].position));
          });
        });
  }
};

llvm::Error InferScatterAdd(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 0, 2)) return error;
  const Type& x = context.input(0);
  const Type& updates = context.input(2);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = CheckIndexBound(context, x.dims[*axis], 0, 1)) return error;
  const Shape expected = GatheredDims(x.dims, context.input(1).dims, *axis);
  if (updates.rank() != expected.size()) {
    return context.FailAt({2}, Code::kRank, "'updates' must have dims {0}, got {1}",
                          ShapeToString(expected), updates.ToString());
  }
  for (unsigned d = 0; d < updates.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(updates.dims[d], expected[d], {2},
                                                 "'updates' does not match x and the indices")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, x.dims));
  return llvm::Error::success();
}

void ScatterAddGradient(GradientContext& g) {
  if (!IsFloat(g.input(0)->type().dtype)) return;
  const int64_t axis = g.attributes().Int("axis");
  g.SetInputGradient(0, g.output_gradient());
  Value* taken = g.Call("gather", {g.output_gradient(), g.input(1)}, {{"axis", axis}});
  const Type& indices = g.input(1)->type();
  if (!indices.index_bound) {
    // gather returns nan where an update was dropped.
    const Shape& dims = g.input(0)->type().dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const auto dim = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    Value* count = g.Call("size", {}, {{"dims", Shape{dims[dim]}}, {"dtype", indices.dtype}});
    Value* inside = g.Call("logical_and", {g.Call("less", {g.input(1), count}),
                                           g.Call("greater_equal", {g.input(1), g.Neg(count)})});
    Shape mask = indices.dims;
    mask.append(dims.size() - dim - 1, Dim(1));
    taken = g.Call("where", {g.Call("reshape", {inside}, {{"dims", mask}}), taken,
                             g.Scalar(0, g.output_gradient())});
  }
  g.SetInputGradient(2, taken);
}

struct ScatterAddMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x with `updates` added at the given indices along an axis, one after another where "
        "indices are equal: the inverse of gather. A negative index counts from the end; updates "
        "at indices out of range are dropped. Integers wrap around.");
    AddInput("x", "at least one dim").Accepts(kNumberSet);
    AddInput("indices", "indices along the axis").Accepts(kIndexSet).OwnDType().Selector();
    AddInput("updates", "dtype as x; the dims of gather(x, indices, axis)").Accepts(kNumberSet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "axis of x; a negative axis counts from the end").Default(0);
    SetInference(InferScatterAdd);
    SetIndexCheck(CheckIndicesAlongAxis);
    SetGradient(ScatterAddGradient);
    AddExample(
        "y = scatter_add([0.0, 0.0, 0.0], [2, 0, 2], [1.0, 10.0, 100.0])  # = [10.0, 0.0, 101.0]");
  }
};

// --- one_hot ------------------------------------------------------------------------------------

template <class T>
T One() {
  return Element<T>::Store(static_cast<ComputeType<T>>(1));
}

template <class Context>
class OneHotOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t depth = outputs[0]->sizes().back();
    const int64_t count = inputs[0]->num_elements();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const IndexReader positions(*inputs[0], depth);
    VisitDType(AnyTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = static_cast<T*>(outputs[0]->raw());
      const int64_t grain = std::max<int64_t>(1, kGrainBytes / depth);
      context.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
        std::memset(static_cast<void*>(out + begin * depth), 0,
                    static_cast<size_t>((end - begin) * depth) * sizeof(T));
        for (int64_t i = begin; i < end; ++i) {
          if (const int64_t position = positions[i]; position >= 0)
            out[i * depth + position] = One<T>();
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferOneHot(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "depth")) return error;
  if (llvm::Error error = CheckDType(context, "dtype", kAnySet)) return error;
  const Shape& depth = context.attributes().Dims("depth");
  if (depth.size() != 1) {
    return context.FailAtAttribute("depth", Code::kRank, "'depth' must be one size, got {0}",
                                   depth.size());
  }
  const Type& indices = context.input(0);
  if (indices.index_bound) {
    if (llvm::Error error = context.RequireAtLeast(depth[0], *indices.index_bound, {0},
                                                   "an index may be outside the depth")) {
      return error;
    }
  }
  Shape dims = indices.dims;
  dims.push_back(depth[0]);
  context.SetOutput(Type(context.attributes().Dtype("dtype"), dims));
  return llvm::Error::success();
}

// Indices must be within the rows of the result.
llvm::Error CheckOneHot(const AttributeReader&, llvm::ArrayRef<const Tensor*> operands,
                        llvm::ArrayRef<const Tensor*> results) {
  const Tensor& y = *results[0];
  return CheckIndices(*operands[0], y.sizes().back(), y, y.rank() - 1);
}

struct OneHotMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "One-hot encoding: for each index a row of zeros with a 1 at the index. A negative index "
        "counts from the end; the row of an index out of range is all zeros.");
    AddInput("indices", "indices, from 0 to depth - 1").Accepts(kIndexSet).OwnDType().Ragged();
    AddOutput("y", "the dims of the indices, then `depth`").DTypeOf("dtype");
    AddAttr<Shape>("depth", "length of a row").Positional();
    AddAttr<DType>("dtype", "dtype of the result").Default(DType::kF32);
    SetInference(InferOneHot);
    SetIndexCheck(CheckOneHot);
    AddExample("y = one_hot([0, 2], 3)  # = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]");
  }
};

}  // namespace

void RegisterGatherOps(OpRegistry& registry) {
  registry.BeginFamily("Indexing");
  registry.RegisterOp<GatherOp, GatherMaker>("gather");
  registry.RegisterOp<ScatterAddOp, ScatterAddMaker>("scatter_add");
  registry.RegisterOp<OneHotOp, OneHotMaker>("one_hot");
}

}  // namespace pdl
