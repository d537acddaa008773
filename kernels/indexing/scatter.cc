// Operators that write elements at indices: scatter, scatter_nd.
#include <algorithm>
#include <cstring>

#include "kernels/core/float_copy.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/indexing/along_axis.h"
#include "kernels/indexing/index_range.h"
#include "kernels/indexing/nd_inference.h"
#include "kernels/indexing/row_parts.h"
#include "kernels/indexing/sorted_updates.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

constexpr int64_t kColumns = 64;

// --- Combining updates with existing elements ---------------------------------------------------

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

Reduction ReductionOf(llvm::StringRef name) {
  return name == "add"   ? Reduction::kAdd
         : name == "mul" ? Reduction::kMul
         : name == "min" ? Reduction::kMin
         : name == "max" ? Reduction::kMax
                         : Reduction::kNone;
}

template <class T, Reduction kReduction>
PDL_INLINE T Combine(T there, T update) {
  if constexpr (kReduction == Reduction::kNone) {
    return update;
  } else if constexpr (std::is_integral_v<T> && kReduction == Reduction::kAdd) {
    return static_cast<T>(static_cast<uint64_t>(there) + static_cast<uint64_t>(update));
  } else if constexpr (std::is_integral_v<T> && kReduction == Reduction::kMul) {
    return static_cast<T>(static_cast<uint64_t>(there) * static_cast<uint64_t>(update));
  } else {
    const auto a = Element<T>::Load(there), b = Element<T>::Load(update);
    if constexpr (kReduction == Reduction::kAdd) return Element<T>::Store(a + b);
    if constexpr (kReduction == Reduction::kMul) return Element<T>::Store(a * b);
    if constexpr (kReduction == Reduction::kMin) return (b < a) | (b != b) ? update : there;
    if constexpr (kReduction == Reduction::kMax) return (b > a) | (b != b) ? update : there;
  }
}

// Combines n adjacent elements.
template <class T, Reduction kReduction>
struct CombineRowLoop {
  static PDL_INLINE void Run(const void* from_raw, int64_t n, void* to_raw) {
    const T* from = static_cast<const T*>(from_raw);
    T* to = static_cast<T*>(to_raw);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Combine<T, kReduction>(to[i], from[i]);
  }
};

// Calls f(TypeTag<T>(), reduction as a constant) for an element type and reduction.
template <class F>
void VisitReduction(DType dtype, Reduction reduction, F f) {
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    using R = Reduction;
    switch (reduction) {
      case R::kNone:
        return f(tag, std::integral_constant<R, R::kNone>());
      case R::kAdd:
        return f(tag, std::integral_constant<R, R::kAdd>());
      case R::kMul:
        return f(tag, std::integral_constant<R, R::kMul>());
      case R::kMin:
        return f(tag, std::integral_constant<R, R::kMin>());
      case R::kMax:
        return f(tag, std::integral_constant<R, R::kMax>());
    }
  });
}

// Copies x to the result, unless the result already uses its memory.
template <class Context>
llvm::Error CopyBase(const Tensor& x, Tensor* y, Context& context) {
  if (x.raw() == y->raw() || x.num_bytes() == 0) return llvm::Error::success();
  return context.CopyWithin(y->raw(), x.raw(), x.num_bytes());
}

template <class Context>
class ScatterBase : public Operator<Context> {
 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    reduction_ = ReductionOf(attributes.String("reduction"));
    return llvm::Error::success();
  }
  bool IsInF32(DType dtype) const {
    return IsHalf(dtype) && (reduction_ == Reduction::kAdd || reduction_ == Reduction::kMul);
  }
  Reduction reduction_ = Reduction::kNone;
};

// Checks that the dtype supports the reduction, and that the updates have it.
llvm::Error CheckReduction(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 0, 2)) return error;
  const bool is_bool = context.input(0).dtype == DType::kBool;
  const llvm::StringRef reduction = context.attributes().String("reduction");
  if (!is_bool || reduction == "none") return llvm::Error::success();
  return context.FailAtAttribute("reduction", Code::kOperandDType,
                                 "bool does not support the reduction '{0}'", reduction);
}

// The gradients of x and the updates. `take(v)` gathers v, which has the dims of x, at the indices
// of the updates; `scatter(x, u, reduction)` is the operator itself with the same indices.
template <class Take, class Scatter>
void EmitScatterGradient(GradientContext& g, Take take, Scatter scatter) {
  const Type& type = g.input(0)->type();
  if (!IsFloat(type.dtype)) return;
  const Shape dims = g.input(2)->type().dims;
  const llvm::StringRef reduction = g.attributes().String("reduction");
  Value *x = g.input(0), *u = g.input(2), *y = g.output(), *dy = g.output_gradient();
  Value* zero = g.Scalar(0, x);
  const auto to_number = [&](Value* v) { return g.Call("cast", {v}, {{"to", type.dtype}}); };
  const auto equal = [&](Value* a, Value* b) { return g.Call("equal", {a, b}); };
  const auto where = [&](Value* c, Value* a, Value* b) { return g.Call("where", {c, a, b}); };
  // An update that was dropped has gradient 0.
  const auto present = [&](Value* v) {
    if (g.input(1)->type().index_bound) return v;
    Value* all = g.Call("ones", {}, {{"dims", type.dims}, {"dtype", DType::kBool}});
    return where(take(all), v, zero);
  };

  if (reduction == "none") {
    Value* zeros = g.Call("zeros", {}, {{"dims", dims}, {"dtype", type.dtype}});
    g.SetInputGradient(0, scatter(dy, zeros, "none"));
    // The last update at an index wins: scatters the updates' numbers, and compares.
    Value* numbers =
        g.Call("range", {}, {{"start", Shape{1}}, {"stop", Shape{NumElements(dims) + 1}}});
    numbers = g.Call("reshape", {numbers}, {{"dims", dims}});
    Value* none = g.Call("zeros", {}, {{"dims", type.dims}, {"dtype", DType::kI64}});
    Value* stays = equal(take(scatter(none, numbers, "none")), numbers);
    g.SetInputGradient(2, where(stays, take(dy), zero));
  } else if (reduction == "add") {
    g.SetInputGradient(0, dy);
    g.SetInputGradient(2, present(take(dy)));
  } else if (reduction == "mul") {
    // The product of the other factors; factors of 0 are counted separately.
    Value* one = g.Scalar(1, x);
    Value *x_zero = equal(x, zero), *u_zero = equal(u, zero);
    Value* product = scatter(where(x_zero, one, x), where(u_zero, one, u), "mul");
    Value* zeros = scatter(to_number(x_zero), to_number(u_zero), "add");
    const auto others = [&](Value* factor, Value* is_zero, Value* product, Value* zeros) {
      Value* without = where(equal(zeros, zero), g.Div(product, where(is_zero, one, factor)), zero);
      return where(is_zero, where(equal(zeros, one), product, zero), without);
    };
    g.SetInputGradient(0, g.Mul(dy, others(x, x_zero, product, zeros)));
    Value* du = g.Mul(take(dy), others(u, u_zero, take(product), take(zeros)));
    g.SetInputGradient(2, present(du));
  } else {
    // All elements that equal the result share its gradient.
    Value *x_wins = equal(x, y), *u_wins = equal(u, take(y));
    Value* share = g.Div(dy, scatter(to_number(x_wins), to_number(u_wins), "add"));
    g.SetInputGradient(0, where(x_wins, share, zero));
    g.SetInputGradient(2, where(u_wins, take(share), zero));
  }
}

// Products and numbers of equal elements may leave the range of f16; the other reductions only move
// elements.
template <GradientFunction kRule>
void ScatterGradient(GradientContext& g) {
  const llvm::StringRef reduction = g.attributes().String("reduction");
  if (reduction == "none" || reduction == "add") return kRule(g);
  EmitWide(g, kRule);
}

// --- scatter ------------------------------------------------------------------------------------

template <class Context>
class ScatterOp : public ScatterBase<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    const Sizes& walk = context.inputs()[1].sizes;
    auto state = std::make_shared<AlongAxis>(walk, context.inputs()[0].sizes, walk,
                                             this->attributes().Int("axis"));
    if (this->IsInF32(context.inputs()[0].dtype))
      preparation.workspace_bytes = ScratchAreas(context.device(), PiecesOf(*state)) *
                                    state->count * static_cast<int64_t>(sizeof(PlacedUpdate));
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const AlongAxis& s = *context.template state<AlongAxis>();
    if (llvm::Error error = CopyBase(*inputs[0], outputs[0], context)) return error;
    if (inputs[1]->num_elements() == 0) return llvm::Error::success();
    const IndexReader positions(*inputs[1], s.size);
    if (this->IsInF32(outputs[0]->dtype())) {
      CombineLines(s, positions, *inputs[2], outputs[0], context);
      return llvm::Error::success();
    }
    const int64_t pieces = (s.inner + kColumns - 1) / kColumns;
    const int64_t grain =
        std::max<int64_t>(1, kGrainBytes / 8 / (s.count * std::min(kColumns, s.inner)));
    VisitReduction(outputs[0]->dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      const T* updates = static_cast<const T*>(inputs[2]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      // Each task owns some lines along the axis, and applies their updates in order.
      context.ParallelFor(s.outer * pieces, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t block = task / pieces, first = task % pieces * kColumns;
          const int64_t last = std::min(s.inner, first + kColumns);
          T* to = y + AlongAxis::Offset(block, s.outer_sizes, s.outer_strides);
          for (int64_t i = 0; i < s.count; ++i) {
            const int64_t line = (block * s.count + i) * s.inner;
            for (int64_t c = first; c < last; ++c) {
              const int64_t position = positions[line + c];
              if (position < 0) continue;
              T* at = to + position * s.stride + s.InnerOffset(c);
              *at = Combine<T, decltype(reduction)::value>(*at, updates[line + c]);
            }
          }
        }
      });
    });
    return llvm::Error::success();
  }

 private:
  /// The pieces of lines that are combined in f32; an area of workspace has the updates of a line.
  static int64_t PiecesOf(const AlongAxis& s) {
    return std::clamp<int64_t>(s.outer * s.inner, 1, kMaxPieces);
  }

  /// Combines the updates of a line along the axis in f32.
  template <class T, Reduction kReduction>
  static void CombineLine(const AlongAxis& s, int64_t line, const IndexReader& positions,
                          const void* updates, PlacedUpdate* workspace, void* y) {
    const int64_t block = line / s.inner, column = line % s.inner;
    const auto update_at = [&](int64_t i) { return (block * s.count + i) * s.inner + column; };
    const auto sorted =
        SortUpdates(s.count, [&](int64_t i) { return positions[update_at(i)]; }, workspace);
    T* to = static_cast<T*>(y) + AlongAxis::Offset(block, s.outer_sizes, s.outer_strides) +
            s.InnerOffset(column);
    ForEachPosition(sorted, [&](llvm::ArrayRef<PlacedUpdate> of_position) {
      T* at = to + of_position[0].position * s.stride;
      float combined = Element<T>::Load(*at);
      for (const PlacedUpdate& update : of_position)
        combined = Combine<float, kReduction>(
            combined, Element<T>::Load(static_cast<const T*>(updates)[update_at(update.number)]));
      *at = Element<T>::Store(combined);
    });
  }

  void CombineLines(const AlongAxis& s, const IndexReader& positions, const Tensor& updates,
                    Tensor* result, Context& context) const {
    decltype(&CombineLine<float16, Reduction::kAdd>) combine = nullptr;
    VisitReduction(updates.dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      constexpr Reduction kReduction = decltype(reduction)::value;
      if constexpr (!std::is_arithmetic_v<T>) combine = CombineLine<T, kReduction>;
    });
    const int64_t pieces = PiecesOf(s), lines = s.outer * s.inner;
    auto* workspace = static_cast<PlacedUpdate*>(context.workspace());
    const int64_t areas = ScratchAreas(context, pieces);
    ParallelForAreas(context, pieces, areas, [&](int64_t piece, int64_t area) {
      for (int64_t line = piece; line < lines; line += pieces)
        combine(s, line, positions, updates.raw(), workspace + area * s.count, result->raw());
    });
  }
};

llvm::Error InferScatter(InferenceContext& context) {
  if (llvm::Error error = CheckReduction(context)) return error;
  const Type& x = context.input(0);
  const Type& indices = context.input(1);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (indices.rank() != x.rank()) {
    return context.FailAt({0, 1}, Code::kRank, "ranks differ: {0} and {1}", x.rank(),
                          indices.rank());
  }
  if (llvm::Error error = CheckIndexBound(context, x.dims[*axis], 0, 1)) return error;
  if (llvm::Error error =
          RequireSameDims(context, 1, 2, "'updates' must have the dims of 'indices'")) {
    return error;
  }
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (d == *axis) continue;
    if (llvm::Error error =
            context.RequireAtLeast(x.dims[d], indices.dims[d], {0, 1},
                                   "the indices are larger than x along another axis")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, x.dims));
  return llvm::Error::success();
}

void ScatterElementsGradient(GradientContext& g) {
  const int64_t given = g.attributes().Int("axis");
  const Shape& dims = g.input(0)->type().dims;
  const Shape& walked = g.input(1)->type().dims;
  const int64_t axis = given < 0 ? given + static_cast<int64_t>(dims.size()) : given;
  // Outside the axis the indices may be smaller than x.
  std::vector<int64_t> axes;
  Shape starts, stops;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (static_cast<int64_t>(d) == axis || dims[d] == walked[d]) continue;
    axes.push_back(static_cast<int64_t>(d));
    starts.push_back(0);
    stops.push_back(walked[d]);
  }
  const auto take = [&](Value* v) {
    if (!axes.empty()) {
      v = g.Call("slice", {v}, {{"axes", axes}, {"starts", starts}, {"stops", stops}});
    }
    return g.Call("take_along_axis", {v, g.input(1)}, {{"axis", axis}});
  };
  const auto scatter = [&](Value* x, Value* u, const char* reduction) {
    return g.Call("scatter", {x, g.input(1), u},
                  {{"axis", axis}, {"reduction", std::string(reduction)}});
  };
  EmitScatterGradient(g, take, scatter);
}

// The attribute `reduction` of both operators.
constexpr const char* kReductionComment =
    "how an update is combined with the element at its index: none replaces it, add and mul add "
    "and multiply, min and max keep the smaller or larger one (nan if either is nan)";
std::vector<std::string> Reductions() { return {"none", "add", "mul", "min", "max"}; }

struct ScatterMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x with `updates` written along an axis, with separate indices for each line: with axis=1, "
        "y[i, indices[i, j]] is updates[i, j]. Updates at equal indices are applied in the order "
        "of their indices, so without a reduction the last one wins. A negative index counts from "
        "the end; updates at indices out of range are dropped. Integers wrap around.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("indices", "indices along the axis; rank as x, no larger than x along the other axes")
        .Accepts(kIndexSet)
        .OwnDType()
        .Selector();
    AddInput("updates", "dtype as x; dims as the indices").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "axis of x; a negative axis counts from the end").Default(-1);
    AddAttr<std::string>("reduction", kReductionComment).Default("none").OneOf(Reductions());
    AddExample(
        "y = scatter([1, 2, 3], [0, 2, 0], [10, 20, 30], reduction=\"add\")  # = [41, 2, 23]");
    SetInference(InferScatter);
    SetIndexCheck(CheckIndicesAlongAxis);
    SetGradient(ScatterGradient<ScatterElementsGradient>);
  }
};

// --- scatter_nd ---------------------------------------------------------------------------------

template <class Context>
class ScatterNdOp : public ScatterBase<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<NdState>(context.inputs()[0].sizes, context.inputs()[1].sizes,
                                           this->attributes().Int("batch_dims"));
    const size_t update_bytes =
        sizeof(int64_t) + (this->IsInF32(context.inputs()[0].dtype) ? sizeof(PlacedUpdate) : 0);
    Preparation preparation;
    preparation.workspace_bytes = state->blocks * state->count * static_cast<int64_t>(update_bytes);
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const NdState& s = *context.template state<NdState>();
    if (llvm::Error error = CopyBase(*inputs[0], outputs[0], context)) return error;
    if (inputs[2]->num_elements() == 0) return llvm::Error::success();
    int64_t* positions = static_cast<int64_t*>(context.workspace());
    const IndexReader indices(*inputs[1], 0);
    context.ParallelFor(s.blocks * s.count, 1 << 14, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) positions[i] = TuplePosition(indices, i, s.sizes);
    });
    if (this->IsInF32(outputs[0]->dtype())) {
      CombineInF32(s, positions, *inputs[2], outputs[0], context);
      return llvm::Error::success();
    }
    void (*combine)(const void* from, int64_t n, void* to) = nullptr;
    VisitReduction(outputs[0]->dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      combine = ChooseIsa<CombineRowLoop<T, decltype(reduction)::value>>();
    });
    const int64_t element = DTypeSize(outputs[0]->dtype());
    const char* updates = static_cast<const char*>(inputs[2]->raw());
    char* y = static_cast<char*>(outputs[0]->raw());
    ForEachRowPart({s.blocks, s.count, s.inner, element}, context, [&](const RowPart& part) {
      for (int64_t i = part.block * s.count; i < (part.block + 1) * s.count; ++i) {
        if (positions[i] < 0) continue;
        combine(updates + part.Offset(i), part.n,
                y + part.Offset(part.block * s.positions + positions[i]));
      }
    });
    return llvm::Error::success();
  }

 private:
  /// `positions` of all updates, followed by memory for sorted ones.
  void CombineInF32(const NdState& s, int64_t* positions, const Tensor& given, Tensor* result,
                    Context& context) const {
    auto* sorted = reinterpret_cast<PlacedUpdate*>(positions + s.blocks * s.count);
    // The number of those that are not dropped replaces the first position of a block.
    context.ParallelFor(s.blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        int64_t* of_block = positions + block * s.count;
        const auto order =
            SortUpdates(s.count, [&](int64_t i) { return of_block[i]; }, sorted + block * s.count);
        of_block[0] = static_cast<int64_t>(order.size());
      }
    });
    decltype(&CombineInF32Loop<float16, false>::Run) combine = nullptr;
    VisitReduction(given.dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      constexpr bool kMultiplies = decltype(reduction)::value == Reduction::kMul;
      if constexpr (!std::is_arithmetic_v<T>)
        combine = ChooseIsa<CombineInF32Loop<T, kMultiplies>>();
    });
    const int64_t element = DTypeSize(given.dtype());
    const char* updates = static_cast<const char*>(given.raw());
    char* y = static_cast<char*>(result->raw());
    ForEachRowPart({s.blocks, s.count, s.inner, element}, context, [&](const RowPart& part) {
      const int64_t first = part.block * s.count;
      const llvm::ArrayRef<PlacedUpdate> order(sorted + first,
                                               static_cast<size_t>(positions[first]));
      ForEachPosition(order, [&](llvm::ArrayRef<PlacedUpdate> of_position) {
        combine(updates + part.Offset(first), s.inner * element, of_position, part.n,
                y + part.Offset(part.block * s.positions + of_position[0].position));
      });
    });
  }
};

llvm::Error InferScatterNd(InferenceContext& context) {
  if (llvm::Error error = CheckReduction(context)) return error;
  auto dims = NdDims(context);
  if (!dims) return dims.takeError();
  const Type& x = context.input(0);
  const Type& updates = context.input(2);
  if (updates.rank() != dims->size()) {
    return context.FailAt({2}, Code::kRank, "'updates' must have dims {0}, got {1}",
                          ShapeToString(*dims), updates.ToString());
  }
  for (unsigned d = 0; d < updates.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(updates.dims[d], (*dims)[d], {2},
                                                 "'updates' does not match x and the indices")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, x.dims));
  return llvm::Error::success();
}

void ScatterNdGradient(GradientContext& g) {
  const int64_t batch_dims = g.attributes().Int("batch_dims");
  const auto take = [&](Value* v) {
    return g.Call("gather_nd", {v, g.input(1)}, {{"batch_dims", batch_dims}});
  };
  const auto scatter = [&](Value* x, Value* u, const char* reduction) {
    return g.Call("scatter_nd", {x, g.input(1), u},
                  {{"batch_dims", batch_dims}, {"reduction", std::string(reduction)}});
  };
  EmitScatterGradient(g, take, scatter);
}

struct ScatterNdMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x with `updates` written at index tuples, the inverse of gather_nd: y[indices[i, 0], ..., "
        "indices[i, K - 1], ...] is updates[i, ...]. Updates at equal indices are applied in the "
        "order of their indices, so without a reduction the last one wins. Negative indices count "
        "from the end; an update is dropped if one of its indices is out of range. Integers wrap "
        "around.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("indices", "[..., K]: index tuples for K axes of x after the first `batch_dims` ones")
        .Accepts(kIndexSet)
        .OwnDType()
        .Selector();
    AddInput("updates", "dtype as x; the dims of gather_nd(x, indices)").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<std::string>("reduction", kReductionComment).Default("none").OneOf(Reductions());
    AddAttr<int64_t>("batch_dims", "number of leading axes that x and the indices share")
        .Default(0)
        .AtLeast(0);
    AddExample("y = scatter_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]], [7, 8])  # = [[1, 7], [8, 4]]");
    properties().cannot_fail = true;
    SetInference(InferScatterNd);
    SetIndexCheck(CheckIndexTuples);
    SetGradient(ScatterGradient<ScatterNdGradient>);
  }
};

}  // namespace

void RegisterScatterOps(OpRegistry& registry) {
  registry.BeginFamily("Indexing");
  registry.RegisterOp<ScatterOp, ScatterMaker>("scatter");
  registry.RegisterOp<ScatterNdOp, ScatterNdMaker>("scatter_nd");
}

}  // namespace pdl
