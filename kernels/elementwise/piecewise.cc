// Activations of straight pieces, on each element by itself: hard_sigmoid, hard_swish,
// thresholded_relu, shrink, and, on pairs of elements, prelu.
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
        "alpha * x + beta, but at least 0 and at most 1, element by element. The gradient is that "
        "of the straight line between 0 and 1, else 0.",
        [](GradientContext& g) {
          Value* dy = g.output_gradient();
          Value* y = g.output();
          Value* inside = g.Call("logical_and", {g.Call("greater", {y, g.Scalar(0, y)}),
                                                 g.Call("less", {y, g.Scalar(1, y)})});
          Value* slope = g.Mul(dy, g.Scalar(g.attributes().Float("alpha"), dy));
          g.SetInputGradient(0, Where(g, inside, slope, g.Scalar(0, dy)));
        });
    AddAttr<double>("alpha", "the slope; 1 / 6 as in PyTorch and hard_swish, ONNX has 0.2")
        .Default(1.0 / 6.0);
    AddAttr<double>("beta", "what 0 becomes").Default(0.5);
    AddExample("y = hard_sigmoid([-4.0, 0.0, 1.5, 4.0])  # = [0.0, 0.5, 0.75, 1.0]");
  }
};

struct HardSwish {
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
        "x * hard_sigmoid(x) (Howard et al., arXiv:1905.02244), element by element: 0 up to -3, x "
        "from 3 on. The gradient at -3 is 0, at 3 it is 1.",
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
    Declare("x where it is larger than alpha, else 0, element by element; nan stays.",
            [](GradientContext& g) {
              Value* x = g.input(0);
              Value* dy = g.output_gradient();
              Value* above = g.Call("greater", {x, g.Scalar(g.attributes().Float("alpha"), x)});
              g.SetInputGradient(0, Where(g, above, dy, g.Scalar(0, dy)));
            });
    AddAttr<double>("alpha", "the largest x that gives 0").Default(1);
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
        "x brought nearer to 0 by `bias` where it is farther from 0 than `threshold`, else 0, "
        "element by element; nan stays. Soft shrinking is with equal ones, hard shrinking without "
        "bias.",
        [](GradientContext& g) {
          Value* x = g.input(0);
          Value* dy = g.output_gradient();
          Value* limit = g.Scalar(g.attributes().Float("threshold"), x);
          Value* beyond = g.Call("greater", {g.Call("abs", {x}), limit});
          g.SetInputGradient(0, Where(g, beyond, dy, g.Scalar(0, dy)));
        });
    AddAttr<double>("threshold", "the largest absolute value that gives 0").Default(0.5).AtLeast(0);
    AddAttr<double>("bias", "what is taken off the absolute value").Default(0);
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
        "x from 0 on, slope * x below, element by element (He et al., arXiv:1502.01852). "
        "Broadcasts "
        "as NumPy does, over sizes that are literally 1.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddInput("slope", "the slope below 0, often a parameter; dtype as x").Accepts(kFloatSet);
    AddOutput("y", "dtype as x, the dims of both broadcast");
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
