// Inference that several families share.
#ifndef PDL_KERNELS_CORE_INFERENCE_HELPERS_H_
#define PDL_KERNELS_CORE_INFERENCE_HELPERS_H_

#include "pdl/op/inference.h"

namespace pdl {

/// One result of the operands' dtype, broadcast.
llvm::Error InferElementwise(InferenceContext& context);
/// The dims of operands `left` and `right` (or a part of them) broadcast together, by the rules of
/// InferBroadcast. The operands are those of these numbers.
llvm::Expected<Shape> BroadcastDims(InferenceContext& context, llvm::ArrayRef<Dim> left,
                                    llvm::ArrayRef<Dim> right, unsigned left_operand = 0,
                                    unsigned right_operand = 1);
/// An Error where the operands of these numbers have different dtypes.
llvm::Error RequireSameDType(InferenceContext& context, unsigned left, unsigned right);
/// Requires the operands of these numbers to have the same dims; `message` says what is wrong where
/// they do not.
llvm::Error RequireSameDims(InferenceContext& context, unsigned left, unsigned right,
                            llvm::StringRef message);
/// One bool result, broadcast.
llvm::Error InferComparison(InferenceContext& context);
/// One result of the attributes `dims` and `dtype`; nothing in `dims` may be negative.
llvm::Error InferFromAttributes(InferenceContext& context, DTypeSet accepted);
/// An Error at a dtype attribute where no kernel has that dtype.
llvm::Error CheckDType(InferenceContext& context, llvm::StringRef attribute, DTypeSet accepted);
/// The dims in a shape attribute: an Error at it where one is negative, a check where
/// that is not known.
llvm::Error CheckDims(InferenceContext& context, llvm::StringRef attribute);
/// The same for sizes that come of that attribute.
llvm::Error CheckSizes(InferenceContext& context, llvm::StringRef attribute,
                       llvm::ArrayRef<Dim> dims);
/// The one size in a shape attribute, or an Error at it.
llvm::Expected<Dim> OneSize(InferenceContext& context, llvm::StringRef attribute);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_INFERENCE_HELPERS_H_
