#include "pdl/op/tensor.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "gtest/gtest.h"
#include "pdl/op/device_context.h"
#include "pdl/op/half.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

template <typename T>
Tensor Make(DType dtype, Sizes sizes, std::vector<T> values) {
  return Tensor::FromValues<T>(dtype, sizes, values);
}

Tensor Ramp(Sizes sizes) {
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kI64, sizes));
  std::iota(tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.num_elements(), 0);
  return tensor;
}

std::string PrintF32(std::vector<float> values) {
  auto size = static_cast<int64_t>(values.size());
  return TensorToString(Make<float>(DType::kF32, {size}, values));
}

TEST(Tensor, AllocatesZeroedMemory) {
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kF64, {2, 3}));
  EXPECT_EQ(tensor.TypeString(), "f64[2, 3]");
  EXPECT_EQ(tensor.num_bytes(), 48);
  EXPECT_TRUE(tensor.owns_memory());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 64, 0u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(tensor.data<double>()[i], 0);
}

TEST(Tensor, AScalarHasOneElement) {
  Tensor tensor = Unwrap(Tensor::Allocate(DType::kI8, {}));
  EXPECT_EQ(tensor.num_elements(), 1);
  EXPECT_EQ(tensor.TypeString(), "i8[]");
}

TEST(Tensor, SharesTheBytesOfAConstant) {
  Constant constant = Constant::Copy(DType::kF32, {2}, std::vector<float>{1, 2}.data());
  Tensor tensor = Tensor::FromConstant(constant);
  EXPECT_EQ(tensor.raw(), constant.data());
  EXPECT_EQ(tensor.ToConstant().data(), constant.data());
}

TEST(Tensor, ABorrowedTensorBecomesACopy) {
  float memory[2] = {1, 2};
  Tensor tensor;
  tensor.Borrow(DType::kF32, {2}, memory, {});
  EXPECT_FALSE(tensor.owns_memory());
  Constant constant = tensor.ToConstant();
  memory[0] = 7;
  EXPECT_EQ(constant.values<float>()[0], 1);
}

TEST(Tensor, ChecksSizes) {
  EXPECT_EQ(Unwrap(CheckedNumBytes(DType::kF32, {3, 5})), 60);
  EXPECT_EQ(Unwrap(CheckedNumBytes(DType::kF32, {0, 5})), 0);
  EXPECT_EQ(Message(CheckedNumBytes(DType::kF32, {2, -1})),
            "f32[2, -1] has a negative size [PDL0307]");
  EXPECT_EQ(Message(Tensor::Allocate(DType::kF64, {int64_t{1} << 31, int64_t{1} << 31})),
            "f64[2147483648, 2147483648] takes more bytes than 63 bits can count [PDL0307]");
  EXPECT_NE(Message(CheckedNumBytes(DType::kI8, {0, INT64_MAX, 2})), "");
}

TEST(Tensor, RefusesWhatExceedsTheMemoryLimit) {
  const int64_t before = MemoryLimit();
  SetMemoryLimit(int64_t{3} << 20);
  EXPECT_EQ(Message(Tensor::Allocate(DType::kF32, {1 << 30})),
            "a tensor f32[1073741824] needs 4.0 GiB, but the memory limit is 3.0 MiB [PDL0506]");
  {
    Tensor two = Unwrap(Tensor::Allocate(DType::kU8, {2 << 20}));
    EXPECT_EQ(Message(Tensor::Allocate(DType::kU8, {2 << 20})),
              "a tensor u8[2097152] needs 2.0 MiB, but the memory limit is 3.0 MiB, of which 2.0 "
              "MiB are in use [PDL0506]");
    EXPECT_EQ(Message(CPUContext(1).Allocate(2 << 20)),
              "a run needs 2.0 MiB, but the memory limit is 3.0 MiB, of which 2.0 MiB are in use "
              "[PDL0506]");
  }
  EXPECT_EQ(Message(Tensor::Allocate(DType::kU8, {2 << 20})), "");
  SetMemoryLimit(before);
}

TEST(TensorToString, Vectors) {
  EXPECT_EQ(PrintF32({5.0f, 2.7015116f, 16777215.0f}), "[5.0, 2.7015116, 16777215.0]");
  EXPECT_EQ(PrintF32({0.0f, -0.0f, 0.1f, 1e-4f, 123456.0f}), "[0.0, -0.0, 0.1, 0.0001, 123456.0]");
  EXPECT_EQ(PrintF32({1e-5f, 1e8f, 12345678.0f, 1.5e-8f}), "[1e-05, 1e+08, 12345678.0, 1.5e-08]");
  EXPECT_EQ(PrintF32({NAN, INFINITY, -INFINITY}), "[nan, inf, -inf]");
  EXPECT_EQ(TensorToString(Make<int8_t>(DType::kI8, {3}, {-128, 0, 127})), "[-128, 0, 127]");
  EXPECT_EQ(TensorToString(Make<uint64_t>(DType::kU64, {1}, {UINT64_MAX})),
            "[18446744073709551615]");
  EXPECT_EQ(TensorToString(Make<uint8_t>(DType::kBool, {2}, {1, 0})), "[true, false]");
}

TEST(TensorToString, EightDigitsInAnArrayAndAllInAScalar) {
  EXPECT_EQ(TensorToString(Make<double>(DType::kF64, {2}, {1.0 / 3, 0.1 + 0.2})),
            "[0.33333333, 0.3]");
  EXPECT_EQ(TensorToString(Make<double>(DType::kF64, {}, {0.1 + 0.2})), "0.30000000000000004");
  EXPECT_EQ(TensorToString(Make<float>(DType::kF32, {}, {100000000.0f})), "100000000.0");
  EXPECT_EQ(TensorToString(Make<double>(DType::kF64, {1}, {0.999999999999})), "[1.0]");
}

TEST(TensorToString, HalvesInTheirOwnShortestForm) {
  EXPECT_EQ(TensorToString(Make<float16>(DType::kF16, {3},
                                         {float16(0.1f), float16(65504.0f), float16(6e-8f)})),
            "[0.1, 65500.0, 6e-08]");
  EXPECT_EQ(TensorToString(Make<bfloat16>(DType::kBF16, {2}, {bfloat16(0.1f), bfloat16(3.14f)})),
            "[0.1, 3.14]");
}

TEST(TensorToString, MatricesInColumns) {
  EXPECT_EQ(TensorToString(Make<float>(DType::kF32, {2, 2}, {1, 2.5, -10.25, 4})),
            "[[  1.0 ,   2.5 ],\n"
            " [-10.25,   4.0 ]]");
  EXPECT_EQ(TensorToString(Make<uint8_t>(DType::kBool, {2, 2}, {1, 0, 1, 1})),
            "[[ true, false],\n"
            " [ true,  true]]");
  EXPECT_EQ(TensorToString(Ramp({2, 2, 2})),
            "[[[0, 1],\n"
            "  [2, 3]],\n"
            "\n"
            " [[4, 5],\n"
            "  [6, 7]]]");
}

TEST(TensorToString, Empty) {
  EXPECT_EQ(TensorToString(Ramp({0})), "[]");
  EXPECT_EQ(TensorToString(Ramp({3, 0, 2})), "[]");
}

TEST(TensorToString, AbbreviatesLongOnes) {
  EXPECT_EQ(TensorToString(Ramp({1001})), "[0, 1, 2, ..., 998, 999, 1000]");
  EXPECT_EQ(TensorToString(Ramp({7, 7}), {.threshold = 10, .edge = 1}),
            "[[ 0, ...,  6],\n"
            " ...,\n"
            " [42, ..., 48]]");
}

TEST(TensorToString, BreaksLongRows) {
  EXPECT_EQ(TensorToString(Ramp({8}), {.line_width = 12}),
            "[0, 1, 2, 3,\n"
            " 4, 5, 6, 7]");
}

}  // namespace
}  // namespace pdl
