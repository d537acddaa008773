// constant, zeros, ones, fill, size, uniform, normal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/philox.h"
#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

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
  // Known answers of the reference implementation of Philox4x32-10: counter and key all zeros, and
  // all ones.
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
  EXPECT_EQ(InferText("normal", {}, {{"dims", Shape{}}, {"std", 1e-320}}),
            "203 at std: attribute 'std' of 'normal' must be finite and fit f32, got 1e-320");
  EXPECT_EQ(InferText("orthogonal", {}, {{"dims", ShapeOf({2, 2})}, {"gain", 1e300}}),
            "203 at gain: attribute 'gain' of 'orthogonal' must be finite and fit f32, got 1e+300");
  EXPECT_EQ(InferText("uniform", {}, {{"dims", Shape{}}, {"dtype", DType::kI64}}),
            "302 at dtype: 'dtype' must be f16, bf16, f32 or f64, got i64");
}

}  // namespace
}  // namespace pdl::testing
