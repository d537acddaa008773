// Elementwise operators of two inputs, which broadcast: add, sub, mul, div, floor_div, mod, fmod,
// pow, maximum, minimum.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/core/wide_math.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/zero_rule.h"

namespace pdl {
namespace {

// Integers wrap around: the arithmetic is done on unsigned integers, where overflow is defined.
template <class T>
PDL_INLINE uint64_t Wrap(T x) {
  return static_cast<uint64_t>(x);
}

Value* Where(GradientContext& g, Value* condition, Value* x, Value* y) {
  return g.Call("where", {condition, x, y});
}

struct BinaryMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, DTypeSet dtypes, GradientFunction gradient) {
    AddComment(std::string(comment) + " Broadcasts as in NumPy, along dims of constant size 1.");
    AddInput("x", "left operand").Accepts(dtypes);
    AddInput("y", "right operand; dtype as x").Accepts(dtypes);
    AddOutput("z", "dtype as x, the broadcast dims of x and y").DTypeOf("x");
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient(gradient);
  }
};

// --- add, sub, mul ------------------------------------------------------------------------------

struct Sum {
  static constexpr bool kIsSum = true;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrap(x) + Wrap(y));
    } else {
      return x + y;
    }
  }
};
template <class Context>
using AddOp = BinaryOp<Context, Sum, NumberTypes>;

struct AddMaker : BinaryMaker {
  void Make() override {
    Declare("x + y. Integers wrap around.", kNumberSet, [](GradientContext& g) {
      g.SetInputGradient(0, g.SumTo(g.output_gradient(), g.input(0)));
      g.SetInputGradient(1, g.SumTo(g.output_gradient(), g.input(1)));
    });
    properties().commutative = true;
    properties().widening = IntegerWidening::kModular;
    properties().zero_rule = SumAtZero;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(x[0] + x[1]);
    };
    properties().onnx_name = "Add";
    AddExample("z = add([1, 2], [[10], [20]])  # = [[11, 12], [21, 22]]");
  }
};

struct Difference {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrap(x) - Wrap(y));
    } else {
      return x - y;
    }
  }
};
template <class Context>
using SubOp = BinaryOp<Context, Difference, NumberTypes>;

AtZero DifferenceAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  if (operands[1].is_zero()) return UnlessBroadcast(op, operands[0]);
  return AtZero::ZeroIf(operands[0].kind == AtZero::Kind::kSame && operands[0] == operands[1]);
}

struct SubMaker : BinaryMaker {
  void Make() override {
    Declare("x - y. Integers wrap around.", kNumberSet, [](GradientContext& g) {
      g.SetInputGradient(0, g.SumTo(g.output_gradient(), g.input(0)));
      g.SetInputGradient(1, g.SumTo(g.Neg(g.output_gradient()), g.input(1)));
    });
    properties().widening = IntegerWidening::kModular;
    properties().zero_rule = DifferenceAtZero;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(x[0] - x[1]);
    };
    properties().onnx_name = "Sub";
    AddExample("z = sub([5, 7], 2)  # = [3, 5]");
  }
};

struct Product {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrap(x) * Wrap(y));
    } else {
      return x * y;
    }
  }
};
template <class Context>
using MulOp = BinaryOp<Context, Product, NumberTypes>;

struct MulMaker : BinaryMaker {
  void Make() override {
    Declare("x * y. Integers wrap around.", kNumberSet, [](GradientContext& g) {
      Value* dz = g.output_gradient();
      g.SetInputGradient(0, g.SumTo(g.Mul(dz, g.input(1)), g.input(0)));
      g.SetInputGradient(1, g.SumTo(g.Mul(dz, g.input(0)), g.input(1)));
    });
    properties().commutative = true;
    properties().widening = IntegerWidening::kModular;
    properties().zero_rule = ZeroIfAnyIs;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(x[0] * x[1]);
    };
    properties().onnx_name = "Mul";
    AddExample("z = mul([1, 2, 3], 10)  # = [10, 20, 30]");
  }
};

// --- div, floor_div, mod, fmod ------------------------------------------------------------------

struct Quotient {
  template <class T>
  T operator()(T x, T y) const {
    return x / y;
  }
};
template <class Context>
using DivOp = BinaryOp<Context, Quotient, FloatTypes>;

// The gradients are dz / y and -dz * z / y. The numerator dz * z is divided by y, since 1 / y may
// be infinite where z / y is not. The numerator may leave the range of f16.
void DivGradient(GradientContext& g) {
  Value* dz = g.output_gradient();
  Value* y = g.input(1);
  g.SetInputGradient(0, g.SumTo(g.Div(dz, y), g.input(0)));
  Value* product = g.Mul(Widen(g, dz), Widen(g, g.output()));
  Value* dy = g.SumTo(g.Neg(g.Div(product, Widen(g, y))), y);
  g.SetInputGradient(1, CastTo(g, dy, y->type().dtype));
}

struct DivMaker : BinaryMaker {
  void Make() override {
    Declare("x / y, for real numbers; use floor_div for integers.", kFloatSet, DivGradient);
    properties().zero_rule = ZeroIfFirstIs;
    properties().onnx_name = "Div";
    AddExample("z = div([1.0, 6.0], [2.0, 4.0])  # = [0.5, 1.5]");
  }
};

// The quotient rounded down, and the remainder with the sign of y, as in Python and NumPy.
template <class T>
struct Division {
  T quotient;
  T remainder;
};

template <class T>
Division<T> DivideFloat(T x, T y) {
  T remainder = std::fmod(x, y);
  if (y == T(0)) return {x / y, remainder};
  T quotient = (x - remainder) / y;
  if (remainder == T(0)) {
    remainder = math::CopySign(T(0), y);
  } else if ((y < T(0)) != (remainder < T(0))) {
    remainder += y;
    quotient -= T(1);
  }
  if (quotient == T(0)) return {math::CopySign(T(0), x / y), remainder};
  // The rounded quotient may differ from the exact integer in either direction.
  T floored = std::floor(quotient);
  if (quotient - floored > T(0.5)) floored += T(1);
  return {floored, remainder};
}

template <class T>
PDL_INLINE Division<T> DivideInteger(T x, T y) {
  if (y == T(0)) return {T(0), T(0)};
  if constexpr (std::is_signed_v<T>) {
    // The smallest integer divided by -1 wraps around to itself.
    if (y == T(-1)) return {static_cast<T>(Wrap(T(0)) - Wrap(x)), T(0)};
    const T quotient = static_cast<T>(x / y);
    const T remainder = static_cast<T>(x % y);
    const bool down = remainder != T(0) && (remainder < T(0)) != (y < T(0));
    return {static_cast<T>(quotient - (down ? 1 : 0)), static_cast<T>(remainder + (down ? y : 0))};
  } else {
    return {static_cast<T>(x / y), static_cast<T>(x % y)};
  }
}

struct FloorQuotient {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return DivideInteger(x, y).quotient;
    } else {
      return DivideFloat(x, y).quotient;
    }
  }
};
template <class Context>
using FloorDivOp = BinaryOp<Context, FloorQuotient, NumberTypes>;

struct FloorDivMaker : BinaryMaker {
  void Make() override {
    Declare("x // y: the quotient rounded down; integer division by 0 returns 0.", kNumberSet,
            nullptr);
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(Dim::FloorDiv(x[0], x[1]));
    };
    AddExample("z = floor_div([7, -7], [2, 2])  # = [3, -4]");
  }
};

struct Remainder {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return DivideInteger(x, y).remainder;
    } else {
      return DivideFloat(x, y).remainder;
    }
  }
};
template <class Context>
using ModOp = BinaryOp<Context, Remainder, NumberTypes>;

struct ModMaker : BinaryMaker {
  void Make() override {
    Declare(
        "x % y = x - y * (x // y), with the sign of y, as in Python and NumPy; an integer modulo 0 "
        "is 0. `fmod` has the sign of x.",
        kNumberSet, [](GradientContext& g) {
          Value* dz = g.output_gradient();
          g.SetInputGradient(0, g.SumTo(dz, g.input(0)));
          // Piecewise constant.
          Value* quotient =
              g.Call("stop_gradient", {g.Call("floor_div", {g.input(0), g.input(1)})});
          g.SetInputGradient(1, g.SumTo(g.Neg(g.Mul(dz, quotient)), g.input(1)));
        });
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(Dim::Mod(x[0], x[1]));
    };
    AddExample("z = mod([7, -7], 3)  # = [1, 2]");
  }
};

struct TruncatedRemainder {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (!std::is_integral_v<T>) {
      return std::fmod(x, y);
    } else if constexpr (std::is_signed_v<T>) {
      return y == T(0) || y == T(-1) ? T(0) : static_cast<T>(x % y);
    } else {
      return y == T(0) ? T(0) : static_cast<T>(x % y);
    }
  }
};
template <class Context>
using FmodOp = BinaryOp<Context, TruncatedRemainder, NumberTypes>;

struct FmodMaker : BinaryMaker {
  void Make() override {
    Declare(
        "x - y * trunc(x / y), with the sign of x, like C's fmod and C's operator %; an integer "
        "modulo 0 is 0. `mod` has the sign of y.",
        kNumberSet, [](GradientContext& g) {
          Value* dz = g.output_gradient();
          g.SetInputGradient(0, g.SumTo(dz, g.input(0)));
          // Subtracts the remainder first, so that the quotient is an integer up to rounding.
          Value* multiple = g.Sub(g.input(0), g.output());
          Value* quotient = g.Call("round", {g.Div(multiple, g.input(1))});
          g.SetInputGradient(1, g.SumTo(g.Neg(g.Mul(dz, quotient)), g.input(1)));
        });
    AddExample("y = fmod([7.0, -7.0], [3.0, 3.0])  # = [1.0, -1.0]");
  }
};

// --- pow ----------------------------------------------------------------------------------------

template <class T>
PDL_INLINE T IntegerPower(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    // 1 / base^-exponent, rounded to 0; only 1 and -1 have an integer inverse.
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return (exponent & 1) != 0 ? T(-1) : T(1);
      return T(0);
    }
  }
  uint64_t factor = Wrap(base);
  uint64_t power = 1;
  for (uint64_t rest = Wrap(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power *= factor;
    factor *= factor;
  }
  return static_cast<T>(power);
}

struct Power {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return IntegerPower(x, y);
    } else {
      return y == T(2) ? x * x : math::Pow(x, y);
    }
  }
  /// The formula for the right operand 2.
  struct WithRight {
    static constexpr float kRight = 2;
    template <class T>
    T operator()(T x) const {
      return x * x;
    }
  };
};
template <class Context>
using PowOp = BinaryOp<Context, Power, NumberTypes>;

// The derivatives are y * x^(y - 1) and x^y * log(x). Multiplying 0^-1 or log(0) by 0 would give
// nan. Where x is 0, the logarithm is that of 1: the branch that is not selected must not be nan in
// the next derivative.
void PowGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* y = g.input(1);
  Value* dz = g.output_gradient();
  const Op* constant = y->producer();
  if (constant != nullptr && constant->type() == "constant" && y->type().rank() == 0 &&
      constant->attributes().Tensor("value").ElementAsDouble(0) == 2) {
    g.SetInputGradient(0, g.SumTo(g.Mul(dz, g.Mul(y, x)), x));
    return;
  }
  Value* zero = g.Scalar(0, x);
  Value* one = g.Scalar(1, x);
  Value* exponent = Where(g, g.Call("equal", {y, zero}), zero, g.Sub(y, one));
  Value* dx = g.Mul(dz, g.Mul(y, g.Call("pow", {x, exponent})));
  g.SetInputGradient(0, g.SumTo(dx, x));
  Value* is_zero = g.Call("equal", {x, zero});
  Value* dy = g.Mul(dz, g.Mul(g.output(), g.Call("log", {Where(g, is_zero, one, x)})));
  g.SetInputGradient(1, g.SumTo(Where(g, is_zero, zero, dy), y));
}

bool IsPositiveConstant(const Value* value) {
  const Op* op = value->producer();
  if (!op || op->type() != "constant" || value->type().rank() != 0) return false;
  return op->attributes().Tensor("value").ElementAsDouble(0) > 0;
}

AtZero PowAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  return AtZero::ZeroIf(operands[0].is_zero() && IsPositiveConstant(op.operands()[1]));
}

struct PowMaker : BinaryMaker {
  void Make() override {
    Declare(
        "x to the power of y. Integers wrap around, and a negative power of an integer other than "
        "1 and -1 is 0. The gradient of y is 0 at x = 0, for any y, and nan for negative x.",
        kNumberSet, PowGradient);
    properties().zero_rule = PowAtZero;
    AddExample("z = pow([1.0, 2.0, 3.0], 2.0)  # = [1.0, 4.0, 9.0]");
  }
};

// --- maximum, minimum ---------------------------------------------------------------------------

struct Maximum {
  template <class T>
  T operator()(T x, T y) const {
    return (x > y) | (x != x) ? x : y;
  }
};
template <class Context>
using MaximumOp = BinaryOp<Context, Maximum, NumberTypes>;

struct Minimum {
  template <class T>
  T operator()(T x, T y) const {
    return (x < y) | (x != x) ? x : y;
  }
};
template <class Context>
using MinimumOp = BinaryOp<Context, Minimum, NumberTypes>;

// The gradient goes to the operand that is selected; equal operands get half of it each.
void ChoiceGradient(GradientContext& g, llvm::StringRef wins) {
  Value* dz = g.output_gradient();
  Value* half = g.Mul(dz, g.Scalar(0.5, dz));
  Value* tie = Where(g, g.Call("equal", {g.input(0), g.input(1)}), half, g.Scalar(0, dz));
  for (const unsigned i : {0u, 1u}) {
    Value* chosen = g.Call(wins, {g.input(i), g.input(1 - i)});
    g.SetInputGradient(i, g.SumTo(Where(g, chosen, dz, tie), g.input(i)));
  }
}

struct MaximumMaker : BinaryMaker {
  void Make() override {
    Declare("The larger of x and y; nan if either is nan.", kNumberSet,
            [](GradientContext& g) { ChoiceGradient(g, "greater"); });
    properties().widening = IntegerWidening::kOrder;
    properties().zero_rule = ZeroIfAllAre;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(Dim::Max(x[0], x[1]));
    };
    properties().onnx_name = "Max";
    AddExample("z = maximum([1.0, 5.0], [3.0, 2.0])  # = [3.0, 5.0]");
  }
};

struct MinimumMaker : BinaryMaker {
  void Make() override {
    Declare("The smaller of x and y; nan if either is nan.", kNumberSet,
            [](GradientContext& g) { ChoiceGradient(g, "less"); });
    properties().widening = IntegerWidening::kOrder;
    properties().zero_rule = ZeroIfAllAre;
    properties().size_arithmetic = [](const Op&, llvm::ArrayRef<Dim> x) {
      return std::optional(Dim::Min(x[0], x[1]));
    };
    properties().onnx_name = "Min";
    AddExample("z = minimum([1.0, 5.0], [3.0, 2.0])  # = [1.0, 2.0]");
  }
};

}  // namespace

void RegisterBinaryOps(OpRegistry& registry) {
  registry.BeginFamily("Elementwise, two inputs");
  registry.RegisterOp<AddOp, AddMaker>("add");
  registry.RegisterOp<SubOp, SubMaker>("sub");
  registry.RegisterOp<MulOp, MulMaker>("mul");
  registry.RegisterOp<DivOp, DivMaker>("div");
  registry.RegisterOp<FloorDivOp, FloorDivMaker>("floor_div");
  registry.RegisterOp<ModOp, ModMaker>("mod");
  registry.RegisterOp<FmodOp, FmodMaker>("fmod");
  registry.RegisterOp<PowOp, PowMaker>("pow");
  registry.RegisterOp<MaximumOp, MaximumMaker>("maximum");
  registry.RegisterOp<MinimumOp, MinimumMaker>("minimum");
}

}  // namespace pdl
