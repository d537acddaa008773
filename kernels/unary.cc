// Operators on each element by itself: cos, sin, exp, log, sqrt, tanh, sigmoid, relu, neg, abs.
#include "kernels/all_ops.h"
#include "kernels/elementwise.h"
#include "pdl/gradient.h"
#include "pdl/inference.h"
#include "pdl/op_proto_maker.h"

namespace pdl {
namespace {

// --- cos, sin -----------------------------------------------------------------------------------

struct Cosine {
  double scale = 1;
  void Initialize(const AttributeReader& attributes) { scale = attributes.Float("scale"); }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(scale) * math::CosReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return static_cast<float>(scale) * math::Cos(x); }
};
template <class Context>
using CosineOp = UnaryOp<Context, Cosine, FloatTypes>;

void CosineGradient(GradientContext& g) {
  const double scale = g.attributes().Float("scale");
  g.SetInputGradient(
      0, g.Neg(g.Mul(g.output_gradient(), g.Call("sin", {g.input(0)}, {{"scale", scale}}))));
}

struct CosineMaker : OpProtoMaker {
  void Make() override {
    AddComment("scale * cos(x), element by element.");
    AddInput("x", "angles in radians").Accepts(kFloatSet);
    AddOutput("y", "in [-scale, scale]; type as x");
    AddAttr<double>("scale", "the largest result").Default(1).GreaterThan(0);
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient(CosineGradient);
  }
};

struct Sine {
  double scale = 1;
  void Initialize(const AttributeReader& attributes) { scale = attributes.Float("scale"); }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(scale) * math::SinReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return static_cast<float>(scale) * math::Sin(x); }
};
template <class Context>
using SineOp = UnaryOp<Context, Sine, FloatTypes>;

void SineGradient(GradientContext& g) {
  const double scale = g.attributes().Float("scale");
  g.SetInputGradient(0,
                     g.Mul(g.output_gradient(), g.Call("cos", {g.input(0)}, {{"scale", scale}})));
}

struct SineMaker : OpProtoMaker {
  void Make() override {
    AddComment("scale * sin(x), element by element.");
    AddInput("x", "angles in radians").Accepts(kFloatSet);
    AddOutput("y", "in [-scale, scale]; type as x");
    AddAttr<double>("scale", "the largest result").Default(1).GreaterThan(0);
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient(SineGradient);
  }
};

// --- exp, log, sqrt -----------------------------------------------------------------------------

struct Exponential {
  template <class T>
  T operator()(T x) const {
    return math::Exp(x);
  }
};
template <class Context>
using ExpOp = UnaryOp<Context, Exponential, FloatTypes>;

struct ExpMaker : OpProtoMaker {
  void Make() override {
    AddComment("e to the power of x, element by element.");
    AddInput("x", "exponents").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient(
        [](GradientContext& g) { g.SetInputGradient(0, g.Mul(g.output_gradient(), g.output())); });
  }
};

struct Logarithm {
  template <class T>
  T operator()(T x) const {
    return math::Log(x);
  }
};
template <class Context>
using LogOp = UnaryOp<Context, Logarithm, FloatTypes>;

struct LogMaker : OpProtoMaker {
  void Make() override {
    AddComment("The natural logarithm, element by element: -inf at 0, nan below.");
    AddInput("x", "numbers from 0 on").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient(
        [](GradientContext& g) { g.SetInputGradient(0, g.Div(g.output_gradient(), g.input(0))); });
  }
};

struct SquareRoot {
  template <class T>
  T operator()(T x) const {
    return math::Sqrt(x);
  }
};
template <class Context>
using SqrtOp = UnaryOp<Context, SquareRoot, FloatTypes>;

struct SqrtMaker : OpProtoMaker {
  void Make() override {
    AddComment("The square root, element by element: nan below 0.");
    AddInput("x", "numbers from 0 on").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* half = g.Mul(g.output_gradient(), g.Scalar(0.5, g.output()));
      g.SetInputGradient(0, g.Div(half, g.output()));
    });
  }
};

// --- tanh, sigmoid, relu ------------------------------------------------------------------------

struct Tanh {
  template <class T>
  T operator()(T x) const {
    return math::Tanh(x);
  }
};
template <class Context>
using TanhOp = UnaryOp<Context, Tanh, FloatTypes>;

struct TanhMaker : OpProtoMaker {
  void Make() override {
    AddComment("The hyperbolic tangent, element by element.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "in [-1, 1]; type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* slope = g.Sub(g.Scalar(1, g.output()), g.Mul(g.output(), g.output()));
      g.SetInputGradient(0, g.Mul(g.output_gradient(), slope));
    });
  }
};

struct Sigmoid {
  template <class T>
  T operator()(T x) const {
    return math::Sigmoid(x);
  }
};
template <class Context>
using SigmoidOp = UnaryOp<Context, Sigmoid, FloatTypes>;

struct SigmoidMaker : OpProtoMaker {
  void Make() override {
    AddComment("1 / (1 + exp(-x)), element by element.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "in [0, 1]; type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* slope = g.Mul(g.output(), g.Sub(g.Scalar(1, g.output()), g.output()));
      g.SetInputGradient(0, g.Mul(g.output_gradient(), slope));
    });
  }
};

struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
template <class Context>
using ReluOp = UnaryOp<Context, Relu, NumberTypes>;

struct ReluMaker : OpProtoMaker {
  void Make() override {
    AddComment("The larger of x and 0, element by element; nan stays. The gradient at 0 is 0.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "from 0 on; type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* positive = g.Call("greater", {g.input(0), g.Scalar(0, g.input(0))});
      Value* slope = g.Call("cast", {positive}, {{"to", g.input(0)->type().dtype}});
      g.SetInputGradient(0, g.Mul(g.output_gradient(), slope));
    });
  }
};

// --- neg, abs -----------------------------------------------------------------------------------

struct Negation {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
    } else {
      return -x;
    }
  }
};
template <class Context>
using NegOp = UnaryOp<Context, Negation, NumberTypes>;

struct NegMaker : OpProtoMaker {
  void Make() override {
    AddComment("-x, element by element. Integers wrap around.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) { g.SetInputGradient(0, g.Neg(g.output_gradient())); });
  }
};

struct Absolute {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return math::Abs(x);
    } else {
      return x < T(0) ? Negation()(x) : x;
    }
  }
};
template <class Context>
using AbsOp = UnaryOp<Context, Absolute, NumberTypes>;

struct AbsMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The absolute value, element by element. The smallest integer stays as it is; the gradient "
        "at 0 is 0.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "type as x");
    SetTraits(kElementwise);
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* zero = g.Scalar(0, g.input(0));
      const NamedAttribute to = {"to", g.input(0)->type().dtype};
      Value* above = g.Call("cast", {g.Call("greater", {g.input(0), zero})}, {to});
      Value* below = g.Call("cast", {g.Call("less", {g.input(0), zero})}, {to});
      g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Sub(above, below)));
    });
  }
};

}  // namespace

void RegisterUnaryOps(OpRegistry& registry) {
  registry.RegisterOp<CosineOp, CosineMaker>("cos");
  registry.RegisterOp<SineOp, SineMaker>("sin");
  registry.RegisterOp<ExpOp, ExpMaker>("exp");
  registry.RegisterOp<LogOp, LogMaker>("log");
  registry.RegisterOp<SqrtOp, SqrtMaker>("sqrt");
  registry.RegisterOp<TanhOp, TanhMaker>("tanh");
  registry.RegisterOp<SigmoidOp, SigmoidMaker>("sigmoid");
  registry.RegisterOp<ReluOp, ReluMaker>("relu");
  registry.RegisterOp<NegOp, NegMaker>("neg");
  registry.RegisterOp<AbsOp, AbsMaker>("abs");
}

}  // namespace pdl
