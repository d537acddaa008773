// gather, scatter_add, one_hot, cumsum, cumprod, range, linspace.
#include <gtest/gtest.h>

#include <cmath>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using List = std::vector<double>;
constexpr DType kNumberDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                                   DType::kI8,  DType::kI32,  DType::kI64, DType::kU8};

Type IndexType(llvm::ArrayRef<Dim> dims, std::optional<Dim> bound = std::nullopt) {
  Type type(DType::kI64, dims);
  type.index_bound = bound;
  return type;
}

TEST(Gather, EveryCountOfThreadsAgrees) {
  const Tensor x = MakeAs(DType::kF32, {100, 70}, Noise(7000));
  std::vector<double> places;
  for (int i = 0; i < 5000; ++i) places.push_back((i * 7919) % 100);
  const Tensor indices = MakeAs(DType::kI64, {5000}, places);
  const List once = Values(Apply("gather", {x, indices}));
  EXPECT_EQ(Values(Apply("gather", {x, indices}, {}, {.threads = 3})), once);
  for (int i = 0; i < 5000; i += 97) {
    EXPECT_EQ(once[i * 70 + 3], Values(x)[static_cast<size_t>(places[i]) * 70 + 3]);
  }
}

TEST(Gather, Infers) {
  const Dim n = Dim::Symbol("N"), v = Dim::Symbol("V"), t = Dim::Symbol("T");
  const Type x(DType::kF32, {v, 8});
  EXPECT_EQ(InferText("gather", {x, IndexType({n, t})}), "f32[N, T, 8]");
  EXPECT_EQ(InferText("gather", {x, IndexType({n}, v)}), "f32[N, 8]");
  EXPECT_EQ(InferText("gather", {x, IndexType({n}, t)}), "f32[N, 8] if V >= T");
  EXPECT_EQ(InferText("gather", {Type(DType::kF32, {10, 8}), IndexType({n}, Dim(11))}),
            "301 at 0, 1: an index may be outside its axis: 10 is less than 11");
  EXPECT_EQ(InferText("gather", {x, IndexType({n})}, {{"axis", int64_t{2}}}),
            "306 at axis: axis 2 is outside -2..=1");
  EXPECT_EQ(InferText("gather", {x, x}), "302 at 1: 'indices' must be i32 or i64, got f32[V, 8]");
  EXPECT_EQ(InferText("gather", {Type(DType::kF32, {}), IndexType({n})}),
            "306 at axis: a scalar has no axis 0");
}

TEST(ScatterAdd, AddsInOrder) {
  for (const DType dtype : kNumberDTypes) {
    const Tensor x = MakeAs(dtype, {3, 2}, {1, 2, 3, 4, 5, 6});
    const Tensor updates = MakeAs(dtype, {4, 2}, {1, 1, 2, 2, 3, 3, 4, 4});
    const Tensor indices = Make<int64_t>({4}, {0, -1, 0, 7});
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(Values(Apply("scatter_add", {x, indices, updates}, {}, {.in_place = in_place})),
                (List{5, 6, 3, 4, 7, 8}));
    }
    EXPECT_EQ(
        Values(Apply("scatter_add",
                     {x, Make<int32_t>({2}, {1, 1}), MakeAs(dtype, {3, 2}, {1, 2, 3, 4, 5, 6})},
                     {{"axis", int64_t{1}}})),
        (List{1, 5, 3, 11, 5, 17}));
  }
}

TEST(ScatterAdd, EveryCountOfThreadsGivesTheSameBits) {
  const int64_t rows = 3000, columns = 300;
  const Tensor x = MakeAs(DType::kF32, {11, columns}, Noise(11 * columns));
  const Tensor updates = MakeAs(DType::kF32, {rows, columns}, Noise(rows * columns, 2));
  std::vector<double> places;
  for (int64_t i = 0; i < rows; ++i) places.push_back(static_cast<double>(i * i % 11));
  const Tensor indices = MakeAs(DType::kI64, {rows}, places);
  const List once = Values(Apply("scatter_add", {x, indices, updates}));
  for (const int threads : {2, 5}) {
    EXPECT_EQ(Values(Apply("scatter_add", {x, indices, updates}, {}, {.threads = threads})), once);
  }
  const List all = Values(updates);
  double sum = Values(x)[3 * columns + 7];
  for (int64_t i = 0; i < rows; ++i) {
    if (places[i] == 3) sum += all[i * columns + 7];
  }
  EXPECT_NEAR(once[3 * columns + 7], sum, 1e-3);
}

TEST(ScatterAdd, Infers) {
  const Dim n = Dim::Symbol("N"), v = Dim::Symbol("V");
  const Type x(DType::kF32, {v, 8});
  EXPECT_EQ(InferText("scatter_add", {x, IndexType({n}), Type(DType::kF32, {n, 8})}), "f32[V, 8]");
  EXPECT_EQ(InferText("scatter_add", {x, IndexType({n}), Type(DType::kF32, {n, 7})}),
            "301 at 2: 'updates' does not match x and the indices: 7 and 8");
  EXPECT_EQ(InferText("scatter_add", {x, IndexType({n}), Type(DType::kF32, {n})}),
            "305 at 2: 'updates' must have dims [N, 8], got f32[N]");
  EXPECT_EQ(InferText("scatter_add", {x, IndexType({n}), Type(DType::kF64, {n, 8})}),
            "303 at 0, 2: dtypes differ: f32 and f64");
}

TEST(OneHot, MarksPlaces) {
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kI64, DType::kBool}) {
    const Tensor y = Apply("one_hot", {Make<int64_t>({4}, {0, 2, -1, 3})},
                           {{"depth", Shape{3}}, {"dtype", dtype}});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(Values(y), (List{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}));
  }
  EXPECT_EQ(Apply("one_hot", {MakeAs(DType::kI64, {0}, {})}, {{"depth", Shape{3}}}).TypeString(),
            "f32[0, 3]");
  const Dim n = Dim::Symbol("N"), c = Dim::Symbol("C");
  EXPECT_EQ(InferText("one_hot", {IndexType({n}, c)}, {{"depth", Shape{c}}}), "f32[N, C]");
  EXPECT_EQ(InferText("one_hot", {IndexType({n}, Dim(9))}, {{"depth", Shape{3}}}),
            "301 at 0: an index may be outside the depth: 3 is less than 9");
  EXPECT_EQ(InferText("one_hot", {IndexType({n})}, {{"depth", Shape{3, 4}}}),
            "305 at depth: 'depth' must be one size, got 2");
}

TEST(Scans, GoAlongAnAxis) {
  for (const DType dtype : kNumberDTypes) {
    const Tensor x = MakeAs(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    for (const bool in_place : {false, true}) {
      const RunOptions options = {.in_place = in_place};
      EXPECT_EQ(Values(Apply("cumsum", {x}, {}, options)), (List{1, 3, 6, 4, 9, 15}));
      EXPECT_EQ(Values(Apply("cumprod", {x}, {}, options)), (List{1, 2, 6, 4, 20, 120}));
      EXPECT_EQ(Values(Apply("cumsum", {x}, {{"axis", int64_t{0}}}, options)),
                (List{1, 2, 3, 5, 7, 9}));
      EXPECT_EQ(Values(Apply("cumsum", {x}, {{"exclusive", true}}, options)),
                (List{0, 1, 3, 0, 4, 9}));
      EXPECT_EQ(Values(Apply("cumsum", {x}, {{"reverse", true}}, options)),
                (List{6, 5, 3, 15, 11, 6}));
      EXPECT_EQ(
          Values(Apply("cumprod", {x},
                       {{"axis", int64_t{0}}, {"exclusive", true}, {"reverse", true}}, options)),
          (List{4, 5, 6, 1, 1, 1}));
    }
  }
  EXPECT_EQ(Values(Apply("cumsum", {Make<int8_t>({3}, {100, 100, 1})})), (List{100, -56, -55}));
  EXPECT_EQ(Apply("cumsum", {MakeAs(DType::kF32, {3, 0}, {})}).num_elements(), 0);
  const List with_nan = Values(Apply("cumsum", {Make<float>({3}, {1, NAN, 1})}));
  EXPECT_EQ(with_nan[0], 1);
  EXPECT_TRUE(std::isnan(with_nan[2]));
  const Tensor wide = MakeAs(DType::kF32, {50, 200}, Noise(10000));
  EXPECT_EQ(Values(Apply("cumsum", {wide}, {{"axis", int64_t{0}}}, {.threads = 3})),
            Values(Apply("cumsum", {wide}, {{"axis", int64_t{0}}})));
  EXPECT_EQ(InferText("cumsum", {Type(DType::kF32, {})}), "306 at axis: a scalar has no axis -1");
}

Attributes Range(Dim start, Dim stop, int64_t step = 1) {
  return {{"start", Shape{start}}, {"stop", Shape{stop}}, {"step", step}};
}

TEST(Range, CountsUpAndDown) {
  EXPECT_EQ(Values(Apply("range", {}, Range(2, 5))), (List{2, 3, 4}));
  EXPECT_EQ(Values(Apply("range", {}, Range(0, 7, 3))), (List{0, 3, 6}));
  EXPECT_EQ(Values(Apply("range", {}, Range(5, -1, -2))), (List{5, 3, 1}));
  EXPECT_EQ(Apply("range", {}, Range(3, 3)).num_elements(), 0);
  Attributes floats = Range(0, 3);
  floats.push_back({"dtype", DType::kF16});
  EXPECT_EQ(Values(Apply("range", {}, floats)), (List{0, 1, 2}));
  const Dim t = Dim::Symbol("T");
  EXPECT_EQ(InferText("range", {}, Range(0, t)), "i64[T] in 0..T");
  EXPECT_EQ(Apply("range", {}, Range(3, 1)).num_elements(), 0);
  EXPECT_EQ(Apply("range", {}, Range(0, -3)).num_elements(), 0);
  EXPECT_EQ(Apply("range", {}, Range(1, 3, -2)).num_elements(), 0);
  EXPECT_EQ(InferText("range", {}, Range(0, -3)), "i64[0] in 0..0");
  EXPECT_EQ(InferText("range", {}, Range(1, t)), "i64[max(0, T - 1)] in 0..T");
  EXPECT_EQ(InferText("range", {}, Range(t, 1, -1)), "i64[max(0, T - 1)]");
  EXPECT_EQ(InferText("range", {}, Range(1, t, 2)), "i64[(max(0, T - 1) + 1) // 2] in 0..T");
  EXPECT_EQ(InferText("range", {}, Range(t, t + 3)), "i64[3] in 0..T + 3");
  EXPECT_EQ(InferText("range", {}, Range(0, 3, 0)), "203 at step: 'step' must not be 0");
}

TEST(Linspace, HasBothEnds) {
  const auto linspace = [](double start, double stop, int64_t count, DType dtype) {
    return Values(
        Apply("linspace", {},
              {{"start", start}, {"stop", stop}, {"count", Shape{count}}, {"dtype", dtype}}));
  };
  EXPECT_EQ(linspace(0, 1, 5, DType::kF64), (List{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(linspace(3, 1, 1, DType::kF32), (List{3}));
  EXPECT_EQ(linspace(3, 1, 0, DType::kF32), (List{}));
  EXPECT_EQ(linspace(0.1, 0.7, 1000, DType::kF64).back(), 0.7);
  EXPECT_EQ(InferText("linspace", {}, {{"start", 0.0}, {"stop", 1.0}, {"count", Shape{-1}}}),
            "307 at count: a size must not be negative, got -1");
}

}  // namespace
}  // namespace pdl::testing
