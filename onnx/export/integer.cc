// Export of division with a remainder, and of bits.
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// A divisor with 0 and -1 replaced by 1, since the smallest integer cannot be divided by -1; and
/// where those were.
struct Divisor {
  std::string value, is_zero, is_minus_one, zero;
};
Divisor SafeDivisor(ExportCall& c, DType dtype) {
  const std::string y = c.In(1, dtype), zero = c.Scalar(0, dtype);
  const std::string is_zero = c.Node("Equal", {y, zero});
  const std::string is_minus_one = c.Node("Equal", {y, c.Scalar(-1, dtype)});
  const std::string is_either = c.Node("Or", {is_zero, is_minus_one});
  return {c.Node("Where", {is_either, c.Scalar(1, dtype), y}), is_zero, is_minus_one, zero};
}

/// The remainder of integers with the sign of the divisor, the one with the sign of x, and where
/// they differ.
struct IntegerRemainder {
  Divisor y;
  std::string x, floored, truncated, is_off;
};
IntegerRemainder RemainderOfIntegers(ExportCall& c, DType dtype) {
  const std::string x = c.In(0, dtype);
  const Divisor y = SafeDivisor(c, dtype);
  const std::string floored = c.Node("Mod", {x, y.value});
  const auto is_negative = [&](const std::string& value) {
    return c.Node("Less", {value, y.zero});
  };
  const std::string differs = c.Node("Xor", {is_negative(x), is_negative(y.value)});
  const std::string is_exact = c.Node("Equal", {floored, y.zero});
  const std::string is_off = c.Node("And", {differs, c.Node("Not", {is_exact})});
  const std::string truncated =
      c.Node("Where", {is_off, c.Node("Sub", {floored, y.value}), floored});
  return {y, x, floored, truncated, is_off};
}

/// The remainder of floats that C's fmod computes, and where the remainder with the sign of the
/// divisor is another one. Floor(x / y) would be too large where the division is rounded up, as for
/// 1 / 0.1.
struct FloatRemainder {
  std::string x, y, value, is_off;
};
FloatRemainder RemainderOfFloats(ExportCall& c, DType dtype) {
  const std::string x = c.In(0, dtype), y = c.In(1, dtype), zero = c.Scalar(0, dtype);
  const std::string value = c.Node("Mod", {x, y}, {{"fmod", int64_t{1}}});
  const std::string differs =
      c.Node("Xor", {c.Node("Less", {value, zero}), c.Node("Less", {y, zero})});
  const std::string is_exact = c.Node("Equal", {value, zero});
  return {x, y, value, c.Node("And", {differs, c.Node("Not", {is_exact})})};
}

std::string FloorDivFloats(ExportCall& c, DType dtype) {
  const FloatRemainder rest = RemainderOfFloats(c, dtype);
  const std::string one = c.Scalar(1, dtype), zero = c.Scalar(0, dtype);
  const std::string towards_zero = c.Node("Div", {c.Node("Sub", {rest.x, rest.value}), rest.y});
  const std::string quotient =
      c.Node("Where", {rest.is_off, c.Node("Sub", {towards_zero, one}), towards_zero});
  // The quotient may be rounded to either side of the integer.
  const std::string below = c.Node("Floor", {quotient});
  const std::string is_above =
      c.Node("Greater", {c.Node("Sub", {quotient, below}), c.Scalar(0.5, dtype)});
  const std::string nearest = c.Node("Where", {is_above, c.Node("Add", {below, one}), below});
  return c.Node("Where",
                {c.Node("Equal", {rest.y, zero}), c.Node("Div", {rest.x, rest.y}), nearest});
}

Exported FloorDiv(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  if (IsFloat(dtype)) return c.Out(FloorDivFloats(c, dtype), dtype);
  const IntegerRemainder rest = RemainderOfIntegers(c, dtype);
  const Divisor& y = rest.y;
  // x less a remainder with its sign does not overflow, and is divided without a rest.
  const std::string towards_zero =
      c.Node("Div", {c.Node("Sub", {rest.x, rest.truncated}), y.value});
  const std::string below = c.Node("Sub", {towards_zero, c.Scalar(1, dtype)});
  const std::string quotient = c.Node("Where", {rest.is_off, below, towards_zero});
  const std::string other =
      c.Node("Where", {y.is_minus_one, c.Node("Sub", {y.zero, rest.x}), quotient});
  return c.Out(c.Node("Where", {y.is_zero, y.zero, other}), dtype);
}

Exported Mod(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const bool is_c = c.op().type() == "fmod";
  if (IsFloat(dtype)) {
    if (is_c)
      return c.Out(c.Node("Mod", {c.In(0, dtype), c.In(1, dtype)}, {{"fmod", int64_t{1}}}), dtype);
    const FloatRemainder rest = RemainderOfFloats(c, dtype);
    const std::string other = c.Node("Add", {rest.value, rest.y});
    return c.Out(c.Node("Where", {rest.is_off, other, rest.value}), dtype);
  }
  if (is_c) {
    const IntegerRemainder rest = RemainderOfIntegers(c, dtype);
    return c.Out(c.Node("Where", {rest.y.is_zero, rest.y.zero, rest.truncated}), dtype);
  }
  const Divisor y = SafeDivisor(c, dtype);
  const std::string rest = c.Node("Mod", {c.In(0, dtype), y.value});
  return c.Out(c.Node("Where", {y.is_zero, y.zero, rest}), dtype);
}

Exported Bitwise(ExportCall& c) {
  llvm::StringRef name = c.OnnxName();
  // For bools these are the logical operators: And, Or, Xor, Not.
  if (c.dtype() == DType::kBool) name.consume_front("Bitwise");
  std::vector<std::string> operands;
  for (unsigned i = 0; i < c.num_inputs(); ++i) operands.push_back(c.In(i));
  return c.Node(name, operands);
}

/// Multiplies or divides by a power of two in i64; shifts by more than the bits of the number are
/// handled separately.
Exported Shift(ExportCall& c) {
  const DType wide = DType::kI64;
  const std::string x = c.In(0, wide), shifts = c.In(1, wide), zero = c.Scalar(0, wide);
  const auto bits = static_cast<double>(8 * DTypeSize(c.dtype()));
  const std::string is_outside = c.Node(
      "Or",
      {c.Node("Less", {shifts, zero}), c.Node("GreaterOrEqual", {shifts, c.Scalar(bits, wide)})});
  // 2 ** 62 is the largest power; a shift by 63 multiplies by 2 once more.
  const std::string most = c.Node("Clip", {shifts, zero, c.Scalar(62, wide)});
  const std::string power = c.Node("Pow", {c.Scalar(2, wide), most});
  if (c.op().type() == "shift_left") {
    const std::string twice =
        c.Node("Where", {c.Node("Greater", {shifts, most}), c.Scalar(2, wide), c.Scalar(1, wide)});
    const std::string moved = c.Node("Mul", {c.Node("Mul", {x, power}), twice});
    return c.Out(c.Node("Where", {is_outside, zero, moved}), wide);
  }
  const std::string down = c.Node("Div", {c.Node("Sub", {x, c.Node("Mod", {x, power})}), power});
  const std::string sign = c.Node("Where", {c.Node("Less", {x, zero}), c.Scalar(-1, wide), zero});
  const std::string is_far = c.Node("Or", {is_outside, c.Node("Greater", {shifts, most})});
  return c.Out(c.Node("Where", {is_far, sign, down}), wide);
}

constexpr ExportRule kIntegerRules[] = {
    {"floor_div", FloorDiv},
    {"mod", Mod},
    {"fmod", Mod},
    {"bitwise_and", Bitwise},
    {"bitwise_or", Bitwise},
    {"bitwise_xor", Bitwise},
    {"bitwise_not", Bitwise},
    {"shift_left", Shift},
    {"shift_right", Shift},
};

}  // namespace

llvm::ArrayRef<ExportRule> IntegerExportRules() { return kIntegerRules; }

}  // namespace pdl
