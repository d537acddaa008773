#include "tools/pdl/view/statistics.h"

#include <algorithm>
#include <cmath>

#include "pdl/op/type.h"
#include "tools/pdl/support/elements.h"

namespace pdl {
namespace {

constexpr int kBins = 32;

void CountBins(const Tensor& tensor, ViewStatistics& statistics) {
  statistics.bins.assign(kBins, 0);
  // Halved, so that the difference of two large numbers is finite.
  const double low = statistics.min / 2, width = statistics.max / 2 - low;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = ElementAsReal(tensor, i);
    if (!std::isfinite(value)) continue;
    const double share = width > 0 ? (value / 2 - low) / width : 0;
    ++statistics.bins[std::clamp(static_cast<int>(share * kBins), 0, kBins - 1)];
  }
}

}  // namespace

ViewStatistics StatisticsOf(const Tensor& tensor) {
  ViewStatistics statistics;
  const Shape shape(tensor.sizes().begin(), tensor.sizes().end());
  statistics.type = Type(tensor.dtype(), shape).ToString();
  statistics.elements = tensor.num_elements();
  int64_t count = 0;
  double squares = 0;  // the sum of squared distances from the mean (Welford 1962)
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = ElementAsReal(tensor, i);
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? statistics.nans : statistics.infinities);
      continue;
    }
    statistics.min = count == 0 ? value : std::min(statistics.min, value);
    statistics.max = count == 0 ? value : std::max(statistics.max, value);
    ++count;
    const double distance = value - statistics.mean;
    statistics.mean += distance / static_cast<double>(count);
    squares += distance * (value - statistics.mean);
  }
  if (count == 0) return statistics;
  statistics.deviation = std::sqrt(squares / static_cast<double>(count));
  CountBins(tensor, statistics);
  return statistics;
}

}  // namespace pdl
