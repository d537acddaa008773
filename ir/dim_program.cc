#include "ir/dim_program.h"

#include <algorithm>

namespace pdl {

DimProgram::DimProgram(const Dim& dim, llvm::function_ref<int(llvm::StringRef)> index_of) {
  AddDim(dim, index_of);
  known_.clear();
  values_.resize(steps_.size());
}

size_t DimProgram::AddStep(Step step) {
  steps_.push_back(step);
  return steps_.size() - 1;
}

size_t DimProgram::AddDim(const Dim& dim, llvm::function_ref<int(llvm::StringRef)> index_of) {
  if (!dim.is_valid()) {
    has_value_ = false;
    return 0;
  }
  const llvm::SmallVector<DimTerm, 1> terms = DimPolynomial::Terms(dim);
  // The factors and terms of operands come before those of the sum.
  std::vector<std::vector<Factor>> of_terms;
  for (const DimTerm& term : terms) {
    std::vector<Factor>& factors = of_terms.emplace_back();
    for (const auto& [atom, power] : term.factors)
      factors.push_back({AddAtom(*atom, index_of), power});
  }
  const size_t first_term = terms_.size();
  for (size_t i = 0; i < terms.size(); ++i) {
    terms_.push_back({terms[i].coefficient, factors_.size(), of_terms[i].size()});
    factors_.insert(factors_.end(), of_terms[i].begin(), of_terms[i].end());
  }
  return AddStep({Step::Kind::kSum, DimAtom::Kind::kSymbol, first_term, terms.size()});
}

size_t DimProgram::AddAtom(const DimAtom& atom, llvm::function_ref<int(llvm::StringRef)> index_of) {
  if (const auto known = known_.find(&atom); known != known_.end()) return known->second;
  size_t value = 0;
  if (atom.kind == DimAtom::Kind::kSymbol) {
    const int index = index_of(atom.symbol);
    has_value_ &= index >= 0;
    value = AddStep({Step::Kind::kSize, atom.kind, static_cast<size_t>(std::max(index, 0)), 0});
  } else {
    const size_t a = AddDim(atom.a, index_of), b = AddDim(atom.b, index_of);
    value = AddStep({Step::Kind::kAtom, atom.kind, a, b});
  }
  known_[&atom] = value;
  return value;
}

std::optional<int64_t> DimProgram::SumOf(const Step& sum) const {
  int64_t total = 0;
  for (size_t i = sum.first; i < sum.first + sum.second; ++i) {
    const Term& term = terms_[i];
    int64_t product = term.coefficient;
    for (size_t j = term.first_factor; j < term.first_factor + term.num_factors; ++j)
      for (unsigned k = 0; k < factors_[j].power; ++k)
        if (__builtin_mul_overflow(product, values_[factors_[j].value], &product))
          return std::nullopt;
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  return total;
}

std::optional<int64_t> DimProgram::Compute(const Step& step, llvm::ArrayRef<int64_t> sizes) const {
  if (step.kind == Step::Kind::kSize) return sizes[step.first];
  if (step.kind == Step::Kind::kSum) return SumOf(step);
  const int64_t a = values_[step.first], b = values_[step.second];
  switch (step.of_atom) {
    case DimAtom::Kind::kMin:
      return std::min(a, b);
    case DimAtom::Kind::kMax:
      return std::max(a, b);
    default: {
      const Dim result = step.of_atom == DimAtom::Kind::kMod ? Dim::Mod(a, b) : Dim::FloorDiv(a, b);
      return result.is_constant() ? std::optional(result.constant()) : std::nullopt;
    }
  }
}

std::optional<int64_t> DimProgram::Evaluate(llvm::ArrayRef<int64_t> sizes) const {
  if (!has_value_) return std::nullopt;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const std::optional<int64_t> value = Compute(steps_[i], sizes);
    if (!value) return std::nullopt;
    values_[i] = *value;
  }
  return values_.back();
}

}  // namespace pdl
