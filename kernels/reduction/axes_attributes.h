// What operators over axes share: the attributes `axes` and `keep`.
#ifndef PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_
#define PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_

#include <cstdint>
#include <optional>

#include "kernels/core/element.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"

namespace pdl {

/// The axes that a call goes over, sorted and from 0 on: all where it names none.
llvm::SmallVector<unsigned, 4> ReducedAxes(const AttributeReader& attributes, unsigned rank);

/// `dims` without `axes`, or with 1 in their place.
Shape ReducedDims(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<unsigned> axes, bool keep);

/// One result of that dtype, of the dims that remain. `needs_element`: an axis must not be empty.
llvm::Error InferReduction(InferenceContext& context, DType dtype, bool needs_element = false);

/// In a gradient rule: the axes of the forward call.
llvm::SmallVector<unsigned, 4> ReducedAxes(GradientContext& g);
/// A value of the result's dims with the reduced axes put back as 1, so that it broadcasts to x.
Value* PutBackAxes(GradientContext& g, Value* value);
/// The same, repeated to the dims of x.
Value* SpreadToInput(GradientContext& g, Value* value);
/// How many elements each result is made of, as a scalar of the dtype of x; in f32 where that has
/// 16 bits, which may not reach it.
Value* ReducedCount(GradientContext& g);

/// Declares x, the result and the attributes.
struct ReductionMaker : OpProtoMaker {
 protected:
  /// `result` is the comment of the output, which is returned.
  OutputBuilder Declare(const char* comment, DTypeSet dtypes, const char* result);
};

}  // namespace pdl

#endif  // PDL_KERNELS_REDUCTION_AXES_ATTRIBUTES_H_
