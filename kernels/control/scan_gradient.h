#ifndef PDL_KERNELS_CONTROL_SCAN_GRADIENT_H_
#define PDL_KERNELS_CONTROL_SCAN_GRADIENT_H_

#include "pdl/op/gradient.h"

namespace pdl {

/// The gradient rule of scan and segment_scan, which builds a loop in the other direction.
void ScanGradient(GradientContext& g);

}  // namespace pdl

#endif  // PDL_KERNELS_CONTROL_SCAN_GRADIENT_H_
