// Piecewise linear activations, elementwise: hard_sigmoid, hard_swish, thresholded_relu, shrink,
// and prelu, which has two inputs.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

struct PiecewiseMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, GradientFunction gradient) {
    AddComment(comment);
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
    SetGradient(gradient);
  }
};

Value* Where(GradientContext& g, Value* condition, Value* x, Value* y) {
  return g.Call("where", {condition, x, y});
}

// --- hard_sigmoid, hard_swish -------------------------------------------------------------------

template <class T>
PDL_INLINE T UnitClip(T x) {
  x = x < T(0) ? T(0) : x;
  return x > T(1) ? T(1) : x;
}

struct HardSigmoid {
  double alpha = 0, beta = 0;
  void Initialize(const AttributeReader& attributes) {
    alpha = attributes.Float("alpha");
    beta = attributes.Float("beta");
  }
  template <class T>
  T operator()(T x) const {
    return UnitClip(static_cast<T>(alpha) * x + static_cast<T>(beta));
  }
};
template <class Context>
using HardSigmoidOp = UnaryOp<Context, HardSigmoid, FloatTypes>;

struct HardSigmoidMaker : PiecewiseMaker {
  void Make() override {
    Declare(
        "alpha * x + beta, clipped to [0, 1], elementwise. The gradient is alpha where the result "
        "is not clipped, else 0.",
        [](GradientContext& g) {
          Value* dy = g.output_gradient();
          Value* y = g.output();
          Value* inside = g.Call("logical_and", {g.Call("greater", {y, g.Scalar(0, y)}),
                                                 g.Call("less", {y, g.Scalar(1, y)})});
          Value* scaled = g.Mul(dy, g.Scalar(g.attributes().Float("alpha"), dy));
          g.SetInputGradient(0, Where(g, inside, scaled, g.Scalar(0, dy)));
        });
    AddAttr<double>("alpha",
                    "slope; the default 1 / 6 is that of PyTorch and of hard_swish, ONNX has 0.2")
        .Default(1.0 / 6.0);
    AddAttr<double>("beta", "result at x = 0").Default(0.5);
    AddExample("y = hard_sigmoid([-4.0, 0.0, 1.5, 4.0])  # = [0.0, 0.5, 0.75, 1.0]");
  }
};

struct HardSwish {
  static constexpr auto kActivation = RegisterActivation::Kind::kHardSwish;
  template <class T>
  T operator()(T x) const {
    // The factor of x is 0 up to -3, also where x is infinite.
    const T bounded = x < T(-3) ? T(-3) : x;
    return bounded * UnitClip(bounded * T(1.0 / 6.0) + T(0.5));
  }
};
template <class Context>
using HardSwishOp = UnaryOp<Context, HardSwish, FloatTypes>;

struct HardSwishMaker : PiecewiseMaker {
  void Make() override {
    Declare(
        "x * hard_sigmoid(x) (Howard et al., arXiv:1905.02244), elementwise: 0 for x <= -3, x for "
        "x >= 3. The gradient is 0 at -3 and 1 at 3.",
        [](GradientContext& g) {
          Value* x = g.input(0);
          Value* dy = g.output_gradient();
          Value* curve = g.Mul(dy, g.Add(g.Mul(x, g.Scalar(1.0 / 3.0, x)), g.Scalar(0.5, x)));
          Value* low = g.Call("less_equal", {x, g.Scalar(-3, x)});
          Value* high = g.Call("greater_equal", {x, g.Scalar(3, x)});
          g.SetInputGradient(0, Where(g, low, g.Scalar(0, dy), Where(g, high, dy, curve)));
        });
    properties().onnx_name = "HardSwish";
    AddExample("y = hard_swish([-4.0, 1.5, 4.0])  # = [0.0, 1.125, 4.0]");
  }
};

// --- thresholded_relu, shrink -------------------------------------------------------------------

struct ThresholdedRelu {
  double alpha = 1;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  T operator()(T x) const {
    return x <= static_cast<T>(alpha) ? T(0) : x;
  }
};
template <class Context>
using ThresholdedReluOp = UnaryOp<Context, ThresholdedRelu, FloatTypes>;

struct ThresholdedReluMaker : PiecewiseMaker {
  void Make() override {
    Declare("x where x is larger than alpha, else 0, elementwise; nan stays nan.",
            [](GradientContext& g) {
              Value* x = g.input(0);
              Value* dy = g.output_gradient();
              Value* above = g.Call("greater", {x, g.Scalar(g.attributes().Float("alpha"), x)});
              g.SetInputGradient(0, Where(g, above, dy, g.Scalar(0, dy)));
            });
    AddAttr<double>("alpha", "threshold: x up to alpha becomes 0").Default(1);
    AddExample("y = thresholded_relu([0.5, 1.0, 1.5])  # = [0.0, 0.0, 1.5]");
  }
};

struct Shrink {
  double threshold = 0.5, bias = 0;
  void Initialize(const AttributeReader& attributes) {
    threshold = attributes.Float("threshold");
    bias = attributes.Float("bias");
  }
  template <class T>
  T operator()(T x) const {
    const T shift = static_cast<T>(bias);
    const T shrunk = x < T(0) ? x + shift : x - shift;
    return math::Abs(x) <= static_cast<T>(threshold) ? T(0) : shrunk;
  }
};
template <class Context>
using ShrinkOp = UnaryOp<Context, Shrink, FloatTypes>;

struct ShrinkMaker : PiecewiseMaker {
  void Make() override {
    Declare(
        "Shrinks x toward 0 by `bias` where abs(x) is larger than `threshold`, else returns 0, "
        "elementwise; nan stays nan. Soft shrinking has a bias equal to the threshold, hard "
        "shrinking has no bias.",
        [](GradientContext& g) {
          Value* x = g.input(0);
          Value* dy = g.output_gradient();
          Value* limit = g.Scalar(g.attributes().Float("threshold"), x);
          Value* beyond = g.Call("greater", {g.Call("abs", {x}), limit});
          g.SetInputGradient(0, Where(g, beyond, dy, g.Scalar(0, dy)));
        });
    AddAttr<double>("threshold", "x with an absolute value up to this becomes 0")
        .Default(0.5)
        .AtLeast(0);
    AddAttr<double>("bias", "subtracted from the absolute value").Default(0);
    AddExample("y = shrink([-2.0, 0.25, 1.0], threshold=0.5, bias=0.5)  # = [-1.5, 0.0, 0.5]");
  }
};

// --- prelu --------------------------------------------------------------------------------------

struct Prelu {
  template <class T>
  T operator()(T x, T slope) const {
    return x < T(0) ? slope * x : x;
  }
};
template <class Context>
using PreluOp = BinaryOp<Context, Prelu, FloatTypes>;

void PreluGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* dy = g.output_gradient();
  Value* below = g.Call("less", {x, g.Scalar(0, x)});
  g.SetInputGradient(0, g.SumTo(Where(g, below, g.Mul(dy, g.input(1)), dy), x));
  g.SetInputGradient(1, g.SumTo(Where(g, below, g.Mul(dy, x), g.Scalar(0, dy)), g.input(1)));
}

struct PreluMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x where x is at least 0, else slope * x, elementwise (He et al., arXiv:1502.01852). "
        "Broadcasts as in NumPy, along dims of constant size 1.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddInput("slope", "slope for negative x, usually a parameter; dtype as x").Accepts(kFloatSet);
    AddOutput("y", "dtype as x, the broadcast dims of x and slope").DTypeOf("x");
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient(PreluGradient);
    AddExample("y = prelu([-2.0, 3.0], [0.25, 0.25])  # = [-0.5, 3.0]");
  }
};

}  // namespace

void RegisterPiecewiseOps(OpRegistry& registry) {
  registry.BeginFamily("Activations");
  registry.RegisterOp<HardSigmoidOp, HardSigmoidMaker>("hard_sigmoid");
  registry.RegisterOp<HardSwishOp, HardSwishMaker>("hard_swish");
  registry.RegisterOp<ThresholdedReluOp, ThresholdedReluMaker>("thresholded_relu");
  registry.RegisterOp<ShrinkOp, ShrinkMaker>("shrink");
  registry.RegisterOp<PreluOp, PreluMaker>("prelu");
}

}  // namespace pdl
