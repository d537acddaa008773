#ifndef PDL_TOOLS_PDL_BENCH_STATISTICS_H_
#define PDL_TOOLS_PDL_BENCH_STATISTICS_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace pdl {

/// The value below which `share` (0 to 1) of the values are, interpolated linearly between two of
/// them as NumPy does. `sorted` is sorted and not empty.
double Percentile(llvm::ArrayRef<double> sorted, double share);

/// The median of values in any order; there must be at least one.
double Median(std::vector<double> values);

/// The medians of at most `blocks` consecutive parts of nearly equal length. Consecutive runs are
/// not independent, since the speed of a machine changes slowly; the medians of longer parts
/// are more nearly so.
std::vector<double> BlockMedians(llvm::ArrayRef<double> values, size_t blocks);

/// The two-sided p-value of the rank-sum test of Mann and Whitney, which assumes no distribution:
/// the probability that two samples of one distribution differ at least as much. Uses the normal
/// approximation with corrections for ties and continuity. 1 if a sample is empty.
double RankSumPValue(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BENCH_STATISTICS_H_
