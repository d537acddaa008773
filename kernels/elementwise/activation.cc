// Smooth activations and clip, elementwise: gelu, silu, softplus, log_sigmoid, mish, softsign,
// leaky_relu, elu, selu, celu, clip. Piecewise linear activations are in piecewise.cc.
#include <cmath>
#include <limits>

#include "kernels/core/elementwise.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/core/wide_math.h"
#include "kernels/elementwise/logistic_math.h"
#include "kernels/elementwise/tail_math.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/zero_rule.h"

namespace pdl {
namespace {

struct ActivationMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, GradientFunction gradient, DTypeSet dtypes = kFloatSet) {
    AddComment(comment);
    AddInput("x", "any numbers").Accepts(dtypes);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
    SetGradient(gradient);
  }
};

// Sets the gradient of x to dy times `derivative`.
void SetDerivative(GradientContext& g, Value* derivative) {
  g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
}

Value* Positive(GradientContext& g) {
  return g.Call("greater", {g.input(0), g.Scalar(0, g.input(0))});
}

// Clips x to [-limit, limit], outside of which a derivative that multiplies by x has converged: 0
// times infinity would be nan.
Value* Bounded(GradientContext& g, double limit) {
  return g.Call("clip", {g.input(0)}, {{"low", -limit}, {"high", limit}});
}

// exp(min(x, 0) / divisor). For x above 0 it is 1, so that its own gradient does not overflow.
Value* ExpBelow(GradientContext& g, double divisor = 1) {
  Value* x = g.Call("clip", {g.input(0)}, {{"high", 0.0}});
  return g.Call("exp", {divisor == 1 ? x : g.Div(x, g.Scalar(divisor, x))});
}

// --- gelu ---------------------------------------------------------------------------------------

// The approximation is x * sigmoid(kLinear * x + kCubic * x**3).
constexpr double kLinear = 1.5957691216057308, kCubic = 0.07135481627260025;

struct ExactGelu : SimdFunctor<simd::Gelu> {
  double operator()(double x) const {
    // Where erfc is 0 the result is, too, also at negative infinity.
    const double y = 0.5 * std::erfc(x * -M_SQRT1_2);
    return y == 0.0 ? -0.0 : x * y;
  }
};
struct ApproximateGelu : SimdFunctor<simd::ApproximateGelu> {
  double operator()(double x) const {
    const double bounded = x < -30 ? -30 : x;
    return bounded * math::Sigmoid(bounded * (kLinear + kCubic * (bounded * bounded)));
  }
};
struct GeluFunctor {
  ExactGelu exact;
  ApproximateGelu approximation;
  bool approximate = false;
  void Initialize(const AttributeReader& attributes) {
    approximate = attributes.Bool("approximate");
  }
};

template <class Context>
class GeluOp : public ElementwiseOp<Context, GeluFunctor, 1> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType) const override {
    Tile tile;
    VisitDType(FloatTypes(), inputs[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      tile = this->functor().approximate ? MakeUnaryTile<T, T>(&this->functor().approximation)
                                         : MakeUnaryTile<T, T>(&this->functor().exact);
    });
    return tile;
  }
};

void GeluGradient(GradientContext& g) {
  Value* x = Bounded(g, 40);
  Value* square = g.Mul(x, x);
  if (g.attributes().Bool("approximate")) {
    Value* one = g.Scalar(1, x);
    Value* cubic = g.Mul(square, g.Scalar(kCubic, x));
    Value* s = g.Call("sigmoid", {g.Mul(x, g.Add(cubic, g.Scalar(kLinear, x)))});
    Value* change = g.Add(g.Mul(cubic, g.Scalar(3, x)), g.Scalar(kLinear, x));
    Value* rest = g.Mul(g.Mul(x, change), g.Sub(one, s));
    return SetDerivative(g, g.Mul(s, g.Add(one, rest)));
  }
  // For large negative x, 1 + erf would be only rounding errors.
  Value* below = g.Mul(g.Call("erfc", {g.Mul(x, g.Scalar(-M_SQRT1_2, x))}), g.Scalar(0.5, x));
  Value* density =
      g.Mul(g.Call("exp", {g.Mul(square, g.Scalar(-0.5, x))}), g.Scalar(0.3989422804014327, x));
  SetDerivative(g, g.Add(below, g.Mul(x, density)));
}

struct GeluMaker : ActivationMaker {
  void Make() override {
    Declare(
        "x * P(X <= x) for a standard normal variable X (Hendrycks and Gimpel, arXiv:1606.08415), "
        "elementwise.",
        GeluGradient);
    AddAttr<bool>("approximate",
                  "computes x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) instead")
        .Default(false);
    SetMaxUlp(3.98);
    AddExample("y = gelu([-1.0, 0.0, 1.0])  # = [-0.158655, 0.0, 0.841345]");
  }
};

// --- silu, softplus -----------------------------------------------------------------------------

struct SiluFunctor : SimdFunctor<simd::Silu> {
  // -0 at negative infinity.
  double operator()(double x) const { return (x < -800.0 ? -800.0 : x) * math::Sigmoid(x); }
};
template <class Context>
using SiluOp = UnaryOp<Context, SiluFunctor, FloatTypes>;

struct SiluMaker : ActivationMaker {
  void Make() override {
    Declare("x * sigmoid(x), also called swish, elementwise.", [](GradientContext& g) {
      Value* x = Bounded(g, 800);
      Value* s = g.Call("sigmoid", {x});
      Value* one = g.Scalar(1, x);
      SetDerivative(g, g.Mul(s, g.Add(one, g.Mul(x, g.Sub(one, s)))));
    });
    SetMaxUlp(1.87);
    AddExample("y = silu([-1.0, 2.0])  # = [-0.268941, 1.761594]");
  }
};

double Softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }

struct SoftplusFunctor : SimdFunctor<simd::Softplus> {
  double operator()(double x) const { return Softplus(x); }
};
template <class Context>
using SoftplusOp = UnaryOp<Context, SoftplusFunctor, FloatTypes>;

struct SoftplusMaker : ActivationMaker {
  void Make() override {
    Declare("log(1 + exp(x)), elementwise, without overflow for large x.",
            [](GradientContext& g) { SetDerivative(g, g.Call("sigmoid", {g.input(0)})); });
    properties().onnx_name = "Softplus";
    SetMaxUlp(1.5);
    AddExample("y = softplus([0.0, 100.0])  # = [0.693147, 100.0]");
  }
};

// --- log_sigmoid, mish, softsign -----------------------------------------------------------------

struct LogSigmoidFunctor : SimdFunctor<simd::LogSigmoid> {
  double operator()(double x) const { return -Softplus(-x); }
};
template <class Context>
using LogSigmoidOp = UnaryOp<Context, LogSigmoidFunctor, FloatTypes>;

struct LogSigmoidMaker : ActivationMaker {
  void Make() override {
    Declare("log(1 / (1 + exp(-x))), elementwise, without overflow.",
            [](GradientContext& g) { SetDerivative(g, g.Call("sigmoid", {g.Neg(g.input(0))})); });
    AddExample("y = log_sigmoid([0.0, -200.0])  # = [-0.6931472, -200.0]");
    SetMaxUlp(1.5);
  }
};

struct MishFunctor {
  template <class T>
  T operator()(T x) const {
    return math::Mish(x);
  }
};
template <class Context>
using MishOp = UnaryOp<Context, MishFunctor, FloatTypes>;

struct MishMaker : ActivationMaker {
  void Make() override {
    Declare("x * tanh(softplus(x)) (Misra, arXiv:1908.08681), elementwise.",
            [](GradientContext& g) {
              Value* x = Bounded(g, 800);
              Value* t = g.Call("tanh", {g.Call("softplus", {x})});
              Value* change =
                  g.Mul(g.Mul(x, g.Call("sigmoid", {x})), g.Sub(g.Scalar(1, x), g.Mul(t, t)));
              SetDerivative(g, g.Add(t, change));
            });
    properties().onnx_name = "Mish";
    AddExample("y = mish([0.0, 1.0])  # = [0.0, 0.8650984]");
    SetMaxUlp(0.51);
  }
};

struct SoftsignFunctor {
  template <class T>
  T operator()(T x) const {
    const T magnitude = math::Abs(x);
    const T y = x / (T(1) + magnitude);
    return magnitude == std::numeric_limits<T>::infinity() ? math::CopySign(T(1), x) : y;
  }
};
template <class Context>
using SoftsignOp = UnaryOp<Context, SoftsignFunctor, FloatTypes>;

struct SoftsignMaker : ActivationMaker {
  void Make() override {
    Declare("x / (1 + abs(x)), elementwise; 1 or -1 where x is infinite.", [](GradientContext& g) {
      // Divides twice, since the square might overflow.
      Value* divisor = g.Add(g.Scalar(1, g.input(0)), g.Call("abs", {g.input(0)}));
      g.SetInputGradient(0, g.Div(g.Div(g.output_gradient(), divisor), divisor));
    });
    properties().onnx_name = "Softsign";
    AddExample("y = softsign([-3.0, 1.0])  # = [-0.75, 0.5]");
    SetMaxUlp(1.5);
  }
};

// --- leaky_relu, elu, selu, celu ----------------------------------------------------------------

struct LeakyReluFunctor {
  double alpha = 0;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? static_cast<T>(alpha) * x : x;
  }
};
template <class Context>
using LeakyReluOp = UnaryOp<Context, LeakyReluFunctor, FloatTypes>;

struct LeakyReluMaker : ActivationMaker {
  void Make() override {
    Declare("x where x is positive, else alpha * x, elementwise. The gradient at 0 is alpha.",
            [](GradientContext& g) {
              Value* dy = g.output_gradient();
              const double alpha = g.attributes().Float("alpha");
              Value* factor = g.Scalar(alpha, dy);
              // 0 times an infinity would be nan.
              Value* less = alpha == 0 ? factor : g.Mul(dy, factor);
              g.SetInputGradient(0, g.Call("where", {Positive(g), dy, less}));
            });
    AddAttr<double>("alpha", "slope for negative x").Default(0.01);
    AddExample("y = leaky_relu([-1.0, 2.0], alpha=0.1)  # = [-0.1, 2.0]");
  }
};

struct EluFunctor {
  double alpha = 1;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  T operator()(T x) const {
    const T below = math::ScaledExpm1(x, alpha, 1);
    return x >= T(0) ? x : below;
  }
};
template <class Context>
using EluOp = UnaryOp<Context, EluFunctor, FloatTypes>;

struct EluMaker : ActivationMaker {
  void Make() override {
    Declare("x where x is positive, else alpha * (exp(x) - 1), elementwise.",
            [](GradientContext& g) {
              Value* dy = g.output_gradient();
              Value* alpha = g.Scalar(g.attributes().Float("alpha"), dy);
              Value* below = g.Mul(dy, g.Mul(ExpBelow(g), alpha));
              g.SetInputGradient(0, g.Call("where", {Positive(g), dy, below}));
            });
    AddAttr<double>("alpha", "the result approaches -alpha for large negative x").Default(1);
    SetMaxUlp(0.51);
    AddExample("y = elu([-1.0, 2.0])  # = [-0.632121, 2.0]");
  }
};

// The factors of Klambauer et al., which keep the activations at mean 0 and variance 1.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

struct SeluFunctor {
  template <class T>
  T operator()(T x) const {
    const T below = math::ScaledExpm1(x, kSeluScale * kSeluAlpha, 1);
    return x >= T(0) ? static_cast<T>(kSeluScale * static_cast<double>(x)) : below;
  }
};
template <class Context>
using SeluOp = UnaryOp<Context, SeluFunctor, FloatTypes>;

struct SeluMaker : ActivationMaker {
  void Make() override {
    Declare(
        "1.0507 * x where x is positive, else 1.7581 * (exp(x) - 1), elementwise (Klambauer et "
        "al., arXiv:1706.02515, who give the factors to more digits).",
        [](GradientContext& g) {
          Value* dy = g.output_gradient();
          Value* above = g.Mul(dy, g.Scalar(kSeluScale, dy));
          Value* below = g.Mul(dy, g.Mul(ExpBelow(g), g.Scalar(kSeluScale * kSeluAlpha, dy)));
          g.SetInputGradient(0, g.Call("where", {Positive(g), above, below}));
        });
    AddExample("y = selu([1.0, -1.0])  # = [1.050701, -1.1113307]");
    SetMaxUlp(0.51);
  }
};

struct CeluFunctor {
  double alpha = 1;
  void Initialize(const AttributeReader& attributes) { alpha = attributes.Float("alpha"); }
  template <class T>
  T operator()(T x) const {
    const T below = math::ScaledExpm1(x, alpha, alpha);
    return x >= T(0) ? x : below;
  }
};
template <class Context>
using CeluOp = UnaryOp<Context, CeluFunctor, FloatTypes>;

struct CeluMaker : ActivationMaker {
  void Make() override {
    Declare(
        "x where x is positive, else alpha * (exp(x / alpha) - 1), elementwise (Barron, "
        "arXiv:1704.07483).",
        [](GradientContext& g) {
          Value* dy = g.output_gradient();
          Value* below = g.Mul(dy, ExpBelow(g, g.attributes().Float("alpha")));
          g.SetInputGradient(0, g.Call("where", {Positive(g), dy, below}));
        });
    AddAttr<double>("alpha", "the result approaches -alpha for large negative x")
        .Default(1)
        .GreaterThan(0);
    AddExample("y = celu([1.0, -1.0], alpha=2.0)  # = [1.0, -0.7869387]");
    SetMaxUlp(0.51);
  }
};

// --- clip ---------------------------------------------------------------------------------------

struct ClipFunctor {
  static constexpr auto kActivation = RegisterActivation::Kind::kClamp;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  void Initialize(const AttributeReader& attributes) {
    if (attributes.Has("low")) low = attributes.Float("low");
    if (attributes.Has("high")) high = attributes.Float("high");
  }
  // The representable number of type T that is nearest to `value`.
  template <class T>
  static PDL_INLINE T Bound(double x) {
    if constexpr (std::is_integral_v<T>) {
      constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
      if (x <= static_cast<double>(kLeast)) return kLeast;
      return x >= static_cast<double>(kMost) ? kMost : static_cast<T>(x);
    } else {
      return static_cast<T>(x);
    }
  }
  template <class T>
  T operator()(T x) const {
    const T least = Bound<T>(std::is_integral_v<T> ? std::ceil(low) : low);
    const T most = Bound<T>(std::is_integral_v<T> ? std::floor(high) : high);
    x = x < least ? least : x;
    return x > most ? most : x;
  }
};
template <class Context>
using ClipOp = UnaryOp<Context, ClipFunctor, NumberTypes>;

llvm::Error InferClip(InferenceContext& context) {
  const AttributeReader& attributes = context.attributes();
  for (const char* name : {"low", "high"}) {
    if (attributes.Has(name) && std::isnan(attributes.Float(name))) {
      return context.FailAtAttribute(name, Code::kAttributeRange, "'{0}' must be a number, got nan",
                                     name);
    }
  }
  return InferSameAsFirst(context);
}

void ClipGradient(GradientContext& g) {
  Value* dx = g.output_gradient();
  if (!IsFloat(g.input(0)->type().dtype)) return;
  const auto mask = [&](const char* bound, const char* inside) {
    if (!g.attributes().Has(bound)) return;
    Value* limit = g.Scalar(g.attributes().Float(bound), g.input(0));
    dx = g.Call("where", {g.Call(inside, {g.input(0), limit}), dx, g.Scalar(0, dx)});
  };
  mask("low", "greater_equal");
  mask("high", "less_equal");
  g.SetInputGradient(0, dx);
}

AtZero ClipAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  const AttributeReader attributes = op.attributes();
  const bool is_above = !attributes.Has("low") || attributes.Float("low") <= 0;
  const bool is_below = !attributes.Has("high") || attributes.Float("high") >= 0;
  return AtZero::ZeroIf(operands[0].is_zero() && is_above && is_below);
}

struct ClipMaker : ActivationMaker {
  void Make() override {
    Declare(
        "Clips x to [low, high], elementwise; nan stays nan. If `low` is larger than `high` the "
        "result is `high`, as in NumPy. The gradient is passed on where x is within the bounds, "
        "else it is 0.",
        ClipGradient, kNumberSet);
    properties().zero_rule = ClipAtZero;
    AddAttr<double>("low", "lower bound; by default none").Optional();
    AddAttr<double>("high", "upper bound; by default none").Optional();
    SetInference(InferClip);
    AddExample("y = clip([-2.0, 0.5, 9.0], low=-1.0, high=1.0)  # = [-1.0, 0.5, 1.0]");
  }
};

}  // namespace

void RegisterActivationOps(OpRegistry& registry) {
  registry.BeginFamily("Activations");
  registry.RegisterOp<GeluOp, GeluMaker>("gelu");
  registry.RegisterOp<SiluOp, SiluMaker>("silu");
  registry.RegisterOp<SoftplusOp, SoftplusMaker>("softplus");
  registry.RegisterOp<LogSigmoidOp, LogSigmoidMaker>("log_sigmoid");
  registry.RegisterOp<MishOp, MishMaker>("mish");
  registry.RegisterOp<SoftsignOp, SoftsignMaker>("softsign");
  registry.RegisterOp<LeakyReluOp, LeakyReluMaker>("leaky_relu");
  registry.RegisterOp<EluOp, EluMaker>("elu");
  registry.RegisterOp<SeluOp, SeluMaker>("selu");
  registry.RegisterOp<CeluOp, CeluMaker>("celu");
  registry.RegisterOp<ClipOp, ClipMaker>("clip");
}

}  // namespace pdl
