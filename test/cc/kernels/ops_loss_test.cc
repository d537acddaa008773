// log_softmax, cross_entropy, binary_cross_entropy, mse, norm, flatten.
#include <gtest/gtest.h>

#include <cmath>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using Ints = std::vector<int64_t>;
using List = std::vector<double>;

double SoftmaxTolerance(DType dtype) {
  return dtype == DType::kF64   ? 1e-13
         : dtype == DType::kF32 ? 2e-6
         : dtype == DType::kF16 ? 4e-3
                                : 3e-2;
}

TEST(LogSoftmax, IsTheLogarithmOfSoftmax) {
  for (const auto& sizes : std::vector<Sizes>{{1}, {5}, {3, 700}, {2, 300, 3}, {0, 3}}) {
    for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
      for (const DType dtype : kFloatDTypes) {
        const Tensor like = MakeAs(dtype, sizes, {});
        const Tensor x = MakeAs(dtype, sizes, Noise(like.num_elements()));
        const Attributes attributes = {{"axis", axis}};
        const List y = Values(Apply("log_softmax", {x}, attributes));
        EXPECT_EQ(Values(Apply("log_softmax", {x}, attributes, {.threads = 3, .in_place = true})),
                  y);
        const Tensor wide = MakeAs(DType::kF64, sizes, Values(x));
        const List expected = Values(Apply("softmax", {wide}, attributes));
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y[i], std::log(expected[i]), 2 * SoftmaxTolerance(dtype)) << x.TypeString();
        }
      }
    }
  }
  const List far = Values(Apply("log_softmax", {Make<float>({2}, {1000, 0})}));
  EXPECT_EQ(far, (List{0, -1000}));
  EXPECT_TRUE(std::isnan(Values(Apply("log_softmax", {Make<float>({2}, {NAN, 0})}))[1]));
}

TEST(CrossEntropy, TakesTheLabelsLogarithm) {
  for (const DType dtype : kFloatDTypes) {
    for (const DType label : {DType::kI32, DType::kI64}) {
      const int64_t rows = 50, n = 300;
      const Tensor logits = MakeAs(dtype, {rows, n}, Noise(rows * n));
      std::vector<double> labels;
      for (int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<double>(i * 37 % n));
      const Tensor wanted = MakeAs(label, {rows}, labels);
      const List loss = Values(Apply("cross_entropy", {logits, wanted}));
      EXPECT_EQ(Values(Apply("cross_entropy", {logits, wanted}, {}, {.threads = 3})), loss);
      const List expected =
          Values(Apply("log_softmax", {MakeAs(DType::kF64, {rows, n}, Values(logits))}));
      for (int64_t i = 0; i < rows; ++i) {
        ASSERT_NEAR(loss[i], -expected[i * n + i * 37 % n], 4 * SoftmaxTolerance(dtype));
      }
    }
  }
}

TEST(CrossEntropy, Corners) {
  const List stable = Values(Apply(
      "cross_entropy", {Make<float>({2, 2}, {1e30f, 0, -1000, 1000}), Make<int64_t>({2}, {0, 0})}));
  EXPECT_EQ(stable, (List{0, 2000}));
  const List outside = Values(
      Apply("cross_entropy", {Make<float>({2, 2}, {1, 0, 1, 0}), Make<int64_t>({2}, {2, -1})}));
  EXPECT_TRUE(std::isnan(outside[0]));
  EXPECT_TRUE(std::isnan(outside[1]));
  EXPECT_TRUE(std::isnan(
      Values(Apply("cross_entropy", {Make<float>({1, 2}, {NAN, 0}), Make<int64_t>({1}, {1})}))[0]));
  EXPECT_EQ(Apply("cross_entropy", {Make<float>({2}, {0, 0}), Make<int64_t>({}, {1})}).rank(), 0u);
  EXPECT_EQ(Apply("cross_entropy", {MakeAs(DType::kF32, {0, 3}, {}), MakeAs(DType::kI64, {0}, {})})
                .num_elements(),
            0);
  const Dim n = Dim::Symbol("N"), t = Dim::Symbol("T");
  Type label(DType::kI64, {n, t});
  label.index_bound = Dim(10);
  EXPECT_EQ(InferText("cross_entropy", {Type(DType::kF32, {n, t, 10}), label}), "f32[N, T]");
  EXPECT_EQ(InferText("cross_entropy", {Type(DType::kF32, {n, t, 9}), label}),
            "301 at 0, 1: a label may be outside the classes: 9 is less than 10");
  EXPECT_EQ(
      InferText("cross_entropy", {Type(DType::kF32, {n, 10}), label}),
      "305 at 0, 1: 'label' must have the dims of 'logits' without the last, got i64[N, T] in "
      "0..10 and f32[N, 10]");
  EXPECT_EQ(InferText("cross_entropy", {Type(DType::kF32, {n, 3}), Type(DType::kF32, {n})}),
            "302 at 1: 'label' must be i32 or i64, got f32[N]");
}

TEST(Mse, IsTheMeanOverAll) {
  for (const DType dtype : kFloatDTypes) {
    const Tensor x = MakeAs(dtype, {2, 2}, {1, 2, 3, 4}), y = MakeAs(dtype, {2, 2}, {1, 4, 3, 0});
    EXPECT_EQ(Values(Apply("mse", {x, y})), (List{5}));
  }
  const int64_t n = 300007;
  const Tensor x = MakeAs(DType::kF32, {n}, Noise(n)), y = MakeAs(DType::kF32, {n}, Noise(n, 2));
  double expected = 0;
  const List xs = Values(x), ys = Values(y);
  for (int64_t i = 0; i < n; ++i) expected += (xs[i] - ys[i]) * (xs[i] - ys[i]) / n;
  EXPECT_NEAR(Values(Apply("mse", {x, y}))[0], expected, 1e-7);
  EXPECT_EQ(Values(Apply("mse", {x, y}, {}, {.threads = 3})), Values(Apply("mse", {x, y})));
  const Tensor empty = MakeAs(DType::kF32, {0, 3}, {});
  EXPECT_TRUE(std::isnan(Values(Apply("mse", {empty, empty}))[0]));
  const Dim m = Dim::Symbol("N");
  EXPECT_EQ(InferText("mse", {Type(DType::kF32, {m}), Type(DType::kF32, {3})}), "f32[] if N == 3");
  EXPECT_EQ(InferText("mse", {Type(DType::kF32, {m}), Type(DType::kF32, {m, 1})}),
            "305 at 0, 1: ranks differ: 1 and 2");
  EXPECT_EQ(InferText("mse", {Type(DType::kF32, {4}), Type(DType::kF32, {3})}),
            "301 at 0, 1: sizes differ: 4 and 3");
}

TEST(Norm, IsEuclidean) {
  for (const DType dtype : kFloatDTypes) {
    const Tensor x = MakeAs(dtype, {2, 2}, {3, 4, 0, 0});
    EXPECT_EQ(Values(Apply("norm", {x}, {{"axes", Ints{1}}})), (List{5, 0}));
    EXPECT_EQ(Values(Apply("norm", {x}, {{"axes", Ints{0}}})), (List{3, 4}));
    EXPECT_EQ(Values(Apply("norm", {x})), (List{5}));
  }
  const Tensor large = Make<float>({300, 2}, std::vector<float>(600, 1e30f));
  for (const double y : Values(Apply("norm", {large}, {{"axes", Ints{0}}}))) {
    EXPECT_NEAR(y, 1e30 * std::sqrt(300.0), 1e25);
  }
  const Tensor line = MakeAs(DType::kF64, {200000}, Noise(200000));
  double square = 0;
  for (const double value : Values(line)) square += value * value;
  EXPECT_NEAR(Values(Apply("norm", {line}))[0], std::sqrt(square), 1e-10);
  EXPECT_EQ(Values(Apply("norm", {line}, {}, {.threads = 3})), Values(Apply("norm", {line})));
  EXPECT_EQ(Values(Apply("norm", {MakeAs(DType::kF32, {2, 0}, {})}, {{"axes", Ints{1}}})),
            (List{0, 0}));
  EXPECT_TRUE(std::isnan(Values(Apply("norm", {Make<float>({2}, {NAN, 1})}))[0]));
}

TEST(Flatten, JoinsAxes) {
  const Dim n = Dim::Symbol("N"), h = Dim::Symbol("H");
  const Type x(DType::kF32, {n, 3, h, 8});
  EXPECT_EQ(InferText("flatten", {x}), "f32[N, 24*H]");
  EXPECT_EQ(InferText("flatten", {x}, {{"axis", int64_t{-2}}}), "f32[N, 3, 8*H]");
  EXPECT_EQ(InferText("flatten", {x}, {{"axis", int64_t{0}}}), "f32[24*H*N]");
  EXPECT_EQ(InferText("flatten", {Type(DType::kF32, {n})}),
            "306 at axis: axis 1 is outside -1..=0");
  EXPECT_EQ(Values(Apply("flatten", {Make<float>({1, 2, 2}, {1, 2, 3, 4})})), (List{1, 2, 3, 4}));
  EXPECT_EQ(Apply("flatten", {MakeAs(DType::kF32, {2, 0, 3}, {})}).TypeString(), "f32[2, 0]");
}

}  // namespace
}  // namespace pdl::testing
