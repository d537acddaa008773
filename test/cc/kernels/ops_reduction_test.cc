// sum, mean, max, min, argmax, softmax, cos_sim.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

// Numbers in a repeating pattern with exact sums.
Tensor Pattern(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  Tensor tensor = MakeAs(dtype, sizes, {});
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(static_cast<double>((i * 7919) % 13) - (dtype == DType::kU8 ? 0 : 4));
  }
  return MakeAs(dtype, sizes, values);
}

struct Naive {
  std::vector<double> sum, max, min;
  int64_t count = 1;
};

Naive Reduce(const Tensor& x, llvm::ArrayRef<int64_t> axes) {
  Naive naive;
  int64_t outputs = 1;
  for (unsigned d = 0; d < x.rank(); ++d) {
    (llvm::is_contained(axes, d) ? naive.count : outputs) *= x.size(d);
  }
  naive.sum.assign(outputs, 0);
  naive.max.assign(outputs, -kInf);
  naive.min.assign(outputs, kInf);
  const std::vector<double> values = Values(x);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
    for (int d = static_cast<int>(x.rank()) - 1; d >= 0; --d) {
      const int64_t index = rest % x.size(d);
      rest /= x.size(d);
      if (llvm::is_contained(axes, d)) continue;
      at += index * stride;
      stride *= x.size(d);
    }
    naive.sum[at] += values[i];
    naive.max[at] = std::max(naive.max[at], values[i]);
    naive.min[at] = std::min(naive.min[at], values[i]);
  }
  return naive;
}

TEST(Reductions, AgreeWithTheDefinition) {
  const std::vector<std::pair<Sizes, std::vector<int64_t>>> cases = {
      {{}, {}},
      {{7}, {0}},
      {{7}, {}},
      {{3, 4}, {0}},
      {{3, 4}, {1}},
      {{3, 4}, {0, 1}},
      {{1, 4, 1}, {0, 2}},
      {{5, 6, 7}, {0, 2}},
      {{5, 6, 7}, {1}},
      {{2, 3, 4, 5, 6}, {0, 2, 4}},
      {{2, 3, 4, 5, 6}, {1, 3}},
      {{1000, 3}, {0}},
      {{3, 1000}, {1}},
      {{2000, 600}, {0}},
      {{40, 50, 60}, {0, 2}},
      {{300000}, {0}},
      {{2, 200000}, {1}},
      {{200000, 2}, {0}},
      {{40, 2, 5000}, {0, 2}},
      {{0, 3}, {1}},
  };
  for (const auto& [sizes, axes] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                              DType::kI32, DType::kI64, DType::kU8}) {
      const Tensor x = Pattern(dtype, sizes);
      const Naive naive = Reduce(x, axes);
      const Attributes attributes = {{"axes", axes}};
      const std::string what = x.TypeString() + " over " + AttributeToString(axes);
      const Tensor sum = Apply("sum", {x}, attributes);
      EXPECT_EQ(sum.dtype(), IsFloat(dtype) ? dtype : DType::kI64);
      if (sum.dtype() == DType::kF16 || dtype == DType::kBF16) {
        const std::vector<double> rounded = Values(MakeAs(dtype, sum.sizes(), naive.sum));
        EXPECT_EQ(Values(sum), rounded) << what;
      } else {
        EXPECT_EQ(Values(sum), naive.sum) << what;
      }
      EXPECT_EQ(Values(Apply("max", {x}, attributes)), naive.max) << what;
      EXPECT_EQ(Values(Apply("min", {x}, attributes)), naive.min) << what;
      if (IsFloat(dtype)) {
        std::vector<double> means;
        for (const double value : naive.sum) means.push_back(value / naive.count);
        means = Values(MakeAs(dtype, sum.sizes(), means));
        EXPECT_EQ(Values(Apply("mean", {x}, attributes)), means) << what;
      }
      for (const int threads : {2, 8}) {
        EXPECT_EQ(Values(Apply("sum", {x}, attributes, {.threads = threads})), Values(sum));
      }
    }
  }
}

TEST(Reductions, SumsOfManyFloatsAreAccurate) {
  const int64_t n = 1000003;
  const std::vector<double> noise = Noise(n);
  const Tensor x = MakeAs(DType::kF32, {n}, noise);
  double expected = 0;
  for (const double value : Values(x)) expected += value;
  const double sum = Values(Apply("sum", {x}, {}, {.threads = 2}))[0];
  EXPECT_NEAR(sum, expected, std::fabs(expected) * 0x1p-23);
  const Tensor tenths =
      Apply("fill", {}, {{"dims", Shape{Dim(n)}}, {"value", Constant::Scalar(DType::kF32, 0.1)}});
  EXPECT_NEAR(Values(Apply("mean", {tenths}))[0], 0.1f, 1e-8);
}

TEST(Reductions, NanAndInfinitySpread) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16}) {
    for (const int64_t at : {0, 5, 99}) {
      std::vector<double> values(100, 1.0);
      values[at] = kNan;
      values[50] = kInf;
      for (const char* op : {"sum", "mean", "max", "min"}) {
        EXPECT_TRUE(std::isnan(Values(Apply(op, {MakeAs(dtype, {100}, values)}))[0])) << op;
        const Tensor columns =
            Apply(op, {MakeAs(dtype, {50, 2}, values)}, {{"axes", std::vector<int64_t>{0}}});
        EXPECT_TRUE(std::isnan(Values(columns)[at % 2])) << op;
        EXPECT_FALSE(std::isnan(Values(columns)[1 - at % 2])) << op;
      }
    }
  }
  EXPECT_EQ(Values(Apply("max", {Make<float>({2}, {-INFINITY, -INFINITY})}))[0], -kInf);
}

TEST(Reductions, OfNothing) {
  const Tensor empty = MakeAs(DType::kF32, {2, 0}, {});
  const Attributes last = {{"axes", std::vector<int64_t>{1}}};
  EXPECT_EQ(Values(Apply("sum", {empty}, last)), (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(Values(Apply("mean", {empty}, last))[1]));
  EXPECT_EQ(Apply("max", {empty}, {{"axes", std::vector<int64_t>{0}}}).num_elements(), 0);
  EXPECT_EQ(InferText("max", {Type(DType::kF32, {2, 0})}, last),
            "301 at 0: the axis must not be empty: 0 is less than 1");
  EXPECT_EQ(InferText("argmax", {Type(DType::kF32, {2, Dim::Symbol("N")})}),
            "i64[2] in 0..N if N >= 1");
}

TEST(Reductions, Argmax) {
  const Tensor x = Make<float>({2, 4}, {1, 3, 3, 2, -1, -2, -1, -5});
  EXPECT_EQ(Values(Apply("argmax", {x})), (std::vector<double>{1, 0}));
  EXPECT_EQ(Values(Apply("argmax", {x}, {{"axis", int64_t{0}}})),
            (std::vector<double>{0, 0, 0, 0}));
  const Tensor kept = Apply("argmax", {x}, {{"axis", int64_t{-1}}, {"keep", true}});
  EXPECT_EQ(kept.sizes(), (llvm::ArrayRef<int64_t>{2, 1}));
  const float nan = std::nanf("");
  const Tensor with_nan = Make<float>({2, 3}, {1, nan, nan, nan, 9, nan});
  EXPECT_EQ(Values(Apply("argmax", {with_nan})), (std::vector<double>{1, 0}));
  EXPECT_EQ(Values(Apply("argmax", {with_nan}, {{"axis", int64_t{0}}})),
            (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(Values(Apply("argmax", {Make<bool>({3}, {false, true, true})})),
            (std::vector<double>{1}));
  EXPECT_EQ(Values(Apply("argmax", {Make<int8_t>({3}, {-128, -128, -128})})),
            (std::vector<double>{0}));
  EXPECT_EQ(InferText("argmax", {Type(DType::kF32, {})}), "306 at axis: a scalar has no axis -1");
}

TEST(Reductions, Reject) {
  const Type x(DType::kF32, {Dim::Symbol("N"), 3});
  EXPECT_EQ(InferText("sum", {x}, {{"axes", std::vector<int64_t>{1}}}), "f32[N]");
  EXPECT_EQ(InferText("sum", {x}, {{"axes", std::vector<int64_t>{2}}}),
            "306 at axes: axis 2 is outside -2..=1");
  EXPECT_EQ(InferText("sum", {x}, {{"axes", std::vector<int64_t>{0, -2}}}),
            "306 at axes: axis 0 is named twice");
  EXPECT_EQ(InferText("mean", {Type(DType::kI32, {3})}),
            "302 at 0: 'x' must be f16, bf16, f32 or f64, got i32[3]");
}

// --- softmax ------------------------------------------------------------------------------------

TEST(Softmax, AgreesWithTheDefinitionAlongEveryAxis) {
  for (const auto& sizes : std::vector<Sizes>{{1}, {5}, {3, 7}, {2, 300, 3}, {4, 2, 200}, {0, 3}}) {
    for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
      for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
        const Tensor like = MakeAs(dtype, sizes, {});
        std::vector<double> noise = Noise(like.num_elements());
        for (double& value : noise) value *= 5;
        const Tensor x = MakeAs(dtype, sizes, noise);
        const Attributes attributes = {{"axis", axis}};
        const std::vector<double> y = Values(Apply("softmax", {x}, attributes));
        EXPECT_EQ(Values(Apply("softmax", {x}, attributes, {.threads = 3, .in_place = true})), y);
        int64_t inner = 1;
        for (size_t d = axis + 1; d < sizes.size(); ++d) inner *= sizes[d];
        const int64_t n = sizes[axis];
        const std::vector<double> in = Values(x);
        for (size_t i = 0; i < in.size(); ++i) {
          const int64_t j = static_cast<int64_t>(i);
          const int64_t start = j / (n * inner) * n * inner + j % inner;
          double sum = 0;
          for (int64_t a = 0; a < n; ++a) sum += std::exp(in[start + a * inner]);
          const double expected = std::exp(in[i]) / sum;
          const double tolerance = dtype == DType::kF64   ? 1e-14
                                   : dtype == DType::kF32 ? 4e-7
                                   : dtype == DType::kF16 ? 1e-3
                                                          : 8e-3;
          ASSERT_NEAR(y[i], expected, tolerance * expected + 6e-8) << x.TypeString();
        }
      }
    }
  }
}

TEST(Softmax, IsStable) {
  const float inf = INFINITY;
  const std::vector<double> large = Values(Apply("softmax", {Make<float>({3}, {1e38f, 1e38f, 0})}));
  EXPECT_EQ(large, (std::vector<double>{0.5, 0.5, 0}));
  EXPECT_EQ(Values(Apply("softmax", {Make<float>({2}, {-inf, 0})})), (std::vector<double>{0, 1}));
  EXPECT_TRUE(std::isnan(Values(Apply("softmax", {Make<float>({2}, {std::nanf(""), 0})}))[1]));
  EXPECT_EQ(InferText("softmax", {Type(DType::kF32, {})}), "306 at axis: a scalar has no axis -1");
}

// --- cos_sim ------------------------------------------------------------------------------------

TEST(CosSim, Infers) {
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(InferText("cos_sim", {Type(DType::kF32, {n, 8}), Type(DType::kF32, {n, 8})}), "f32[N]");
  EXPECT_EQ(InferText("cos_sim", {Type(DType::kF32, {n, 8}), Type(DType::kF32, {n, 9})}),
            "301 at 0, 1: the rows must have the same size: 8 and 9");
  EXPECT_EQ(InferText("cos_sim", {Type(DType::kF32, {}), Type(DType::kF32, {})}),
            "305 at 0: 'x' must have at least one dim, got f32[]");
}

}  // namespace
}  // namespace pdl::testing
