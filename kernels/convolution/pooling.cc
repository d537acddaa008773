// Pooling: max_pool, avg_pool, lp_pool, adaptive_max_pool, adaptive_avg_pool, and operators that
// their gradients use.
#include "kernels/convolution/channels_last_pool.h"
#include "kernels/convolution/pool_attributes.h"
#include "kernels/convolution/pool_loops.h"
#include "kernels/core/grain.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/wide_gradient.h"
#include "pdl/op/gradient.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

constexpr int64_t kSmallPlanes = 1 << 14;  // elements

// A piece is a run of planes, with its own scratch memory.
struct PoolState : CallState {
  PoolTable table;
  int64_t pieces = 1;
  int64_t scratch = 0;  // elements per piece, of 8 bytes each

  explicit PoolState(const PoolWindow& pool) : table(pool) {
    pieces = std::clamp<int64_t>(pool.planes * (pool.in() + pool.out()) / kSmallPlanes, 1,
                                 std::clamp<int64_t>(pool.planes, 1, kMaxPieces));
  }

  // Calls f(first plane, last plane, scratch memory).
  template <class F>
  void ForEachPiece(CPUContext& context, F f) const {
    context.ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        f(table.pool.planes * piece / pieces, table.pool.planes * (piece + 1) / pieces,
          static_cast<double*>(context.workspace()) + piece * scratch);
      }
    });
  }
};

enum class PoolKind { kMax, kMean, kNorm, kIndex };

template <class Context, PoolKind kKind, bool kAdaptive>
class PoolOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto pool = EvaluatePool(context, this->attributes(), context.inputs()[0], context.outputs()[0],
                             kAdaptive);
    if (!pool) return pool.takeError();
    auto counted = PoolTable::Count(*pool);
    if (!counted) return counted.takeError();
    auto state = std::make_shared<PoolState>(*pool);
    state->table.counted = std::move(*counted);
    state->scratch = (kKind == PoolKind::kIndex ? 2 : 1) * pool->d[2].window.in;
    Preparation preparation;
    preparation.workspace_bytes = state->pieces * state->scratch * 8;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const PoolState& state = *context.template state<PoolState>();
    VisitDType(NumberTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      if constexpr (kKind == PoolKind::kIndex) {
        const auto loop = ChooseIsa<PoolIndexLoop<T>>();
        state.ForEachPiece(context, [&](int64_t begin, int64_t end, double* row) {
          auto* places = reinterpret_cast<int64_t*>(row + state.scratch / 2);
          loop(state.table, inputs[0]->raw(), outputs[0]->template data<int64_t>(), row, places,
               begin, end);
        });
      } else if constexpr (kKind == PoolKind::kMax) {
        RunLoop<T>(MaxPolicy<C>(), *inputs[0], outputs[0], state, context);
      } else if constexpr (std::is_floating_point_v<C>) {
        if constexpr (kKind == PoolKind::kMean) {
          RunLoop<T>(MeanPolicy<C>(), *inputs[0], outputs[0], state, context);
        } else {
          RunLoop<T>(NormPolicy<C>{this->attributes().Float("p")}, *inputs[0], outputs[0], state,
                     context);
        }
      }
    });
    return llvm::Error::success();
  }

 private:
  template <class T, class Policy>
  static void RunLoop(const Policy& policy, const Tensor& x, Tensor* y, const PoolState& state,
                      Context& context) {
    const auto loop = ChooseIsa<PoolLoop<T, Policy>>();
    state.ForEachPiece(context, [&](int64_t begin, int64_t end, double* row) {
      loop(state.table, policy, x.raw(), y->raw(), row, begin, end);
    });
  }
};
template <class Context>
using MaxPoolOp = PoolOp<Context, PoolKind::kMax, false>;
template <class Context>
using MaxPoolIndexOp = PoolOp<Context, PoolKind::kIndex, false>;
template <class Context>
using AvgPoolOp = PoolOp<Context, PoolKind::kMean, false>;
template <class Context>
using LpPoolOp = PoolOp<Context, PoolKind::kNorm, false>;
template <class Context>
using AdaptiveMaxPoolOp = PoolOp<Context, PoolKind::kMax, true>;
template <class Context>
using AdaptiveMaxPoolIndexOp = PoolOp<Context, PoolKind::kIndex, true>;
template <class Context>
using AdaptiveAvgPoolOp = PoolOp<Context, PoolKind::kMean, true>;

struct MaxOf {
  static MaxPolicy<float> Make(const AttributeReader&) { return {}; }
};
struct MeanOf {
  static MeanPolicy<float> Make(const AttributeReader&) { return {}; }
};
struct NormOf {
  static NormPolicy<float> Make(const AttributeReader& attributes) {
    return {attributes.Float("p")};
  }
};
template <class Context>
using MaxPoolLastOp = ChannelsLastPoolOp<Context, MaxOf, false>;
template <class Context>
using AvgPoolLastOp = ChannelsLastPoolOp<Context, MeanOf, false>;
template <class Context>
using LpPoolLastOp = ChannelsLastPoolOp<Context, NormOf, false>;
template <class Context>
using AdaptiveMaxPoolLastOp = ChannelsLastPoolOp<Context, MaxOf, true>;
template <class Context>
using AdaptiveAvgPoolLastOp = ChannelsLastPoolOp<Context, MeanOf, true>;

template <class Context, bool kAdaptive>
class PoolSpreadOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto pool = EvaluatePool(context, this->attributes(), context.outputs()[0], context.inputs()[0],
                             kAdaptive);
    if (!pool) return pool.takeError();
    auto counted = PoolTable::Count(*pool);
    if (!counted) return counted.takeError();
    auto state = std::make_shared<PoolState>(*pool);
    state->table.counted = std::move(*counted);
    state->scratch = pool->d[2].window.in + pool->in();
    Preparation preparation;
    preparation.workspace_bytes = state->pieces * state->scratch * 8;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const PoolState& state = *context.template state<PoolState>();
    VisitDType(FloatTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto loop = ChooseIsa<SpreadLoop<T>>();
      state.ForEachPiece(context, [&](int64_t begin, int64_t end, double* row) {
        loop(state.table, inputs[0]->raw(), outputs[0]->raw(), row,
             row + state.table.pool.d[2].window.in, begin, end);
      });
    });
    return llvm::Error::success();
  }
};
template <class Context>
using AvgPoolGradOp = PoolSpreadOp<Context, false>;
template <class Context>
using AdaptiveAvgPoolGradOp = PoolSpreadOp<Context, true>;

// --- inference ----------------------------------------------------------------------------------

// The spatial dims of the pooled `in`.
llvm::Expected<Shape> PooledSize(InferenceContext& context, llvm::ArrayRef<Dim> in, bool adaptive) {
  const unsigned rank = static_cast<unsigned>(in.size());
  if (adaptive) {
    for (const Dim& size : in) {
      if (llvm::Error error =
              context.RequireAtLeast(size, 1, {0}, "a dim without elements cannot be pooled")) {
        return error;
      }
    }
    return ReadSpatialAttribute(context, "size", rank, 1);
  }
  auto kernel = ReadSpatialAttribute(context, "kernel", rank, 1);
  if (!kernel) return kernel.takeError();
  auto window = ReadWindow(context, *kernel, in);
  if (!window) return window.takeError();
  auto out = CountWindows(context, *window, in, 0);
  if (!out) return out.takeError();
  const auto* word = std::get_if<std::string>(context.attributes().Find("pad"));
  const bool same = word != nullptr && *word != "valid";
  for (unsigned i = 0; i < rank && !same; ++i) {
    const Dim reach = window->Extent(i) - 1;
    for (const Dim& pad : {window->begin[i], window->end[i]}) {
      if ((reach - pad).ProvablyAtMost(-1)) {
        return context.FailAtAttribute("pad", Code::kAttributeRange,
                                       "'pad' must be less than the window's {0}, got {1}",
                                       window->Extent(i).ToString(), pad.ToString());
      }
      if (llvm::Error error =
              context.RequireAtLeast(reach, pad, {}, "'pad' must be less than the window")) {
        return error;
      }
    }
    if (!context.attributes().Bool("ceil_mode")) continue;
    // One more window for the remainder, unless it would begin in the padding at the end.
    const Dim& stride = window->stride[i];
    const Dim left = in[i] + window->begin[i] + window->end[i] - window->Extent(i);
    (*out)[i] = Dim::Min(Dim::FloorDiv(left + stride - 1, stride),
                         Dim::FloorDiv(in[i] + window->begin[i] - 1, stride)) +
                1;
  }
  return out;
}

Type WithSpatial(const Type& x, llvm::ArrayRef<Dim> spatial, DType dtype) {
  Shape dims = {x.dims[0], x.dims[1]};
  dims.append(spatial.begin(), spatial.end());
  return Type(dtype, dims);
}

template <bool kAdaptive, bool kIndex = false>
llvm::Error InferPool(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& x = context.input(0);
  auto size = PooledSize(context, SpatialDims(x), kAdaptive);
  if (!size) return size.takeError();
  context.SetOutput(WithSpatial(x, *size, kIndex ? DType::kI64 : x.dtype));
  return llvm::Error::success();
}

llvm::Error InferAvgPoolGrad(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& dy = context.input(0);
  auto size = ReadSpatialAttribute(context, "size", dy.rank() - 2, 0);
  if (!size) return size.takeError();
  auto pooled = PooledSize(context, *size, false);
  if (!pooled) return pooled.takeError();
  for (unsigned i = 0; i < pooled->size(); ++i) {
    if (llvm::Error error = context.RequireEqual((*pooled)[i], SpatialDims(dy)[i], {0},
                                                 "'dy' must have the pooled size")) {
      return error;
    }
  }
  context.SetOutput(WithSpatial(dy, *size, dy.dtype));
  return llvm::Error::success();
}

llvm::Error InferAdaptiveAvgPoolGrad(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& dy = context.input(0);
  auto size = ReadSpatialAttribute(context, "size", dy.rank() - 2, 1);
  if (!size) return size.takeError();
  context.SetOutput(WithSpatial(dy, *size, dy.dtype));
  return llvm::Error::success();
}

// --- gradients ----------------------------------------------------------------------------------

constexpr const char* kWindow[] = {"kernel", "stride", "pad", "dilation", "ceil_mode"};
constexpr const char* kAverage[] = {
    "kernel", "stride", "pad", "dilation", "ceil_mode", "count_include_pad", "divisor"};

std::vector<NamedAttribute> Attributes(GradientContext& g, llvm::ArrayRef<const char*> names) {
  std::vector<NamedAttribute> attributes;
  for (const char* name : names) attributes.push_back({name, *g.attributes().Find(name)});
  return attributes;
}

Shape SpatialShape(const Value* value) {
  const llvm::ArrayRef<Dim> dims = SpatialDims(value->type());
  return Shape(dims.begin(), dims.end());
}

template <bool kAdaptive>
void MaxPoolGradient(GradientContext& g) {
  if (!IsFloat(g.output()->type().dtype)) return;
  Value* index = kAdaptive ? g.Call("adaptive_max_pool_index", {g.input(0)},
                                    {{"size", SpatialShape(g.output())}})
                           : g.Call("max_pool_index", {g.input(0)}, Attributes(g, kWindow));
  g.SetInputGradient(
      0, g.Call("max_unpool", {g.output_gradient(), index}, {{"size", SpatialShape(g.input(0))}}));
}

void AvgPoolGradient(GradientContext& g) {
  auto attributes = Attributes(g, kAverage);
  attributes.push_back({"size", SpatialShape(g.input(0))});
  g.SetInputGradient(0, g.Call("avg_pool_grad", {g.output_gradient()}, attributes));
}

// dx = sign(x) |x|^(p-1) times the sum over the windows of dy / y^(p-1), where y is not 0.
void LpPoolGradient(GradientContext& g) {
  const double p = g.attributes().Float("p");
  Value *x = g.input(0), *y = g.output();
  Value* power = g.Scalar(p - 1, x);
  Value* positive = g.Call("greater", {y, g.Scalar(0, y)});
  Value* divisor = g.Call("pow", {g.Call("where", {positive, y, g.Scalar(1, y)}), power});
  Value* share = g.Call("where", {positive, g.Div(g.output_gradient(), divisor), g.Scalar(0, y)});
  auto attributes = Attributes(g, kWindow);
  attributes.push_back({"size", SpatialShape(x)});
  attributes.push_back({"divisor", int64_t{1}});
  Value* sum = g.Call("avg_pool_grad", {share}, attributes);
  Value* derivative =
      p == 2 ? x : g.Mul(g.Call("sign", {x}), g.Call("pow", {g.Call("abs", {x}), power}));
  g.SetInputGradient(0, g.Mul(derivative, sum));
}

// --- declarations -------------------------------------------------------------------------------

class PoolMaker : public WindowMaker {
 protected:
  void AddPoolInput(DTypeSet dtypes) {
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims").Accepts(dtypes);
  }
  void AddPoolWindow() {
    AddKernel();
    AddStride(true);
    AddPadAndDilation();
    AddAttr<bool>(
        "ceil_mode",
        "add a window for the remainder at the end, unless it would begin in the padding there")
        .Default(false);
  }
  void AddAverage() {
    AddAttr<bool>("count_include_pad", "include the padding as elements of value 0").Default(true);
    AddAttr<int64_t>("divisor", "divide by this instead of the number of elements")
        .Optional()
        .AtLeast(1);
  }
  void AddAdaptiveSize() {
    AddAttr<Shape>("size", "the spatial sizes of the result: one for all dims, or one for each")
        .Positional();
  }
};

struct MaxPoolMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The maximum of each window of x, channel by channel. Padding is ignored; a window without "
        "elements gives -inf, or the lowest integer. nan propagates. The gradient goes to the "
        "first of equal elements.");
    AddPoolInput(kNumberSet);
    AddOutput("y", "[N, C, ...], each spatial size as determined by the window; dtype as x")
        .DTypeOf("x");
    AddPoolWindow();
    AddExample("y = max_pool([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[5.0, 3.0]]]");
    properties().channels_last = &kChannelsLastForm;
    SetInference(InferPool<false>);
    SetGradient(MaxPoolGradient<false>);
  }
};

struct MaxPoolIndexMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The index of the maximum of each window, as for max_pool: the row-major index in the "
        "plane of its channel, as max_unpool expects it. The first of equal elements, the last "
        "nan; -1 for a window without elements.");
    AddPoolInput(kNumberSet);
    AddOutput("indices", "i64; dims as those of max_pool's result")
        .OwnDType()
        .HasDType(DType::kI64);
    AddPoolWindow();
    AddExample("i = max_pool_index([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[1, 3]]]");
    SetInference(InferPool<false, true>);
  }
};

struct AvgPoolMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The mean of each window of x, channel by channel. A window without elements gives 0. "
        "divisor=1 gives sums. f16 and bf16 accumulate in f32.");
    AddPoolInput(kFloatSet);
    AddOutput("y", "[N, C, ...], each spatial size as determined by the window; dtype as x")
        .DTypeOf("x");
    AddPoolWindow();
    AddAverage();
    AddExample("y = avg_pool([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[3.0, 2.5]]]");
    properties().channels_last = &kChannelsLastForm;
    SetInference(InferPool<false>);
    SetGradient(AvgPoolGradient);
  }
};

struct AvgPoolGradMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The gradient of avg_pool: each element of dy, divided by the divisor of its mean, is "
        "added to all elements of its window.");
    AddInput("dy", "the gradient of the result: [N, C, ...] with 1 to 3 spatial dims")
        .Accepts(kFloatSet);
    AddOutput("dx", "[N, C, size...]; dtype as dy").DTypeOf("dy");
    AddAttr<Shape>("size", "the spatial sizes of the input of avg_pool");
    AddPoolWindow();
    AddAverage();
    AddExample(
        "dx = avg_pool_grad([[[4.0, 2.0]]], size=4, kernel=2)  # = [[[2.0, 2.0, 1.0, 1.0]]]");
    SetInference(InferAvgPoolGrad);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(0, g.Call("avg_pool", {g.output_gradient()}, Attributes(g, kAverage)));
    });
  }
};

struct LpPoolMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The p-norm of each window of x, channel by channel: the sum of |x|^p to the power 1 / p. "
        "Where it is 0, the gradient is 0. f16 and bf16 accumulate in f32.");
    AddPoolInput(kFloatSet);
    AddOutput("y", "[N, C, ...], each spatial size as determined by the window; dtype as x")
        .DTypeOf("x");
    AddAttr<double>("p", "which norm").Default(2).GreaterThan(0);
    AddPoolWindow();
    AddExample("y = lp_pool([[[3.0, -4.0, 0.0, 2.0]]], kernel=2)  # = [[[5.0, 2.0]]]");
    properties().channels_last = &kChannelsLastForm;
    SetInference(InferPool<false>);
    SetGradient(InWideDType<LpPoolGradient>);
  }
};

struct AdaptiveMaxPoolMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The maximum of each part of x, channel by channel. A dim of size S is split into `size` "
        "parts: part i is from i * S // size to (i + 1) * S / size, rounded up. nan propagates.");
    AddPoolInput(kNumberSet);
    AddOutput("y", "[N, C, size...]; dtype as x").DTypeOf("x");
    AddAdaptiveSize();
    AddExample("y = adaptive_max_pool([[[1.0, 5.0, 2.0]]], 2)  # = [[[5.0, 5.0]]]");
    properties().channels_last = &kChannelsLastForm;
    SetInference(InferPool<true>);
    SetGradient(MaxPoolGradient<true>);
  }
};

struct AdaptiveMaxPoolIndexMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The index of the maximum of each part, as for adaptive_max_pool: the row-major index in "
        "the plane of its channel, as max_unpool expects it. The first of equal elements, the last "
        "nan.");
    AddPoolInput(kNumberSet);
    AddOutput("indices", "i64[N, C, size...]").OwnDType().HasDType(DType::kI64);
    AddAdaptiveSize();
    AddExample("i = adaptive_max_pool_index([[[1.0, 5.0, 2.0]]], 2)  # = [[[1, 1]]]");
    SetInference(InferPool<true, true>);
  }
};

struct AdaptiveAvgPoolMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The mean of each part of x, channel by channel. A dim of size S is split into `size` "
        "parts: part i is from i * S // size to (i + 1) * S / size, rounded up. size=1 is global "
        "pooling. f16 and bf16 accumulate in f32.");
    AddPoolInput(kFloatSet);
    AddOutput("y", "[N, C, size...]; dtype as x").DTypeOf("x");
    AddAdaptiveSize();
    AddExample("y = adaptive_avg_pool([[[1.0, 5.0, 2.0]]], 2)  # = [[[3.0, 3.5]]]");
    properties().channels_last = &kChannelsLastForm;
    SetInference(InferPool<true>);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(0, g.Call("adaptive_avg_pool_grad", {g.output_gradient()},
                                   {{"size", SpatialShape(g.input(0))}}));
    });
  }
};

struct AdaptiveAvgPoolGradMaker : PoolMaker {
  void Make() override {
    AddComment(
        "The gradient of adaptive_avg_pool: each element of dy, divided by the number of elements "
        "of its part, is added to all of them.");
    AddInput("dy", "the gradient of the result: [N, C, ...] with 1 to 3 spatial dims")
        .Accepts(kFloatSet);
    AddOutput("dx", "[N, C, size...]; dtype as dy").DTypeOf("dy");
    AddAttr<Shape>("size", "the spatial sizes of the input of adaptive_avg_pool").Positional();
    AddExample("dx = adaptive_avg_pool_grad([[[2.0, 4.0]]], 3)  # = [[[1.0, 3.0, 2.0]]]");
    SetInference(InferAdaptiveAvgPoolGrad);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(0, g.Call("adaptive_avg_pool", {g.output_gradient()},
                                   {{"size", SpatialShape(g.input(0))}}));
    });
  }
};

// The variant of a pooling operator for channels last.
template <class Maker, bool kAdaptive>
struct ChannelsLastMaker : Maker {
  void Make() override {
    Maker::Make();
    this->properties().channels_last = nullptr;
    this->SetInference(InferChannelsLast<InferPool<kAdaptive>>);
    this->SetGradient(nullptr);
  }
};
using MaxPoolLastMaker = ChannelsLastMaker<MaxPoolMaker, false>;
using AvgPoolLastMaker = ChannelsLastMaker<AvgPoolMaker, false>;
using LpPoolLastMaker = ChannelsLastMaker<LpPoolMaker, false>;
using AdaptiveMaxPoolLastMaker = ChannelsLastMaker<AdaptiveMaxPoolMaker, true>;
using AdaptiveAvgPoolLastMaker = ChannelsLastMaker<AdaptiveAvgPoolMaker, true>;

}  // namespace

void RegisterPoolingOps(OpRegistry& registry) {
  registry.BeginFamily("Pooling");
  registry.RegisterOp<MaxPoolOp, MaxPoolMaker>("max_pool");
  registry.RegisterOp<MaxPoolIndexOp, MaxPoolIndexMaker>("max_pool_index");
  registry.RegisterOp<AvgPoolOp, AvgPoolMaker>("avg_pool");
  registry.RegisterOp<AvgPoolGradOp, AvgPoolGradMaker>("avg_pool_grad");
  registry.RegisterOp<LpPoolOp, LpPoolMaker>("lp_pool");
  registry.RegisterOp<AdaptiveMaxPoolOp, AdaptiveMaxPoolMaker>("adaptive_max_pool");
  registry.RegisterOp<AdaptiveMaxPoolIndexOp, AdaptiveMaxPoolIndexMaker>("adaptive_max_pool_index");
  registry.RegisterOp<AdaptiveAvgPoolOp, AdaptiveAvgPoolMaker>("adaptive_avg_pool");
  registry.RegisterOp<AdaptiveAvgPoolGradOp, AdaptiveAvgPoolGradMaker>("adaptive_avg_pool_grad");
  registry.RegisterInternalOp<MaxPoolLastOp, MaxPoolLastMaker>("max_pool.channels_last");
  registry.RegisterInternalOp<AvgPoolLastOp, AvgPoolLastMaker>("avg_pool.channels_last");
  registry.RegisterInternalOp<LpPoolLastOp, LpPoolLastMaker>("lp_pool.channels_last");
  registry.RegisterInternalOp<AdaptiveMaxPoolLastOp, AdaptiveMaxPoolLastMaker>(
      "adaptive_max_pool.channels_last");
  registry.RegisterInternalOp<AdaptiveAvgPoolLastOp, AdaptiveAvgPoolLastMaker>(
      "adaptive_avg_pool.channels_last");
}

}  // namespace pdl
