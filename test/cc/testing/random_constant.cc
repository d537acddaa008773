#include "test/cc/testing/random_constant.h"

#include <cmath>
#include <limits>
#include <memory>

#include "pdl/op/half.h"

namespace pdl {
namespace {

void Store(DType dtype, double value, char* to) {
  const auto store = [&](auto element) { std::memcpy(to, &element, sizeof element); };
  const auto integer = std::isfinite(value) ? static_cast<int64_t>(value) : 0;
  switch (dtype) {
    case DType::kF16:
      return store(float16(static_cast<float>(value)));
    case DType::kBF16:
      return store(bfloat16(static_cast<float>(value)));
    case DType::kF32:
      return store(static_cast<float>(value));
    case DType::kF64:
      return store(value);
    case DType::kBool:
      return store(value != 0);
    default:
      std::memcpy(to, &integer, static_cast<size_t>(DTypeSize(dtype)));  // little-endian
  }
}

double Special(std::mt19937_64& numbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kSpecial[] = {0,    -0.0,   1,         -1,         0.5,  -0.5,  2,
                                 1e-3, 1e-7,   -1e-41,    1e30,       -1e4, 65504, 16777217,
                                 88.8, -103.5, kInfinity, -kInfinity, kNan, 3e38};
  return kSpecial[numbers() % std::size(kSpecial)];
}

}  // namespace

Constant MakeConstant(DType dtype, llvm::ArrayRef<int64_t> sizes,
                      llvm::function_ref<double(int64_t index)> element) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const auto width = static_cast<size_t>(DTypeSize(dtype));
  std::shared_ptr<char[]> bytes(new char[static_cast<size_t>(count) * width]());
  for (int64_t i = 0; i < count; ++i)
    Store(dtype, element(i), bytes.get() + static_cast<size_t>(i) * width);
  return {dtype, sizes, std::shared_ptr<const void>(bytes, bytes.get())};
}

Constant RandomConstant(DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t bound,
                        RandomSource& random) {
  std::mt19937_64 numbers = random.Numbers();
  if (dtype == DType::kBool)
    return MakeConstant(dtype, sizes, [&](int64_t) { return double(numbers() % 2); });
  if (!kFloats.Contains(dtype)) {
    const bool is_signed = bound == 0 && kSignedIntegers.Contains(dtype);
    const auto range = static_cast<uint64_t>(bound > 0 ? bound : is_signed ? 9 : 5);
    return MakeConstant(dtype, sizes, [&](int64_t) {
      return static_cast<double>(numbers() % range) - (is_signed ? 4 : 0);
    });
  }
  const uint32_t kind = random.Below(12);
  return MakeConstant(dtype, sizes, [&](int64_t) {
    const double unit = static_cast<double>(numbers() >> 11) * 0x1p-53;
    switch (kind) {
      case 0:
        return numbers() % 8 == 0 ? Special(numbers) : 4 * unit - 2;
      case 1:  // many equal elements
        return static_cast<double>(numbers() % 3) - 1;
      case 2:
        return unit;
      case 3:
        return std::ldexp(2 * unit - 1, static_cast<int>(numbers() % 20) - 10);
      default:
        return 4 * unit - 2;
    }
  });
}

}  // namespace pdl
