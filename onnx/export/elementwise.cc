// Export of elementwise arithmetic, comparison and logic.
#include <cmath>
#include <limits>

#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

std::vector<std::string> Operands(ExportCall& c, DType dtype) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < c.num_inputs(); ++i) names.push_back(c.In(i, dtype));
  return names;
}

/// An operator with the name of its ONNX counterpart; a comparison returns bool.
Exported SameName(ExportCall& c) {
  if (!c.op().def().signature.attributes.empty())
    return c.Reject("its attributes have no counterpart in ONNX's " + c.OnnxName());
  const DType own = c.type(0).dtype;
  const DType dtype = own == DType::kBool ? own : ComputeDType(own);
  const std::string y = c.Node(c.OnnxName(), Operands(c, dtype));
  return c.dtype() == own ? c.Out(y, dtype) : y;
}

Exported Relu(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  // ONNX Runtime supports only floats.
  if (IsFloat(dtype)) return c.Out(c.Node(c.OnnxName(), {x}), dtype);
  return c.Out(c.Node("Max", {x, c.Scalar(0, dtype)}), dtype);
}

Exported NotEqual(ExportCall& c) {
  const DType own = c.type(0).dtype;
  const DType dtype = own == DType::kBool ? own : ComputeDType(own);
  return c.Node("Not", {c.Node("Equal", Operands(c, dtype))});
}

Exported IsFinite(ExportCall& c) {
  const std::string x = c.In(0, ComputeDType(c.type(0).dtype));
  return c.Node("Not", {c.Node("Or", {c.Node("IsInf", {x}), c.Node("IsNaN", {x})})});
}

Exported SinCos(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  std::string y = c.Node(c.OnnxName(), {c.In(0, dtype)});
  const double scale = c.attributes().Float("scale");
  if (scale != 1) y = c.Node("Mul", {y, c.Scalar(scale, dtype)});
  return c.Out(y, dtype);
}

Exported AddN(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  std::string sum = c.In(0, dtype);
  for (unsigned i = 1; i < c.num_inputs(); ++i) sum = c.Node("Add", {sum, c.In(i, dtype)});
  return c.Out(sum, dtype);
}

/// A function of x, times a number.
Exported Scaled(ExportCall& c, llvm::StringRef function, double factor) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Mul", {c.Node(function, {c.In(0, dtype)}), c.Scalar(factor, dtype)}), dtype);
}
Exported Log2(ExportCall& c) { return Scaled(c, "Log", 1 / std::log(2.0)); }
Exported Log10(ExportCall& c) { return Scaled(c, "Log", 1 / std::log(10.0)); }

Exported Exp2(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Pow", {c.Scalar(2, dtype), c.In(0, dtype)}), dtype);
}

Exported Rsqrt(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Reciprocal", {c.Node("Sqrt", {c.In(0, dtype)})}), dtype);
}

Exported Square(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  return c.Out(c.Node("Mul", {x, x}), dtype);
}

Exported Erfc(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  return c.Out(c.Node("Sub", {c.Scalar(1, dtype), c.Node("Erf", {c.In(0, dtype)})}), dtype);
}

Exported Trunc(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  return c.Out(c.Node("Mul", {c.Node("Sign", {x}), c.Node("Floor", {c.Node("Abs", {x})})}), dtype);
}

Exported Cbrt(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  const std::string root = c.Node("Pow", {c.Node("Abs", {x}), c.Scalar(1.0 / 3, dtype)});
  return c.Out(c.Node("Mul", {c.Node("Sign", {x}), root}), dtype);
}

/// Near 0 as 2 tanh(x / 2) / (1 - tanh(x / 2)), which keeps its precision there.
Exported Expm1(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype), one = c.Scalar(1, dtype), two = c.Scalar(2, dtype);
  const std::string t = c.Node("Tanh", {c.Node("Div", {x, two})});
  const std::string small = c.Node("Div", {c.Node("Mul", {two, t}), c.Node("Sub", {one, t})});
  const std::string large = c.Node("Sub", {c.Node("Exp", {x}), one});
  const std::string is_small = c.Node("Less", {c.Node("Abs", {x}), one});
  return c.Out(c.Node("Where", {is_small, small, large}), dtype);
}

/// log(1 + x) as 2 atanh(x / (2 + x)), which keeps its precision for small x.
std::string SmallLog1p(ExportCall& c, const std::string& x, DType dtype) {
  const std::string two = c.Scalar(2, dtype);
  return c.Node("Mul", {two, c.Node("Atanh", {c.Node("Div", {x, c.Node("Add", {two, x})})})});
}

Exported Log1p(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype);
  const std::string small = SmallLog1p(c, x, dtype);
  const std::string large = c.Node("Log", {c.Node("Add", {x, c.Scalar(1, dtype)})});
  const std::string is_small = c.Node("Less", {c.Node("Abs", {x}), c.Scalar(0.5, dtype)});
  return c.Out(c.Node("Where", {is_small, small, large}), dtype);
}

/// The larger operand plus log(1 + exp(-|x - y|)); the difference of equal infinities counts as 0.
Exported Logaddexp(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype), y = c.In(1, dtype);
  const std::string apart = c.Node("Abs", {c.Node("Sub", {x, y})});
  const std::string below =
      c.Node("Where", {c.Node("Equal", {x, y}), c.Scalar(0, dtype), c.Node("Neg", {apart})});
  const std::string more = SmallLog1p(c, c.Node("Exp", {below}), dtype);
  return c.Out(c.Node("Add", {c.Node("Max", {x, y}), more}), dtype);
}

/// Avoids overflow by scaling with the larger operand.
Exported Hypot(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string x = c.In(0, dtype), y = c.In(1, dtype);
  const std::string larger = c.Node("Max", {c.Node("Abs", {x}), c.Node("Abs", {y})});
  const std::string is_special =
      c.Node("Or", {c.Node("Equal", {larger, c.Scalar(0, dtype)}), c.Node("IsInf", {larger})});
  const std::string unit = c.Node("Where", {is_special, c.Scalar(1, dtype), larger});
  const std::string a = c.Node("Div", {x, unit}), b = c.Node("Div", {y, unit});
  const std::string squares = c.Node("Add", {c.Node("Mul", {a, a}), c.Node("Mul", {b, b})});
  const std::string length = c.Node("Mul", {unit, c.Node("Sqrt", {squares})});
  // Also if the other side is nan.
  const std::string is_infinite = c.Node("Or", {c.Node("IsInf", {x}), c.Node("IsInf", {y})});
  return c.Out(c.Node("Where", {is_infinite, c.Scalar(INFINITY, dtype), length}), dtype);
}

/// Where the sign of a number is negative, that of a zero included.
std::string HasMinus(ExportCall& c, const std::string& x, DType dtype) {
  const std::string zero = c.Scalar(0, dtype);
  const std::string infinite = c.Node("Div", {c.Scalar(1, dtype), x});
  const std::string signed_x = c.Node("Where", {c.Node("Equal", {x, zero}), infinite, x});
  return c.Node("Less", {signed_x, zero});
}

/// The arc tangent of |y| / |x|, in the quadrant of the signs of y and x.
Exported Atan2(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string y = c.In(0, dtype), x = c.In(1, dtype), zero = c.Scalar(0, dtype);
  const auto both = [&](const std::string& of_y, const std::string& of_x) {
    return c.Node("And", {of_y, of_x});
  };
  const std::string are_zero = both(c.Node("Equal", {y, zero}), c.Node("Equal", {x, zero}));
  const std::string are_infinite = both(c.Node("IsInf", {y}), c.Node("IsInf", {x}));
  std::string ratio = c.Node("Div", {c.Node("Abs", {y}), c.Node("Abs", {x})});
  ratio = c.Node("Where", {are_zero, zero, ratio});
  ratio = c.Node("Where", {are_infinite, c.Scalar(1, dtype), ratio});
  std::string angle = c.Node("Atan", {ratio});
  const std::string left = c.Node("Sub", {c.Scalar(M_PI, dtype), angle});
  angle = c.Node("Where", {HasMinus(c, x, dtype), left, angle});
  return c.Out(c.Node("Where", {HasMinus(c, y, dtype), c.Node("Neg", {angle}), angle}), dtype);
}

/// A negative power of an integer 0 is 0, as is that of 2, but infinite in ONNX Runtime, which
/// computes in double precision.
Exported Pow(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  std::string base = c.In(0, dtype);
  const std::string exponent = c.In(1, dtype);
  if (!IsFloat(c.dtype()) && c.dtype() != DType::kU8) {
    const std::string zero = c.Scalar(0, dtype);
    const std::string is_infinite =
        c.Node("And", {c.Node("Equal", {base, zero}), c.Node("Less", {exponent, zero})});
    base = c.Where(is_infinite, c.Scalar(2, dtype), base, dtype);
  }
  return c.Out(c.Node("Pow", {base, exponent}), dtype);
}

/// The integer of the dtype, which is not u64, that is nearest to `value`.
int64_t Saturated(double value, DType dtype) {
  const int64_t bits = 8 * DTypeSize(dtype) - (IsUnsigned(dtype) ? 0 : 1);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (63 - bits);
  const int64_t least = IsUnsigned(dtype) ? 0 : -most - 1;
  if (!(value > static_cast<double>(least))) return least;
  return value >= static_cast<double>(most) ? most : static_cast<int64_t>(value);
}

Exported Clip(ExportCall& c) {
  const DType own = c.dtype(), dtype = ComputeDType(own);
  const auto bound = [&](llvm::StringRef name, double (*round)(double)) -> std::string {
    if (!c.attributes().Has(name)) return "";
    const double value = c.attributes().Float(name);
    if (IsFloat(own)) return c.Scalar(value, dtype);
    const int64_t integer = Saturated(round(value), own);
    return dtype == DType::kI64 ? c.Integer(integer)
                                : c.Scalar(static_cast<double>(integer), dtype);
  };
  const std::string x = c.In(0, dtype);
  const std::string low = bound("low", std::ceil), high = bound("high", std::floor);
  // Without one of its bounds, Clip of ONNX Runtime limits infinities to the largest finite number.
  if (high.empty()) return c.Out(c.Node("Max", {x, low}), dtype);
  if (low.empty()) return c.Out(c.Node("Min", {x, high}), dtype);
  return c.Out(c.Node("Clip", {x, low, high}), dtype);
}

Exported Where(ExportCall& c) {
  const DType dtype = c.dtype();
  return c.Where(c.In(0), c.In(1, dtype), c.In(2, dtype), dtype);
}

/// An `if` whose sides need no calls of their own.
Exported PlanSelect(ExportCall& c) { return Where(c); }

Exported CastTo(ExportCall& c) { return c.Cast(c.In(0), c.dtype()); }
Exported Operand(ExportCall& c) { return c.In(0); }

constexpr ExportRule kElementwiseRules[] = {
    {"relu", Relu},
    {"not_equal", NotEqual},
    {"isfinite", IsFinite},
    {"sin", SinCos},
    {"cos", SinCos},
    {"add_n", AddN},
    {"log2", Log2},
    {"log10", Log10},
    {"exp2", Exp2},
    {"rsqrt", Rsqrt},
    {"square", Square},
    {"erfc", Erfc},
    {"trunc", Trunc},
    {"cbrt", Cbrt},
    {"expm1", Expm1},
    {"log1p", Log1p},
    {"hypot", Hypot},
    {"logaddexp", Logaddexp},
    {"atan2", Atan2},
    {"pow", Pow},
    {"clip", Clip},
    {"where", Where},
    {"plan_select", PlanSelect},
    {"cast", CastTo},
    {"stop_gradient", Operand},
};

}  // namespace

llvm::ArrayRef<ExportRule> ElementwiseExportRules() { return kElementwiseRules; }

const ExportRule& SameNameExportRule() {
  static constexpr ExportRule kRule = {"", SameName};
  return kRule;
}

}  // namespace pdl
