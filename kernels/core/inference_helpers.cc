#include "kernels/core/inference_helpers.h"

#include <cmath>
#include <limits>

namespace pdl {
namespace {

// The largest finite number of a dtype.
double Largest(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127;
    case DType::kF32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

llvm::Error InferElementwise(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  context.SetOutput(Type(type->dtype, type->dims));
  return llvm::Error::success();
}

llvm::Expected<Shape> BroadcastDims(InferenceContext& context, llvm::ArrayRef<Dim> left,
                                    llvm::ArrayRef<Dim> right, unsigned left_operand,
                                    unsigned right_operand) {
  const unsigned operands[] = {left_operand, right_operand};
  Shape result(left.begin(), left.end());
  if (right.size() > result.size()) {
    result.insert(result.begin(), right.size() - result.size(), Dim(1));
  }
  const size_t offset = result.size() - right.size();
  for (size_t d = 0; d < right.size(); ++d) {
    Dim& mine = result[offset + d];
    const Dim& theirs = right[d];
    if (mine == theirs || theirs.is_constant(1)) continue;
    if (mine.is_constant(1)) {
      mine = theirs;
      continue;
    }
    const Dim difference = mine - theirs;
    if (difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1) || mine.is_ragged() ||
        theirs.is_ragged()) {
      return context.FailAt(operands, Code::kBroadcast, "sizes do not broadcast: {0} and {1}",
                            mine.ToString(), theirs.ToString());
    }
    if (llvm::Error error =
            context.RequireEqual(mine, theirs, operands, "sizes do not broadcast")) {
      return error;
    }
    // Of two sizes that must be equal, a constant one is more useful.
    if (theirs.is_constant()) mine = theirs;
  }
  return result;
}

llvm::Error RequireSameDType(InferenceContext& context, unsigned left, unsigned right) {
  const DType a = context.input(left).dtype, b = context.input(right).dtype;
  if (a == b) return llvm::Error::success();
  return context.FailAt({left, right}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                        DTypeName(a), DTypeName(b));
}

llvm::Error RequireSameDims(InferenceContext& context, unsigned left, unsigned right,
                            llvm::StringRef message) {
  const Type& a = context.input(left);
  const Type& b = context.input(right);
  if (a.rank() != b.rank()) {
    return context.FailAt({left, right}, Code::kRank, "ranks differ: {0} and {1}", a.rank(),
                          b.rank());
  }
  for (unsigned d = 0; d < a.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(a.dims[d], b.dims[d], {left, right}, message)) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error InferComparison(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  context.SetOutput(Type(DType::kBool, type->dims));
  return llvm::Error::success();
}

llvm::Error CheckDims(InferenceContext& context, llvm::StringRef attribute) {
  return CheckSizes(context, attribute, context.attributes().Dims(attribute));
}

llvm::Error CheckSizes(InferenceContext& context, llvm::StringRef attribute,
                       llvm::ArrayRef<Dim> dims) {
  for (const Dim& dim : dims) {
    if (dim.is_ragged()) continue;
    if (dim.ProvablyAtMost(-1)) {
      return context.FailAtAttribute(attribute, Code::kDimOverflow,
                                     "a size must not be negative, got {0}", dim.ToString());
    }
    if (llvm::Error error = context.RequireAtLeast(dim, 0, {}, "a size is negative")) return error;
  }
  return llvm::Error::success();
}

llvm::Expected<Dim> OneSize(InferenceContext& context, llvm::StringRef attribute) {
  const Shape& dims = context.attributes().Dims(attribute);
  if (dims.size() == 1) return dims[0];
  return context.FailAtAttribute(attribute, Code::kRank, "'{0}' must be one size, got {1}",
                                 attribute, dims.size());
}

llvm::Error CheckDType(InferenceContext& context, llvm::StringRef attribute, DTypeSet accepted) {
  const DType dtype = context.attributes().Dtype(attribute);
  if (accepted.Contains(dtype)) return llvm::Error::success();
  return context.FailAtAttribute(attribute, Code::kOperandDType, "'{0}' must be {1}, got {2}",
                                 attribute, accepted.ToString(), DTypeName(dtype));
}

llvm::Error CheckFinite(InferenceContext& context, llvm::StringRef attribute) {
  const double value = context.attributes().Float(attribute);
  const DType dtype = context.attributes().Dtype("dtype");
  const bool fits = dtype == DType::kF64 || FitsFloat(value);
  if (fits && std::fabs(value) <= Largest(dtype)) return llvm::Error::success();
  return context.FailAtAttribute(attribute, Code::kAttributeRange,
                                 "attribute '{0}' of '{1}' must be finite and fit {2}, got {3}",
                                 attribute, context.def().name(), DTypeName(dtype),
                                 FloatToString(value));
}

llvm::Error InferFromAttributes(InferenceContext& context, DTypeSet accepted) {
  if (llvm::Error error = CheckDims(context, "dims")) return error;
  if (llvm::Error error = CheckDType(context, "dtype", accepted)) return error;
  context.SetOutput(Type(context.attributes().Dtype("dtype"), context.attributes().Dims("dims")));
  return llvm::Error::success();
}

}  // namespace pdl
