// moments, normalize, standardize; the ranges of initializers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using Ints = std::vector<int64_t>;

double Tolerance(DType dtype) {
  return dtype == DType::kF64   ? 1e-13
         : dtype == DType::kF32 ? 1e-6
         : dtype == DType::kF16 ? 1e-3
                                : 8e-3;
}

struct Moments {
  std::vector<double> mean, variance;
};

// In two passes, by the definition.
Moments Naive(const Tensor& x, llvm::ArrayRef<int64_t> keep) {
  int64_t outputs = 1, count = 1;
  for (unsigned d = 0; d < x.rank(); ++d) {
    (llvm::is_contained(keep, d) ? outputs : count) *= x.size(d);
  }
  Moments moments{std::vector<double>(outputs, 0), std::vector<double>(outputs, 0)};
  const std::vector<double> values = Values(x);
  for (const bool second : {false, true}) {
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
      for (int d = static_cast<int>(x.rank()) - 1; d >= 0; --d) {
        const int64_t index = rest % x.size(d);
        rest /= x.size(d);
        if (!llvm::is_contained(keep, d)) continue;
        at += index * stride;
        stride *= x.size(d);
      }
      const double distance = values[i] - moments.mean[at];
      (second ? moments.variance[at] : moments.mean[at]) +=
          (second ? distance * distance : values[i] / static_cast<double>(count));
    }
  }
  for (double& variance : moments.variance) variance /= static_cast<double>(count);
  return moments;
}

TEST(Moments, AgreeWithTheDefinition) {
  const std::vector<std::pair<Sizes, Ints>> cases = {
      {{}, {}},
      {{7}, {}},
      {{7}, {0}},
      {{3, 4}, {1}},
      {{3, 4}, {0}},
      {{3, 4}, {0, 1}},
      {{2, 3, 4, 5}, {1}},
      {{2, 3, 4, 5}, {0, 2}},
      {{2, 3, 4, 5}, {1, 3}},
      {{6, 16, 7, 7}, {1}},
      {{500, 3}, {1}},
      {{40, 700}, {1}},
      {{3, 100000}, {0}},
      {{200000}, {}},
      {{30000, 8}, {1}},
      {{20, 2, 9000}, {1}},
      {{0, 3}, {0}},
  };
  for (const auto& [sizes, keep] : cases) {
    for (const DType dtype : kFloatDTypes) {
      const Tensor like = MakeAs(dtype, sizes, {});
      std::vector<double> noise = Noise(like.num_elements());
      for (double& value : noise) value = value * 3 + 10;
      const Tensor x = MakeAs(dtype, sizes, noise);
      const Moments expected = Naive(x, keep);
      const Attributes attributes = {{"keep", keep}};
      const auto once = llvm::cantFail(TryApply("moments", {x}, attributes));
      const std::vector<double> mean = Values(once[0]), variance = Values(once[1]);
      ASSERT_EQ(mean.size(), expected.mean.size());
      for (size_t i = 0; i < mean.size(); ++i) {
        ASSERT_NEAR(mean[i], expected.mean[i], 10 * Tolerance(dtype)) << x.TypeString();
        ASSERT_NEAR(variance[i], expected.variance[i], 4 * Tolerance(dtype)) << x.TypeString();
      }
      const auto more = llvm::cantFail(TryApply("moments", {x}, attributes, {.threads = 3}));
      EXPECT_EQ(Values(more[0]), mean);
      EXPECT_EQ(Values(more[1]), variance);
    }
  }
}

TEST(Moments, LoseNothingFarFromZero) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(1e5 + (i % 2 == 0 ? 0.0625 : -0.0625));
  for (const Ints& keep : {Ints{}, Ints{1}}) {
    const auto moments = llvm::cantFail(
        TryApply("moments", {MakeAs(DType::kF32, {5000, 2}, values)}, {{"keep", keep}}));
    EXPECT_NEAR(Values(moments[1])[0], keep.empty() ? 0.00390625 : 0, 1e-9);
  }
  for (double& value : values) value = value * 1e3;
  const auto far = llvm::cantFail(TryApply("moments", {MakeAs(DType::kF64, {10000}, values)}, {}));
  EXPECT_NEAR(Values(far[1])[0], 62.5 * 62.5, 1e-6);
}

TEST(Moments, OfNothingAndOfNan) {
  const auto nothing =
      llvm::cantFail(TryApply("moments", {MakeAs(DType::kF32, {0, 2}, {})}, {{"keep", Ints{1}}}));
  EXPECT_TRUE(std::isnan(Values(nothing[0])[1]));
  EXPECT_TRUE(std::isnan(Values(nothing[1])[1]));
  const auto spread = llvm::cantFail(TryApply(
      "moments", {MakeAs(DType::kF32, {2, 3}, {1, kNan, 3, 1, 2, INFINITY})}, {{"keep", Ints{1}}}));
  EXPECT_EQ(Values(spread[0])[0], 1);
  EXPECT_TRUE(std::isnan(Values(spread[0])[1]));
  EXPECT_TRUE(std::isinf(Values(spread[0])[2]));
  EXPECT_EQ(Values(spread[1])[0], 0);
  EXPECT_TRUE(std::isnan(Values(spread[1])[2]));
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(InferText("moments", {Type(DType::kF32, {n, 3, 4})}, {{"keep", Ints{1, 0}}}),
            "f32[N, 3], f32[N, 3]");
  EXPECT_EQ(InferText("moments", {Type(DType::kF32, {n})}, {{"keep", Ints{1}}}),
            "306 at keep: axis 1 is outside -1..=0");
  EXPECT_EQ(InferText("moments", {Type(DType::kI64, {n})}).substr(0, 3), "302");
}

TEST(Normalize, ScalesEachChannel) {
  for (const DType dtype : kFloatDTypes) {
    const Tensor mean = MakeAs(dtype, {2}, {1, 2}), variance = MakeAs(dtype, {2}, {4, 0.25});
    const Tensor gamma = MakeAs(dtype, {2}, {2, 1}), beta = MakeAs(dtype, {2}, {0.5, -1});
    const Attributes exact = {{"eps", 0.0}};
    const Tensor x = MakeAs(dtype, {1, 2, 3}, {1, 3, 5, 2, 3, 1});
    EXPECT_EQ(Values(Apply("normalize", {x, mean, variance}, exact)),
              (std::vector<double>{0, 1, 2, 0, 2, -2}));
    EXPECT_EQ(Values(Apply("normalize", {x, mean, variance, gamma}, exact, {.in_place = true})),
              (std::vector<double>{0, 2, 4, 0, 2, -2}));
    EXPECT_EQ(Values(Apply("normalize", {x, mean, variance, gamma, beta}, exact)),
              (std::vector<double>{0.5, 2.5, 4.5, -1, 1, -3}));
    const Tensor rows = MakeAs(dtype, {3, 2}, {1, 2, 3, 3, 5, 1});
    const Attributes last = {{"eps", 0.0}, {"axis", int64_t{-1}}};
    EXPECT_EQ(Values(Apply("normalize", {rows, mean, variance}, last)),
              (std::vector<double>{0, 0, 1, 2, 2, -2}));
    EXPECT_EQ(Values(Apply("normalize", {rows, mean, variance, gamma, beta}, last)),
              (std::vector<double>{0.5, -1, 2.5, 1, 4.5, -3}));
    EXPECT_EQ(Apply("normalize", {MakeAs(dtype, {0, 2, 3}, {}), mean, variance}).num_elements(), 0);
  }
  const Tensor x = MakeAs(DType::kF32, {20, 30, 40}, Noise(24000));
  const Tensor mean = MakeAs(DType::kF32, {30}, Noise(30, 2));
  const Tensor variance = Apply("abs", {MakeAs(DType::kF32, {30}, Noise(30, 3))});
  EXPECT_EQ(Values(Apply("normalize", {x, mean, variance}, {}, {.threads = 3})),
            Values(Apply("normalize", {x, mean, variance})));
}

TEST(Normalize, Infers) {
  const Dim n = Dim::Symbol("N"), c = Dim::Symbol("C");
  const Type x(DType::kF32, {n, c, 4}), channel(DType::kF32, {c});
  EXPECT_EQ(InferText("normalize", {x, channel, channel, channel}), "f32[N, C, 4]");
  EXPECT_EQ(InferText("normalize", {x, channel, channel}, {{"axis", int64_t{2}}}),
            "f32[N, C, 4] if 4 == C if 4 == C");
  EXPECT_EQ(InferText("normalize", {x, channel, Type(DType::kF32, {c, 1})}),
            "305 at 2: 'variance' must have one dim, got f32[C, 1]");
  EXPECT_EQ(InferText("normalize", {x, channel, Type(DType::kF64, {c})}),
            "303 at 0, 2: dtypes differ: f32 and f64");
  EXPECT_EQ(InferText("normalize", {x, channel, channel}, {{"eps", -1.0}}).substr(0, 10),
            "203 at eps");
  EXPECT_EQ(InferText("normalize", {x, channel}).substr(0, 3), "205");
}

TEST(Standardize, AgreesWithTheDefinition) {
  for (const auto& sizes : std::vector<Sizes>{{1}, {5}, {3, 7}, {40, 768}, {4, 5, 6}, {3, 10000}}) {
    for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
      for (const DType dtype : kFloatDTypes) {
        const Tensor like = MakeAs(dtype, sizes, {});
        const Tensor x = MakeAs(dtype, sizes, Noise(like.num_elements()));
        const Attributes attributes = {{"axis", axis}, {"eps", 1e-5}};
        const std::vector<double> y = Values(Apply("standardize", {x}, attributes));
        EXPECT_EQ(Values(Apply("standardize", {x}, attributes, {.threads = 3, .in_place = true})),
                  y);
        Ints rows;
        int64_t n = 1;
        for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
          if (d < axis) {
            rows.push_back(d);
          } else {
            n *= sizes[d];
          }
        }
        const Moments moments = Naive(x, rows);
        const std::vector<double> in = Values(x);
        for (size_t i = 0; i < in.size(); ++i) {
          const size_t row = i / static_cast<size_t>(n);
          const double expected =
              (in[i] - moments.mean[row]) / std::sqrt(moments.variance[row] + 1e-5);
          ASSERT_NEAR(y[i], expected, 4 * Tolerance(dtype)) << x.TypeString();
        }
      }
    }
  }
}

TEST(Standardize, Corners) {
  const std::vector<double> far =
      Values(Apply("standardize", {Make<float>({2, 2}, {1e6f, 1e6f + 1, 3, 3})}));
  EXPECT_NEAR(far[0], -1, 1e-4);
  EXPECT_NEAR(far[1], 1, 1e-4);
  EXPECT_EQ(far[2], 0);
  const std::vector<double> with_nan =
      Values(Apply("standardize", {Make<float>({2, 2}, {NAN, 1, 0, 2})}));
  EXPECT_TRUE(std::isnan(with_nan[1]));
  EXPECT_NEAR(with_nan[3], 1, 1e-4);
  EXPECT_EQ(Apply("standardize", {MakeAs(DType::kF32, {0, 4}, {})}).num_elements(), 0);
  EXPECT_EQ(Apply("standardize", {MakeAs(DType::kF32, {4, 0}, {})}).num_elements(), 0);
  EXPECT_EQ(InferText("standardize", {Type(DType::kF32, {})}),
            "306 at axis: a scalar has no axis -1");
}

// --- Initializers --------------------------------------------------------------------------------

struct Spread {
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Spread SpreadOf(const char* op, Attributes attributes, const Shape& dims,
                DType dtype = DType::kF32) {
  attributes.push_back({"dims", dims});
  attributes.push_back({"dtype", dtype});
  const std::vector<double> x = Values(Apply(op, {}, attributes));
  Spread spread;
  for (const double value : x) spread.mean += value / static_cast<double>(x.size());
  for (const double value : x) {
    spread.deviation += value * value / static_cast<double>(x.size());
  }
  spread.deviation = std::sqrt(spread.deviation - spread.mean * spread.mean);
  spread.least = *std::min_element(x.begin(), x.end());
  spread.most = *std::max_element(x.begin(), x.end());
  return spread;
}

TEST(FirstValues, HaveTheSpreadOfTheirSizes) {
  const double kRoot3 = std::sqrt(3.0);
  const auto expect = [&](const char* op, const Attributes& attributes, const Shape& dims,
                          double deviation) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Spread spread = SpreadOf(op, attributes, dims, dtype);
      EXPECT_NEAR(spread.mean, 0, 0.02 * deviation) << op;
      EXPECT_NEAR(spread.deviation, deviation, 0.02 * deviation) << op;
      if (std::string(op).find("uniform") == std::string::npos) continue;
      EXPECT_GE(spread.least, -kRoot3 * deviation * 1.0001) << op;
      EXPECT_LT(spread.most, kRoot3 * deviation * 1.0001) << op;
    }
  };
  const Shape dense = {200, 300}, window = {40, 30, 5, 5};
  for (const char* op : {"xavier_uniform", "xavier_normal"}) {
    expect(op, {}, dense, std::sqrt(2.0 / 500));
    expect(op, {{"gain", 3.0}}, dense, 3 * std::sqrt(2.0 / 500));
    expect(op, {}, window, std::sqrt(2.0 / (70 * 25)));
    expect(op, {{"layout", "in_out"}}, {50, 20, 30}, std::sqrt(2.0 / 50));
  }
  for (const char* op : {"he_uniform", "he_normal"}) {
    expect(op, {}, dense, std::sqrt(2.0 / 200));
    expect(op, {{"mode", "fan_out"}}, dense, std::sqrt(2.0 / 300));
    expect(op, {{"layout", "out_in"}, {"gain", 1.0}}, dense, std::sqrt(1.0 / 300));
    expect(op, {}, window, std::sqrt(2.0 / (30 * 25)));
    expect(op, {{"mode", "fan_out"}}, window, std::sqrt(2.0 / (40 * 25)));
  }
  EXPECT_EQ(Apply("he_normal", {}, {{"dims", Shape{0, 5}}}).num_elements(), 0);
  EXPECT_EQ(Apply("xavier_uniform", {}, {{"dims", Shape{}}}).num_elements(), 1);
  EXPECT_EQ(InferText("xavier_uniform", {}, {{"dims", Shape{3}}, {"layout", "in_out"}}),
            "305 at layout: 'dims' must have two sizes or more for this layout, got [3]");
  EXPECT_EQ(InferText("he_normal", {}, {{"dims", Shape{3}}, {"gain", -1.0}}).substr(0, 11),
            "203 at gain");
}

TEST(FirstValues, TruncatedNormal) {
  for (const DType dtype : kFloatDTypes) {
    const Spread two = SpreadOf("truncated_normal", {}, {100000}, dtype);
    EXPECT_NEAR(two.mean, 0, 0.01);
    EXPECT_NEAR(two.deviation, 0.87962566, 0.01);
    EXPECT_GE(two.least, -2);
    EXPECT_LE(two.most, 2);
    EXPECT_LT(two.least, -1.98);
  }
  const Spread shifted = SpreadOf(
      "truncated_normal", {{"mean", 5.0}, {"std", 0.5}, {"low", 0.0}, {"high", 3.0}}, {100000});
  EXPECT_NEAR(shifted.mean, 5 + 0.5 * 0.7910, 0.01);
  EXPECT_GE(shifted.least, 5);
  EXPECT_LE(shifted.most, 6.5);
  // If the limits do not matter, it is a normal distribution.
  const Spread whole =
      SpreadOf("truncated_normal", {{"low", -30.0}, {"high", 30.0}}, {200000}, DType::kF64);
  EXPECT_NEAR(whole.deviation, 1, 0.01);
  EXPECT_GT(whole.most, 3.7);
  EXPECT_EQ(
      InferText("truncated_normal", {}, {{"dims", Shape{}}, {"low", 2.0}, {"high", 1.0}}),
      "203 at high: the interval from 'low' to 'high' has almost no probability: 2.0 and 1.0");
  const Attributes attributes = {{"dims", Shape{10007}}};
  EXPECT_EQ(Values(Apply("truncated_normal", {}, attributes, {.threads = 3})),
            Values(Apply("truncated_normal", {}, attributes)));
}

}  // namespace
}  // namespace pdl::testing
