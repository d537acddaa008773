// constant, zeros, ones, fill, size, uniform, normal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/philox.h"
#include "op_test_util.h"

namespace pdl::testing {
namespace {

Shape ShapeOf(llvm::ArrayRef<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

TEST(Constants, HoldWhatTheySay) {
  const Constant value = Make<int64_t>({2, 2}, {1, 2, 3, 4}).ToConstant();
  const Tensor y = Apply("constant", {}, {{"value", value}});
  EXPECT_EQ(y.TypeString(), "i64[2, 2]");
  EXPECT_EQ(Values(y), (std::vector<double>{1, 2, 3, 4}));
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI8,
                            DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    const Attributes attributes = {{"dims", ShapeOf({3})}, {"dtype", dtype}};
    EXPECT_EQ(Values(Apply("zeros", {}, attributes)), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(Values(Apply("ones", {}, attributes)), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(
        Values(Apply(
            "fill", {},
            {{"dims", ShapeOf({2})}, {"dtype", dtype}, {"value", Constant::Scalar(dtype, 1)}})),
        (std::vector<double>{1, 1}));
  }
  EXPECT_EQ(Apply("zeros", {}, {{"dims", ShapeOf({0, 5})}}).num_elements(), 0);
  EXPECT_EQ(Values(Apply("size", {}, {{"dims", ShapeOf({3, 4})}, {"dtype", DType::kF32}})),
            (std::vector<double>{12}));
  EXPECT_EQ(Values(Apply("size", {}, {{"dims", Shape{}}})), (std::vector<double>{1}));
}

TEST(Constants, Infer) {
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(InferText("zeros", {}, {{"dims", Shape{n, 2}}}), "f32[N, 2]");
  EXPECT_EQ(InferText("zeros", {}, {{"dims", Shape{n - 1}}}), "f32[N - 1] if N - 1 >= 0");
  EXPECT_EQ(InferText("zeros", {}, {{"dims", ShapeOf({-2})}}),
            "307 at dims: a size must not be negative, got -2");
  EXPECT_EQ(InferText("ones", {}, {{"dims", Shape{}}, {"dtype", DType::kU16}}),
            "302 at dtype: 'dtype' must be f16, bf16, f32, f64, i8, i32, i64, u8 or bool, got u16");
  EXPECT_EQ(InferText("size", {}, {{"dims", Shape{n}}}), "i64[]");
  const Constant number = Constant::Scalar(DType::kF32, 1);
  EXPECT_EQ(InferText("constant", {}, {{"value", number}, {"dtype", DType::kI64}}),
            "303 at value: 'value' is f32, 'dtype' is i64");
  EXPECT_EQ(
      InferText("fill", {}, {{"dims", Shape{}}, {"value", Make<float>({1}, {1}).ToConstant()}}),
      "305 at value: 'value' must be one number, got 1 dims");
}

TEST(Philox, GivesTheWordsOfThePaper) {
  // Known answers of the authors' library for Philox4x32-10: counter and key of zeros, of ones.
  const auto zeros = random::Philox({0, 0}, 0);
  EXPECT_EQ(zeros.w0, 0x6627e8d5u);
  EXPECT_EQ(zeros.w1, 0xe169c58du);
  EXPECT_EQ(zeros.w2, 0xbc57ac4cu);
  EXPECT_EQ(zeros.w3, 0x9b00dbd8u);
  const auto ones = random::Philox({~uint64_t{0}, ~uint64_t{0}}, ~uint64_t{0});
  EXPECT_EQ(ones.w0, 0x408f276du);
  EXPECT_EQ(ones.w1, 0x41c83b0eu);
  EXPECT_EQ(ones.w2, 0xa20bc7c6u);
  EXPECT_EQ(ones.w3, 0x6d5451fdu);
}

Tensor Draw(const char* op, int64_t n, DType dtype, const RunOptions& options = {},
            const char* name = "y") {
  return Apply(op, {}, {{"dims", ShapeOf({n})}, {"dtype", dtype}}, options, name);
}

TEST(Random, HasTheRightMoments) {
  const int64_t n = 200000;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16}) {
    for (const char* op : {"uniform", "normal"}) {
      const std::vector<double> x = Values(Draw(op, n, dtype));
      double mean = 0, square = 0, cross = 0;
      for (int64_t i = 0; i < n; ++i) {
        mean += x[i] / n;
        square += x[i] * x[i] / n;
        cross += x[i] * x[(i + 1) % n] / n;
      }
      const bool is_uniform = std::string(op) == "uniform";
      EXPECT_NEAR(mean, is_uniform ? 0.5 : 0, 0.01);
      EXPECT_NEAR(square - mean * mean, is_uniform ? 1.0 / 12 : 1, 0.02);
      EXPECT_NEAR(cross - mean * mean, 0, 0.01);
      if (is_uniform) {
        EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
        EXPECT_LT(*std::max_element(x.begin(), x.end()), 1);
      } else {
        EXPECT_GT(*std::max_element(x.begin(), x.end()), 3.5);
      }
    }
  }
}

TEST(Random, DependsOnSeedRunAndNameAlone) {
  for (const char* op : {"uniform", "normal"}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const auto first = Values(Draw(op, 10007, dtype));
      EXPECT_EQ(Values(Draw(op, 10007, dtype, {.threads = 3})), first);
      const auto fewer = Values(Draw(op, 11, dtype));
      EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), first.begin()));
      EXPECT_NE(Values(Draw(op, 10007, dtype, {.random = {.seed = 1}})), first);
      EXPECT_NE(Values(Draw(op, 10007, dtype, {.random = {.run_count = 1}})), first);
      EXPECT_NE(Values(Draw(op, 10007, dtype, {}, "z")), first);
    }
  }
}

TEST(Random, StaysInItsRange) {
  const Attributes narrow = {{"dims", ShapeOf({1000})}, {"low", 1.0}, {"high", 1.0 + 0x1p-20}};
  for (const double x : Values(Apply("uniform", {}, narrow))) {
    EXPECT_GE(x, 1);
    EXPECT_LT(x, 1 + 0x1p-20);
  }
  const Attributes point = {{"dims", ShapeOf({3})}, {"low", 0.1}, {"high", 0.1}};
  EXPECT_EQ(Apply("uniform", {}, point).data<float>()[2], 0.1f);
  const Attributes wide = {{"dims", ShapeOf({1000})}, {"low", -3e38}, {"high", 3e38}};
  for (const double x : Values(Apply("uniform", {}, wide))) EXPECT_LE(std::fabs(x), 3.1e38);
  EXPECT_EQ(Values(Apply("normal", {}, {{"dims", ShapeOf({2})}, {"mean", 3.0}, {"std", 0.0}})),
            (std::vector<double>{3, 3}));
  EXPECT_EQ(InferText("uniform", {}, {{"dims", Shape{}}, {"low", 2.0}}),
            "203 at high: 'high' must not be smaller than 'low': 1.0 and 2.0");
  EXPECT_EQ(InferText("normal", {}, {{"dims", Shape{}}, {"std", -1.0}}).substr(0, 10),
            "203 at std");
  EXPECT_EQ(InferText("normal", {}, {{"dims", Shape{}}, {"mean", INFINITY}}),
            "203 at mean: attribute 'mean' of 'normal' must be finite and fit f32, got inf");
  EXPECT_EQ(InferText("uniform", {}, {{"dims", Shape{}}, {"dtype", DType::kI64}}),
            "302 at dtype: 'dtype' must be f16, bf16, f32 or f64, got i64");
}

}  // namespace
}  // namespace pdl::testing
