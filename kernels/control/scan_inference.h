// Type inference of scan and segment_scan, and checks of their bodies.
#ifndef PDL_KERNELS_CONTROL_SCAN_INFERENCE_H_
#define PDL_KERNELS_CONTROL_SCAN_INFERENCE_H_

#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/op/inference.h"

namespace pdl {

llvm::Error InferBlockScan(InferenceContext& context);
llvm::Expected<std::vector<Type>> ScanBodyTypes(InferenceContext& context);

}  // namespace pdl

#endif  // PDL_KERNELS_CONTROL_SCAN_INFERENCE_H_
