// reshape, transpose, broadcast_to, slice, concat, cast.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using Ints = std::vector<int64_t>;

Tensor Counting(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  std::vector<double> values(MakeAs(dtype, sizes, {}).num_elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 120);
  return MakeAs(dtype, sizes, values);
}

Type F32(llvm::ArrayRef<Dim> dims) { return Type(DType::kF32, dims); }

TEST(Reshape, ProvesOrLeavesACheck) {
  const Dim n = Dim::Symbol("N"), t = Dim::Symbol("T"), d = Dim::Symbol("D");
  EXPECT_EQ(InferText("reshape", {F32({n, t, 8 * d})}, {{"dims", Shape{n, t, 8, d}}}),
            "f32[N, T, 8, D]");
  EXPECT_EQ(InferText("reshape", {F32({n, 6})}, {{"dims", Shape{Dim::FloorDiv(n, 2), 12}}}),
            "f32[N // 2, 12] if 6*N == 12*(N // 2)");
  EXPECT_EQ(InferText("reshape", {F32({2, 6})}, {{"dims", ShapeOf({5})}}),
            "301 at dims: f32[2, 6] has 12 elements, [5] would have 5");
  EXPECT_EQ(InferText("reshape", {F32({2, 6})}, {{"dims", ShapeOf({-2})}}),
            "307 at dims: a size must not be negative, got -2");
  EXPECT_EQ(InferText("reshape", {F32({2})}).substr(0, 3), "202");
}

TEST(Reshape, OneSizeIsWhatTheOthersLeave) {
  const Dim n = Dim::Symbol("N"), t = Dim::Symbol("T"), h = Dim::Symbol("H");
  auto infer = [](llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to) {
    return InferText("reshape", {F32(from)}, {{"dims", Shape(to.begin(), to.end())}});
  };
  EXPECT_EQ(infer({2, 6}, {-1}), "f32[12]");
  EXPECT_EQ(infer({}, {-1, 1}), "f32[1, 1]");
  EXPECT_EQ(infer({n, t, 12}, {n, -1}), "f32[N, 12*T]");
  EXPECT_EQ(infer({n, 784}, {-1, 28, 28}), "f32[N, 28, 28]");
  EXPECT_EQ(infer({n * t, 12}, {n, -1, 12}), "f32[N, T, 12]");
  EXPECT_EQ(infer({n, t + 1, 12}, {t + 1, 4, -1}), "f32[T + 1, 4, 3*N]");
  EXPECT_EQ(infer({n, Dim::FloorDiv(h, 2), 5}, {n, -1}), "f32[N, 5*(H // 2)]");
  EXPECT_EQ(infer({n, 6}, {-1, 4}), "f32[(3*N) // 2, 4] if 2*((3*N) % 2) == 0");
  // A symbol may be 0 in a run.
  EXPECT_EQ(infer({n, 0}, {n, -1}), "f32[N, 0]");
  EXPECT_EQ(infer({0, 3}, {-1, 3}), "f32[0, 3]");
  EXPECT_EQ(infer({0, 3}, {5, -1}), "f32[5, 0]");
  EXPECT_EQ(infer({0, 3}, {0, -1}),
            "301 at dims: the size for -1 is undefined, because the other sizes of [0, -1] have no "
            "elements");
  EXPECT_EQ(infer({7}, {2, -1}),
            "301 at dims: f32[7] cannot be reshaped to [2, -1]: 7 is not a multiple of 2");
  EXPECT_EQ(infer({8}, {-1, 2, -1}), "301 at dims: only one size may be -1, [-1, 2, -1] has two");
}

TEST(Transpose, AgreesWithTheDefinition) {
  const std::vector<std::pair<Sizes, Ints>> cases = {
      {{3, 4}, {1, 0}},
      {{100, 70}, {1, 0}},
      {{2, 3, 4}, {2, 0, 1}},
      {{2, 30, 40}, {0, 2, 1}},
      {{2, 3, 4, 5}, {0, 2, 1, 3}},
      {{2, 3, 4, 5}, {3, 2, 1, 0}},
      {{1, 5, 1}, {2, 1, 0}},
      {{0, 3}, {1, 0}},
      {{4, 1, 6}, {1, 0, 2}},
      {{300, 5, 200}, {2, 0, 1}},
      {{6}, {0}},
      {{3, 4}, {-1, 0}},
  };
  for (const auto& [sizes, perm] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kU8}) {
      const Tensor x = Counting(dtype, sizes);
      const Tensor y = Apply("transpose", {x}, {{"perm", perm}}, {.threads = 2});
      const std::vector<double> in = Values(x), out = Values(y);
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        Sizes index(sizes.size());
        int64_t rest = i;
        for (size_t d = sizes.size(); d-- > 0;) {
          const size_t axis = static_cast<size_t>((perm[d] + static_cast<int64_t>(sizes.size())) %
                                                  static_cast<int64_t>(sizes.size()));
          index[axis] = rest % y.size(static_cast<unsigned>(d));
          rest /= y.size(static_cast<unsigned>(d));
        }
        int64_t at = 0;
        for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
        ASSERT_EQ(out[i], in[at]) << x.TypeString() << " by " << AttributeToString(perm);
      }
    }
  }
  EXPECT_EQ(Apply("transpose", {Counting(DType::kF32, {2, 3, 4})}).sizes(),
            (llvm::ArrayRef<int64_t>{2, 4, 3}));
}

TEST(Transpose, Refuses) {
  EXPECT_EQ(InferText("transpose", {F32({Dim::Symbol("N"), 3})}), "f32[3, N]");
  EXPECT_EQ(InferText("transpose", {F32({3})}),
            "305 at 0: 'x' must have at least two dims if 'perm' is not given, got f32[3]");
  EXPECT_EQ(InferText("transpose", {F32({3, 4})}, {{"perm", Ints{0}}}),
            "305 at perm: 'perm' must name each axis of f32[3, 4], got 1 axes");
  EXPECT_EQ(InferText("transpose", {F32({3, 4})}, {{"perm", Ints{0, 0}}}),
            "306 at perm: axis 0 is named twice");
  EXPECT_EQ(InferText("transpose", {F32({3, 4})}, {{"perm", Ints{0, 2}}}),
            "306 at perm: axis 2 is outside -2..=1");
}

TEST(BroadcastTo, RepeatsAlongOnes) {
  const Tensor x = Make<int32_t>({2, 1}, {1, 2});
  EXPECT_EQ(Values(Apply("broadcast_to", {x}, {{"dims", ShapeOf({2, 2, 3})}})),
            (std::vector<double>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(InferText("broadcast_to", {F32({1, 3})}, {{"dims", Shape{n, 3}}}), "f32[N, 3]");
  EXPECT_EQ(InferText("broadcast_to", {F32({2, 3})}, {{"dims", Shape{n, 3}}}),
            "f32[N, 3] if 2 == N");
  EXPECT_EQ(InferText("broadcast_to", {F32({2, 3})}, {{"dims", ShapeOf({4, 3})}}),
            "304 at dims: size 2 of f32[2, 3] does not broadcast to 4");
  EXPECT_EQ(InferText("broadcast_to", {F32({2, 3})}, {{"dims", ShapeOf({3})}}),
            "305 at dims: f32[2, 3] has more dims than [3]");
}

Attributes Slice(Ints axes, Ints starts, Ints stops, Ints steps) {
  return {{"axes", axes}, {"starts", ShapeOf(starts)}, {"stops", ShapeOf(stops)}, {"steps", steps}};
}

TEST(Slice, TakesPartsOfAxes) {
  const Tensor x = Counting(DType::kF32, {3, 5});
  EXPECT_EQ(Values(Apply("slice", {x}, Slice({0}, {1}, {3}, {1}))),
            (std::vector<double>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(Values(Apply("slice", {x}, Slice({1, 0}, {1, 2}, {5, 3}, {2, 1}))),
            (std::vector<double>{11, 13}));
  EXPECT_EQ(Values(Apply("slice", {x}, Slice({1}, {-2}, {5}, {1}))),
            (std::vector<double>{3, 4, 8, 9, 13, 14}));
  EXPECT_EQ(Values(Apply("slice", {x}, Slice({1}, {0}, {-4}, {1}))),
            (std::vector<double>{0, 5, 10}));
  const Tensor none = Apply("slice", {x}, Slice({1}, {5}, {5}, {1}));
  EXPECT_EQ(none.sizes(), (llvm::ArrayRef<int64_t>{3, 0}));
  const Tensor large = Counting(DType::kU8, {50, 70, 90});
  const Tensor part = Apply("slice", {large}, Slice({0, 1, 2}, {3, 10, 1}, {49, 61, 90}, {3, 1, 4}),
                            {.threads = 3});
  const std::vector<double> in = Values(large), out = Values(part);
  size_t i = 0;
  for (int64_t a = 3; a < 49; a += 3) {
    for (int64_t b = 10; b < 61; ++b) {
      for (int64_t c = 1; c < 90; c += 4) ASSERT_EQ(out[i++], in[(a * 70 + b) * 90 + c]);
    }
  }
  EXPECT_EQ(i, out.size());
}

TEST(Slice, OutsideIsAMistake) {
  const Dim n = Dim::Symbol("N"), t = Dim::Symbol("T");
  const Type x = F32({n, 5});
  EXPECT_EQ(
      InferText("slice", {x}, {{"axes", Ints{0}}, {"starts", Shape{n - 1}}, {"stops", Shape{n}}}),
      "f32[1, 5] if N - 1 >= 0");
  EXPECT_EQ(InferText("slice", {x}, {{"axes", Ints{0}}, {"starts", Shape{0}}, {"stops", Shape{t}}}),
            "f32[T, 5] if N >= T");
  EXPECT_EQ(InferText("slice", {x}, Slice({1}, {0}, {6}, {1})),
            "306 at stops: stop 6 is outside axis 1 of f32[N, 5]");
  EXPECT_EQ(InferText("slice", {x}, Slice({1}, {-6}, {5}, {1})),
            "306 at starts: start -1 is outside axis 1 of f32[N, 5]");
  EXPECT_EQ(InferText("slice", {x}, Slice({1}, {3}, {2}, {1})),
            "306 at stops: stop 2 comes before start 3");
  EXPECT_EQ(InferText("slice", {x}, Slice({2}, {3}, {2}, {1})),
            "306 at axes: axis 2 is outside -2..=1");
  EXPECT_EQ(InferText("slice", {x}, Slice({1}, {0, 0}, {2}, {1})),
            "301 at starts: 'starts' must have one entry for each of the 1 axes, got 2");
  EXPECT_EQ(InferText("slice", {x}, Slice({1}, {0}, {2}, {0})).substr(0, 12), "203 at steps");
}

TEST(Concat, JoinsAlongAnAxis) {
  const Tensor a = Make<int64_t>({2, 1}, {1, 2}), b = Make<int64_t>({2, 2}, {3, 4, 5, 6});
  const Tensor empty = MakeAs(DType::kI64, {2, 0}, {});
  EXPECT_EQ(Values(Apply("concat", {a, empty, b, a}, {{"axis", int64_t{-1}}})),
            (std::vector<double>{1, 3, 4, 1, 2, 5, 6, 2}));
  EXPECT_EQ(Values(Apply("concat", {b, b})), (std::vector<double>{3, 4, 5, 6, 3, 4, 5, 6}));
  EXPECT_EQ(Values(Apply("concat", {a})), (std::vector<double>{1, 2}));
  const Dim n = Dim::Symbol("N"), m = Dim::Symbol("M");
  EXPECT_EQ(InferText("concat", {F32({n, 3}), F32({m, 3})}), "f32[M + N, 3]");
  EXPECT_EQ(InferText("concat", {F32({n, 3}), F32({m, 3})}, {{"axis", int64_t{1}}}),
            "f32[N, 6] if N == M");
  EXPECT_EQ(InferText("concat", {F32({n, 3}), F32({n, 4})}),
            "301 at 0, 1: sizes along other axes differ: 3 and 4");
  EXPECT_EQ(InferText("concat", {F32({n, 3}), F32({n})}), "305 at 0, 1: ranks differ: 2 and 1");
  EXPECT_EQ(InferText("concat", {F32({n, 3})}, {{"axis", int64_t{2}}}),
            "306 at axis: axis 2 is outside -2..=1");
  EXPECT_EQ(InferText("concat", {F32({3}), Type(DType::kF64, {3})}),
            "303 at 0, 1: dtypes differ: f32 and f64");
  EXPECT_EQ(InferText("concat", {F32({})}), "305 at 0: a scalar has no axis to concatenate along");
  EXPECT_EQ(InferText("concat", {}).substr(0, 3), "205");
}

TEST(Cast, EveryPairOfDTypesKeepsSmallNumbers) {
  const DType all[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI8,
                       DType::kI32, DType::kI64,  DType::kU8,  DType::kBool};
  for (const DType from : all) {
    for (const DType to : all) {
      const std::vector<double> values = {0, 1, 1, 0, 1};
      const Tensor y = Apply("cast", {MakeAs(from, {5}, values)}, {{"to", to}}, {.in_place = true});
      EXPECT_EQ(y.dtype(), to);
      EXPECT_EQ(Values(y), values) << DTypeName(from).str() << " to " << DTypeName(to).str();
    }
  }
  EXPECT_EQ(Values(Apply("cast", {Make<int32_t>({3}, {256, -1, 127})}, {{"to", DType::kI8}})),
            (std::vector<double>{0, -1, 127}));
  EXPECT_EQ(InferText("cast", {F32({2})}, {{"to", DType::kI16}}), "i16[2]");
}

}  // namespace
}  // namespace pdl::testing
