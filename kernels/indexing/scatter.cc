// Operators that write elements at indices: scatter, scatter_nd.
#include <algorithm>
#include <cstring>

#include "kernels/core/float_copy.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/indexing/along_axis.h"
#include "kernels/indexing/index_range.h"
#include "kernels/indexing/nd_inference.h"
#include "llvm/Support/MathExtras.h"
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

/// The dtype in which elements of T are combined: f32 for sums and products of 16-bit floats, which
/// are rounded once, since a sum of ones that is rounded after each update ends at 256 (bf16) or
/// 2048 (f16).
template <class T, Reduction kReduction>
using Combined = std::conditional_t<!std::is_arithmetic_v<T> && (kReduction == Reduction::kAdd ||
                                                                 kReduction == Reduction::kMul),
                                    float, T>;

template <class T, Reduction kReduction>
PDL_INLINE void CombineInto(Combined<T, kReduction>* there, T update) {
  using C = Combined<T, kReduction>;
  if constexpr (std::is_same_v<C, T>) {
    *there = Combine<T, kReduction>(*there, update);
  } else {
    *there = Combine<C, kReduction>(*there, Element<T>::Load(update));
  }
}

// Combines n adjacent elements.
template <class T, Reduction kReduction>
struct CombineRowLoop {
  static PDL_INLINE void Run(const void* from_raw, int64_t n, void* to_raw) {
    const T* from = static_cast<const T*>(from_raw);
    auto* to = static_cast<Combined<T, kReduction>*>(to_raw);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) CombineInto<T, kReduction>(to + i, from[i]);
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

template <class Context>
class ScatterBase : public Operator<Context> {
 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    reduction_ = ReductionOf(attributes.String("reduction"));
    return llvm::Error::success();
  }
  /// The bytes at the beginning of the workspace for the result in f32; 0 if its own dtype is that
  /// in which updates are combined.
  int64_t WideBytes(DType dtype, int64_t n) const {
    if (!IsHalf(dtype) || (reduction_ != Reduction::kAdd && reduction_ != Reduction::kMul))
      return 0;
    return static_cast<int64_t>(llvm::alignTo<8>(static_cast<uint64_t>(n) * sizeof(float)));
  }
  int64_t WideBytes(const PrepareContext& context) const {
    const OperandType& x = context.inputs()[0];
    return WideBytes(x.dtype, x.num_elements());
  }
  /// Copies x to where updates are combined: the result, which may already use its memory, or the
  /// workspace.
  llvm::Expected<void*> Begin(const Tensor& x, Tensor* y, Context& context) const {
    if (x.num_bytes() == 0) return y->raw();
    if (WideBytes(x.dtype(), x.num_elements()) > 0) {
      Convert(x.dtype(), x.raw(), DType::kF32, context.workspace(), x.num_elements(), context);
      return context.workspace();
    }
    if (x.raw() != y->raw())
      if (llvm::Error error = context.CopyWithin(y->raw(), x.raw(), x.num_bytes())) return error;
    return y->raw();
  }
  void End(const void* combined, Tensor* y, Context& context) const {
    if (combined != y->raw())
      Convert(DType::kF32, combined, y->dtype(), y->raw(), y->num_elements(), context);
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
void ScatterGradient(GradientContext& g, Take take, Scatter scatter) {
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

// --- scatter ------------------------------------------------------------------------------------

template <class Context>
class ScatterOp : public ScatterBase<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    const Sizes& walk = context.inputs()[1].sizes;
    auto state = std::make_shared<AlongAxis>(walk, context.inputs()[0].sizes, walk,
                                             this->attributes().Int("axis"));
    preparation.state = std::move(state);
    preparation.workspace_bytes = this->WideBytes(context);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const AlongAxis& s = *context.template state<AlongAxis>();
    llvm::Expected<void*> combined = this->Begin(*inputs[0], outputs[0], context);
    if (!combined) return combined.takeError();
    if (inputs[1]->num_elements() > 0) Apply(s, *inputs[1], *inputs[2], *combined, context);
    this->End(*combined, outputs[0], context);
    return llvm::Error::success();
  }

 private:
  void Apply(const AlongAxis& s, const Tensor& indices, const Tensor& given, void* combined,
             Context& context) const {
    const IndexReader positions(indices, s.size);
    const int64_t pieces = (s.inner + kColumns - 1) / kColumns;
    const int64_t grain =
        std::max<int64_t>(1, kGrainBytes / 8 / (s.count * std::min(kColumns, s.inner)));
    VisitReduction(given.dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      using C = Combined<T, decltype(reduction)::value>;
      const T* updates = static_cast<const T*>(given.raw());
      C* y = static_cast<C*>(combined);
      // Each task owns some lines along the axis, and applies their updates in order.
      context.ParallelFor(s.outer * pieces, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t block = task / pieces, first = task % pieces * kColumns;
          const int64_t last = std::min(s.inner, first + kColumns);
          C* to = y + AlongAxis::Offset(block, s.outer_sizes, s.outer_strides);
          for (int64_t i = 0; i < s.count; ++i) {
            const int64_t line = (block * s.count + i) * s.inner;
            for (int64_t c = first; c < last; ++c) {
              const int64_t position = positions[line + c];
              if (position < 0) continue;
              C* at = to + position * s.stride + s.InnerOffset(c);
              CombineInto<T, decltype(reduction)::value>(at, updates[line + c]);
            }
          }
        }
      });
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
  ScatterGradient(g, take, scatter);
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
    SetGradient(ScatterElementsGradient);
  }
};

// --- scatter_nd ---------------------------------------------------------------------------------

template <class Context>
class ScatterNdOp : public ScatterBase<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<NdState>(context.inputs()[0].sizes, context.inputs()[1].sizes,
                                           this->attributes().Int("batch_dims"));
    Preparation preparation;
    preparation.workspace_bytes =
        this->WideBytes(context) +
        state->blocks * state->count * static_cast<int64_t>(sizeof(int64_t));
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const NdState& s = *context.template state<NdState>();
    llvm::Expected<void*> combined = this->Begin(*inputs[0], outputs[0], context);
    if (!combined) return combined.takeError();
    if (inputs[2]->num_elements() > 0) {
      const int64_t wide_bytes = this->WideBytes(inputs[0]->dtype(), inputs[0]->num_elements());
      int64_t* positions =
          reinterpret_cast<int64_t*>(static_cast<char*>(context.workspace()) + wide_bytes);
      const IndexReader indices(*inputs[1], 0);
      context.ParallelFor(s.blocks * s.count, 1 << 14, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) positions[i] = TuplePosition(indices, i, s.sizes);
      });
      Apply(s, positions, *inputs[2], static_cast<char*>(*combined),
            wide_bytes > 0 ? DType::kF32 : inputs[2]->dtype(), context);
    }
    this->End(*combined, outputs[0], context);
    return llvm::Error::success();
  }

 private:
  /// `dtype`: that of the elements at `combined`.
  void Apply(const NdState& s, const int64_t* positions, const Tensor& given, char* combined,
             DType dtype, Context& context) const {
    void (*combine)(const void* from, int64_t n, void* to) = nullptr;
    VisitReduction(given.dtype(), this->reduction_, [&](auto tag, auto reduction) {
      using T = typename decltype(tag)::type;
      combine = ChooseIsa<CombineRowLoop<T, decltype(reduction)::value>>();
    });
    const int64_t element = DTypeSize(given.dtype()), to_element = DTypeSize(dtype);
    const char* updates = static_cast<const char*>(given.raw());
    // At least a cache line wide, and few, since each task reads all indices.
    const int64_t width = std::max<int64_t>(64 / element, (s.inner + 15) / 16);
    const int64_t pieces = (s.inner + width - 1) / width;
    const int64_t grain =
        std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, s.count * width * element));
    context.ParallelFor(s.blocks * pieces, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t block = task / pieces, column = task % pieces * width;
        const int64_t n = std::min(width, s.inner - column);
        for (int64_t i = 0; i < s.count; ++i) {
          const int64_t position = positions[block * s.count + i];
          if (position < 0) continue;
          combine(updates + ((block * s.count + i) * s.inner + column) * element, n,
                  combined + ((block * s.positions + position) * s.inner + column) * to_element);
        }
      }
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
  ScatterGradient(g, take, scatter);
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
    SetGradient(ScatterNdGradient);
  }
};

}  // namespace

void RegisterScatterOps(OpRegistry& registry) {
  registry.BeginFamily("Indexing");
  registry.RegisterOp<ScatterOp, ScatterMaker>("scatter");
  registry.RegisterOp<ScatterNdOp, ScatterNdMaker>("scatter_nd");
}

}  // namespace pdl
