#include "tools/pdl/bisect/delta_debug.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace pdl {
namespace {

using Subset = std::vector<size_t>;

/// The k-th of `parts` parts of nearly equal length, and all others.
std::pair<Subset, Subset> Split(const Subset& all, size_t k, size_t parts) {
  const auto at = [&](size_t part) {
    return all.begin() + static_cast<std::ptrdiff_t>(all.size() * part / parts);
  };
  std::pair<Subset, Subset> split;
  split.first.assign(at(k), at(k + 1));
  split.second.assign(all.begin(), at(k));
  split.second.insert(split.second.end(), at(k + 1), all.end());
  return split;
}

/// A smaller subset that shows the failure: one of the parts, or all but one of them. Nullopt if
/// none does.
llvm::Expected<std::optional<Subset>> Smaller(const Subset& all, size_t parts, bool complements,
                                              ShowsFailure shows) {
  for (size_t k = 0; k < parts; ++k) {
    auto [part, others] = Split(all, k, parts);
    Subset& candidate = complements ? others : part;
    if (candidate.empty()) continue;
    llvm::Expected<bool> shown = shows(candidate);
    if (!shown) return shown.takeError();
    if (*shown) return std::move(candidate);
  }
  return std::nullopt;
}

}  // namespace

llvm::Expected<std::vector<size_t>> DeltaDebug(size_t n, ShowsFailure shows) {
  Subset subset(n);
  std::iota(subset.begin(), subset.end(), size_t{0});
  size_t parts = 2;
  while (subset.size() > 1) {
    parts = std::min(parts, subset.size());
    auto smaller = Smaller(subset, parts, /*complements=*/false, shows);
    if (!smaller) return smaller.takeError();
    if (*smaller) {
      subset = std::move(**smaller);
      parts = 2;
      continue;
    }
    // With two parts, each is the complement of the other.
    if (parts > 2) {
      smaller = Smaller(subset, parts, /*complements=*/true, shows);
      if (!smaller) return smaller.takeError();
      if (*smaller) {
        subset = std::move(**smaller);
        --parts;
        continue;
      }
    }
    if (parts == subset.size()) break;
    parts *= 2;
  }
  return subset;
}

}  // namespace pdl
