#include "kernels/cuda_ops.h"

// The families, each a file with the one function that is declared here.
#define PDL_FAMILIES(FAMILY)    \
  FAMILY(UnaryKernels)          \
  FAMILY(TranscendentalKernels) \
  FAMILY(PiecewiseKernels)      \
  FAMILY(BitwiseKernels)        \
  FAMILY(ActivationKernels)     \
  FAMILY(BinaryKernels)         \
  FAMILY(NaryKernels)           \
  FAMILY(ComparisonKernels)     \
  FAMILY(MatmulKernels)         \
  FAMILY(ReductionKernels)      \
  FAMILY(ScanKernels)           \
  FAMILY(BlockScanKernels)      \
  FAMILY(DataSizeKernels)       \
  FAMILY(SegmentKernels)        \
  FAMILY(SegmentPoolKernels)    \
  FAMILY(SparseKernels)         \
  FAMILY(SoftmaxKernels)        \
  FAMILY(NormalizationKernels)  \
  FAMILY(LossKernels)           \
  FAMILY(PointwiseLossKernels)  \
  FAMILY(ShapeKernels)          \
  FAMILY(SliceKernels)          \
  FAMILY(GatherKernels)         \
  FAMILY(PadKernels)            \
  FAMILY(DiagonalKernels)       \
  FAMILY(GatherNdKernels)       \
  FAMILY(ScatterKernels)        \
  FAMILY(WriteKernels)          \
  FAMILY(SortKernels)           \
  FAMILY(AttentionKernels)      \
  FAMILY(RotaryKernels)         \
  FAMILY(CastKernels)           \
  FAMILY(QuantizeKernels)       \
  FAMILY(ConstantKernels)       \
  FAMILY(RandomKernels)         \
  FAMILY(RandomChoiceKernels)   \
  FAMILY(OrthogonalKernels)     \
  FAMILY(ConvolutionKernels)    \
  FAMILY(UnfoldKernels)         \
  FAMILY(PoolingKernels)        \
  FAMILY(UnpoolKernels)         \
  FAMILY(ResizeKernels)

namespace pdl::cuda {

#define PDL_DECLARE(family) void Add##family(OpRegistry& registry);
PDL_FAMILIES(PDL_DECLARE)
#undef PDL_DECLARE

void AddAllKernels(OpRegistry& registry) {
#define PDL_ADD(family) Add##family(registry);
  PDL_FAMILIES(PDL_ADD)
#undef PDL_ADD
}

}  // namespace pdl::cuda
