#include "frontend/elaborate/sugar.h"

namespace pdl::sugar {

llvm::StringRef OperatorFor(ast::Operator op) {
  using ast::Operator;
  switch (op) {
    case Operator::kOr:
      return "logical_or";
    case Operator::kAnd:
      return "logical_and";
    case Operator::kNot:
      return "logical_not";
    case Operator::kEqual:
      return "equal";
    case Operator::kNotEqual:
      return "not_equal";
    case Operator::kLess:
      return "less";
    case Operator::kLessEqual:
      return "less_equal";
    case Operator::kGreater:
      return "greater";
    case Operator::kGreaterEqual:
      return "greater_equal";
    case Operator::kAdd:
      return "add";
    case Operator::kSubtract:
      return "sub";
    case Operator::kMultiply:
      return "mul";
    case Operator::kDivide:
      return "div";
    case Operator::kFloorDivide:
      return "floor_div";
    case Operator::kRemainder:
      return "mod";
    case Operator::kMatmul:
      return "matmul";
    case Operator::kNegate:
      return "neg";
    case Operator::kPower:
      return "pow";
    case Operator::kPipe:
    case Operator::kIn:
    case Operator::kRange:
    case Operator::kRangeTo:
      return {};
  }
  return {};
}

}  // namespace pdl::sugar
