#include "tools/pdl/support/elements.h"

#include "llvm/Support/Error.h"
#include "pdl/op/half.h"

namespace pdl {

double ElementAsReal(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kF16:
      return static_cast<float>(tensor.data<float16>()[index]);
    case DType::kBF16:
      return static_cast<float>(tensor.data<bfloat16>()[index]);
    case DType::kF32:
      return tensor.data<float>()[index];
    case DType::kF64:
      return tensor.data<double>()[index];
    case DType::kI8:
      return tensor.data<int8_t>()[index];
    case DType::kI16:
      return tensor.data<int16_t>()[index];
    case DType::kI32:
      return tensor.data<int32_t>()[index];
    case DType::kI64:
      return static_cast<double>(tensor.data<int64_t>()[index]);
    case DType::kU8:
      return tensor.data<uint8_t>()[index];
    case DType::kU16:
      return tensor.data<uint16_t>()[index];
    case DType::kU32:
      return tensor.data<uint32_t>()[index];
    case DType::kU64:
      return static_cast<double>(tensor.data<uint64_t>()[index]);
    case DType::kBool:
      return tensor.data<bool>()[index] ? 1 : 0;
  }
  return 0;
}

std::vector<double> ToReals(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(ElementAsReal(tensor, i));
  return values;
}

namespace {

void SetFloat(Tensor& tensor, int64_t index, double value) {
  const float single = static_cast<float>(value);
  if (tensor.dtype() == DType::kF64) tensor.data<double>()[index] = value;
  if (tensor.dtype() == DType::kF32) tensor.data<float>()[index] = single;
  if (tensor.dtype() == DType::kF16) tensor.data<float16>()[index] = float16(single);
  if (tensor.dtype() == DType::kBF16) tensor.data<bfloat16>()[index] = bfloat16(single);
}

}  // namespace

Tensor FromReals(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(dtype, sizes));
  for (size_t i = 0; i < values.size(); ++i) SetFloat(tensor, static_cast<int64_t>(i), values[i]);
  return tensor;
}

Tensor CastFloats(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor cast = llvm::cantFail(Tensor::Allocate(dtype, tensor.sizes()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) SetFloat(cast, i, ElementAsReal(tensor, i));
  return cast;
}

}  // namespace pdl
