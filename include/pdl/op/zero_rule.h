// Values of elementwise calls for operands that are 0. They prove which rows of a table an update
// leaves unchanged.
#ifndef PDL_OP_ZERO_RULE_H_
#define PDL_OP_ZERO_RULE_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The value of a tensor at elements where the gradient that it is computed from is 0.
struct AtZero {
  enum class Kind : uint8_t {
    kOther,
    kZero,  // 0
    kSame,  // the value of `same`
  };
  Kind kind = Kind::kOther;
  const Value* same = nullptr;

  static AtZero Zero() { return {Kind::kZero, nullptr}; }
  static AtZero ZeroIf(bool is_zero) { return is_zero ? Zero() : AtZero(); }
  static AtZero Same(const Value* value) { return {Kind::kSame, value}; }
  bool is_zero() const { return kind == Kind::kZero; }
  bool operator==(const AtZero&) const = default;
};

/// Returns the value of an elementwise call from those of its operands, which are finite.
PDL_API AtZero ResultAtZero(const Op& op, llvm::ArrayRef<AtZero> operands);

// Rules for OpProperties::zero_rule.

/// 0 if the first operand is 0: abs, div.
PDL_API AtZero ZeroIfFirstIs(const Op& op, llvm::ArrayRef<AtZero> operands);
/// 0 if any operand is 0: mul.
PDL_API AtZero ZeroIfAnyIs(const Op& op, llvm::ArrayRef<AtZero> operands);
/// 0 if all operands are 0: minimum.
PDL_API AtZero ZeroIfAllAre(const Op& op, llvm::ArrayRef<AtZero> operands);
/// The only operand that is not 0, or 0 if all are: add.
PDL_API AtZero SumAtZero(const Op& op, llvm::ArrayRef<AtZero> operands);
/// `operand` as the result of `op`, or kOther if it is broadcast.
PDL_API AtZero UnlessBroadcast(const Op& op, const AtZero& operand);

}  // namespace pdl

#endif  // PDL_OP_ZERO_RULE_H_
