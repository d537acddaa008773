// Convolutions: conv1d to conv3d, conv_transpose1d to conv_transpose3d, and the gradient of the
// weights.
//
// All three are derivatives of the same form, sum(y * conv(x, w)): a convolution is its derivative
// with respect to y, a transposed one with respect to x, and the third one with respect to w. So
// the gradients of each are the other two.
#include "kernels/convolution/channels_last_conv.h"
#include "kernels/convolution/conv_plan.h"
#include "kernels/convolution/window_attributes.h"
#include "kernels/core/channels_last.h"
#include "kernels/core/cpu_isa.h"
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/cost.h"
#include "pdl/op/gradient.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

template <class Context, ConvKind kKind>
class ConvOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    llvm::Expected<ConvSizes> sizes = EvaluateConv(context, this->attributes(), kKind);
    if (!sizes) return sizes.takeError();
    auto plan = ConvPlan::Make(context, kKind, *sizes);
    if (!plan) return plan.takeError();
    Preparation preparation;
    preparation.workspace_bytes = (*plan)->workspace_bytes();
    if (!(*plan)->reads_weight()) preparation.packed.push_back(1);
    preparation.state = std::move(*plan);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ConvPlan>()->Run(inputs, outputs[0], context);
    return llvm::Error::success();
  }
};
template <class Context>
using ForwardConvOp = ConvOp<Context, ConvKind::kForward>;
template <class Context>
using TransposedConvOp = ConvOp<Context, ConvKind::kTransposed>;
template <class Context>
using WeightConvOp = ConvOp<Context, ConvKind::kWeights>;

// x and y are floats with channels last.
template <class Context>
class ChannelsLastConvOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto sizes = EvaluateConv(context, this->attributes(), ChannelsSecond(context.inputs()[0]),
                              context.inputs()[1], ChannelsSecond(context.outputs()[0]));
    if (!sizes) return sizes.takeError();
    auto conv = ChannelsLastConv::Make(context, *sizes);
    if (!conv) return conv.takeError();
    Preparation preparation;
    preparation.workspace_bytes = (*conv)->workspace_bytes();
    preparation.has_register_epilogue = (*conv)->has_register_epilogue();
    preparation.matmul_precision = (*conv)->precision();
    if (!(*conv)->reads_w()) preparation.packed.push_back(1);
    preparation.state = std::move(*conv);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ChannelsLastConv>()->Run(*inputs[0], *inputs[1], outputs[0]->raw(),
                                                    context.workspace(), context);
    return llvm::Error::success();
  }

  bool makes_pieces() const override { return true; }
  void RunPieces(const CallState* state, void* workspace, llvm::ArrayRef<const Tensor*> inputs,
                 void* to, DeviceContext& context, const RegisterEpilogue& epilogue,
                 llvm::function_ref<void(const OutputPiece&)> then) const override {
    static_cast<const ChannelsLastConv*>(state)->Run(
        *inputs[0], *inputs[1], to, workspace, static_cast<CPUContext&>(context), epilogue, then);
  }
};

// --- inference ----------------------------------------------------------------------------------

// Checks that all operands have the same dtype, and that a bias has one element for each of
// `features`.
llvm::Error CheckOperands(InferenceContext& context, const Dim& features) {
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  if (!context.has_input(2)) return llvm::Error::success();
  if (llvm::Error error = RequireSameDType(context, 0, 2)) return error;
  const Type& bias = context.input(2);
  if (bias.rank() != 1) {
    return context.FailAt({2}, Code::kRank, "'bias' must be [{0}], got {1}", features.ToString(),
                          bias.ToString());
  }
  return context.RequireEqual(bias.dims[0], features, {2},
                              "'bias' must have one element per channel");
}

llvm::Error RequireKernel(InferenceContext& context, llvm::ArrayRef<Dim> kernel) {
  for (const Dim& size : kernel) {
    if (llvm::Error error = context.RequireAtLeast(size, 1, {1}, "a kernel dim must not be 0")) {
      return error;
    }
  }
  return llvm::Error::success();
}

// Requires that `count` channels can be split into the groups; reports errors at operand `input`.
llvm::Error RequireGroups(InferenceContext& context, const Dim& count, unsigned input) {
  const int64_t groups = context.attributes().Int("groups");
  return context.RequireMultiple(count, groups, {input},
                                 "the number of channels must be a multiple of 'groups'");
}

Type SpatialType(DType dtype, const Dim& batch, const Dim& channels, llvm::ArrayRef<Dim> spatial) {
  Shape dims = {batch, channels};
  dims.append(spatial.begin(), spatial.end());
  return Type(dtype, dims);
}

template <unsigned kRank>
llvm::Error InferConv(InferenceContext& context) {
  for (const unsigned input : {0, 1}) {
    if (llvm::Error error = RequireSpatialRank(context, input, kRank)) return error;
  }
  const Type& x = context.input(0);
  const Type& w = context.input(1);
  const int64_t groups = context.attributes().Int("groups");
  if (llvm::Error error = context.RequireEqual(x.dims[1], groups * w.dims[1], {0, 1},
                                               "the numbers of channels of x and w differ")) {
    return error;
  }
  if (llvm::Error error = RequireGroups(context, w.dims[0], 1)) return error;
  if (llvm::Error error = CheckOperands(context, w.dims[0])) return error;
  if (llvm::Error error = RequireKernel(context, SpatialDims(w))) return error;
  auto window = ReadWindow(context, SpatialDims(w), SpatialDims(x));
  if (!window) return window.takeError();
  auto out = CountWindows(context, *window, SpatialDims(x), 0);
  if (!out) return out.takeError();
  context.SetOutput(SpatialType(x.dtype, x.dims[0], w.dims[0], *out));
  return llvm::Error::success();
}

// The size of the result of a transposed convolution without the attribute `size`.
llvm::Expected<Shape> TransposedSize(InferenceContext& context, llvm::ArrayRef<Dim> in,
                                     llvm::ArrayRef<Dim> kernel) {
  const unsigned rank = static_cast<unsigned>(in.size());
  auto more = ReadSpatialAttribute(context, "output_padding", rank, 0);
  if (!more) return more.takeError();
  // A string `pad` such as "same" makes an unknown size the input's size times the stride.
  auto window = ReadWindow(context, kernel, in);
  if (!window) return window.takeError();
  const auto* word = std::get_if<std::string>(context.attributes().Find("pad"));
  const bool same = word != nullptr && *word != "valid";
  Shape size;
  for (unsigned i = 0; i < rank; ++i) {
    const Dim& stride = window->stride[i];
    size.push_back(same ? in[i] * stride
                        : (in[i] - 1) * stride - window->begin[i] - window->end[i] +
                              window->Extent(i) + (*more)[i]);
    if ((*more)[i] == Dim(0)) continue;
    if (same) {
      return context.FailAtAttribute("output_padding", Code::kAttributeRange,
                                     "'output_padding' must be 0 where 'pad' is \"{0}\", got {1}",
                                     *word, (*more)[i].ToString());
    }
    if ((stride - (*more)[i]).ProvablyAtMost(0)) {
      return context.FailAtAttribute("output_padding", Code::kAttributeRange,
                                     "'output_padding' must be less than the stride {0}, got {1}",
                                     stride.ToString(), (*more)[i].ToString());
    }
    if (llvm::Error error = context.RequireAtLeast(
            stride, (*more)[i] + 1, {}, "'output_padding' must be less than the stride")) {
      return error;
    }
  }
  return size;
}

template <unsigned kRank>
llvm::Error InferConvTranspose(InferenceContext& context) {
  for (const unsigned input : {0, 1}) {
    if (llvm::Error error = RequireSpatialRank(context, input, kRank)) return error;
  }
  const Type& x = context.input(0);
  const Type& w = context.input(1);
  const Dim features = w.dims[1] * context.attributes().Int("groups");
  if (llvm::Error error = context.RequireEqual(x.dims[1], w.dims[0], {0, 1},
                                               "the numbers of channels of x and w differ")) {
    return error;
  }
  if (llvm::Error error = RequireGroups(context, w.dims[0], 1)) return error;
  if (llvm::Error error = CheckOperands(context, features)) return error;
  if (llvm::Error error = RequireKernel(context, SpatialDims(w))) return error;
  Shape size;
  if (context.attributes().Has("size")) {
    auto given = ReadSpatialAttribute(context, "size", kRank, 0);
    if (!given) return given.takeError();
    // A convolution of the result must have the size of x.
    auto window = ReadWindow(context, SpatialDims(w), *given);
    if (!window) return window.takeError();
    auto out = CountWindows(context, *window, *given, 0);
    if (!out) return out.takeError();
    for (unsigned i = 0; i < kRank; ++i) {
      if (llvm::Error error =
              context.RequireEqual((*out)[i], SpatialDims(x)[i], {0},
                                   "a convolution of 'size' must have the size of x")) {
        return error;
      }
    }
    size = std::move(*given);
  } else {
    auto made = TransposedSize(context, SpatialDims(x), SpatialDims(w));
    if (!made) return made.takeError();
    size = std::move(*made);
    for (const Dim& dim : size) {
      if (llvm::Error error =
              context.RequireAtLeast(dim, 0, {0}, "the padding leaves no elements in the result")) {
        return error;
      }
    }
  }
  context.SetOutput(SpatialType(x.dtype, x.dims[0], features, size));
  return llvm::Error::success();
}

llvm::Error InferConvWeights(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& dy = context.input(1);
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const unsigned rank = x.rank() - 2;
  if (llvm::Error error = RequireSpatialRank(context, 1, rank)) return error;
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  if (llvm::Error error = context.RequireEqual(x.dims[0], dy.dims[0], {0, 1},
                                               "the batch sizes of x and dy differ")) {
    return error;
  }
  for (const unsigned input : {0, 1}) {
    if (llvm::Error error = RequireGroups(context, context.input(input).dims[1], input)) {
      return error;
    }
  }
  auto kernel = ReadSpatialAttribute(context, "kernel", rank, 1);
  if (!kernel) return kernel.takeError();
  auto window = ReadWindow(context, *kernel, SpatialDims(x));
  if (!window) return window.takeError();
  auto out = CountWindows(context, *window, SpatialDims(x), 0);
  if (!out) return out.takeError();
  for (unsigned i = 0; i < rank; ++i) {
    if (llvm::Error error =
            context.RequireEqual((*out)[i], SpatialDims(dy)[i], {1},
                                 "'dy' must have the size of the convolution's result")) {
      return error;
    }
  }
  const Dim channels = Dim::FloorDiv(x.dims[1], context.attributes().Int("groups"));
  context.SetOutput(SpatialType(x.dtype, dy.dims[1], channels, *kernel));
  return llvm::Error::success();
}

// --- gradients ----------------------------------------------------------------------------------

// The attributes that all three operators share, followed by the given ones.
std::vector<NamedAttribute> WithWindow(GradientContext& g, std::vector<NamedAttribute> more = {}) {
  for (const char* name : {"stride", "dilation", "pad", "groups"}) {
    more.push_back({name, *g.attributes().Find(name)});
  }
  return more;
}

Shape SpatialShape(const Value* value) {
  const llvm::ArrayRef<Dim> dims = SpatialDims(value->type());
  return Shape(dims.begin(), dims.end());
}

Value* Convolve(GradientContext& g, Value* x, Value* w) {
  const std::string op = "conv" + std::to_string(x == nullptr ? 0 : x->type().rank() - 2) + "d";
  return g.Call(op, {x, w}, WithWindow(g));
}

// `like`: a value with the size of the result.
Value* ConvolveTransposed(GradientContext& g, Value* y, Value* w, Value* like) {
  const std::string op = "conv_transpose" + std::to_string(like->type().rank() - 2) + "d";
  return g.Call(op, {y, w}, WithWindow(g, {{"size", SpatialShape(like)}}));
}

Value* ConvolveWeights(GradientContext& g, Value* x, Value* dy, const Shape& kernel) {
  return g.Call("conv_weight_grad", {x, dy}, WithWindow(g, {{"kernel", kernel}}));
}

void SetBiasGradient(GradientContext& g) {
  if (g.num_inputs() < 3) return;
  std::vector<int64_t> axes;
  for (unsigned i = 0; i < g.output()->type().rank(); ++i) {
    if (i != 1) axes.push_back(i);
  }
  g.SetInputGradient(2, g.Call("sum", {g.output_gradient()}, {{"axes", axes}}));
}

void ConvGradient(GradientContext& g) {
  if (!IsFloat(g.output()->type().dtype)) return;
  Value* dy = g.output_gradient();
  g.SetInputGradient(0, ConvolveTransposed(g, dy, g.input(1), g.input(0)));
  g.SetInputGradient(1, ConvolveWeights(g, g.input(0), dy, SpatialShape(g.input(1))));
  SetBiasGradient(g);
}

void ConvTransposeGradient(GradientContext& g) {
  if (!IsFloat(g.output()->type().dtype)) return;
  Value* dx = g.output_gradient();
  g.SetInputGradient(0, Convolve(g, dx, g.input(1)));
  g.SetInputGradient(1, ConvolveWeights(g, dx, g.input(0), SpatialShape(g.input(1))));
  SetBiasGradient(g);
}

void ConvWeightsGradient(GradientContext& g) {
  if (!IsFloat(g.output()->type().dtype)) return;
  Value* dw = g.output_gradient();
  g.SetInputGradient(0, ConvolveTransposed(g, g.input(1), dw, g.input(0)));
  g.SetInputGradient(1, Convolve(g, g.input(0), dw));
}

// --- declarations -------------------------------------------------------------------------------

constexpr const char* kSpatial[] = {"", "L", "H, W", "D, H, W"};
constexpr const char* kConvExamples[] = {
    "",
    "y = conv1d([[[1.0, 2.0, 3.0, 4.0]]], [[[1.0, 0.0, -1.0]]])  # = [[[-2.0, -2.0]]]",
    "y = conv2d(ones([1, 1, 3, 3]), ones([1, 1, 3, 3]), pad=\"same\")  "
    "# = [[[[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]]]",
    "y = conv3d(ones([1, 2, 2, 2, 2]), ones([1, 2, 2, 2, 2]))  # = [[[[[16.0]]]]]",
};
constexpr const char* kTransposedExamples[] = {
    "",
    "y = conv_transpose1d([[[1.0, 2.0]]], [[[1.0, 1.0, 1.0]]], stride=2)  "
    "# = [[[1.0, 1.0, 3.0, 2.0, 2.0]]]",
    "y = conv_transpose2d([[[[1.0, 2.0]]]], ones([1, 1, 2, 2]), stride=2)  "
    "# = [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]",
    "y = conv_transpose3d([[[[[2.0]]]]], ones([1, 1, 1, 1, 3]))  # = [[[[[2.0, 2.0, 2.0]]]]]",
};

class ConvMakerBase : public WindowMaker {
 protected:
  void AddGroups() {
    AddAttr<int64_t>("groups",
                     "the number of groups that the channels are split into; each group of the "
                     "result depends only on its own group of x")
        .Default(1)
        .AtLeast(1);
  }
  void AddOperands(unsigned rank, const char* weight) {
    const std::string spatial = kSpatial[rank];
    AddInput("x", "[N, C, " + spatial + "]").Accepts(kNumberSet);
    AddInput("w", weight).Accepts(kNumberSet);
    AddInput("bias", "added to each channel of the result: [K]; dtype as x")
        .Accepts(kNumberSet)
        .Optional();
    AddOutput("y",
              "[N, K, " + spatial + "], each spatial size as determined by the window; dtype as x")
        .DTypeOf("x")
        .Rank(rank + 2);
    AddStride();
    AddPadAndDilation();
    AddGroups();
  }
};

// With a 1x1 kernel, it is a matmul in either layout.
LayoutGain ConvolutionGain(const Op& op) {
  if (!LayoutContext::IsImage(op.operands()[0])) return LayoutGain::kNone;
  const llvm::ArrayRef<Dim> weight = op.operands()[1]->type().dims;
  const bool is_pointwise =
      llvm::all_of(weight.drop_front(2), [](const Dim& size) { return size == Dim(1); });
  return is_pointwise ? LayoutGain::kTakes : LayoutGain::kBenefits;
}

bool ConvolutionToLast(LayoutContext& context) {
  const Op& op = context.op();
  const std::string form = op.type() + ".channels_last";
  if (!LayoutContext::IsImage(op.operands()[0]) || !context.HasInternal(form)) return false;
  llvm::SmallVector<Value*, 3> operands(op.operands());
  operands[0] = context.Last(operands[0]);
  Value* bias = operands.size() == 3 ? operands.pop_back_val() : nullptr;
  Value* y =
      context.CallInternal(form, operands, op.attribute_values().vec(), context.NewResultName())
          ->result();
  // One element for each channel: it broadcasts along the last dim.
  if (bias != nullptr) y = context.Call("add", {y, bias});
  return context.Replace(y);
}

constexpr LayoutRule kConvolutionLayout = {ConvolutionToLast, ConvolutionGain};
// The gradient of the weights is computed from images with channels second.
constexpr LayoutRule kChannelsSecond = {[](LayoutContext&) { return false; },
                                        [](const Op&) { return LayoutGain::kForbids; }};

/// Multiply-adds of each element of `sums` (the result of a convolution, or its gradient) with one
/// filter of the weights, whose first dim counts the filters.
double ConvolutionOperations(const OperandType& sums, const OperandType& weights) {
  if (weights.num_elements() == 0) return 0;
  return 2 * static_cast<double>(sums.num_elements()) *
         static_cast<double>(weights.num_elements() / weights.sizes[0]);
}

template <unsigned kRank>
struct ConvMaker : ConvMakerBase {
  void Make() override {
    AddComment(
        "Slides a window over x and sums its elements, weighted, over all channels. The kernel is "
        "not flipped (a cross-correlation, as in PyTorch). Padding takes no part in the sum: an "
        "infinite weight over it adds nothing (on CUDA it may be multiplied by 0, which gives "
        "nan). A spatial size S becomes (S + padding - ((kernel - 1) * dilation + 1)) // stride + "
        "1. With groups = C it is a depthwise convolution. f16 and bf16 accumulate in f32; "
        "integers wrap around.");
    AddOperands(kRank, "[K, C / groups, kernel...]; dtype as x");
    AddExample(kConvExamples[kRank]);
    properties().reduced_precision = ReducedPrecision::kCompute;
    properties().channels_last = &kConvolutionLayout;
    SetInference(InferConv<kRank>);
    SetGradient(ConvGradient);
  }
};

// The bias is added by a separate call, which is fused.
template <unsigned kRank>
struct ChannelsLastConvMaker : ConvMaker<kRank> {
  void Make() override {
    ConvMaker<kRank>::Make();
    this->properties().channels_last = nullptr;
    this->SetInference(InferChannelsLast<InferConv<kRank>>);
    this->SetGradient(nullptr);
  }
};

template <unsigned kRank>
struct ConvTransposeMaker : ConvMakerBase {
  void Make() override {
    AddComment(
        "The gradient of a convolution with respect to its input (PyTorch's conv_transpose): "
        "multiplies each element of x by the kernel and accumulates the products into a window of "
        "the result. A spatial size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation "
        "+ 1 + output_padding, or S * stride if pad is \"same\". f16 and bf16 accumulate in f32; "
        "integers wrap around.");
    AddOperands(kRank, "[C, K / groups, kernel...]; dtype as x");
    AddAttr<Shape>("output_padding",
                   "added to the sizes of the result, at the end; less than the stride")
        .Default({0});
    AddAttr<Shape>("size",
                   "the spatial sizes of the result, instead of output_padding; a convolution of "
                   "them must have the sizes of x")
        .Optional();
    AddExample(kTransposedExamples[kRank]);
    properties().reduced_precision = ReducedPrecision::kCompute;
    SetInference(InferConvTranspose<kRank>);
    SetGradient(ConvTransposeGradient);
  }
};

struct ConvWeightsMaker : ConvMakerBase {
  void Make() override {
    AddComment(
        "The gradient of a convolution with respect to its weights: for each weight, the sum over "
        "the batch and all windows of the element of x that it was multiplied by, times the "
        "element of dy that the product contributes to. With 1 to 3 spatial dims.");
    AddInput("x", "the input of the convolution: [N, C, ...]").Accepts(kNumberSet);
    AddInput("dy", "the gradient of the result: [N, K, ...]; dtype as x").Accepts(kNumberSet);
    AddOutput("dw", "[K, C / groups, kernel...]; dtype as x").DTypeOf("x");
    AddKernel();
    AddStride();
    AddPadAndDilation();
    AddGroups();
    AddExample(
        "dw = conv_weight_grad([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], kernel=2)  # = [[[21.0, "
        "32.0]]]");
    properties().reduced_precision = ReducedPrecision::kCompute;
    properties().channels_last = &kChannelsSecond;
    SetInference(InferConvWeights);
    SetGradient(ConvWeightsGradient);
  }
};

}  // namespace

void RegisterConvolutionOps(OpRegistry& registry) {
  registry.BeginFamily("Convolution");
  registry.RegisterOp<ForwardConvOp, ConvMaker<1>>("conv1d");
  registry.RegisterOp<ForwardConvOp, ConvMaker<2>>("conv2d");
  registry.RegisterOp<ForwardConvOp, ConvMaker<3>>("conv3d");
  // Without AVX2 oneDNN's convolutions gain more from their own layouts.
  if (CurrentIsa() != Isa::kBaseline) {
    registry.RegisterInternalOp<ChannelsLastConvOp, ChannelsLastConvMaker<1>>(
        "conv1d.channels_last");
    registry.RegisterInternalOp<ChannelsLastConvOp, ChannelsLastConvMaker<2>>(
        "conv2d.channels_last");
    registry.RegisterInternalOp<ChannelsLastConvOp, ChannelsLastConvMaker<3>>(
        "conv3d.channels_last");
  }
  registry.RegisterOp<TransposedConvOp, ConvTransposeMaker<1>>("conv_transpose1d");
  registry.RegisterOp<TransposedConvOp, ConvTransposeMaker<2>>("conv_transpose2d");
  registry.RegisterOp<TransposedConvOp, ConvTransposeMaker<3>>("conv_transpose3d");
  registry.RegisterOp<WeightConvOp, ConvWeightsMaker>("conv_weight_grad");
  for (const char* name : {"conv1d", "conv2d", "conv3d", "conv1d.channels_last",
                           "conv2d.channels_last", "conv3d.channels_last"})
    DeclareOperations(name, [](const CallSizes& call) {
      return ConvolutionOperations(call.outputs[0], call.inputs[1]);
    });
  for (const char* name : {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
    DeclareOperations(name, [](const CallSizes& call) {
      return ConvolutionOperations(call.inputs[0], call.inputs[1]);
    });
  DeclareOperations("conv_weight_grad", [](const CallSizes& call) {
    return ConvolutionOperations(call.inputs[1], call.outputs[0]);
  });
}

}  // namespace pdl
