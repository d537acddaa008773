#include "kernels/all_ops.h"

namespace pdl {

void RegisterAllOps(OpRegistry& registry) {
  RegisterUnaryOps(registry);
  RegisterActivationOps(registry);
  RegisterBinaryOps(registry);
  RegisterNaryOps(registry);
  RegisterComparisonOps(registry);
  RegisterMatmulOps(registry);
  RegisterReductionOps(registry);
  RegisterScanOps(registry);
  RegisterSoftmaxOps(registry);
  RegisterNormalizationOps(registry);
  RegisterLossOps(registry);
  RegisterShapeOps(registry);
  RegisterSliceOps(registry);
  RegisterGatherOps(registry);
  RegisterCastOps(registry);
  RegisterConstantOps(registry);
  RegisterRandomOps(registry);
  RegisterConvolutionOps(registry);
  RegisterUnfoldOps(registry);
  RegisterPoolingOps(registry);
  RegisterUnpoolOps(registry);
  RegisterDepthSpaceOps(registry);
  RegisterPlanOps(registry);
}

OpRegistry& GlobalRegistry() {
  // Never destroyed: plugins and other threads may look at it until the process ends.
  static OpRegistry& registry = *[] {
    auto* all = new OpRegistry();
    RegisterAllOps(*all);
    return all;
  }();
  return registry;
}

}  // namespace pdl
