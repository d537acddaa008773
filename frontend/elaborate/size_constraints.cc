#include "frontend/elaborate/size_constraints.h"

#include "frontend/elaborate/budget.h"

namespace pdl {

namespace {

/// The value of a size for the sizes of a counterexample; nullopt if it has none.
std::optional<int64_t> ValueOf(const Dim& size, const Counterexample& example) {
  llvm::Expected<int64_t> value =
      size.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
        for (const auto& [name, number] : example.sizes)
          if (name == symbol) return number;
        return std::nullopt;
      });
  if (value) return *value;
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

}  // namespace

void SizeConstraints::Add(DimCheck check, LocationId location) {
  // It takes as much memory as many statements.
  constexpr uint64_t kSteps = 100;
  if (at_.IsRepeated() && !budget_.Spend(kSteps, {})) return;
  sizes_.known.Add(check);
  sizes_.nonempty.Add(check);
  graph_.AddConstraint({std::move(check), location});
}

bool SizeConstraints::AddAll(std::vector<DimCheck> checks, LocationId location) {
  for (size_t i = 0; i < checks.size(); ++i) {
    if (i > 0 && Decide(checks[i]) == Truth::kFalse) return false;
    Add(std::move(checks[i]), location);
  }
  return true;
}

void SizeConstraints::AssumeNonempty(const Dim& size) {
  size.ForEachSymbol([&](llvm::StringRef symbol) {
    if (!sizes_.at_least_one.insert(symbol).second) return;
    const DimCheck check{Dim::Symbol(symbol.str()), DimCheck::Relation::kAtLeast, 1, ""};
    // A size may be declared to be 0.
    if (sizes_.known.DecideByBounds(check) == Truth::kUnknown) sizes_.nonempty.Add(check);
  });
}

std::optional<std::string> SizeConstraints::NoteIfOnlyEmpty(const DimCheck& check) {
  if (at_.journal != nullptr || check.left.is_ragged() || check.right.is_ragged())
    return std::nullopt;
  AssumeNonempty(check.left);
  AssumeNonempty(check.right);
  if (sizes_.nonempty.DecideByBounds(check) != Truth::kFalse) return std::nullopt;
  const std::optional<Counterexample> example = sizes_.nonempty.Refute(check);
  const std::optional<int64_t> left = example ? ValueOf(check.left, *example) : std::nullopt;
  const std::optional<int64_t> right = example ? ValueOf(check.right, *example) : std::nullopt;
  std::string note;
  if (left && right) {
    note = "for example " + std::to_string(*left) + " and " + std::to_string(*right) + " where " +
           example->ToString() + "; ";
  }
  return note + "no sizes of at least 1 satisfy this";
}

}  // namespace pdl
