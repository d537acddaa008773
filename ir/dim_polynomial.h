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

/// Rounds toward minus infinity.
inline int64_t FloorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// a - FloorDivide(a, b) * b, whose product may be below INT64_MIN.
inline int64_t FloorModulo(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// Bounds of a value: an inclusive interval; an absent bound is infinite.
struct DimInterval {
  std::optional<int64_t> low, high;
};

/// A bound of an interval: infinite if it does not fit in 63 bits.
inline std::optional<int64_t> Narrow(__int128 value) {
  constexpr __int128 kLimit = INT64_MAX;
  if (value > kLimit || value < -kLimit) return std::nullopt;
  return static_cast<int64_t>(value);
}

/// An indeterminate of a polynomial: a symbol, or a function that is not polynomial.
struct DimAtom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kSymbol;
  std::string symbol;
  Dim a, b;
  /// 0 for a symbol, else 1 + the maximum depth of the operands.
  unsigned depth = 0;
  /// The number of atoms when the expression is expanded. Operands are shared in memory, so this
  /// can be far larger than the memory it takes.
  size_t size = 1;
  /// Computed once, since operands may be shared.
  DimInterval bounds;
};

/// coefficient * product of atom**power; a constant if there are no factors.
struct DimTerm {
  int64_t coefficient = 0;
  llvm::SmallVector<std::pair<std::shared_ptr<const DimAtom>, unsigned>, 1> factors;
};

/// A sum of nonzero terms with different factors, in order (higher degree first). Never a constant,
/// which is a Dim without a polynomial.
class DimPolynomial {
 public:
  bool invalid = false;
  llvm::SmallVector<DimTerm, 1> terms;

  /// Sorts and merges terms; the resulting Dim may be constant or invalid.
  static Dim Make(llvm::SmallVector<DimTerm, 1> terms);
  static Dim FromAtom(DimAtom atom);
  /// Returns the terms of any valid Dim, including constants (none for 0).
  static llvm::SmallVector<DimTerm, 1> Terms(const Dim& dim);
};

}  // namespace pdl

#endif  // PDL_IR_DIM_POLYNOMIAL_H_
