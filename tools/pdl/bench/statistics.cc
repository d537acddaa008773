#include "tools/pdl/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace pdl {

double Percentile(llvm::ArrayRef<double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Median(std::vector<double> values) {
  llvm::sort(values);
  return Percentile(values, 0.5);
}

std::vector<double> BlockMedians(llvm::ArrayRef<double> values, size_t blocks) {
  blocks = std::min(blocks, values.size());
  std::vector<double> medians;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t begin = values.size() * i / blocks, end = values.size() * (i + 1) / blocks;
    medians.push_back(Median(values.slice(begin, end - begin).vec()));
  }
  return medians;
}

double RankSumPValue(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<std::pair<double, bool>> all;  // the value, and whether it is of `a`
  for (double value : a) all.emplace_back(value, true);
  for (double value : b) all.emplace_back(value, false);
  llvm::sort(all);
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double ranks = 0, ties = 0;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].first == all[begin].first) ++end;
    // Equal values have the mean of their ranks, begin + 1 to end.
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    const auto count = static_cast<double>(end - begin);
    ties += count * count * count - count;
    for (size_t i = begin; i < end; ++i)
      if (all[i].second) ranks += rank;
  }
  const double u = ranks - n * (n + 1) / 2;
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;  // all values are equal
  const double z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace pdl
