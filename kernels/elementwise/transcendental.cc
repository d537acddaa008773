// Transcendental functions beyond those of unary.cc, elementwise: tan, the inverse trigonometric
// functions, the hyperbolic ones and their inverses, exp2, expm1, log2, log10, log1p, cbrt, erfc;
// with two inputs: atan2, hypot, logaddexp.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/core/wide_math.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// The functor that calls `kFormula`.
template <auto kFormula>
struct Formula {
  template <class... T>
  PDL_INLINE auto operator()(T... x) const {
    return kFormula(x...);
  }
};
template <class Context, auto kFormula>
using UnaryFormulaOp = UnaryOp<Context, Formula<kFormula>, FloatTypes>;
template <class Context, auto kFormula>
using BinaryFormulaOp = BinaryOp<Context, Formula<kFormula>, FloatTypes>;

struct FunctionMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, const char* input, const char* result,
               GradientFunction gradient) {
    AddComment(comment);
    AddInput("x", input).Accepts(kFloatSet);
    AddOutput("y", result);
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
    SetGradient(gradient);
  }
};

// Set the gradient of x to dy times the derivative, which may be given by its reciprocal.
void SetDerivative(GradientContext& g, Value* derivative) {
  g.SetInputGradient(0, g.Mul(g.output_gradient(), derivative));
}
void SetReciprocalDerivative(GradientContext& g, Value* reciprocal) {
  g.SetInputGradient(0, g.Div(g.output_gradient(), reciprocal));
}
Value* One(GradientContext& g) { return g.Scalar(1, g.input(0)); }
// 1 - x^2, without cancellation near 1.
Value* OneMinusSquare(GradientContext& g) {
  return g.Mul(g.Sub(One(g), g.input(0)), g.Add(One(g), g.input(0)));
}

// --- Angles -------------------------------------------------------------------------------------

struct Tangent {
  template <class T>
  T operator()(T x) const {
    return math::TanReducible(x);
  }
  bool IsCommon(float x) const { return math::IsReducible(x); }
  float Rare(float x) const { return math::Tan(x); }
};
template <class Context>
using TanOp = UnaryOp<Context, Tangent, FloatTypes>;
struct TanMaker : FunctionMaker {
  void Make() override {
    Declare("Tangent, elementwise.", "angles in radians", "type as x", [](GradientContext& g) {
      SetDerivative(g, g.Add(One(g), g.Mul(g.output(), g.output())));
    });
    properties().onnx_name = "Tan";
    AddExample("y = tan([0.0, 1.0])  # = [0.0, 1.5574077]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAsin = [](auto x) { return math::Asin(x); };
template <class Context>
using AsinOp = UnaryFormulaOp<Context, kAsin>;
struct AsinMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse sine, elementwise: nan outside [-1, 1].", "numbers in [-1, 1]",
            "angles in [-pi / 2, pi / 2]; type as x",
            [](GradientContext& g) { SetDerivative(g, g.Call("rsqrt", {OneMinusSquare(g)})); });
    properties().onnx_name = "Asin";
    AddExample("y = asin([0.0, 0.5, -1.0])  # = [0.0, 0.5235988, -1.5707964]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAcos = [](auto x) { return math::Acos(x); };
template <class Context>
using AcosOp = UnaryFormulaOp<Context, kAcos>;
struct AcosMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse cosine, elementwise: nan outside [-1, 1].", "numbers in [-1, 1]",
            "angles in [0, pi]; type as x", [](GradientContext& g) {
              SetDerivative(g, g.Neg(g.Call("rsqrt", {OneMinusSquare(g)})));
            });
    properties().onnx_name = "Acos";
    AddExample("y = acos([0.0, 0.5, -1.0])  # = [1.5707964, 1.0471976, 3.1415927]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAtan = [](auto x) { return math::Atan(x); };
template <class Context>
using AtanOp = UnaryFormulaOp<Context, kAtan>;
void AtanGradient(GradientContext& g) {
  SetReciprocalDerivative(g, g.Add(One(g), g.Mul(g.input(0), g.input(0))));
}
struct AtanMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse tangent, elementwise.", "any numbers",
            "angles in [-pi / 2, pi / 2]; type as x", InWideDType<AtanGradient>);
    properties().onnx_name = "Atan";
    AddExample("y = atan([0.0, 1.0, -10.0])  # = [0.0, 0.7853982, -1.4711276]");
    SetMaxUlp(0.51);
  }
};

// --- Hyperbolic functions -----------------------------------------------------------------------

constexpr auto kSinh = [](auto x) { return math::Sinh(x); };
template <class Context>
using SinhOp = UnaryFormulaOp<Context, kSinh>;
struct SinhMaker : FunctionMaker {
  void Make() override {
    Declare("Hyperbolic sine, (exp(x) - exp(-x)) / 2, elementwise.", "any numbers", "type as x",
            [](GradientContext& g) { SetDerivative(g, g.Call("cosh", {g.input(0)})); });
    properties().onnx_name = "Sinh";
    AddExample("y = sinh([0.0, 1.0])  # = [0.0, 1.1752012]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kCosh = [](auto x) { return math::Cosh(x); };
template <class Context>
using CoshOp = UnaryFormulaOp<Context, kCosh>;
struct CoshMaker : FunctionMaker {
  void Make() override {
    Declare("Hyperbolic cosine, (exp(x) + exp(-x)) / 2, elementwise.", "any numbers",
            "at least 1; type as x",
            [](GradientContext& g) { SetDerivative(g, g.Call("sinh", {g.input(0)})); });
    properties().onnx_name = "Cosh";
    AddExample("y = cosh([0.0, 1.0])  # = [1.0, 1.5430807]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAsinh = [](auto x) { return math::Asinh(x); };
template <class Context>
using AsinhOp = UnaryFormulaOp<Context, kAsinh>;
struct AsinhMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse hyperbolic sine, elementwise.", "any numbers", "type as x",
            [](GradientContext& g) {
              SetReciprocalDerivative(g, g.Call("hypot", {g.input(0), One(g)}));
            });
    properties().onnx_name = "Asinh";
    AddExample("y = asinh([0.0, 1.0])  # = [0.0, 0.8813736]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAcosh = [](auto x) { return math::Acosh(x); };
template <class Context>
using AcoshOp = UnaryFormulaOp<Context, kAcosh>;
struct AcoshMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse hyperbolic cosine, elementwise: nan for x below 1.", "numbers of at least 1",
            "at least 0; type as x", [](GradientContext& g) {
              Value* below = g.Call("sqrt", {g.Sub(g.input(0), One(g))});
              Value* above = g.Call("sqrt", {g.Add(g.input(0), One(g))});
              SetReciprocalDerivative(g, g.Mul(below, above));
            });
    properties().onnx_name = "Acosh";
    AddExample("y = acosh([1.0, 2.0])  # = [0.0, 1.316958]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kAtanh = [](auto x) { return math::Atanh(x); };
template <class Context>
using AtanhOp = UnaryFormulaOp<Context, kAtanh>;
struct AtanhMaker : FunctionMaker {
  void Make() override {
    Declare("Inverse hyperbolic tangent, elementwise: infinite at 1 and -1, nan outside [-1, 1].",
            "numbers in [-1, 1]", "type as x",
            [](GradientContext& g) { SetReciprocalDerivative(g, OneMinusSquare(g)); });
    properties().onnx_name = "Atanh";
    AddExample("y = atanh([0.0, 0.5])  # = [0.0, 0.54930615]");
    SetMaxUlp(0.51);
  }
};

// --- Exponentials, logarithms, roots ------------------------------------------------------------

constexpr auto kExp2 = [](auto x) { return math::Exp2(x); };
template <class Context>
using Exp2Op = UnaryFormulaOp<Context, kExp2>;
struct Exp2Maker : FunctionMaker {
  void Make() override {
    Declare("2 to the power of x, elementwise.", "exponents", "type as x", [](GradientContext& g) {
      SetDerivative(g, g.Mul(g.output(), g.Scalar(M_LN2, g.input(0))));
    });
    AddExample("y = exp2([0.0, 3.0, -1.0])  # = [1.0, 8.0, 0.5]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kExpm1 = [](auto x) { return math::Expm1(x); };
template <class Context>
using Expm1Op = UnaryFormulaOp<Context, kExpm1>;
struct Expm1Maker : FunctionMaker {
  void Make() override {
    Declare("exp(x) - 1, elementwise; accurate also for small x.", "exponents",
            "at least -1; type as x",
            [](GradientContext& g) { SetDerivative(g, g.Call("exp", {g.input(0)})); });
    AddExample("y = expm1([0.0, 1.0])  # = [0.0, 1.7182819]");
    SetMaxUlp(1.72);
  }
};

constexpr auto kLog2 = [](auto x) { return math::Log2(x); };
template <class Context>
using Log2Op = UnaryFormulaOp<Context, kLog2>;
struct Log2Maker : FunctionMaker {
  void Make() override {
    Declare("Logarithm to base 2, elementwise: -inf at 0, nan for negative x.",
            "numbers of at least 0", "type as x", [](GradientContext& g) {
              SetReciprocalDerivative(g, g.Mul(g.input(0), g.Scalar(M_LN2, g.input(0))));
            });
    AddExample("y = log2([1.0, 8.0])  # = [0.0, 3.0]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kLog10 = [](auto x) { return math::Log10(x); };
template <class Context>
using Log10Op = UnaryFormulaOp<Context, kLog10>;
struct Log10Maker : FunctionMaker {
  void Make() override {
    Declare("Logarithm to base 10, elementwise: -inf at 0, nan for negative x.",
            "numbers of at least 0", "type as x", [](GradientContext& g) {
              SetReciprocalDerivative(g, g.Mul(g.input(0), g.Scalar(M_LN10, g.input(0))));
            });
    AddExample("y = log10([1.0, 1000.0])  # = [0.0, 3.0]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kLog1p = [](auto x) { return math::Log1pWide(x); };
template <class Context>
using Log1pOp = UnaryFormulaOp<Context, kLog1p>;
struct Log1pMaker : FunctionMaker {
  void Make() override {
    Declare("log(1 + x), elementwise; accurate also for small x: -inf at -1, nan below.",
            "numbers of at least -1", "type as x",
            [](GradientContext& g) { SetReciprocalDerivative(g, g.Add(One(g), g.input(0))); });
    AddExample("y = log1p([0.0, 1.0])  # = [0.0, 0.6931472]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kCbrt = [](auto x) { return math::Cbrt(x); };
template <class Context>
using CbrtOp = UnaryFormulaOp<Context, kCbrt>;
struct CbrtMaker : FunctionMaker {
  void Make() override {
    Declare("Cube root, elementwise; negative for negative x.", "any numbers", "type as x",
            [](GradientContext& g) {
              Value* y = g.output();
              SetReciprocalDerivative(g, g.Mul(g.Mul(y, y), g.Scalar(3, y)));
            });
    AddExample("y = cbrt([8.0, -27.0])  # = [2.0, -3.0]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kErfc = [](auto x) { return math::Erfc(x); };
template <class Context>
using ErfcOp = UnaryFormulaOp<Context, kErfc>;
struct ErfcMaker : FunctionMaker {
  void Make() override {
    Declare("1 - erf(x), elementwise; accurate also where the result is small.", "any numbers",
            "in [0, 2]; type as x", [](GradientContext& g) {
              Value* x = g.input(0);
              SetDerivative(g,
                            g.Mul(g.Call("exp", {g.Neg(g.Mul(x, x))}), g.Scalar(-M_2_SQRTPI, x)));
            });
    AddExample("y = erfc([0.0, 1.0])  # = [1.0, 0.1572992]");
    SetMaxUlp(0.99);
  }
};

// --- atan2, hypot, logaddexp --------------------------------------------------------------------

constexpr const char kBroadcasts[] = " Broadcasts as in NumPy, along dims of constant size 1.";

constexpr auto kAtan2 = [](auto y, auto x) { return math::Atan2(y, x); };
template <class Context>
using Atan2Op = BinaryFormulaOp<Context, kAtan2>;

// `length`, with 0 replaced by 1.
Value* NotZero(GradientContext& g, Value* length) {
  Value* is_zero = g.Call("equal", {length, g.Scalar(0, length)});
  return g.Call("where", {is_zero, g.Scalar(1, length), length});
}

// The derivatives x / (x^2 + y^2) and -y / (x^2 + y^2), without overflow.
void Atan2Gradient(GradientContext& g) {
  Value* y = g.input(0);
  Value* x = g.input(1);
  Value* length = NotZero(g, g.Call("hypot", {y, x}));
  const auto part = [&](Value* side) {
    return g.Div(g.Mul(g.output_gradient(), g.Div(side, length)), length);
  };
  g.SetInputGradient(0, g.SumTo(part(x), y));
  g.SetInputGradient(1, g.SumTo(g.Neg(part(y)), x));
}

struct Atan2Maker : OpProtoMaker {
  void Make() override {
    AddComment(std::string("Angle of the point (x, y) in radians, elementwise. The gradient where "
                           "both are 0 is 0.") +
               kBroadcasts);
    AddInput("y", "y coordinates").Accepts(kFloatSet);
    AddInput("x", "x coordinates; dtype as y").Accepts(kFloatSet);
    AddOutput("angle", "in [-pi, pi]; dtype as y, the broadcast dims of y and x").DTypeOf("y");
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient(Atan2Gradient);
    AddExample("y = atan2([1.0, 0.0], [1.0, -2.0])  # = [0.7853982, 3.1415927]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kHypot = [](auto x, auto y) { return math::Hypot(x, y); };
template <class Context>
using HypotOp = BinaryFormulaOp<Context, kHypot>;

// The derivatives x / z and y / z, 0 where both are 0. They are at most 1, while 1 / z may be
// infinite.
void HypotGradient(GradientContext& g) {
  Value* length = NotZero(g, g.output());
  for (const unsigned i : {0u, 1u}) {
    Value* part = g.Mul(g.output_gradient(), g.Div(g.input(i), length));
    g.SetInputGradient(i, g.SumTo(part, g.input(i)));
  }
}

struct HypotMaker : OpProtoMaker {
  void Make() override {
    AddComment(std::string("sqrt(x**2 + y**2), elementwise, without overflow; infinite if x or y "
                           "is. The gradient where both are 0 is 0.") +
               kBroadcasts);
    AddInput("x", "left operand").Accepts(kFloatSet);
    AddInput("y", "right operand; dtype as x").Accepts(kFloatSet);
    AddOutput("z", "at least 0; dtype as x, the broadcast dims of x and y").DTypeOf("x");
    properties().elementwise = true;
    properties().commutative = true;
    SetInference(InferElementwise);
    SetGradient(HypotGradient);
    AddExample("y = hypot([3.0, 0.0], [4.0, -2.0])  # = [5.0, 2.0]");
    SetMaxUlp(0.51);
  }
};

constexpr auto kLogaddexp = [](auto x, auto y) { return math::LogAddExp(x, y); };
template <class Context>
using LogaddexpOp = BinaryFormulaOp<Context, kLogaddexp>;

// The derivative by x is 1 / (1 + exp(y - x)), which is 1 where x is infinite. Equal infinities get
// half of the gradient each.
void LogaddexpGradient(GradientContext& g) {
  Value* is_equal = g.Call("equal", {g.input(0), g.input(1)});
  Value* half = g.Scalar(0.5, g.input(0));
  for (const unsigned i : {0u, 1u}) {
    Value* share = g.Call("sigmoid", {g.Sub(g.input(i), g.input(1 - i))});
    share = g.Call("where", {is_equal, half, share});
    g.SetInputGradient(i, g.SumTo(g.Mul(g.output_gradient(), share), g.input(i)));
  }
}

struct LogaddexpMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        std::string("log(exp(x) + exp(y)), elementwise, without overflow: adds probabilities that "
                    "are given as logarithms. In f32 the error near 0 is at most 1e-9.") +
        kBroadcasts);
    AddInput("x", "left operand").Accepts(kFloatSet);
    AddInput("y", "right operand; dtype as x").Accepts(kFloatSet);
    AddOutput("z", "at least the larger operand; dtype as x, the broadcast dims of x and y")
        .DTypeOf("x");
    properties().elementwise = true;
    properties().commutative = true;
    SetInference(InferElementwise);
    SetGradient(LogaddexpGradient);
    AddExample("y = logaddexp([0.0, 1000.0], [0.0, 999.0])  # = [0.6931472, 1000.3133]");
    SetMaxUlp(0.51);
  }
};

}  // namespace

void RegisterTranscendentalOps(OpRegistry& registry) {
  registry.BeginFamily("Elementwise, one input");
  registry.RegisterOp<TanOp, TanMaker>("tan");
  registry.RegisterOp<AsinOp, AsinMaker>("asin");
  registry.RegisterOp<AcosOp, AcosMaker>("acos");
  registry.RegisterOp<AtanOp, AtanMaker>("atan");
  registry.RegisterOp<SinhOp, SinhMaker>("sinh");
  registry.RegisterOp<CoshOp, CoshMaker>("cosh");
  registry.RegisterOp<AsinhOp, AsinhMaker>("asinh");
  registry.RegisterOp<AcoshOp, AcoshMaker>("acosh");
  registry.RegisterOp<AtanhOp, AtanhMaker>("atanh");
  registry.RegisterOp<Exp2Op, Exp2Maker>("exp2");
  registry.RegisterOp<Expm1Op, Expm1Maker>("expm1");
  registry.RegisterOp<Log2Op, Log2Maker>("log2");
  registry.RegisterOp<Log10Op, Log10Maker>("log10");
  registry.RegisterOp<Log1pOp, Log1pMaker>("log1p");
  registry.RegisterOp<CbrtOp, CbrtMaker>("cbrt");
  registry.RegisterOp<ErfcOp, ErfcMaker>("erfc");
  registry.BeginFamily("Elementwise, two inputs");
  registry.RegisterOp<Atan2Op, Atan2Maker>("atan2");
  registry.RegisterOp<HypotOp, HypotMaker>("hypot");
  registry.RegisterOp<LogaddexpOp, LogaddexpMaker>("logaddexp");
}

}  // namespace pdl
