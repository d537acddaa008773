#include "onnx/model/shortest_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pdl {
namespace {

TEST(Numbers, ShortestOfADType) {
  EXPECT_EQ(ShortestNumber(static_cast<double>(0.1f), DType::kF32), 0.1);
  EXPECT_EQ(ShortestNumber(static_cast<double>(1e-5f), DType::kF32), 1e-5);
  EXPECT_EQ(ShortestNumber(static_cast<double>(16777217.0f), DType::kF32), 16777216.0);
  EXPECT_EQ(ShortestNumber(0.0999755859375, DType::kF16), 0.1);
  EXPECT_EQ(ShortestNumber(0.10009765625, DType::kBF16), 0.1);
  // Every f32 can be recovered.
  for (const float value : {0.3333333f, 1.0000001f, 3.4028235e38f, 1e-45f, -2.7182817f})
    EXPECT_EQ(static_cast<float>(ShortestNumber(static_cast<double>(value), DType::kF32)), value);
  // Numbers without a shorter representation.
  EXPECT_EQ(ShortestNumber(0.1, DType::kF64), 0.1);
  EXPECT_EQ(ShortestNumber(7, DType::kI32), 7);
  EXPECT_TRUE(std::isinf(ShortestNumber(INFINITY, DType::kF32)));
  EXPECT_TRUE(std::isnan(ShortestNumber(NAN, DType::kF32)));
}

TEST(Numbers, MeantByAnAttribute) {
  EXPECT_EQ(MeantNumber(1e-5f), 1e-5);
  // Off by one ULP from 1e-05, and by two.
  const float beside = std::nextafter(1e-5f, 1.0f);
  EXPECT_EQ(MeantNumber(beside), 1e-5);
  EXPECT_NE(MeantNumber(std::nextafter(beside, 1.0f)), 1e-5);
  EXPECT_EQ(MeantNumber(std::nextafter(0.2f, 0.0f)), 0.2);
  EXPECT_EQ(MeantNumber(0.125f), 0.125);
  EXPECT_EQ(MeantNumber(1.0f / 3), 0.33333334);
  EXPECT_EQ(MeantNumber(0.0f), 0);
  EXPECT_EQ(MeantNumber(-std::numeric_limits<float>::max()), -3.4028235e38);
  EXPECT_TRUE(std::isinf(MeantNumber(INFINITY)));
}

}  // namespace
}  // namespace pdl
