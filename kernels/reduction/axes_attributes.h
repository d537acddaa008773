// The attributes `axes` and `keep` of operators over axes.
#ifndef PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_
#define PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_

#include <cstdint>
#include <optional>

#include "kernels/core/element.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"

namespace pdl {

/// The axes that a call reduces, sorted and from 0 on; all if `axes` is not given.
llvm::SmallVector<unsigned, 4> ReducedAxes(const AttributeReader& attributes, unsigned rank);

/// `dims` without `axes`, or with size 1 for these if `keep`.
Shape ReducedDims(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<unsigned> axes, bool keep);

/// Infers one result with that dtype and the remaining dims. `needs_element`: an axis must not be
/// empty.
llvm::Error InferReduction(InferenceContext& context, DType dtype, bool needs_element = false);

/// In a gradient rule: the axes of the forward call.
llvm::SmallVector<unsigned, 4> ReducedAxes(GradientContext& g);
/// Inserts the reduced axes with size 1 into a value with the result's dims, so that it broadcasts
/// to x.
Value* PutBackAxes(GradientContext& g, Value* value);
/// Like PutBackAxes, then broadcasts to the dims of x.
Value* SpreadToInput(GradientContext& g, Value* value);
/// The number of elements of each result, as a scalar with the dtype of x, or f32 if that has 16
/// bits, whose range may be too small.
Value* ReducedCount(GradientContext& g);

/// Declares x, the result and the attributes.
struct ReductionMaker : OpProtoMaker {
 protected:
  /// `result` is the documentation of the output. Returns that output.
  OutputBuilder Declare(const char* comment, DTypeSet dtypes, const char* result);
};

}  // namespace pdl

#endif  // PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_
