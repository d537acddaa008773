// Elementwise operators of one input: cos, sin, exp, log, sqrt, tanh, sigmoid, relu, neg, abs,
// square, erf, reciprocal, rsqrt, sign, floor, ceil, trunc, round.
#include "kernels/core/elementwise.h"
#include "kernels/elementwise/logistic_math.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/zero_rule.h"

namespace pdl {
namespace {

// --- cos, sin -----------------------------------------------------------------------------------

struct Cosine {
  template <class T>
  static PDL_INLINE T Small(T x) {
    return math::CosReducible(x);
  }
  static PDL_INLINE float Any(float x) { return math::Cos(x); }
};
struct Sine {
  template <class T>
  static PDL_INLINE T Small(T x) {
    return math::SinReducible(x);
  }
  static PDL_INLINE float Any(float x) { return math::Sin(x); }
};

template <class F>
struct Scaled {
  double scale = 1;
  void Initialize(const AttributeReader& attributes) { scale = attributes.Float("scale"); }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(scale) * F::Small(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return static_cast<float>(scale) * F::Any(x); }
};
template <class Context>
using CosineOp = UnaryOp<Context, Scaled<Cosine>, FloatTypes>;
template <class Context>
using SineOp = UnaryOp<Context, Scaled<Sine>, FloatTypes>;

// dy times the cofunction, sin for cos and cos for sin, with the same scale.
Value* TimesCofunction(GradientContext& g, llvm::StringRef other) {
  const double scale = g.attributes().Float("scale");
  return g.Mul(g.output_gradient(), g.Call(other, {g.input(0)}, {{"scale", scale}}));
}

struct AngleMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, GradientFunction gradient) {
    AddComment(comment);
    AddInput("x", "angles in radians").Accepts(kFloatSet);
    AddOutput("y", "in [-scale, scale]; type as x");
    AddAttr<double>("scale", "amplitude").Default(1).GreaterThan(0);
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
    SetGradient(gradient);
  }
};

struct CosineMaker : AngleMaker {
  void Make() override {
    Declare("scale * cos(x), elementwise.",
            [](GradientContext& g) { g.SetInputGradient(0, g.Neg(TimesCofunction(g, "sin"))); });
    properties().onnx_name = "Cos";
    SetMaxUlp(1.6);
    AddExample("y = cos([0.0, 1.0], scale=2.0)  # = [2.0, 1.080605]");
  }
};

struct SineMaker : AngleMaker {
  void Make() override {
    Declare("scale * sin(x), elementwise.",
            [](GradientContext& g) { g.SetInputGradient(0, TimesCofunction(g, "cos")); });
    properties().onnx_name = "Sin";
    SetMaxUlp(1.6);
    AddExample("y = sin([0.0, 1.0])  # = [0.0, 0.841471]");
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
    AddComment("e to the power of x, elementwise.");
    AddInput("x", "exponents").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().onnx_name = "Exp";
    SetInference(InferSameAsFirst);
    SetGradient(
        [](GradientContext& g) { g.SetInputGradient(0, g.Mul(g.output_gradient(), g.output())); });
    SetMaxUlp(1.1);
    AddExample("y = exp([0.0, 1.0])  # = [1.0, 2.718282]");
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
    AddComment("Natural logarithm, elementwise: -inf at 0, nan for negative x.");
    AddInput("x", "numbers of at least 0").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().onnx_name = "Log";
    SetInference(InferSameAsFirst);
    SetGradient(
        [](GradientContext& g) { g.SetInputGradient(0, g.Div(g.output_gradient(), g.input(0))); });
    SetMaxUlp(0.81);
    AddExample("y = log([1.0, 10.0])  # = [0.0, 2.302585]");
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
    AddComment("Square root, elementwise: nan for negative x.");
    AddInput("x", "numbers of at least 0").Accepts(kFloatSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().zero_rule = ZeroIfFirstIs;
    properties().onnx_name = "Sqrt";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* half = g.Mul(g.output_gradient(), g.Scalar(0.5, g.output()));
      g.SetInputGradient(0, g.Div(half, g.output()));
    });
    SetMaxUlp(0.5);
    AddExample("y = sqrt([4.0, 2.25])  # = [2.0, 1.5]");
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
    AddComment(
        "Hyperbolic tangent, elementwise. The gradient is computed from the result, as in PyTorch, "
        "so it is 0 where the result rounds to 1 or -1.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "in [-1, 1]; type as x");
    properties().elementwise = true;
    properties().onnx_name = "Tanh";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* derivative = g.Sub(g.Scalar(1, g.output()), g.Mul(g.output(), g.output()));
      g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
    });
    SetMaxUlp(1.4);
    AddExample("y = tanh([0.0, 1.0])  # = [0.0, 0.761594]");
  }
};

struct SigmoidFunctor : SimdFunctor<simd::Sigmoid> {
  double operator()(double x) const { return math::Sigmoid(x); }
};
template <class Context>
using SigmoidOp = UnaryOp<Context, SigmoidFunctor, FloatTypes>;

struct SigmoidMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "1 / (1 + exp(-x)), elementwise. The gradient is computed from the result, as in PyTorch, "
        "so it is 0 where the result rounds to 1.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "in [0, 1]; type as x");
    properties().elementwise = true;
    properties().onnx_name = "Sigmoid";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* derivative = g.Mul(g.output(), g.Sub(g.Scalar(1, g.output()), g.output()));
      g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
    });
    SetMaxUlp(1.77);
    AddExample("y = sigmoid([0.0, 2.0])  # = [0.5, 0.880797]");
  }
};

struct Relu {
  static constexpr auto kActivation = RegisterActivation::Kind::kClamp;
  static constexpr double low = 0, high = std::numeric_limits<double>::infinity();
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
template <class Context>
using ReluOp = UnaryOp<Context, Relu, NumberTypes>;

struct ReluMaker : OpProtoMaker {
  void Make() override {
    AddComment("The larger of x and 0, elementwise; nan stays nan. The gradient at 0 is 0.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "at least 0; type as x");
    properties().elementwise = true;
    properties().onnx_name = "Relu";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* zero = g.Scalar(0, g.input(0));
      Value* positive = g.Call("greater", {g.input(0), zero});
      g.SetInputGradient(0, g.Call("where", {positive, g.output_gradient(), zero}));
    });
    AddExample("y = relu([-1.0, 2.0])  # = [0.0, 2.0]");
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
    AddComment("-x, elementwise. Integers wrap around.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().widening = IntegerWidening::kModular;
    properties().zero_rule = ZeroIfFirstIs;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(Dim(0) - x[0]);
    };
    properties().onnx_name = "Neg";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) { g.SetInputGradient(0, g.Neg(g.output_gradient())); });
    AddExample("y = neg([1, -2])  # = [-1, 2]");
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
        "Absolute value, elementwise. The smallest integer is returned unchanged; the gradient at "
        "0 is 0.");
    AddInput("x", "any numbers").Accepts(kNumberSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().zero_rule = ZeroIfFirstIs;
    properties().onnx_name = "Abs";
    SetInference(InferSameAsFirst);
    SetGradient([](GradientContext& g) {
      Value* zero = g.Scalar(0, g.input(0));
      Value* dy = g.output_gradient();
      Value* below = g.Call("less", {g.input(0), zero});
      Value* above = g.Call("greater", {g.input(0), zero});
      Value* turned = g.Call("where", {below, g.Neg(dy), zero});
      g.SetInputGradient(0, g.Call("where", {above, dy, turned}));
    });
    AddExample("y = abs([-1.5, 2.0])  # = [1.5, 2.0]");
  }
};

// --- square, erf, reciprocal, rsqrt -------------------------------------------------------------

// The declaration shared by most operators below.
struct PlainMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, DTypeSet dtypes, const char* result,
               GradientFunction gradient) {
    AddComment(comment);
    AddInput("x", "any numbers").Accepts(dtypes);
    AddOutput("y", result);
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
    SetGradient(gradient);
  }
};

struct Square {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
    } else {
      return x * x;
    }
  }
};
template <class Context>
using SquareOp = UnaryOp<Context, Square, NumberTypes>;

struct SquareMaker : PlainMaker {
  void Make() override {
    Declare("x * x, elementwise. Integers wrap around.", kNumberSet, "type as x",
            [](GradientContext& g) {
              Value* derivative = g.Mul(g.input(0), g.Scalar(2, g.input(0)));
              g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
            });
    AddExample("y = square([3.0, -0.5])  # = [9.0, 0.25]");
  }
};

struct ErrorFunction {
  template <class T>
  T operator()(T x) const {
    return math::Erf(x);
  }
};
template <class Context>
using ErfOp = UnaryOp<Context, ErrorFunction, FloatTypes>;

struct ErfMaker : PlainMaker {
  void Make() override {
    Declare(
        "Error function, elementwise: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.",
        kFloatSet, "in [-1, 1]; type as x", [](GradientContext& g) {
          Value* x = g.input(0);
          Value* derivative = g.Mul(g.Call("exp", {g.Neg(g.Mul(x, x))}), g.Scalar(M_2_SQRTPI, x));
          g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
        });
    properties().onnx_name = "Erf";
    SetMaxUlp(1.39);
    AddExample("y = erf([0.0, 0.5])  # = [0.0, 0.5205]");
  }
};

struct Reciprocal {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
template <class Context>
using ReciprocalOp = UnaryOp<Context, Reciprocal, FloatTypes>;

struct ReciprocalMaker : PlainMaker {
  void Make() override {
    Declare("1 / x, elementwise.", kFloatSet, "type as x", [](GradientContext& g) {
      // Evaluated from left to right: y * y may be infinite where the result is not.
      Value* y = g.output();
      g.SetInputGradient(0, g.Neg(g.Mul(g.Mul(g.output_gradient(), y), y)));
    });
    properties().onnx_name = "Reciprocal";
    SetMaxUlp(0.5);
    AddExample("y = reciprocal([2.0, 4.0])  # = [0.5, 0.25]");
  }
};

struct ReciprocalRoot {
  template <class T>
  T operator()(T x) const {
    return T(1) / math::Sqrt(x);
  }
};
template <class Context>
using RsqrtOp = UnaryOp<Context, ReciprocalRoot, FloatTypes>;

struct RsqrtMaker : PlainMaker {
  void Make() override {
    Declare("1 / sqrt(x), elementwise: inf at 0, nan for negative x.", kFloatSet, "type as x",
            [](GradientContext& g) {
              // Evaluated from left to right: the cube may be infinite where the result is not.
              Value* y = g.output();
              Value* dx = g.Mul(g.output_gradient(), g.Scalar(-0.5, y));
              g.SetInputGradient(0, g.Mul(g.Mul(g.Mul(dx, y), y), y));
            });
    SetMaxUlp(1.5);
    AddExample("y = rsqrt([4.0, 16.0])  # = [0.5, 0.25]");
  }
};

// --- sign, floor, ceil, trunc, round
// ---------------------------------------------------------------

void ZeroGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype)) return;
  g.SetInputGradient(0, g.Call("zeros", {}, {{"dims", x.dims}, {"dtype", x.dtype}}));
}

struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return x == x ? static_cast<T>((x > T(0)) - (x < T(0))) : x;
    } else {
      return static_cast<T>((x > T(0)) - (x < T(0)));
    }
  }
};
template <class Context>
using SignOp = UnaryOp<Context, Sign, NumberTypes>;

struct SignMaker : PlainMaker {
  void Make() override {
    Declare(
        "-1 for negative x, 0 for 0, 1 for positive x, elementwise; nan stays nan. The gradient is "
        "0.",
        kNumberSet, "type as x", ZeroGradient);
    properties().zero_rule = ZeroIfFirstIs;
    properties().onnx_name = "Sign";
    AddExample("y = sign([-2.5, 0.0, 3.0])  # = [-1.0, 0.0, 1.0]");
  }
};

struct RoundDown {
  template <class T>
  T operator()(T x) const {
    return math::Floor(x);
  }
};
template <class Context>
using FloorOp = UnaryOp<Context, RoundDown, FloatTypes>;

struct FloorMaker : PlainMaker {
  void Make() override {
    Declare("Rounds down to an integer, elementwise. The gradient is 0.", kFloatSet, "type as x",
            ZeroGradient);
    properties().onnx_name = "Floor";
    AddExample("y = floor([1.75, -1.25])  # = [1.0, -2.0]");
  }
};

struct RoundUp {
  template <class T>
  T operator()(T x) const {
    return math::Ceil(x);
  }
};
template <class Context>
using CeilOp = UnaryOp<Context, RoundUp, FloatTypes>;

struct CeilMaker : PlainMaker {
  void Make() override {
    Declare("Rounds up to an integer, elementwise. The gradient is 0.", kFloatSet, "type as x",
            ZeroGradient);
    properties().onnx_name = "Ceil";
    AddExample("y = ceil([1.25, -1.25])  # = [2.0, -1.0]");
  }
};

struct RoundToZero {
  template <class T>
  T operator()(T x) const {
    return math::Trunc(x);
  }
};
template <class Context>
using TruncOp = UnaryOp<Context, RoundToZero, FloatTypes>;

struct TruncMaker : PlainMaker {
  void Make() override {
    Declare("Rounds toward 0 to an integer, elementwise. The gradient is 0.", kFloatSet,
            "type as x", ZeroGradient);
    AddExample("y = trunc([1.75, -1.75])  # = [1.0, -1.0]");
  }
};

struct RoundNearest {
  template <class T>
  T operator()(T x) const {
    return math::Round(x);
  }
};
template <class Context>
using RoundOp = UnaryOp<Context, RoundNearest, FloatTypes>;

struct RoundMaker : PlainMaker {
  void Make() override {
    Declare("Rounds to the nearest integer, ties to even, elementwise. The gradient is 0.",
            kFloatSet, "type as x", ZeroGradient);
    properties().onnx_name = "Round";
    AddExample("y = round([0.5, 1.5, -1.25])  # = [0.0, 2.0, -1.0]");
  }
};

}  // namespace

void RegisterUnaryOps(OpRegistry& registry) {
  registry.BeginFamily("Elementwise, one input");
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
  registry.RegisterOp<SquareOp, SquareMaker>("square");
  registry.RegisterOp<ErfOp, ErfMaker>("erf");
  registry.RegisterOp<ReciprocalOp, ReciprocalMaker>("reciprocal");
  registry.RegisterOp<RsqrtOp, RsqrtMaker>("rsqrt");
  registry.RegisterOp<SignOp, SignMaker>("sign");
  registry.RegisterOp<FloorOp, FloorMaker>("floor");
  registry.RegisterOp<CeilOp, CeilMaker>("ceil");
  registry.RegisterOp<TruncOp, TruncMaker>("trunc");
  registry.RegisterOp<RoundOp, RoundMaker>("round");
}

}  // namespace pdl
