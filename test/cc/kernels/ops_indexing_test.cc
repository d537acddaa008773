// Symbolic types and threads of operators that move elements, sort, and attend. Values are tested
// in test/ops.
#include <gtest/gtest.h>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

using Ints = std::vector<int64_t>;

const Dim kN = Dim::Symbol("N"), kT = Dim::Symbol("T"), kS = Dim::Symbol("S"),
          kH = Dim::Symbol("H");

Type F32(llvm::ArrayRef<Dim> dims) { return Type(DType::kF32, dims); }
Type I64(llvm::ArrayRef<Dim> dims, std::optional<Dim> bound = std::nullopt) {
  Type type(DType::kI64, dims);
  type.index_bound = bound;
  return type;
}

TEST(Places, PaddingOfSymbols) {
  EXPECT_EQ(InferText("pad", {F32({kN, 3})}, {{"before", Shape{1, 0}}, {"after", Shape{kT, 2}}}),
            "f32[N + T + 1, 5]");
  EXPECT_EQ(InferText("pad", {F32({kN})}, {{"before", Shape{-2}}, {"after", Shape{0}}}),
            "f32[N - 2] if N - 2 >= 0");
  EXPECT_EQ(InferText("pad", {F32({kN})},
                      {{"before", Shape{2}}, {"after", Shape{0}}, {"mode", std::string("edge")}}),
            "f32[N + 2] if N >= 1");
  EXPECT_EQ(InferText("tile", {F32({kN, 3})}, {{"repeats", Shape{2, kT, 1}}}), "f32[2, N*T, 3]");
  EXPECT_EQ(InferText("roll", {F32({kN})}, {{"shifts", Shape{kT}}, {"axes", Ints{0}}}), "f32[N]");
  EXPECT_EQ(InferText("stack", {F32({kN}), F32({kT})}, {{"axis", int64_t{1}}}),
            "f32[N, 2] if N == T");
  EXPECT_EQ(InferText("squeeze", {F32({kN, 1})}), "f32[N]");
  EXPECT_EQ(InferText("squeeze", {F32({kN, 1})}, {{"axes", Ints{0}}}), "f32[1] if N == 1");
  EXPECT_EQ(InferText("unsqueeze", {F32({kN})}, {{"axes", Ints{-2}}}), "f32[1, N]");
}

TEST(Places, DiagonalsOfSymbols) {
  EXPECT_EQ(InferText("diag", {F32({kN, kT})}, {{"k", int64_t{-2}}}), "f32[N, T + 2, T + 2]");
  EXPECT_EQ(InferText("diagonal", {F32({kN, kN})}), "f32[N]");
  EXPECT_EQ(InferText("diagonal", {F32({kN, kT})}), "f32[min(N, T)]");
  EXPECT_EQ(InferText("eye", {}, {{"dims", Shape{kN, 3}}, {"dtype", DType::kI8}}), "i8[N, 3]");
  EXPECT_EQ(InferText("triu", {F32({kN, kN})}, {{"k", int64_t{1} << 40}}),
            "203 at k: the matrix has no diagonal 1099511627776");
}

TEST(Places, IndicesOfSymbols) {
  EXPECT_EQ(InferText("gather_nd", {F32({kN, kT, 4}), I64({kS, 2})}), "f32[S, 4]");
  EXPECT_EQ(InferText("gather_nd", {F32({kN, kT, 4}), I64({kS, 1})}, {{"batch_dims", int64_t{1}}}),
            "f32[S, 4] if N == S");
  EXPECT_EQ(
      InferText("gather_nd", {F32({kN, 4}), I64({kS, kT})}),
      "305 at 1: the last dim of 'indices', the number of indexed axes, must be a constant, got "
      "i64[S, T]");
  EXPECT_EQ(InferText("gather_nd", {F32({3, 4}), I64({kS, 2}, Dim(4))}),
            "301 at 0, 1: an index may be outside its axis: 3 is less than 4");
  EXPECT_EQ(InferText("take_along_axis", {F32({kN, 4}), I64({kN, kT})}), "f32[N, T]");
  EXPECT_EQ(InferText("scatter", {F32({kN, 4}), I64({kT, 2}), F32({kT, 2})}),
            "f32[N, 4] if N >= T");
  EXPECT_EQ(InferText("scatter_nd", {F32({kN, 4}), I64({kT, 1}), F32({kT, 4})}), "f32[N, 4]");
  EXPECT_EQ(InferText("write", {F32({kN, 8}), F32({kN, kT}), I64({})}, {{"axis", int64_t{1}}}),
            "f32[N, 8] if 8 >= T");
  EXPECT_EQ(InferText("argsort", {F32({kN, kT})}), "i64[N, T] in 0..T");
  EXPECT_EQ(InferText("topk", {F32({kN, kT})}, {{"k", Shape{3}}}),
            "f32[N, 3], i64[N, 3] in 0..T if T >= 3");
}

TEST(Places, AttentionOfSymbols) {
  const Type q = F32({kN, kH, kT, 8}), k = F32({kN, 2, kS, 8}), v = F32({kN, 2, kS, 5});
  EXPECT_EQ(InferText("attention", {q, k, v}), "f32[N, H, T, 5], f32[N, H, T] if H % 2 == 0");
  EXPECT_EQ(InferText("attention", {q, q, q}), "f32[N, H, T, 8], f32[N, H, T]");
  Type mask(DType::kBool, {kN, 1, 1, kS});
  EXPECT_EQ(InferText("attention", {q, F32({kN, kH, kS, 8}), F32({kN, kH, kS, 5}), I64({}), mask}),
            "f32[N, H, T, 5], f32[N, H, T]");
  EXPECT_EQ(InferText("rotary_embedding", {q, I64({kT})}), "f32[N, H, T, 8]");
  EXPECT_EQ(InferText("rotary_embedding", {F32({kT, kH}), I64({})}), "f32[T, H] if H % 2 == 0");
}

TEST(Places, EveryCountOfThreadsGivesTheSameBits) {
  const auto same = [](const char* op, llvm::ArrayRef<Tensor> inputs,
                       const Attributes& attributes) {
    SCOPED_TRACE(op);
    const auto once = Values(Apply(op, inputs, attributes));
    for (const int threads : {2, 5}) {
      EXPECT_EQ(Values(Apply(op, inputs, attributes, {.threads = threads})), once);
    }
  };
  const Tensor x = MakeAs(DType::kF32, {150, 70}, Noise(150 * 70));
  same("pad", {x},
       {{"before", Shape{9, 5}}, {"after", Shape{9, 5}}, {"mode", std::string("wrap")}});
  same("sort", {x}, {{"axis", int64_t{0}}});
  same("topk", {x}, {{"k", Shape{7}}});
  std::vector<double> places;
  for (int64_t i = 0; i < 150 * 70; ++i) places.push_back(static_cast<double>(i * i % 70));
  const Tensor indices = MakeAs(DType::kI64, {150, 70}, places);
  same("scatter", {x, indices, x}, {{"reduction", std::string("add")}});
  same("take_along_axis", {x, indices}, {});
  const Tensor heads = MakeAs(DType::kF32, {3, 50, 70}, Noise(150 * 70));
  same("attention", {heads, heads, heads}, {{"causal", true}});
  const Tensor rows = MakeAs(DType::kF32, {3, 50}, Noise(150, 3));
  same("attention_gradient", {heads, heads, heads, rows, heads, rows}, {});
}

}  // namespace
}  // namespace pdl::testing
