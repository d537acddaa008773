// Convolution, pooling and resizing: the same bits for any number of threads and for packed
// weights, symbolic sizes, and large sizes compared with plain loops.
#include <gtest/gtest.h>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

Tensor NoiseAs(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return MakeAs(dtype, sizes, Noise(count, seed));
}

struct ConvCase {
  const char* op;
  Sizes x, w;
  Attributes attributes;
};

// Large enough to be split into tasks: by images, by blocks of channels, by groups.
std::vector<ConvCase> LargeConvolutions() {
  const Shape one = {1}, two = {2};
  return {
      {"conv2d", {1, 64, 28, 28}, {128, 64, 3, 3}, {{"pad", one}}},
      {"conv2d", {6, 16, 28, 28}, {24, 16, 3, 3}, {{"pad", one}, {"stride", two}}},
      {"conv2d", {5, 3, 56, 56}, {64, 3, 7, 7}, {{"pad", Shape{3}}, {"stride", two}}},
      {"conv2d", {2, 64, 28, 28}, {64, 8, 3, 3}, {{"groups", int64_t{8}}}},
      {"conv2d", {3, 64, 40, 40}, {64, 1, 3, 3}, {{"groups", int64_t{64}}, {"pad", one}}},
      {"conv2d", {3, 48, 28, 28}, {80, 48, 1, 1}, {}},
      {"conv_transpose1d", {3, 48, 700}, {48, 80, 1}, {}},
      {"conv1d", {4, 32, 500}, {64, 32, 5}, {{"dilation", two}}},
      {"conv3d", {2, 8, 12, 12, 12}, {64, 8, 3, 3, 3}, {}},
      {"conv_transpose2d", {1, 64, 14, 14}, {64, 128, 4, 4}, {{"pad", one}, {"stride", two}}},
      {"conv_transpose2d", {4, 32, 14, 14}, {32, 16, 4, 4}, {{"stride", two}}},
  };
}

TEST(Convolution, GivesTheSameBitsForAnyThreads) {
  for (const ConvCase& c : LargeConvolutions()) {
    SCOPED_TRACE(std::string(c.op) + " " + TensorTypeToString(DType::kF32, c.x));
    const bool is_transposed = llvm::StringRef(c.op).contains("transpose");
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Tensor x = NoiseAs(dtype, c.x, 1), w = NoiseAs(dtype, c.w, 2);
      const int64_t channels = is_transposed ? c.w[1] : c.w[0];
      const Tensor bias = NoiseAs(dtype, {channels}, 3);
      const Tensor y = Apply(c.op, {x, w, bias}, c.attributes);
      const std::vector<double> values = Values(y);
      for (const int threads : {2, 3, 8}) {
        ASSERT_EQ(Values(Apply(c.op, {x, w, bias}, c.attributes, {.threads = threads})), values);
      }
      ASSERT_EQ(
          Values(Apply(c.op, {x, w, bias}, c.attributes, {.threads = 3, .constant_right = true})),
          values);
      // Compared with plain loops in double.
      const std::vector<double> expected =
          Values(Apply(c.op,
                       {MakeAs(DType::kF64, c.x, Values(x)), MakeAs(DType::kF64, c.w, Values(w)),
                        MakeAs(DType::kF64, {channels}, Values(bias))},
                       c.attributes));
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], expected[i],
                    (dtype == DType::kF32 ? 1e-4 : 1e-2) * std::max(1.0, std::fabs(expected[i])));
      }
      if (is_transposed) continue;
      Attributes attributes = c.attributes;
      attributes.push_back({"kernel", Shape(c.w.begin() + 2, c.w.end())});
      const Tensor dy = NoiseAs(dtype, y.sizes(), 4);
      const std::vector<double> dw = Values(Apply("conv_weight_grad", {x, dy}, attributes));
      for (const int threads : {2, 3, 8}) {
        ASSERT_EQ(Values(Apply("conv_weight_grad", {x, dy}, attributes, {.threads = threads})), dw);
      }
      const std::vector<double> wide = Values(
          Apply("conv_weight_grad",
                {MakeAs(DType::kF64, c.x, Values(x)), MakeAs(DType::kF64, y.sizes(), Values(dy))},
                attributes));
      for (size_t i = 0; i < dw.size(); ++i) {
        ASSERT_NEAR(dw[i], wide[i],
                    (dtype == DType::kF32 ? 1e-3 : 1e-2) * std::max(1.0, std::fabs(wide[i])));
      }
    }
  }
}

TEST(Pooling, GivesTheSameBitsForAnyThreads) {
  const Tensor x = NoiseAs(DType::kF32, {4, 30, 56, 50}, 1);
  const Attributes window = {{"kernel", Shape{3}}, {"stride", Shape{2}}, {"pad", Shape{1}}};
  for (const char* op : {"max_pool", "max_pool_index", "avg_pool", "lp_pool"}) {
    const std::vector<double> y = Values(Apply(op, {x}, window));
    EXPECT_EQ(Values(Apply(op, {x}, window, {.threads = 3})), y);
  }
  const Tensor index = Apply("max_pool_index", {x}, window);
  const Tensor dy = NoiseAs(DType::kF32, index.sizes(), 2);
  const Attributes size = {{"size", Shape{56, 50}}};
  EXPECT_EQ(Values(Apply("max_unpool", {dy, index}, size, {.threads = 3})),
            Values(Apply("max_unpool", {dy, index}, size)));
  Attributes both = window;
  both.push_back(size[0]);
  EXPECT_EQ(Values(Apply("avg_pool_grad", {dy}, both, {.threads = 3})),
            Values(Apply("avg_pool_grad", {dy}, both)));
  const Attributes linear = {{"scale", 1.5}, {"mode", std::string("linear")}};
  EXPECT_EQ(Values(Apply("resize", {x}, linear, {.threads = 3})),
            Values(Apply("resize", {x}, linear)));
}

TEST(Image, SizesMayBeSymbols) {
  const Dim n = Dim::Symbol("N"), h = Dim::Symbol("H"), l = Dim::Symbol("L");
  const Type x(DType::kF32, {n, 3, h * 32, h}), w(DType::kF32, {8, 3, 3, 3});
  EXPECT_EQ(InferText("conv2d", {x, w}, {{"pad", Shape{1}}, {"stride", Shape{2}}}),
            "f32[N, 8, 16*H, (H + 1) // 2] if 32*H + 2 >= 3 if H + 2 >= 3");
  EXPECT_EQ(InferText("conv2d", {x, w}, {{"pad", std::string("same")}, {"stride", Shape{2}}}),
            "f32[N, 8, 16*H, (H + 1) // 2]");
  EXPECT_EQ(InferText("conv1d", {Type(DType::kF32, {n, 3, l}), Type(DType::kF32, {8, 3, 1})}),
            "f32[N, 8, L] if L >= 1");
  const Type y(DType::kF32, {n, 8, h, h}), v(DType::kF32, {8, 3, 4, 4});
  EXPECT_EQ(InferText("conv_transpose2d", {y, v}, {{"pad", Shape{1}}, {"stride", Shape{2}}}),
            "f32[N, 3, 2*H, 2*H]");
  EXPECT_EQ(InferText("avg_pool", {Type(DType::kF32, {n, 3, h * 8})}, {{"kernel", Shape{2}}}),
            "f32[N, 3, 4*H] if 8*H >= 2");
  EXPECT_EQ(InferText("adaptive_avg_pool", {Type(DType::kF32, {n, 8, h})}, {{"size", Shape{l}}}),
            "f32[N, 8, L] if H >= 1 if L >= 1");
  EXPECT_EQ(InferText("resize", {Type(DType::kF32, {n, 8, h})}, {{"scale", 1.5}}),
            "f32[N, 8, (3*H) // 2] if H >= 1");
  EXPECT_EQ(
      InferText("resize", {y}, {{"scale", 3.14159265358979}}),
      "203 at scale: the size H cannot be multiplied by 3.14159265358979, which is not a ratio of "
      "small integers; use 'size'");
  EXPECT_EQ(InferText("depth_to_space", {y}, {{"block", int64_t{2}}}), "f32[N, 2, 2*H, 2*H]");
}

}  // namespace
}  // namespace pdl::testing
