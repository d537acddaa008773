#include "ir/passes/zero_rows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {
namespace {

enum class Rule {
  kNone,
  kUnary,  // 0 of 0
  kMul,    // 0 where one operand is
  kFirst,  // 0 where the first operand is
  kPower,  // 0 where the first operand is, and the second a positive constant
  kSum,    // its only operand that is not 0
  kDifference,
  kChoice,   // its second operand where the third one is the same
  kExtreme,  // 0 where all operands are
  kClip,     // 0 of 0 where its bounds say so
};

Rule RuleOf(const Op& op) {
  if (op.def().has(kIdentity) && op.operands().size() == 1) return Rule::kUnary;
  return llvm::StringSwitch<Rule>(op.type())
      .Cases("neg", "abs", "sqrt", "sign", "cast", Rule::kUnary)
      .Case("mul", Rule::kMul)
      .Case("div", Rule::kFirst)
      .Case("pow", Rule::kPower)
      .Cases("add", "add_n", Rule::kSum)
      .Case("sub", Rule::kDifference)
      .Case("where", Rule::kChoice)
      .Cases("minimum", "maximum", Rule::kExtreme)
      .Case("clip", Rule::kClip)
      .Default(Rule::kNone);
}

bool IsPositiveConstant(const Value* value) {
  const Op* op = value->producer();
  if (!op || op->type() != "constant" || value->type().rank() != 0) return false;
  return op->attributes().Tensor("value").ElementAsDouble(0) > 0;
}

bool HoldsZero(const AttributeReader& clip) {
  const bool above = !clip.Has("low") || clip.Float("low") <= 0;
  const bool below = !clip.Has("high") || clip.Float("high") >= 0;
  return above && below;
}

// Where `op` undoes a cast from 16 bits to f32, whose values an f32 holds exactly: what was cast.
const Value* BeforeCasts(const Op& op, const AtZero& operand) {
  if (op.type() != "cast" || operand.kind != AtZero::Kind::kSame) return nullptr;
  const Op* widened = operand.same->producer();
  if (!widened || widened->type() != "cast" || !IsFloat(widened->result()->type().dtype))
    return nullptr;
  const Value* original = widened->operands()[0];
  const DType dtype = original->type().dtype;
  const bool is_exact =
      IsFloat(dtype) && DTypeSize(dtype) == 2 && DTypeSize(widened->result()->type().dtype) > 2;
  return is_exact && dtype == op.result()->type().dtype ? original : nullptr;
}

}  // namespace

AtZero ResultAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  const auto is_zero = [](const AtZero& operand) { return operand.is_zero(); };
  const auto zero_if = [](bool zero) { return zero ? AtZero::Zero() : AtZero(); };
  // Where it is broadcast, the result is none of the values that there were.
  const auto unless_broadcast = [&](const AtZero& operand) {
    const bool same = operand.kind != AtZero::Kind::kSame ||
                      operand.same->type().dims == op.result()->type().dims;
    return same ? operand : AtZero();
  };
  switch (RuleOf(op)) {
    case Rule::kNone:
      return {};
    case Rule::kUnary:
      if (const Value* original = BeforeCasts(op, operands[0])) return AtZero::Same(original);
      return zero_if(operands[0].is_zero());
    case Rule::kFirst:
      return zero_if(operands[0].is_zero());
    case Rule::kMul:
      return zero_if(llvm::any_of(operands, is_zero));
    case Rule::kPower:
      return zero_if(operands[0].is_zero() && IsPositiveConstant(op.operands()[1]));
    case Rule::kExtreme:
      return zero_if(llvm::all_of(operands, is_zero));
    case Rule::kClip:
      return zero_if(operands[0].is_zero() && HoldsZero(op.attributes()));
    case Rule::kSum: {
      AtZero only = AtZero::Zero();
      for (const AtZero& operand : operands) {
        if (operand.is_zero()) continue;
        if (!only.is_zero()) return {};
        only = operand;
      }
      return unless_broadcast(only);
    }
    case Rule::kDifference:
      if (operands[1].is_zero()) return unless_broadcast(operands[0]);
      return zero_if(operands[0].kind == AtZero::Kind::kSame && operands[0] == operands[1]);
    case Rule::kChoice:
      return operands[1] == operands[2] ? unless_broadcast(operands[1]) : AtZero();
  }
  return {};
}

}  // namespace pdl
