// The families of built-in operators, in the order in which `pdl ops` lists them. A family named
// NAME has a source file with `void RegisterNAMEOps(OpRegistry&)`, which declares its operators; a
// family with CUDA kernels has a `.cu` source file with `void AddNAMEKernels(OpRegistry&)`. The
// list is explicit, since a linker drops static initializers of archive members that nothing refers
// to.
#ifndef PDL_KERNELS_CORE_FAMILIES_H_
#define PDL_KERNELS_CORE_FAMILIES_H_

#define PDL_FAMILIES(CPU, CPU_AND_CUDA) \
  CPU_AND_CUDA(Unary)                   \
  CPU_AND_CUDA(Transcendental)          \
  CPU_AND_CUDA(Piecewise)               \
  CPU_AND_CUDA(Bitwise)                 \
  CPU_AND_CUDA(Activation)              \
  CPU_AND_CUDA(Binary)                  \
  CPU_AND_CUDA(Nary)                    \
  CPU_AND_CUDA(Comparison)              \
  CPU_AND_CUDA(Matmul)                  \
  CPU(Einsum)                           \
  CPU_AND_CUDA(Solve)                   \
  CPU_AND_CUDA(Decomposition)           \
  CPU_AND_CUDA(Determinant)             \
  CPU_AND_CUDA(Eigenvalues)             \
  CPU_AND_CUDA(SingularValues)          \
  CPU_AND_CUDA(LeastSquares)            \
  CPU_AND_CUDA(MatrixFunction)          \
  CPU_AND_CUDA(Reduction)               \
  CPU(ArgMinMax)                        \
  CPU(Variance)                         \
  CPU_AND_CUDA(Cumulative)              \
  CPU_AND_CUDA(Scan)                    \
  CPU_AND_CUDA(Assertion)               \
  CPU_AND_CUDA(Segment)                 \
  CPU_AND_CUDA(SegmentPool)             \
  CPU(Sequence)                         \
  CPU(SequenceRows)                     \
  CPU(SequenceMake)                     \
  CPU_AND_CUDA(DataSize)                \
  CPU_AND_CUDA(Sparse)                  \
  CPU_AND_CUDA(Softmax)                 \
  CPU_AND_CUDA(Normalization)           \
  CPU(Standardize)                      \
  CPU_AND_CUDA(Loss)                    \
  CPU_AND_CUDA(PointwiseLoss)           \
  CPU_AND_CUDA(Shape)                   \
  CPU_AND_CUDA(Slice)                   \
  CPU_AND_CUDA(Gather)                  \
  CPU_AND_CUDA(Pad)                     \
  CPU_AND_CUDA(Diagonal)                \
  CPU_AND_CUDA(GatherNd)                \
  CPU_AND_CUDA(Scatter)                 \
  CPU_AND_CUDA(Write)                   \
  CPU_AND_CUDA(Sort)                    \
  CPU_AND_CUDA(Attention)               \
  CPU_AND_CUDA(Rotary)                  \
  CPU_AND_CUDA(Cast)                    \
  CPU_AND_CUDA(Quantize)                \
  CPU_AND_CUDA(Constant)                \
  CPU_AND_CUDA(Random)                  \
  CPU_AND_CUDA(RandomChoice)            \
  CPU_AND_CUDA(Orthogonal)              \
  CPU_AND_CUDA(Convolution)             \
  CPU_AND_CUDA(Unfold)                  \
  CPU_AND_CUDA(Pooling)                 \
  CPU_AND_CUDA(Resize)                  \
  CPU_AND_CUDA(Unpool)                  \
  CPU(DepthSpace)                       \
  CPU(PlanValue)                        \
  CPU(Differentiation)

#endif  // PDL_KERNELS_CORE_FAMILIES_H_
