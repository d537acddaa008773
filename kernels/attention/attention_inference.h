// Type inference shared by attention and its gradient.
#ifndef PDL_KERNELS_ATTENTION_ATTENTION_INFERENCE_H_
#define PDL_KERNELS_ATTENTION_ATTENTION_INFERENCE_H_

#include "pdl/op/dtype.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_registry.h"

namespace pdl {

/// The dtype of log-sum-exp.
inline DType LseDType(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

/// Checks operands 0 to 2 (q, k, v) against each other, and the operands with the indices `past`
/// and `mask` if they are given.
llvm::Error CheckAttention(InferenceContext& context, unsigned past, unsigned mask);

void RegisterAttentionGradient(OpRegistry& registry);

}  // namespace pdl

#endif  // PDL_KERNELS_ATTENTION_ATTENTION_INFERENCE_H_
