// The values of elementwise calls where operands are 0, by which a pass leaves rows of tables as
// they are.
#ifndef PDL_OP_ZERO_RULE_H_
#define PDL_OP_ZERO_RULE_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The value of a tensor where a gradient that it is computed from is 0.
struct AtZero {
  enum class Kind : uint8_t {
    kOther,
    kZero,  // 0
    kSame,  // that of `same`
  };
  Kind kind = Kind::kOther;
  const Value* same = nullptr;

  static AtZero Zero() { return {Kind::kZero, nullptr}; }
  static AtZero ZeroIf(bool is_zero) { return is_zero ? Zero() : AtZero(); }
  static AtZero Same(const Value* value) { return {Kind::kSame, value}; }
  bool is_zero() const { return kind == Kind::kZero; }
  bool operator==(const AtZero&) const = default;
};

/// The value of an elementwise call by that of each operand, where those are finite.
PDL_API AtZero ResultAtZero(const Op& op, llvm::ArrayRef<AtZero> operands);

// Rules for OpProperties::zero_rule.

/// 0 where the first operand is: abs, div.
PDL_API AtZero ZeroIfFirstIs(const Op& op, llvm::ArrayRef<AtZero> operands);
/// 0 where one operand is: mul.
PDL_API AtZero ZeroIfAnyIs(const Op& op, llvm::ArrayRef<AtZero> operands);
/// 0 where all operands are: minimum.
PDL_API AtZero ZeroIfAllAre(const Op& op, llvm::ArrayRef<AtZero> operands);
/// The only operand that is not 0, or 0: add.
PDL_API AtZero SumAtZero(const Op& op, llvm::ArrayRef<AtZero> operands);
/// An operand as the result of `op`: kOther where it is broadcast.
PDL_API AtZero UnlessBroadcast(const Op& op, const AtZero& operand);

}  // namespace pdl

#endif  // PDL_OP_ZERO_RULE_H_
