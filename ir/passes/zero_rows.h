#ifndef PDL_IR_PASSES_ZERO_ROWS_H_
#define PDL_IR_PASSES_ZERO_ROWS_H_

#include "llvm/ADT/ArrayRef.h"
#include "pdl/graph.h"

namespace pdl {

/// What a value is where a gradient that it is computed from is 0.
struct AtZero {
  enum class Kind : uint8_t {
    kOther,
    kZero,  // 0
    kSame,  // what `same` is
  };
  Kind kind = Kind::kOther;
  const Value* same = nullptr;

  static AtZero Zero() { return {Kind::kZero, nullptr}; }
  static AtZero Same(const Value* value) { return {Kind::kSame, value}; }
  bool is_zero() const { return kind == Kind::kZero; }
  bool operator==(const AtZero&) const = default;
};

/// What an elementwise call gives, by what each of its operands is; of numbers that are finite.
AtZero ResultAtZero(const Op& op, llvm::ArrayRef<AtZero> operands);

}  // namespace pdl

#endif  // PDL_IR_PASSES_ZERO_ROWS_H_
