#include "kernels/all_ops.h"

namespace pdl {

void RegisterAllOps(OpRegistry& registry) {
  RegisterUnaryOps(registry);
  RegisterTranscendentalOps(registry);
  RegisterPiecewiseOps(registry);
  RegisterBitwiseOps(registry);
  RegisterActivationOps(registry);
  RegisterBinaryOps(registry);
  RegisterNaryOps(registry);
  RegisterComparisonOps(registry);
  RegisterMatmulOps(registry);
  RegisterEinsumOps(registry);
  RegisterReductionOps(registry);
  RegisterArgExtremeOps(registry);
  RegisterVarianceOps(registry);
  RegisterScanOps(registry);
  RegisterBlockScanOps(registry);
  RegisterSegmentOps(registry);
  RegisterSegmentPoolOps(registry);
  RegisterSequenceOps(registry);
  RegisterSequenceRowsOps(registry);
  RegisterSequenceMakers(registry);
  RegisterDataSizeOps(registry);
  RegisterSparseOps(registry);
  RegisterSoftmaxOps(registry);
  RegisterNormalizationOps(registry);
  RegisterStandardizeOps(registry);
  RegisterLossOps(registry);
  RegisterPointwiseLossOps(registry);
  RegisterShapeOps(registry);
  RegisterSliceOps(registry);
  RegisterGatherOps(registry);
  RegisterPadOps(registry);
  RegisterDiagonalOps(registry);
  RegisterGatherNdOps(registry);
  RegisterScatterOps(registry);
  RegisterWriteOps(registry);
  RegisterSortOps(registry);
  RegisterAttentionOps(registry);
  RegisterRotaryOps(registry);
  RegisterCastOps(registry);
  RegisterQuantizeOps(registry);
  RegisterConstantOps(registry);
  RegisterRandomOps(registry);
  RegisterRandomChoiceOps(registry);
  RegisterOrthogonalOps(registry);
  RegisterConvolutionOps(registry);
  RegisterUnfoldOps(registry);
  RegisterPoolingOps(registry);
  RegisterResizeOps(registry);
  RegisterUnpoolOps(registry);
  RegisterDepthSpaceOps(registry);
  RegisterPlanOps(registry);
  RegisterDifferentiationOps(registry);
}

OpRegistry& GlobalRegistry() {
  // Never destroyed: plugins and other threads may look at it until the process ends.
  static OpRegistry& registry = *[] {
    auto* all = new OpRegistry();
    RegisterAllOps(*all);
    all->BeginFamily("");
    return all;
  }();
  return registry;
}

}  // namespace pdl
