#include "frontend/elaborate/fold.h"

#include <cmath>

#include "ir/dim_polynomial.h"

namespace pdl {
namespace {

using ast::Operator;

llvm::Error Overflow(Operator op, int64_t a, int64_t b) {
  return DatumError("{0} {1} {2} does not fit in 64 bits", a, ast::Spelling(op), b);
}

bool IsComparison(Operator op) { return op >= Operator::kEqual && op <= Operator::kGreaterEqual; }

template <typename T>
bool Compare(Operator op, const T& a, const T& b) {
  switch (op) {
    case Operator::kEqual:
      return a == b;
    case Operator::kNotEqual:
      return a != b;
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

llvm::Expected<Datum> FoldIntegers(Operator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Operator::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return Overflow(op, a, b);
      return Datum(result);
    case Operator::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) return Overflow(op, a, b);
      return Datum(result);
    case Operator::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) return Overflow(op, a, b);
      return Datum(result);
    case Operator::kDivide:
      if (b == 0) return DatumError("{0} / 0 divides by zero", a);
      return Datum(Datum::Real{static_cast<double>(a) / static_cast<double>(b)});
    case Operator::kFloorDivide:
      if (b == 0) return DatumError("{0} // 0 divides by zero", a);
      if (b == -1) {
        if (__builtin_sub_overflow(int64_t{0}, a, &result)) return Overflow(op, a, b);
        return Datum(result);
      }
      return Datum(FloorDivide(a, b));
    case Operator::kRemainder:
      if (b == 0) return DatumError("{0} % 0 divides by zero", a);
      if (b == -1) return Datum(int64_t{0});
      return Datum(FloorModulo(a, b));
    default: {  // a power
      if (b < 0) {
        return Datum(Datum::Real{std::pow(static_cast<double>(a), static_cast<double>(b))});
      }
      result = 1;
      // Halving the exponent bounds the loop; the last square may overflow unused.
      for (int64_t base = a, exponent = b;;) {
        if (exponent & 1) {
          if (__builtin_mul_overflow(result, base, &result)) return Overflow(op, a, b);
        }
        exponent >>= 1;
        if (exponent == 0) return Datum(result);
        if (__builtin_mul_overflow(base, base, &base)) return Overflow(op, a, b);
      }
    }
  }
}

Datum FoldReals(Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd:
      return Datum(Datum::Real{a + b});
    case Operator::kSubtract:
      return Datum(Datum::Real{a - b});
    case Operator::kMultiply:
      return Datum(Datum::Real{a * b});
    case Operator::kDivide:
      return Datum(Datum::Real{a / b});
    case Operator::kFloorDivide:
      return Datum(Datum::Real{std::floor(a / b)});
    case Operator::kRemainder: {
      const double r = std::fmod(a, b);
      return Datum(Datum::Real{r != 0 && (r < 0) != (b < 0) ? r + b : r});
    }
    default:
      return Datum(Datum::Real{std::pow(a, b)});
  }
}

llvm::Expected<Datum> FoldDims(Operator op, const Dim& a, const Dim& b) {
  if (const std::string reason = NotComparable(op, a, b); !reason.empty())
    return DatumError("{0}", reason);
  Dim result;
  switch (op) {
    case Operator::kAdd:
      result = a + b;
      break;
    case Operator::kSubtract:
      result = a - b;
      break;
    case Operator::kMultiply:
      result = a * b;
      break;
    case Operator::kFloorDivide:
      result = Dim::FloorDiv(a, b);
      break;
    case Operator::kRemainder:
      result = Dim::Mod(a, b);
      break;
    case Operator::kDivide:
      return DatumError("sizes are divided with //, which rounds down");
    case Operator::kPower:
      if (!b.is_constant() || b.constant() < 0)
        return DatumError("a size is raised to a power that is an int of at least 0, got {0}",
                          b.ToString());
      // Halving the exponent bounds the loop; a result beyond the limits of a size stays invalid.
      result = 1;
      for (auto [base, exponent] = std::pair(a, b.constant()); exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = result * base;
        if (exponent > 1) base = base * base;
      }
      break;
    default:
      return DatumError("'{0}' does not take sizes", ast::Spelling(op));
  }
  if (!result.is_valid()) {
    const bool divides = op == Operator::kFloorDivide || op == Operator::kRemainder;
    return DatumError(
        divides && b.is_constant(0) ? "{0} {1} {2} divides by zero" : "{0} {1} {2} leaves 64 bits",
        a.ToString(), ast::Spelling(op), b.ToString());
  }
  return Datum(std::move(result));
}

llvm::Error BadOperands(Operator op, const Datum& a, const Datum& b) {
  if (a.list() != nullptr || b.list() != nullptr) {
    const bool are_lists = a.list() != nullptr && b.list() != nullptr;
    const char* help = !are_lists ? "; a list with a type is a tensor: x: f32[2] = [1, 2]"
                       : op == Operator::kAdd ? "; [a..., b...] joins two"
                                              : "";
    return DatumError("lists have no arithmetic: '{0}' between {1} and {2}{3}", ast::Spelling(op),
                      a.Phrase(), b.Phrase(), a.holds_tensor() || b.holds_tensor() ? "" : help);
  }
  return DatumError("'{0}' does not take {1} and {2}", ast::Spelling(op), a.Phrase(), b.Phrase());
}

llvm::Expected<Datum> FoldComparison(Operator op, const Datum& a, const Datum& b) {
  if (auto x = a.dim(), y = b.dim(); x && y) {
    if (const std::string reason = NotComparable(op, *x, *y); !reason.empty())
      return DatumError("{0}", reason);
    switch (Decide(MakeCheck(op, *x, *y))) {
      case Truth::kTrue:
        return Datum(true);
      case Truth::kFalse:
        return Datum(false);
      case Truth::kUnknown:
        return DatumError("whether {0} {1} {2} is not known at compile time", x->ToString(),
                          ast::Spelling(op), y->ToString());
    }
  }
  if (auto x = a.number(), y = b.number(); x && y) return Datum(Compare(op, *x, *y));
  if (op != Operator::kEqual && op != Operator::kNotEqual) return BadOperands(op, a, b);
  const bool is_equality = op == Operator::kEqual;
  if (a.value.index() != b.value.index()) return Datum(!is_equality);
  if (const auto* x = a.get<bool>()) return Datum((*x == *b.get<bool>()) == is_equality);
  if (const auto* x = a.get<DType>()) return Datum((*x == *b.get<DType>()) == is_equality);
  if (const auto* x = a.get<llvm::StringRef>()) {
    return Datum((*x == *b.get<llvm::StringRef>()) == is_equality);
  }
  if (a.is<Datum::None>()) return Datum(is_equality);
  return BadOperands(op, a, b);
}

}  // namespace

llvm::Expected<Datum> FoldInfix(Operator op, const Datum& a, const Datum& b) {
  if (IsComparison(op)) return FoldComparison(op, a, b);
  if (op == Operator::kAnd || op == Operator::kOr) {
    const auto *x = a.get<bool>(), *y = b.get<bool>();
    if (x == nullptr || y == nullptr) return BadOperands(op, a, b);
    return Datum(op == Operator::kAnd ? *x && *y : *x || *y);
  }
  if (op == Operator::kMatmul || op < Operator::kAdd) return BadOperands(op, a, b);
  const auto *i = a.get<int64_t>(), *j = b.get<int64_t>();
  if (i != nullptr && j != nullptr) return FoldIntegers(op, *i, *j);
  if (auto x = a.dim(), y = b.dim(); x && y) return FoldDims(op, *x, *y);
  if (auto x = a.number(), y = b.number(); x && y) return FoldReals(op, *x, *y);
  return BadOperands(op, a, b);
}

llvm::Expected<Datum> FoldPrefix(Operator op, const Datum& operand) {
  if (op == Operator::kNot) {
    if (const auto* v = operand.get<bool>()) return Datum(!*v);
    return DatumError("'not' does not take {0}", operand.Phrase());
  }
  if (const auto* v = operand.get<Datum::Real>()) return Datum(Datum::Real{-v->value});
  if (operand.is<int64_t>() || operand.is<Dim>()) {
    return FoldInfix(Operator::kSubtract, Datum(int64_t{0}), operand);
  }
  return DatumError("'-' does not take {0}", operand.Phrase());
}

std::string NotComparable(Operator op, const Dim& a, const Dim& b) {
  if (op == Operator::kEqual || op == Operator::kNotEqual) return "";
  if (!a.is_ragged() && !b.is_ragged()) return "";
  return llvm::formatv("{0} is not one size: each row has its own, so '{1}' does not take it",
                       (a.is_ragged() ? a : b).ToString(), ast::Spelling(op))
      .str();
}

/// The check that `larger` > `smaller`, without an overflow if there is a way.
static DimCheck IsLarger(const Dim& larger, const Dim& smaller) {
  DimCheck check = {larger, DimCheck::Relation::kAtLeast, smaller + 1, ""};
  if (!check.right.is_valid()) check = {larger - 1, DimCheck::Relation::kAtLeast, smaller, ""};
  // No number is larger than the largest.
  if (!check.left.is_valid() && larger.is_constant() && smaller.is_constant())
    check = {Dim(0), DimCheck::Relation::kAtLeast, Dim(1), ""};
  return check;
}

DimCheck MakeCheck(Operator op, const Dim& left, const Dim& right) {
  using Relation = DimCheck::Relation;
  DimCheck check;
  const char* sign = ">=";
  switch (op) {
    case Operator::kEqual:
      check = {left, Relation::kEqual, right, ""};
      sign = "==";
      break;
    case Operator::kNotEqual:
      check = {left, Relation::kNotEqual, right, ""};
      sign = "!=";
      break;
    case Operator::kLess:
      check = IsLarger(right, left);
      break;
    case Operator::kLessEqual:
      check = {right, Relation::kAtLeast, left, ""};
      break;
    case Operator::kGreater:
      check = IsLarger(left, right);
      break;
    default:
      check = {left, Relation::kAtLeast, right, ""};
      break;
  }
  check.message =
      llvm::formatv("{0} {1} {2}", check.left.ToString(), sign, check.right.ToString()).str();
  return check;
}

}  // namespace pdl
