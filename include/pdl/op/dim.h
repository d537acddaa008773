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
/// that `==` decides equality of polynomials (over the atoms as if they were symbols). A symbol
/// stands for an integer >= 0. Immutable and cheap to copy; safe to share between threads.
///
/// A symbol spelled `~T` is a *ragged* dim: a list of sizes, one for each row of the dims before
/// it. It is equal to itself and to nothing else, and nothing is computed with it.
///
/// Arithmetic that leaves 64 bits, that divides by the constant 0, or that a ragged dim takes part
/// in, gives an *invalid* Dim, which every later operation keeps; whoever stores a Dim checks
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
  /// The symbol's name where this is one symbol and nothing else, else empty.
  llvm::StringRef symbol() const;
  bool is_ragged() const { return !is_constant() && symbol().starts_with("~"); }
  const DimPolynomial* polynomial() const { return polynomial_.get(); }

  friend PDL_API Dim operator+(const Dim& a, const Dim& b);
  friend PDL_API Dim operator-(const Dim& a, const Dim& b);
  friend PDL_API Dim operator*(const Dim& a, const Dim& b);
  /// Rounds towards minus infinity; common integer factors cancel: (8*H) // 32 is H // 4.
  static Dim FloorDiv(const Dim& a, const Dim& b);
  /// a - b * (a // b); has the sign of b.
  static Dim Mod(const Dim& a, const Dim& b);
  static Dim Min(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);

  friend PDL_API bool operator==(const Dim& a, const Dim& b);
  /// A total order on the canonical form; says nothing about sizes.
  static int Compare(const Dim& a, const Dim& b);
  size_t Hash() const;

  /// What is known of the sign of `a - b`, symbols being >= 0: bounds on the difference.
  bool ProvablyAtLeast(int64_t bound) const;
  bool ProvablyAtMost(int64_t bound) const;

  /// The value where `lookup` gives each symbol's. An Error names an unknown symbol, an overflow or
  /// a division by zero.
  llvm::Expected<int64_t> Evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;
  /// Replaces the symbols for which `lookup` gives a Dim.
  Dim Substitute(llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) const;
  /// Calls `visit` for each occurrence of a symbol, atoms included.
  void ForEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Where this is `a*S + b` with one symbol S (`8*H`, `T + 1`): S and the value it must have for
  /// the whole to be `size`; nullopt where it is of another form. The Error says that no integer
  /// >= 0 fits.
  llvm::Expected<std::optional<std::pair<std::string, int64_t>>> Solve(int64_t size) const;

  /// As the language writes it: `N`, `2*T + 1`, `T // 4`, `min(N, 3)`.
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
