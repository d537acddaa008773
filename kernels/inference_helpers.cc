#include "kernels/inference_helpers.h"

namespace pdl {

llvm::Error InferElementwise(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  context.SetOutput(Type(type->dtype, type->dims));
  return llvm::Error::success();
}

llvm::Error InferComparison(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  context.SetOutput(Type(DType::kBool, type->dims));
  return llvm::Error::success();
}

llvm::Error CheckDims(InferenceContext& context, llvm::StringRef attribute) {
  for (const Dim& dim : context.attributes().Dims(attribute)) {
    if (!dim.is_valid()) {
      return context.FailAtAttribute(attribute, Code::kDimOverflow,
                                     "a size in '{0}' leaves 64 bits or divides by zero",
                                     attribute);
    }
    if (dim.ProvablyAtMost(-1)) {
      return context.FailAtAttribute(attribute, Code::kDimOverflow,
                                     "a size must not be negative, got {0}", dim.ToString());
    }
    if (llvm::Error error = context.RequireAtLeast(dim, 0, {}, "a size is negative")) return error;
  }
  return llvm::Error::success();
}

llvm::Error InferFromAttributes(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "dims")) return error;
  context.SetOutput(Type(context.attributes().Dtype("dtype"), context.attributes().Dims("dims")));
  return llvm::Error::success();
}

}  // namespace pdl
