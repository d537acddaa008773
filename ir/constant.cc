#include "pdl/op/constant.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "ir/round_to_odd.h"
#include "pdl/op/half.h"

namespace pdl {
namespace {

/// Calls `f` with a pointer to the element's C++ type, to read or write one element.
template <typename Pointer, typename F>
void WithElement(DType dtype, Pointer* bytes, int64_t index, F f) {
  auto as = [&]<typename T>(T*) {
    using Element = std::conditional_t<std::is_const_v<Pointer>, const T, T>;
    f(static_cast<Element*>(bytes) + index);
  };
  switch (dtype) {
      // clang-format off
    case DType::kF16: return as(static_cast<float16*>(nullptr));
    case DType::kBF16: return as(static_cast<bfloat16*>(nullptr));
    case DType::kF32: return as(static_cast<float*>(nullptr));
    case DType::kF64: return as(static_cast<double*>(nullptr));
    case DType::kI8: return as(static_cast<int8_t*>(nullptr));
    case DType::kI16: return as(static_cast<int16_t*>(nullptr));
    case DType::kI32: return as(static_cast<int32_t*>(nullptr));
    case DType::kI64: return as(static_cast<int64_t*>(nullptr));
    case DType::kU8: return as(static_cast<uint8_t*>(nullptr));
    case DType::kU16: return as(static_cast<uint16_t*>(nullptr));
    case DType::kU32: return as(static_cast<uint32_t*>(nullptr));
    case DType::kU64: return as(static_cast<uint64_t*>(nullptr));
    case DType::kBool: return as(static_cast<bool*>(nullptr));
      // clang-format on
  }
}

}  // namespace

Constant::Constant(DType dtype, llvm::ArrayRef<int64_t> sizes, std::shared_ptr<const void> bytes)
    : dtype_(dtype), sizes_(sizes), num_elements_(1), bytes_(std::move(bytes)) {
  for (int64_t size : sizes) num_elements_ *= size;
}

Constant Constant::Copy(DType dtype, llvm::ArrayRef<int64_t> sizes, const void* bytes) {
  Constant result(dtype, sizes, nullptr);
  size_t count = static_cast<size_t>(result.num_bytes());
  std::shared_ptr<void> copy(::operator new(std::max<size_t>(count, 1), std::align_val_t(64)),
                             [](void* p) { ::operator delete(p, std::align_val_t(64)); });
  if (count > 0) std::memcpy(copy.get(), bytes, count);
  result.bytes_ = std::move(copy);
  return result;
}

// `value` without its fraction, or the nearest integer in the range of T; 0 for nan.
template <class T>
static T SaturatingInteger(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  // The largest integer plus one is a power of two, which a double holds.
  if (value >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<T>(value);
}

Constant Constant::Scalar(DType dtype, double value) {
  char bytes[8] = {};
  WithElement(dtype, static_cast<void*>(bytes), 0, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      *element = T(RoundToOdd(value));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      *element = SaturatingInteger<T>(value);
    } else {
      *element = static_cast<T>(value);
    }
  });
  return Copy(dtype, {}, bytes);
}

double Constant::ElementAsDouble(int64_t index) const {
  assert(index >= 0 && index < num_elements_ && "element out of range");
  double result = 0;
  WithElement(dtype_, bytes_.get(), index, [&](auto* element) {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(element)>>;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      result = static_cast<float>(*element);
    } else {
      result = static_cast<double>(*element);
    }
  });
  return result;
}

bool operator==(const Constant& a, const Constant& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  return a.data() == b.data() || a.num_bytes() == 0 ||
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.num_bytes())) == 0;
}

}  // namespace pdl
