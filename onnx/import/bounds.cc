#include "onnx/import/bounds.h"

#include "ir/dim_polynomial.h"

namespace pdl {
namespace {

/// Maximum depth at which operands of `min` and `max` are examined.
constexpr int kMaxDepth = 3;

/// The atom of a dim that consists of only that atom; null if it is not of that kind.
const DimAtom* AtomOf(const Dim& dim, DimAtom::Kind kind) {
  if (dim.is_constant() || !dim.is_valid()) return nullptr;
  const auto& terms = dim.polynomial()->terms;
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].factors.size() != 1 ||
      terms[0].factors[0].second != 1)
    return nullptr;
  const DimAtom* atom = terms[0].factors[0].first.get();
  return atom->kind == kind ? atom : nullptr;
}

bool IsAtMost(const Dim& a, const Dim& b, int depth) {
  if ((b - a).ProvablyAtLeast(0)) return true;
  if (depth == 0) return false;
  if (const DimAtom* min = AtomOf(a, DimAtom::Kind::kMin))
    if (IsAtMost(min->a, b, depth - 1) || IsAtMost(min->b, b, depth - 1)) return true;
  if (const DimAtom* max = AtomOf(b, DimAtom::Kind::kMax))
    if (IsAtMost(a, max->a, depth - 1) || IsAtMost(a, max->b, depth - 1)) return true;
  if (const DimAtom* max = AtomOf(a, DimAtom::Kind::kMax))
    if (IsAtMost(max->a, b, depth - 1) && IsAtMost(max->b, b, depth - 1)) return true;
  const DimAtom* min = AtomOf(b, DimAtom::Kind::kMin);
  return min != nullptr && IsAtMost(a, min->a, depth - 1) && IsAtMost(a, min->b, depth - 1);
}

}  // namespace

bool IsAtMost(const Dim& a, const Dim& b) { return IsAtMost(a, b, kMaxDepth); }

Dim LargerOf(const Dim& a, const Dim& b) {
  if (IsAtMost(a, b)) return b;
  if (IsAtMost(b, a)) return a;
  // max(a, max(p, q)) is max(a, q) if p <= a.
  if (const DimAtom* max = AtomOf(b, DimAtom::Kind::kMax)) {
    if (IsAtMost(max->a, a)) return Dim::Max(a, max->b);
    if (IsAtMost(max->b, a)) return Dim::Max(a, max->a);
  }
  return Dim::Max(a, b);
}

}  // namespace pdl
