// Scalars of all dtypes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "pdl/op/constant.h"

namespace pdl {
namespace {

const double kInf = std::numeric_limits<double>::infinity();

template <class T>
T ScalarOf(DType dtype, double value) {
  return *static_cast<const T*>(Constant::Scalar(dtype, value).data());
}

template <class T>
void ExpectSaturating(DType dtype) {
  const T smallest = std::numeric_limits<T>::min();
  const T largest = std::numeric_limits<T>::max();
  const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
  EXPECT_EQ(ScalarOf<T>(dtype, 2.9), 2);
  EXPECT_EQ(ScalarOf<T>(dtype, -0.9), 0);
  EXPECT_EQ(ScalarOf<T>(dtype, NAN), 0);
  for (double value : {past, 1e300, kInf}) EXPECT_EQ(ScalarOf<T>(dtype, value), largest) << value;
  for (double value : {-past - past, -1e300, -kInf})
    EXPECT_EQ(ScalarOf<T>(dtype, value), smallest) << value;
  // The largest double below 2^digits.
  const double below = std::nextafter(past, 0);
  EXPECT_EQ(ScalarOf<T>(dtype, below), static_cast<T>(below));
}

TEST(Scalar, IntegersSaturate) {
  ExpectSaturating<int8_t>(DType::kI8);
  ExpectSaturating<int16_t>(DType::kI16);
  ExpectSaturating<int32_t>(DType::kI32);
  ExpectSaturating<int64_t>(DType::kI64);
  ExpectSaturating<uint8_t>(DType::kU8);
  ExpectSaturating<uint16_t>(DType::kU16);
  ExpectSaturating<uint32_t>(DType::kU32);
  ExpectSaturating<uint64_t>(DType::kU64);
}

TEST(Scalar, OtherDTypesConvertAsCpp) {
  EXPECT_EQ(ScalarOf<float>(DType::kF32, 0.1), 0.1f);
  EXPECT_EQ(ScalarOf<float>(DType::kF32, kInf), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(ScalarOf<double>(DType::kF64, NAN)));
  EXPECT_TRUE(ScalarOf<bool>(DType::kBool, 0.5));
  EXPECT_FALSE(ScalarOf<bool>(DType::kBool, 0));
}

}  // namespace
}  // namespace pdl
