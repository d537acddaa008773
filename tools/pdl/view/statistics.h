#ifndef PDL_TOOLS_PDL_VIEW_STATISTICS_H_
#define PDL_TOOLS_PDL_VIEW_STATISTICS_H_

#include "pdl/compiler/view.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// The statistics of a tensor on the CPU, with a histogram of 32 intervals. Elements are read as
/// doubles; a bool is 0 or 1.
ViewStatistics StatisticsOf(const Tensor& tensor);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_VIEW_STATISTICS_H_
