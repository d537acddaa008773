// Type inference shared by several families.
#ifndef PDL_KERNELS_CORE_INFERENCE_HELPERS_H_
#define PDL_KERNELS_CORE_INFERENCE_HELPERS_H_

#include "pdl/op/inference.h"

namespace pdl {

/// One result with the operands' dtype and their broadcast dims.
llvm::Error InferElementwise(InferenceContext& context);
/// The dims of operands `left` and `right` (or a part of them) broadcast together, by the rules of
/// InferBroadcast. `operands` are their numbers, for errors.
llvm::Expected<Shape> BroadcastDims(InferenceContext& context, llvm::ArrayRef<Dim> left,
                                    llvm::ArrayRef<Dim> right, unsigned left_operand = 0,
                                    unsigned right_operand = 1);
/// Returns an Error if these operands have different dtypes.
llvm::Error RequireSameDType(InferenceContext& context, unsigned left, unsigned right);
/// Requires these operands to have the same dims; `message` describes the error.
llvm::Error RequireSameDims(InferenceContext& context, unsigned left, unsigned right,
                            llvm::StringRef message);
/// One bool result with the broadcast dims of the operands.
llvm::Error InferComparison(InferenceContext& context);
/// One result with the dims and dtype in the attributes `dims` and `dtype`; no size may be
/// negative.
llvm::Error InferFromAttributes(InferenceContext& context, DTypeSet accepted);
/// Returns an Error at a dtype attribute whose value no kernel supports.
llvm::Error CheckDType(InferenceContext& context, llvm::StringRef attribute, DTypeSet accepted);
/// Checks a float attribute of an operator that creates numbers of the dtype in the attribute
/// `dtype`: returns an Error at it if it is not finite, or would be infinite in that dtype, or 0 in
/// f32 without being 0.
llvm::Error CheckFinite(InferenceContext& context, llvm::StringRef attribute);
/// Checks the dims in a shape attribute: returns an Error at it if one is negative, and emits a
/// run-time check where that is not known.
llvm::Error CheckDims(InferenceContext& context, llvm::StringRef attribute);
/// The same for sizes that are computed from that attribute.
llvm::Error CheckSizes(InferenceContext& context, llvm::StringRef attribute,
                       llvm::ArrayRef<Dim> dims);
/// The single size in a shape attribute, or an Error at it.
llvm::Expected<Dim> OneSize(InferenceContext& context, llvm::StringRef attribute);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_INFERENCE_HELPERS_H_
