// Traversals of a Dim: evaluation, substitution, printing.
#include "ir/dim_polynomial.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/dim.h"

namespace pdl {
namespace {

llvm::Error Overflow(const Dim& dim) {
  return llvm::createStringError(llvm::formatv("{0} overflows 64 bits", dim.ToString()).str());
}

using Lookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

llvm::Expected<int64_t> EvaluateAtom(const DimAtom& atom, Lookup lookup) {
  if (atom.kind == DimAtom::Kind::kSymbol) {
    if (std::optional<int64_t> value = lookup(atom.symbol)) return *value;
    return llvm::createStringError(
        llvm::formatv("the size of {0} is not known", atom.symbol).str());
  }
  llvm::Expected<int64_t> a = atom.a.Evaluate(lookup);
  if (!a) return a.takeError();
  llvm::Expected<int64_t> b = atom.b.Evaluate(lookup);
  if (!b) return b.takeError();
  Dim result;
  switch (atom.kind) {
    case DimAtom::Kind::kFloorDiv:
    case DimAtom::Kind::kMod:
      if (*b == 0)
        return llvm::createStringError(
            llvm::formatv("division by zero: {0} is 0", atom.b.ToString()).str());
      result = atom.kind == DimAtom::Kind::kMod ? Dim::Mod(*a, *b) : Dim::FloorDiv(*a, *b);
      break;
    case DimAtom::Kind::kMin:
      result = std::min(*a, *b);
      break;
    default:
      result = std::max(*a, *b);
      break;
  }
  if (!result.is_constant()) return Overflow(atom.a);
  return result.constant();
}

Dim SubstituteAtom(const DimAtom& atom,
                   llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) {
  if (atom.kind == DimAtom::Kind::kSymbol) {
    std::optional<Dim> value = lookup(atom.symbol);
    return value ? *value : Dim::Symbol(atom.symbol);
  }
  Dim a = atom.a.Substitute(lookup), b = atom.b.Substitute(lookup);
  switch (atom.kind) {
    case DimAtom::Kind::kFloorDiv:
      return Dim::FloorDiv(a, b);
    case DimAtom::Kind::kMod:
      return Dim::Mod(a, b);
    case DimAtom::Kind::kMin:
      return Dim::Min(a, b);
    default:
      return Dim::Max(a, b);
  }
}

/// Formats an operand of * or //, in parentheses unless it binds more tightly.
std::string Parenthesized(const Dim& dim) {
  bool simple = dim.is_constant() ? dim.constant() >= 0 : !dim.symbol().empty();
  if (!simple && !dim.is_constant() && dim.polynomial()->terms.size() == 1) {
    const DimTerm& term = dim.polynomial()->terms[0];
    simple = term.coefficient == 1 && term.factors.size() == 1 && term.factors[0].second == 1 &&
             (term.factors[0].first->kind == DimAtom::Kind::kMin ||
              term.factors[0].first->kind == DimAtom::Kind::kMax);
  }
  return simple ? dim.ToString() : "(" + dim.ToString() + ")";
}

std::string AtomToString(const DimAtom& atom, bool inside_product) {
  switch (atom.kind) {
    case DimAtom::Kind::kSymbol:
      return atom.symbol;
    case DimAtom::Kind::kMin:
      return "min(" + atom.a.ToString() + ", " + atom.b.ToString() + ")";
    case DimAtom::Kind::kMax:
      return "max(" + atom.a.ToString() + ", " + atom.b.ToString() + ")";
    default: {
      const char* sign = atom.kind == DimAtom::Kind::kMod ? " % " : " // ";
      std::string text = Parenthesized(atom.a) + sign + Parenthesized(atom.b);
      return inside_product ? "(" + text + ")" : text;
    }
  }
}

}  // namespace

llvm::Expected<int64_t> Dim::Evaluate(Lookup lookup) const {
  if (is_constant()) return constant_;
  if (!is_valid()) return llvm::createStringError("a size overflows 64 bits");
  int64_t sum = 0;
  for (const DimTerm& term : polynomial_->terms) {
    int64_t product = term.coefficient;
    for (const auto& [atom, power] : term.factors) {
      llvm::Expected<int64_t> value = EvaluateAtom(*atom, lookup);
      if (!value) return value.takeError();
      for (unsigned i = 0; i < power; ++i)
        if (__builtin_mul_overflow(product, *value, &product)) return Overflow(*this);
    }
    if (__builtin_add_overflow(sum, product, &sum)) return Overflow(*this);
  }
  return sum;
}

Dim Dim::Substitute(llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) const {
  if (is_constant() || !is_valid()) return *this;
  Dim sum = 0;
  for (const DimTerm& term : polynomial_->terms) {
    Dim product = term.coefficient;
    for (const auto& [atom, power] : term.factors) {
      Dim value = SubstituteAtom(*atom, lookup);
      for (unsigned i = 0; i < power; ++i) product = product * value;
    }
    sum = sum + product;
  }
  return sum;
}

void Dim::ForEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const {
  if (is_constant() || !is_valid()) return;
  for (const DimTerm& term : polynomial_->terms) {
    for (const auto& [atom, power] : term.factors) {
      if (atom->kind == DimAtom::Kind::kSymbol) {
        visit(atom->symbol);
      } else {
        atom->a.ForEachSymbol(visit);
        atom->b.ForEachSymbol(visit);
      }
    }
  }
}

/// Adds "2*N", or " - 2*N" after another term.
static void AppendTerm(uint64_t magnitude, bool negative, const DimTerm& term, std::string* text) {
  if (text->empty()) {
    if (negative) *text += "-";
  } else {
    *text += negative ? " - " : " + ";
  }
  const bool alone = magnitude == 1 && term.factors.size() == 1 && term.factors[0].second == 1;
  bool first = true;
  if (magnitude != 1 || term.factors.empty()) {
    *text += std::to_string(magnitude);
    first = false;
  }
  for (const auto& [atom, power] : term.factors) {
    if (!first) *text += "*";
    first = false;
    *text += AtomToString(*atom, !alone || negative);
    if (power > 1) *text += "**" + std::to_string(power);
  }
}

std::string Dim::ToString() const {
  if (is_constant()) return std::to_string(constant_);
  if (!is_valid()) return "(too large)";
  std::string text;
  for (const DimTerm& term : polynomial_->terms) {
    const bool negative = term.coefficient < 0;
    uint64_t magnitude = static_cast<uint64_t>(term.coefficient);
    if (negative) magnitude = 0 - magnitude;
    // Source has no integer as large as the magnitude of the smallest.
    const bool is_smallest = term.coefficient == INT64_MIN;
    AppendTerm(is_smallest ? magnitude - 1 : magnitude, negative, term, &text);
    if (is_smallest) AppendTerm(1, negative, term, &text);
  }
  return text;
}

std::string ShapeToString(llvm::ArrayRef<Dim> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i].ToString();
  }
  return text + "]";
}

Dim NumElements(llvm::ArrayRef<Dim> shape) {
  Dim product = 1;
  for (const Dim& dim : shape) product = product * dim;
  return product;
}

}  // namespace pdl
