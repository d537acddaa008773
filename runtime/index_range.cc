#include "runtime/index_range.h"

#include <string>

#include "pdl/op/error.h"

namespace pdl {
namespace {

template <typename T>
int64_t FindOutsideOf(const Tensor& tensor, int64_t bound) {
  const T* data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const bool inside =
        data[i] >= 0 && static_cast<uint64_t>(data[i]) < static_cast<uint64_t>(bound);
    if (!inside) return i;
  }
  return -1;
}

std::string ElementText(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kU64) return std::to_string(tensor.data<uint64_t>()[index]);
  if (tensor.dtype() == DType::kI64) return std::to_string(tensor.data<int64_t>()[index]);
  return std::to_string(static_cast<int64_t>(tensor.ToConstant().ElementAsDouble(index)));
}

}  // namespace

int64_t FindOutside(const Tensor& tensor, int64_t bound) {
  switch (tensor.dtype()) {
      // clang-format off
    case DType::kI8: return FindOutsideOf<int8_t>(tensor, bound);
    case DType::kI16: return FindOutsideOf<int16_t>(tensor, bound);
    case DType::kI32: return FindOutsideOf<int32_t>(tensor, bound);
    case DType::kI64: return FindOutsideOf<int64_t>(tensor, bound);
    case DType::kU8: return FindOutsideOf<uint8_t>(tensor, bound);
    case DType::kU16: return FindOutsideOf<uint16_t>(tensor, bound);
    case DType::kU32: return FindOutsideOf<uint32_t>(tensor, bound);
    case DType::kU64: return FindOutsideOf<uint64_t>(tensor, bound);
    default: return -1;
      // clang-format on
  }
}

llvm::Error CheckDeclaredRange(const Type& type, const Tensor& tensor, llvm::StringRef what) {
  if (!type.index_bound || !type.index_bound->is_constant()) return llvm::Error::success();
  const int64_t bound = type.index_bound->constant();
  const int64_t outside = FindOutside(tensor, bound);
  if (outside < 0) return llvm::Error::success();
  return MakeUserError(Code::kIndexRange, "{0} must be in 0..{1}, and element {2} is {3}", what,
                       bound, outside, ElementText(tensor, outside));
}

}  // namespace pdl
