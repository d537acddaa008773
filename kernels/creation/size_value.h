#ifndef PDL_KERNELS_CREATION_SIZE_VALUE_H_
#define PDL_KERNELS_CREATION_SIZE_VALUE_H_

#include <limits>

#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"
#include "pdl/op/operator.h"
#include "pdl/op/storage.h"

namespace pdl {

/// Whether an integer is in the range of a dtype; rounding to a float is allowed.
inline bool HoldsInteger(DType dtype, int64_t number) {
  // Larger numbers are rounded to an infinity.
  constexpr int64_t kEndOfHalf = 65520;
  switch (dtype) {
    case DType::kI8:
      return number == static_cast<int8_t>(number);
    case DType::kU8:
      return number == static_cast<uint8_t>(number);
    case DType::kI32:
      return number == static_cast<int32_t>(number);
    case DType::kF16:
      return number < kEndOfHalf && number > -kEndOfHalf;
    default:
      return true;
  }
}

/// The product of the sizes in the attribute `dims` of a call of `size`. An Error if it is not
/// known, or not in the range of the result's dtype.
inline llvm::Expected<int64_t> EvaluateSize(const PrepareContext& context,
                                            const AttributeReader& attributes) {
  const Dim count = NumElements(attributes.Dims("dims"));
  llvm::Expected<int64_t> value = context.Evaluate(count);
  if (!value) return value;
  const DType dtype = context.outputs()[0].dtype;
  if (HoldsInteger(dtype, *value)) return value;
  return MakeUserError(Code::kLiteral, "the size {0}{1} does not fit in {2}, in which it is used",
                       count.is_constant() ? "" : count.ToString() + " = ", *value,
                       DTypeName(dtype));
}

}  // namespace pdl

#endif  // PDL_KERNELS_CREATION_SIZE_VALUE_H_
