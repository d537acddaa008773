// resize and its gradient: one axis after another, each element a weighted sum of a few.
#include <cmath>

#include "kernels/convolution/resize_taps.h"
#include "kernels/convolution/window_attributes.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/isa_dispatch.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

// The axes in the order of the passes. Between passes, f16/bf16 values stay in their compute type.
struct ResizeState : CallState {
  std::vector<ResizeAxis> axes;
  int64_t elements = 0;  // the maximum between two passes
};

// Computes row `o` of the result from rows of `inner` elements.
template <class In, class Out, class C>
struct RowLoop {
  static PDL_INLINE void Run(const ResizeAxis& axis, const void* in_raw, void* out_raw,
                             int64_t begin, int64_t end) {
    const int64_t inner = axis.inner;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t o = row % axis.to;
      const In* in = static_cast<const In*>(in_raw) + row / axis.to * axis.from * inner;
      Out* out = static_cast<Out*>(out_raw) + row * inner;
      const int64_t* places = axis.places.data() + o * axis.count;
      const double* weights = axis.weights.data() + o * axis.count;
      // Taps of weight 0 are ignored, even if their element is nan.
      int64_t count = axis.count;
      while (count > 0 && weights[count - 1] == 0) --count;
      for (int64_t i = 0; i < inner; ++i) {
        C sum = 0;
        for (int64_t t = 0; t < count; ++t) {
          sum += static_cast<C>(weights[t]) * Element<In>::Load(in[places[t] * inner + i]);
        }
        out[i] = Element<Out>::Store(sum);
      }
    }
  }
};

// One tap of weight 1: elements of any dtype are copied.
template <class Bits>
void CopyRows(const ResizeAxis& axis, const void* in_raw, void* out_raw, int64_t begin,
              int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const Bits* in =
        static_cast<const Bits*>(in_raw) +
        (row / axis.to * axis.from + axis.places[static_cast<size_t>(row % axis.to)]) * axis.inner;
    std::copy_n(in, axis.inner, static_cast<Bits*>(out_raw) + row * axis.inner);
  }
}

template <class Context, bool kTransposed>
class ResizeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const Sizes& first = context.inputs()[0].sizes;
    const Sizes& last = context.outputs()[0].sizes;
    auto axes = kTransposed ? MakeResizeAxes(this->attributes(), last, first)
                            : MakeResizeAxes(this->attributes(), first, last);
    if (!axes) return axes.takeError();
    auto state = std::make_shared<ResizeState>();
    for (ResizeAxis& axis : *axes) {
      if (!kTransposed) {
        state->axes.push_back(std::move(axis));
        continue;
      }
      llvm::Expected<ResizeAxis> transposed = Transposed(axis);
      if (!transposed) return transposed.takeError();
      state->axes.push_back(std::move(*transposed));
    }
    if (kTransposed) std::reverse(state->axes.begin(), state->axes.end());
    for (const ResizeAxis& axis : llvm::ArrayRef(state->axes).drop_back(axes->empty() ? 0 : 1)) {
      state->elements =
          std::max(state->elements, SaturatingProduct({axis.outer, axis.to, axis.inner}));
    }
    Preparation preparation;
    preparation.workspace_bytes = SaturatingProduct({2, state->elements, 8});
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const ResizeState& state = *context.template state<ResizeState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    if (state.axes.empty()) {
      return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
    }
    if (!kTransposed && this->attributes().String("mode") == "nearest") {
      switch (DTypeSize(inputs[0]->dtype())) {
        case 1:
          Copy<uint8_t>(state, *inputs[0], outputs[0], context);
          break;
        case 2:
          Copy<uint16_t>(state, *inputs[0], outputs[0], context);
          break;
        case 4:
          Copy<uint32_t>(state, *inputs[0], outputs[0], context);
          break;
        default:
          Copy<uint64_t>(state, *inputs[0], outputs[0], context);
      }
      return llvm::Error::success();
    }
    VisitDType(FloatTypes(), inputs[0]->dtype(), [&](auto tag) {
      Compute<typename decltype(tag)::type>(state, *inputs[0], outputs[0], context);
    });
    return llvm::Error::success();
  }

 private:
  // Calls pass(axis, is_first, is_last, from, to) for each axis.
  template <class Pass>
  static void ForEachPass(const ResizeState& state, const Tensor& x, Tensor* y, Context& context,
                          Pass pass) {
    double* buffers = static_cast<double*>(context.workspace());
    const void* from = x.raw();
    for (size_t i = 0; i < state.axes.size(); ++i) {
      const bool is_last = i + 1 == state.axes.size();
      void* to = is_last ? y->raw() : buffers + static_cast<int64_t>(i % 2) * state.elements;
      pass(state.axes[i], i == 0, is_last, from, to);
      from = to;
    }
  }

  template <class Bits>
  static void Copy(const ResizeState& state, const Tensor& x, Tensor* y, Context& context) {
    ForEachPass(
        state, x, y, context, [&](const ResizeAxis& axis, bool, bool, const void* from, void* to) {
          context.ParallelFor(
              axis.outer * axis.to, 1 + kGrainElements / axis.inner,
              [&](int64_t begin, int64_t end) { CopyRows<Bits>(axis, from, to, begin, end); });
        });
  }

  template <class T>
  static void Compute(const ResizeState& state, const Tensor& x, Tensor* y, Context& context) {
    using C = ComputeType<T>;
    ForEachPass(
        state, x, y, context,
        [&](const ResizeAxis& axis, bool is_first, bool is_last, const void* from, void* to) {
          const auto loop = is_first && is_last ? ChooseIsa<RowLoop<T, T, C>>()
                            : is_first          ? ChooseIsa<RowLoop<T, C, C>>()
                            : is_last           ? ChooseIsa<RowLoop<C, T, C>>()
                                                : ChooseIsa<RowLoop<C, C, C>>();
          context.ParallelFor(
              axis.outer * axis.to, 1 + kGrainElements / axis.inner,
              [&](int64_t begin, int64_t end) { loop(axis, from, to, begin, end); });
        });
  }
};
template <class Context>
using ForwardResizeOp = ResizeOp<Context, false>;
template <class Context>
using ResizeGradOp = ResizeOp<Context, true>;

// --- inference ----------------------------------------------------------------------------------

llvm::Error CheckScale(InferenceContext& context, double scale, llvm::StringRef attribute) {
  if (std::isfinite(scale) && scale > 0) return llvm::Error::success();
  return context.FailAtAttribute(attribute, Code::kAttributeRange,
                                 "a scale must be larger than 0, got {0}", FloatToString(scale));
}

// The spatial dims of a resized tensor, from `size` or the factors.
llvm::Expected<Shape> ResizedDims(InferenceContext& context, llvm::ArrayRef<Dim> in) {
  const AttributeReader& attributes = context.attributes();
  if (attributes.Bool("antialias") && attributes.String("mode") == "nearest") {
    return context.FailAtAttribute("antialias", Code::kAttributeRange,
                                   "'antialias' requires mode linear or cubic");
  }
  const unsigned rank = static_cast<unsigned>(in.size());
  const int given = attributes.Has("size") + attributes.Has("scale") + attributes.Has("scales");
  if (given != 1) {
    return context.Fail(Code::kMissingAttribute,
                        "requires exactly one of 'size', 'scale' and 'scales', got {0}",
                        given == 0 ? "none" : "more");
  }
  Shape out;
  if (attributes.Has("size")) {
    auto size = ReadSpatialAttribute(context, "size", rank, 1);
    if (!size) return size.takeError();
    out = std::move(*size);
  } else {
    const llvm::StringRef name = attributes.Has("scale") ? "scale" : "scales";
    auto scales = ResizeScales(attributes);
    if (!scales) return scales.takeError();
    if (name == "scales" && scales->size() != rank) {
      return context.FailAtAttribute(name, Code::kRank,
                                     "'scales' must have one entry for each of {0} dims, got {1}",
                                     rank, scales->size());
    }
    for (unsigned i = 0; i < rank; ++i) {
      const double scale = (*scales)[scales->size() == 1 ? 0 : i];
      if (llvm::Error error = CheckScale(context, scale, name)) return error;
      int64_t numerator = 0, denominator = 1;
      if (ScaleAsRatio(scale, &numerator, &denominator)) {
        out.push_back(Dim::FloorDiv(in[i] * numerator, denominator));
      } else if (in[i].is_constant()) {
        const double size = std::floor(static_cast<double>(in[i].constant()) * scale);
        if (size >= std::ldexp(1.0, 63)) {
          return context.FailAtAttribute(name, Code::kDimOverflow,
                                         "the size {0} multiplied by {1} is more than 63 bits hold",
                                         in[i].ToString(), FloatToString(scale));
        }
        out.push_back(static_cast<int64_t>(size));
      } else {
        return context.FailAtAttribute(name, Code::kAttributeRange,
                                       "the size {0} cannot be multiplied by {1}, which is not a "
                                       "ratio of small integers; use 'size'",
                                       in[i].ToString(), FloatToString(scale));
      }
    }
  }
  for (unsigned i = 0; i < rank; ++i) {
    if (in[i] == out[i]) continue;
    if (llvm::Error error =
            context.RequireAtLeast(in[i], 1, {0}, "a dim without elements cannot be resized")) {
      return error;
    }
  }
  return out;
}

Type WithSpatial(const Type& x, llvm::ArrayRef<Dim> spatial) {
  Shape dims = {x.dims[0], x.dims[1]};
  dims.append(spatial.begin(), spatial.end());
  return Type(x.dtype, dims);
}

llvm::Error InferResize(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& x = context.input(0);
  if (!IsFloat(x.dtype) && context.attributes().String("mode") != "nearest") {
    return context.FailAt({0}, Code::kOperandDType,
                          "'x' must be {0} where 'mode' is \"{1}\", got {2}", kFloatSet.ToString(),
                          context.attributes().String("mode"), x.ToString());
  }
  auto size = ResizedDims(context, SpatialDims(x));
  if (!size) return size.takeError();
  context.SetOutput(WithSpatial(x, *size));
  return llvm::Error::success();
}

llvm::Error InferResizeGrad(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& dy = context.input(0);
  auto before = ReadSpatialAttribute(context, "before", dy.rank() - 2, 0);
  if (!before) return before.takeError();
  auto after = ResizedDims(context, *before);
  if (!after) return after.takeError();
  for (unsigned i = 0; i < after->size(); ++i) {
    if (llvm::Error error = context.RequireEqual((*after)[i], SpatialDims(dy)[i], {0},
                                                 "'dy' must have the resized size")) {
      return error;
    }
  }
  context.SetOutput(WithSpatial(dy, *before));
  return llvm::Error::success();
}

// --- declarations -------------------------------------------------------------------------------

constexpr const char* kResizeAttributes[] = {"size",    "scale",       "scales",
                                             "mode",    "coordinates", "rounding",
                                             "cubic_a", "antialias",   "outside"};

std::vector<NamedAttribute> Attributes(GradientContext& g) {
  std::vector<NamedAttribute> attributes;
  for (const char* name : kResizeAttributes) {
    if (g.attributes().Has(name)) attributes.push_back({name, *g.attributes().Find(name)});
  }
  return attributes;
}

class ResizeMakerBase : public OpProtoMaker {
 protected:
  void AddResizeAttributes() {
    AddAttr<Shape>("size", "the spatial sizes of the result: one for all dims, or one for each")
        .Optional();
    AddAttr<double>(
        "scale", "the factor of all spatial sizes, instead of `size`; the result is rounded down")
        .Optional()
        .GreaterThan(0)
        .InDouble();
    AddAttr<std::vector<double>>("scales", "like `scale`, with a factor for each spatial dim")
        .Optional()
        .GreaterThan(0)
        .InDouble();
    AddAttr<std::string>("mode",
                         "the interpolation: from the nearest element, or from 2 (linear) or 4 "
                         "(cubic) elements along each dim")
        .Default("nearest")
        .OneOf({"nearest", "linear", "cubic"});
    AddAttr<std::string>(
        "coordinates",
        "the position in x of element o of the result: half_pixel: (o + 0.5) / scale - 0.5; "
        "pytorch_half_pixel: the same, but 0 if the result has size 1; asymmetric: o / scale; "
        "align_corners: the first and last elements are aligned")
        .Default("half_pixel")
        .OneOf({"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"});
    AddAttr<std::string>("rounding", "how mode=\"nearest\" rounds; the first two differ at .5")
        .Default("prefer_floor")
        .OneOf({"prefer_floor", "prefer_ceil", "floor", "ceil"});
    AddAttr<double>("cubic_a", "the coefficient of the cubic kernel; Pillow's is -0.5")
        .Default(-0.75)
        .InDouble();
    AddAttr<bool>("antialias",
                  "if the result is smaller, widen the linear or cubic filter by the ratio, so "
                  "that all elements contribute")
        .Default(false);
    AddAttr<std::string>("outside",
                         "how weights outside of x are handled: edge applies them to the edge "
                         "element; skip drops them, as PyTorch and Pillow do with `antialias`")
        .Default("edge")
        .OneOf({"edge", "skip"});
  }
};

struct ResizeMaker : ResizeMakerBase {
  void Make() override {
    AddComment(
        "Resizes an image (ONNX's Resize, PyTorch's interpolate), dim by dim: each element of the "
        "result is the nearest element of x, or an interpolation. Exactly one of `size`, `scale` "
        "and `scales` gives the new size.");
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims; floats unless mode is nearest")
        .Accepts(kAnySet);
    AddOutput("y", "[N, C, ...] with the new sizes; dtype as x").DTypeOf("x");
    AddResizeAttributes();
    AddExample(
        "y = resize([[[1.0, 3.0]]], scale=2, mode=\"linear\")  # = [[[1.0, 1.5, 2.5, 3.0]]]");
    SetInference(InferResize);
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      const llvm::ArrayRef<Dim> before = SpatialDims(g.input(0)->type());
      std::vector<NamedAttribute> attributes = Attributes(g);
      attributes.push_back({"before", Shape(before.begin(), before.end())});
      g.SetInputGradient(0, g.Call("resize_grad", {g.output_gradient()}, attributes));
    });
  }
};

struct ResizeGradMaker : ResizeMakerBase {
  void Make() override {
    AddComment(
        "The gradient of resize: each element of dy is added, with the same weights, to the "
        "elements that it was interpolated from.");
    AddInput("dy", "the gradient of the result: [N, C, ...] with 1 to 3 spatial dims")
        .Accepts(kFloatSet);
    AddOutput("dx", "[N, C, before...]; dtype as dy").DTypeOf("dy");
    AddAttr<Shape>("before", "the spatial sizes of the input of resize");
    AddResizeAttributes();
    AddExample("dx = resize_grad([[[1.0, 2.0, 3.0, 4.0]]], before=2, scale=2)  # = [[[3.0, 7.0]]]");
    SetInference(InferResizeGrad);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(0, g.Call("resize", {g.output_gradient()}, Attributes(g)));
    });
  }
};

}  // namespace

void RegisterResizeOps(OpRegistry& registry) {
  registry.BeginFamily("Images");
  registry.RegisterOp<ForwardResizeOp, ResizeMaker>("resize");
  registry.RegisterOp<ResizeGradOp, ResizeGradMaker>("resize_grad");
}

}  // namespace pdl
