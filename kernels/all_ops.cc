// The list of the families of built-in operators. Each is a file with the one function that is
// declared here: a new family concerns no other.
#include "pdl/op_registry.h"

// In the order in which they are listed.
#define PDL_FAMILIES(FAMILY) \
  FAMILY(UnaryOps)           \
  FAMILY(TranscendentalOps)  \
  FAMILY(PiecewiseOps)       \
  FAMILY(BitwiseOps)         \
  FAMILY(ActivationOps)      \
  FAMILY(BinaryOps)          \
  FAMILY(NaryOps)            \
  FAMILY(ComparisonOps)      \
  FAMILY(MatmulOps)          \
  FAMILY(EinsumOps)          \
  FAMILY(ReductionOps)       \
  FAMILY(ArgExtremeOps)      \
  FAMILY(VarianceOps)        \
  FAMILY(ScanOps)            \
  FAMILY(BlockScanOps)       \
  FAMILY(SegmentOps)         \
  FAMILY(SegmentPoolOps)     \
  FAMILY(SequenceOps)        \
  FAMILY(SequenceRowsOps)    \
  FAMILY(SequenceMakers)     \
  FAMILY(DataSizeOps)        \
  FAMILY(SparseOps)          \
  FAMILY(SoftmaxOps)         \
  FAMILY(NormalizationOps)   \
  FAMILY(StandardizeOps)     \
  FAMILY(LossOps)            \
  FAMILY(PointwiseLossOps)   \
  FAMILY(ShapeOps)           \
  FAMILY(SliceOps)           \
  FAMILY(GatherOps)          \
  FAMILY(PadOps)             \
  FAMILY(DiagonalOps)        \
  FAMILY(GatherNdOps)        \
  FAMILY(ScatterOps)         \
  FAMILY(WriteOps)           \
  FAMILY(SortOps)            \
  FAMILY(AttentionOps)       \
  FAMILY(RotaryOps)          \
  FAMILY(CastOps)            \
  FAMILY(QuantizeOps)        \
  FAMILY(ConstantOps)        \
  FAMILY(RandomOps)          \
  FAMILY(RandomChoiceOps)    \
  FAMILY(OrthogonalOps)      \
  FAMILY(ConvolutionOps)     \
  FAMILY(UnfoldOps)          \
  FAMILY(PoolingOps)         \
  FAMILY(ResizeOps)          \
  FAMILY(UnpoolOps)          \
  FAMILY(DepthSpaceOps)      \
  FAMILY(PlanOps)            \
  FAMILY(DifferentiationOps)

namespace pdl {

#define PDL_DECLARE(family) void Register##family(OpRegistry& registry);
PDL_FAMILIES(PDL_DECLARE)
#undef PDL_DECLARE

OpRegistry& GlobalRegistry() {
  // Never destroyed: plugins and other threads may look at it until the process ends.
  static OpRegistry& registry = *[] {
    auto* all = new OpRegistry();
#define PDL_REGISTER(family) Register##family(*all);
    PDL_FAMILIES(PDL_REGISTER)
#undef PDL_REGISTER
    all->BeginFamily("");
    return all;
  }();
  return registry;
}

}  // namespace pdl
