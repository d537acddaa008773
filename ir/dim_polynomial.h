#ifndef PDL_IR_DIM_POLYNOMIAL_H_
#define PDL_IR_DIM_POLYNOMIAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "pdl/op/dim.h"

namespace pdl {

/// Rounds towards minus infinity.
inline int64_t FloorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// What is known of a value: an inclusive interval; an absent end is infinite.
struct DimInterval {
  std::optional<int64_t> low, high;
};

/// What a polynomial treats as a variable: a symbol, or a function that is not polynomial.
struct DimAtom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kSymbol;
  std::string symbol;
  Dim a, b;
  /// 0 for a symbol, else one more than the deepest operand's.
  unsigned depth = 0;
  /// Atoms in it when it is written out. They are shared in memory, so that this can be far larger
  /// than what it takes there.
  size_t size = 1;
  /// Worked out once, since operands may be shared.
  DimInterval bounds;
};

/// coefficient * product of atom**power; no factors: a constant.
struct DimTerm {
  int64_t coefficient = 0;
  llvm::SmallVector<std::pair<std::shared_ptr<const DimAtom>, unsigned>, 1> factors;
};

/// A sum of terms with different factors, in order (higher degree first), none zero. Never a mere
/// constant: that is a Dim without a polynomial.
class DimPolynomial {
 public:
  bool invalid = false;
  llvm::SmallVector<DimTerm, 1> terms;

  /// Sorts and merges; the Dim may turn out constant, or invalid.
  static Dim Make(llvm::SmallVector<DimTerm, 1> terms);
  static Dim FromAtom(DimAtom atom);
  /// The terms of any valid Dim, a constant's included (none for 0).
  static llvm::SmallVector<DimTerm, 1> Terms(const Dim& dim);
};

}  // namespace pdl

#endif  // PDL_IR_DIM_POLYNOMIAL_H_
