#ifndef PDL_OP_DIM_H_
#define PDL_OP_DIM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

class DimPolynomial;

/// The size of one dimension: a 64-bit integer, or a polynomial with integer coefficients over
/// symbols and the atoms `a // b`, `a % b`, `min(a, b)`, `max(a, b)`. Kept in a canonical form, so
/// that `==` decides equality of polynomials (treating atoms as symbols). A symbol stands for an
/// integer >= 0. Immutable and cheap to copy; safe to share between threads.
///
/// A symbol spelled `~T` is a *ragged* dim: a list of sizes, one for each row of the dims before
/// it. It equals only itself, and arithmetic does not apply to it.
///
/// Arithmetic that overflows 64 bits, divides by the constant 0, or has a ragged operand returns an
/// *invalid* Dim, which propagates through all further operations. Code that stores a Dim checks
/// `is_valid()` once.
class PDL_API Dim {
 public:
  Dim(int64_t value = 0) : constant_(value) {}
  static Dim Symbol(llvm::StringRef name);
  static Dim Invalid();

  bool is_valid() const;
  bool is_constant() const { return polynomial_ == nullptr; }
  bool is_constant(int64_t value) const { return is_constant() && constant_ == value; }
  /// Requires is_constant().
  int64_t constant() const { return constant_; }
  /// The name of the symbol if this is a single symbol, else empty.
  llvm::StringRef symbol() const;
  bool is_ragged() const { return !is_constant() && symbol().starts_with("~"); }
  const DimPolynomial* polynomial() const { return polynomial_.get(); }

  friend PDL_API Dim operator+(const Dim& a, const Dim& b);
  friend PDL_API Dim operator-(const Dim& a, const Dim& b);
  friend PDL_API Dim operator*(const Dim& a, const Dim& b);
  /// Rounds toward minus infinity. Common integer factors cancel: (8*H) // 32 is H // 4.
  static Dim FloorDiv(const Dim& a, const Dim& b);
  /// a - b * (a // b); has the sign of b.
  static Dim Mod(const Dim& a, const Dim& b);
  static Dim Min(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);

  friend PDL_API bool operator==(const Dim& a, const Dim& b);
  /// A total order on canonical forms; unrelated to the order of sizes.
  static int Compare(const Dim& a, const Dim& b);
  size_t Hash() const;

  /// Whether bounds on this Dim, with all symbols >= 0, prove the relation to `bound`.
  bool ProvablyAtLeast(int64_t bound) const;
  bool ProvablyAtMost(int64_t bound) const;

  /// Evaluates the polynomial; `lookup` returns the value of a symbol. An Error names an unknown
  /// symbol, an overflow or a division by zero.
  llvm::Expected<int64_t> Evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;
  /// Replaces each symbol for which `lookup` returns a Dim.
  Dim Substitute(llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) const;
  /// Calls `visit` for each occurrence of a symbol, including those in atoms.
  void ForEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// If this is `a*S + b` with one symbol S (`8*H`, `T + 1`), returns S and the value for which
  /// this is `size`; nullopt if this has another form. An Error if no integer >= 0 is a solution.
  llvm::Expected<std::optional<std::pair<std::string, int64_t>>> Solve(int64_t size) const;

  /// Formats the dim as in the language: `N`, `2*T + 1`, `T // 4`, `min(N, 3)`.
  std::string ToString() const;

 private:
  friend class DimPolynomial;
  explicit Dim(std::shared_ptr<const DimPolynomial> p) : polynomial_(std::move(p)) {}

  int64_t constant_ = 0;
  std::shared_ptr<const DimPolynomial> polynomial_;
};

inline bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

/// The dims of a tensor, outermost first.
using Shape = llvm::SmallVector<Dim, 4>;

/// "[N, 784]".
PDL_API std::string ShapeToString(llvm::ArrayRef<Dim> shape);
/// The product of all dims; 1 for a scalar.
PDL_API Dim NumElements(llvm::ArrayRef<Dim> shape);

}  // namespace pdl

#endif  // PDL_OP_DIM_H_
