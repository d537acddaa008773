// Operators on means and variances: moments, and normalize, which takes them as operands.
#include <algorithm>
#include <cmath>

#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/normalization/moments.h"
#include "pdl/op/gradient.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// A mask of the axes of a call's first operand that `keep` contains.
llvm::SmallVector<bool, 6> KeptAxes(llvm::ArrayRef<int64_t> keep, unsigned rank) {
  llvm::SmallVector<bool, 6> kept(rank, false);
  for (const int64_t axis : keep) kept[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  return kept;
}

Value* ReshapeTo(GradientContext& g, Value* value, const Shape& dims) {
  if (value == nullptr || value->type().dims == dims) return value;
  return g.Call("reshape", {value}, {{"dims", dims}});
}

// --- moments ------------------------------------------------------------------------------------

template <class Context>
class MomentsOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto plan = std::make_shared<MomentsPlan>(
        x.dtype, x.sizes,
        KeptAxes(this->attributes().Ints("keep"), static_cast<unsigned>(x.sizes.size())));
    Preparation preparation;
    preparation.workspace_bytes = plan->workspace_bytes();
    preparation.state = std::move(plan);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<MomentsPlan>()->Run(inputs[0]->raw(), outputs[0]->raw(),
                                               outputs[1]->raw(), context);
    return llvm::Error::success();
  }
};

llvm::Error InferMoments(InferenceContext& context) {
  const Type& x = context.input(0);
  auto keep = context.NormalizeAxes("keep", x.rank());
  if (!keep) return keep.takeError();
  for (const unsigned axis : *keep) {
    if (llvm::Error error = context.RequireDenseAxis(0, axis, "keep")) return error;
  }
  Shape dims;
  for (const unsigned axis : *keep) dims.push_back(x.dims[axis]);
  context.SetOutput(0, Type(x.dtype, dims));
  context.SetOutput(1, Type(x.dtype, dims));
  return llvm::Error::success();
}

// d mean / dx = 1 / n and d variance / dx = 2 * (x - mean) / n.
void MomentsGradient(GradientContext& g) {
  Value* x = g.input(0);
  const Type& type = x->type();
  const auto kept = KeptAxes(g.attributes().Ints("keep"), type.rank());
  Shape broadcast, reduced;
  for (unsigned d = 0; d < type.rank(); ++d) {
    broadcast.push_back(kept[d] ? type.dims[d] : Dim(1));
    if (!kept[d]) reduced.push_back(type.dims[d]);
  }
  Value* count = g.Call("size", {}, {{"dims", reduced}, {"dtype", type.dtype}});
  Value* sum = nullptr;
  if (g.output_gradient(0) != nullptr) {
    sum = ReshapeTo(g, g.Div(g.output_gradient(0), count), broadcast);
  }
  if (g.output_gradient(1) == nullptr) {
    g.SetInputGradient(0, g.Call("broadcast_to", {sum}, {{"dims", type.dims}}));
    return;
  }
  Value* twice = g.Div(g.Mul(g.output_gradient(1), g.Scalar(2, x)), count);
  Value* distance = g.Sub(x, ReshapeTo(g, g.output(0), broadcast));
  Value* change = g.Mul(distance, ReshapeTo(g, twice, broadcast));
  g.SetInputGradient(0, sum == nullptr ? change : g.Add(change, sum));
}

struct MomentsMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The mean and the variance over all axes except some. It is the population variance: the "
        "mean of squared distances from the mean. Both are nan if there are no elements.");
    AddInput("x", "elements of any rank; ragged dims and the one before them cannot be kept")
        .Accepts(kFloatSet)
        .Ragged();
    AddOutput("mean", "dtype as x; the kept dims of x").DTypeOf("x");
    AddOutput("variance", "type as the mean").DTypeOf("x");
    AddAttr<std::vector<int64_t>>("keep", "the axes to keep; negative ones count from the end")
        .Default({})
        .Axis();
    SetInference(InferMoments);
    SetGradient(InWideDType<MomentsGradient>);
    AddExample(
        "m, v = moments([[1.0, 2.0], [3.0, 6.0]], keep=[1])\nspread = sqrt(v)  # = [1.0, 2.0]");
  }
};

// --- normalize ----------------------------------------------------------------------------------

// Processes rows of one channel each, or (if inner is 1) of all channels.
template <class T>
struct NormalizeLoop {
  using C = ComputeType<T>;
  // factor = gamma / sqrt(variance + eps); gamma may be null, or (if step is 0) a single element.
  static void Factors(const void* variance, const void* gamma, int64_t step, double eps, int64_t n,
                      void* out) {
    const T* v = static_cast<const T*>(variance);
    const T* scale = static_cast<const T*>(gamma);
    for (int64_t i = 0; i < n; ++i) {
      const double inverse = 1 / std::sqrt(static_cast<double>(Element<T>::Load(v[i])) + eps);
      static_cast<C*>(out)[i] = static_cast<C>(
          scale == nullptr ? inverse
                           : inverse * static_cast<double>(Element<T>::Load(scale[i * step])));
    }
  }
  // A row of one channel, with a single mean, factor and beta.
  static PDL_INLINE void Row(const T* x, int64_t n, C mean, C factor, C beta, T* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      y[i] = Element<T>::Store((Element<T>::Load(x[i]) - mean) * factor + beta);
    }
  }
  static PDL_INLINE void Channels(const T* x, int64_t n, const T* mean, const C* factor,
                                  const T* beta, T* y) {
    if (beta == nullptr) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        y[i] = Element<T>::Store((Element<T>::Load(x[i]) - Element<T>::Load(mean[i])) * factor[i]);
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      y[i] = Element<T>::Store((Element<T>::Load(x[i]) - Element<T>::Load(mean[i])) * factor[i] +
                               Element<T>::Load(beta[i]));
    }
  }
  // Rows [begin, end) of `inner` elements, or of `channels` elements if inner is 1.
  static PDL_INLINE void Run(const void* const* inputs, const void* factors, int64_t channels,
                             int64_t inner, int64_t begin, int64_t end, void* out) {
    const T* x = static_cast<const T*>(inputs[0]);
    const T* mean = static_cast<const T*>(inputs[1]);
    const T* beta = static_cast<const T*>(inputs[2]);
    const C* factor = static_cast<const C*>(factors);
    T* y = static_cast<T*>(out);
    for (int64_t row = begin; row < end; ++row) {
      if (inner == 1) {
        Channels(x + row * channels, channels, mean, factor, beta, y + row * channels);
        continue;
      }
      const int64_t channel = row % channels;
      const C shift = beta == nullptr ? C(0) : Element<T>::Load(beta[channel]);
      Row(x + row * inner, inner, Element<T>::Load(mean[channel]), factor[channel], shift,
          y + row * inner);
    }
  }
};

struct NormalizeState : CallState {
  void (*factors)(const void* variance, const void* gamma, int64_t step, double eps, int64_t n,
                  void* out) = nullptr;
  void (*loop)(const void* const* inputs, const void* factors, int64_t channels, int64_t inner,
               int64_t begin, int64_t end, void* out) = nullptr;
  int64_t rows = 1, channels = 1, inner = 1, grain = 1;
};

template <class Context>
class NormalizeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<NormalizeState>();
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
    state->channels = x.sizes[static_cast<size_t>(axis)];
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t size = x.sizes[static_cast<size_t>(d)];
      if (d < axis) state->rows *= size;
      if (d > axis) state->inner *= size;
    }
    int64_t row = state->inner;
    if (state->inner == 1) {
      row = state->channels;
    } else {
      state->rows *= state->channels;
    }
    if (row == 0) state->rows = 0;
    state->grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(row, 1));
    int64_t factor_size = 0;
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      state->factors = &NormalizeLoop<T>::Factors;
      state->loop = ChooseIsa<NormalizeLoop<T>>();
      factor_size = sizeof(ComputeType<T>);
    });
    Preparation preparation;
    preparation.workspace_bytes = state->channels * factor_size;
    preparation.state = std::move(state);
    // If x has one dim, mean, gamma and beta may be the same array as x, so it is not overwritten.
    if (rank > 1) preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const NormalizeState& s = *context.template state<NormalizeState>();
    if (s.rows == 0) return llvm::Error::success();
    const void* gamma = inputs.size() > 3 ? inputs[3]->raw() : nullptr;
    const void* beta = inputs.size() > 4 ? inputs[4]->raw() : nullptr;
    const int64_t step = inputs.size() > 3 && inputs[3]->sizes().empty() ? 0 : 1;
    s.factors(inputs[2]->raw(), gamma, step, eps_, s.channels, context.workspace());
    const void* operands[] = {inputs[0]->raw(), inputs[1]->raw(), beta};
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      s.loop(operands, context.workspace(), s.channels, s.inner, begin, end, outputs[0]->raw());
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    eps_ = attributes.Float("eps");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = 1;
  double eps_ = 0;
};

// The factor and shift of normalize(x, mean, variance, gamma, beta) = x * factor + shift, used when
// a pass replaces it with elementwise calls.
template <class Context>
class NormalizeFactorsOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context&) const override {
    const float* mean = inputs[0]->template data<float>();
    const void* gamma = inputs.size() > 2 ? inputs[2]->raw() : nullptr;
    const float* beta = inputs.size() > 3 ? inputs[3]->template data<float>() : nullptr;
    const int64_t step = inputs.size() > 2 && inputs[2]->sizes().empty() ? 0 : 1;
    float* factor = outputs[0]->template data<float>();
    float* shift = outputs[1]->template data<float>();
    const int64_t n = outputs[0]->num_elements();
    NormalizeLoop<float>::Factors(inputs[1]->raw(), gamma, step, this->attributes().Float("eps"), n,
                                  factor);
    for (int64_t i = 0; i < n; ++i) {
      const double start = beta == nullptr ? 0 : beta[i];
      shift[i] = static_cast<float>(start - static_cast<double>(mean[i]) * factor[i]);
    }
    return llvm::Error::success();
  }
};

constexpr llvm::StringLiteral kFactors = "normalize.factors";

struct NormalizeFactorsMaker : OpProtoMaker {
  void Make() override {
    const DTypeSet f32(DType::kF32);
    AddComment("Computes factor = gamma / sqrt(variance + eps) and shift = beta - mean * factor.");
    AddInput("mean", "[C]").Accepts(f32);
    AddInput("variance", "type as the mean").Accepts(f32);
    AddInput("gamma", "type as the mean, or a scalar; default: 1").Accepts(f32).Optional();
    AddInput("beta", "type as the mean; default: 0").Accepts(f32).Optional();
    AddOutput("factor", "type as the mean").TypeOf("mean");
    AddOutput("shift", "type as the mean").TypeOf("mean");
    AddAttr<double>("eps", "added to the variance").Default(1e-5);
    SetInference([](InferenceContext& context) -> llvm::Error {
      context.SetOutput(0, context.input(0));
      context.SetOutput(1, context.input(0));
      return llvm::Error::success();
    });
  }
};

constexpr unsigned kGamma = 3;

llvm::Error InferNormalize(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& other = context.input(i);
    if (llvm::Error error = RequireSameDType(context, 0, i)) return error;
    if (i == kGamma && other.rank() == 0) continue;
    if (other.rank() != 1) {
      return context.FailAt({i}, Code::kRank, "'{0}' must have one dim, got {1}",
                            context.def().signature.inputs[i].name, other.ToString());
    }
    if (llvm::Error error = context.RequireEqual(x.dims[*axis], other.dims[0], {0, i},
                                                 "the size differs from that of the axis")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, x.dims));
  return llvm::Error::success();
}

// With n = (x - mean) * r and r = 1 / sqrt(variance + eps), y = n * gamma + beta.
void NormalizeGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* dy = g.output_gradient();
  const Type& type = x->type();
  const int64_t given = g.attributes().Int("axis");
  const int64_t axis = given < 0 ? given + type.rank() : given;
  Shape broadcast(type.rank(), Dim(1));
  broadcast[static_cast<size_t>(axis)] = type.dims[static_cast<size_t>(axis)];
  std::vector<int64_t> others;
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (d != axis) others.push_back(d);
  }
  const auto total = [&](Value* value) {
    return others.empty() ? value : g.Call("sum", {value}, {{"axes", others}});
  };
  Value* r = g.Call("rsqrt", {g.Add(g.input(2), g.Scalar(g.attributes().Float("eps"), x))});
  Value* factor = g.num_inputs() > 3 ? g.Mul(r, g.input(3)) : r;
  Value* distance = g.Sub(x, ReshapeTo(g, g.input(1), broadcast));
  Value* sum = total(dy);
  Value* product = g.Mul(total(g.Mul(dy, distance)), r);
  g.SetInputGradient(0, g.Mul(dy, ReshapeTo(g, factor, broadcast)));
  g.SetInputGradient(1, g.Neg(g.Mul(sum, factor)));
  g.SetInputGradient(2, g.Mul(g.Mul(product, g.Mul(factor, r)), g.Scalar(-0.5, x)));
  if (g.num_inputs() > 3) {
    const bool is_one = g.input(3)->type().rank() == 0;
    g.SetInputGradient(3, is_one ? g.Call("sum", {product}) : product);
  }
  if (g.num_inputs() > 4) g.SetInputGradient(4, sum);
}

// Replaces the call with x * factor + shift, where both are computed once for each channel, so that
// the elementwise calls are fused into a convolution.
bool NormalizeToLast(LayoutContext& context) {
  const llvm::ArrayRef<Value*> operands = context.op().operands();
  Value* x = operands[0];
  const unsigned rank = x->type().rank();
  const AttributeReader attributes = context.attributes();
  if (!context.IsLast(x) || !context.HasInternal(kFactors) ||
      LayoutContext::AxisInLast(attributes.Int("axis"), rank) != rank - 1)
    return false;
  for (const Value* operand : operands.drop_front())
    if (operand->type().dtype != DType::kF32 || context.IsLast(operand)) return false;
  const std::string names[] = {context.NewName("_factor"), context.NewName("_shift")};
  const Op* of_channel =
      context.CallInternal(kFactors, operands.drop_front(), {attributes.Float("eps")}, names);
  Value* y = context.Call("mul", {context.Last(x), of_channel->result(0)});
  return context.Replace(context.Call("add", {y, of_channel->result(1)}));
}

constexpr LayoutRule kNormalizeLayout = {NormalizeToLast};

struct NormalizeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Returns (x - mean) / sqrt(variance + eps) * gamma + beta, with one mean, variance, gamma "
        "and beta for each index of an axis.");
    AddInput("x", "at least one dim").Accepts(kFloatSet).Ragged();
    AddInput("mean", "[C], where C is the size of the axis; dtype as x").Accepts(kFloatSet);
    AddInput("variance", "type as the mean").Accepts(kFloatSet);
    AddInput("gamma", "type as the mean, or a scalar; default: 1").Accepts(kFloatSet).Optional(1);
    AddInput("beta", "type as the mean; default: 0").Accepts(kFloatSet).Optional();
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(1).Axis();
    AddAttr<double>("eps", "added to the variance").Default(1e-5).AtLeast(0);
    properties().channels_last = &kNormalizeLayout;
    SetInference(InferNormalize);
    SetGradient(InWideDType<NormalizeGradient>);
    AddExample("y = normalize([[1.0, 2.0]], [1.0, 1.0], [4.0, 4.0], eps=0.0)  # = [[0.0, 0.5]]");
  }
};

}  // namespace

void RegisterNormalizationOps(OpRegistry& registry) {
  registry.BeginFamily("Normalization");
  registry.RegisterOp<MomentsOp, MomentsMaker>("moments");
  registry.RegisterOp<NormalizeOp, NormalizeMaker>("normalize");
  registry.RegisterInternalOp<NormalizeFactorsOp, NormalizeFactorsMaker>(kFactors);
}

}  // namespace pdl
