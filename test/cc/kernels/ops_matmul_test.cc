// matmul compared with sums in double, for all partitions into tasks and all dtypes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/half.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/panel_blocks.h"
#include "kernels/linear/panel_gemm.h"
#include "pdl/runtime/network.h"
#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

// Small integers, whose sums are exact in any order and precision, or noise.
Tensor Operand(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed) {
  std::vector<double> values = Noise(Product(sizes), seed);
  for (double& value : values) value = std::round(value * 4);
  if (dtype == DType::kU8) {
    for (double& value : values) value = std::fabs(value);
  }
  return MakeAs(dtype, sizes, values);
}

// [broadcast batch dims, m, n] by definition; ranks of at least 2.
std::vector<double> Reference(const Tensor& a, bool ta, const Tensor& b, bool tb,
                              llvm::ArrayRef<int64_t> result) {
  const std::vector<double> x = Values(a), y = Values(b);
  const unsigned ra = a.rank(), rb = b.rank();
  const int64_t m = a.size(ra - (ta ? 1 : 2)), k = a.size(ra - (ta ? 2 : 1));
  const int64_t n = b.size(rb - (tb ? 2 : 1));
  const auto batch = result.drop_back(2);
  std::vector<double> z;
  for (int64_t i = 0; i < Product(batch); ++i) {
    int64_t at[2] = {0, 0};
    const Tensor* operands[2] = {&a, &b};
    for (int o = 0; o < 2; ++o) {
      int64_t rest = i, stride = operands[o]->size(operands[o]->rank() - 1) *
                                 operands[o]->size(operands[o]->rank() - 2);
      for (size_t d = 0; d < batch.size(); ++d) {
        const int64_t index = rest % batch[batch.size() - 1 - d];
        rest /= batch[batch.size() - 1 - d];
        if (d + 2 >= operands[o]->rank()) continue;
        const int64_t size = operands[o]->size(static_cast<unsigned>(operands[o]->rank() - 3 - d));
        if (size != 1) at[o] += index * stride;
        stride *= size;
      }
    }
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j) {
          sum += x[at[0] + (ta ? j * m + r : r * k + j)] * y[at[1] + (tb ? c * k + j : j * n + c)];
        }
        z.push_back(sum);
      }
    }
  }
  return z;
}

TEST(Matmul, AgreesWithTheDefinition) {
  const std::vector<std::pair<Sizes, Sizes>> cases = {
      {{1, 1}, {1, 1}},
      {{2, 3}, {3, 4}},
      {{1, 50}, {50, 70}},
      {{33, 17}, {17, 65}},
      {{5, 8, 6}, {6, 7}},
      {{5, 8, 6}, {5, 6, 7}},
      {{5, 1, 6}, {5, 6, 1}},
      {{2, 1, 3, 4}, {5, 4, 3}},
      {{3, 2}, {4, 2, 3}},
      {{1, 3, 2}, {4, 2, 3}},
      {{20, 4, 5}, {20, 5, 6}},
      {{64, 64}, {64, 10}},
      {{3, 0}, {0, 4}},
      {{0, 3}, {3, 4}},
      {{0, 2, 3}, {3, 4}},
      {{2, 3}, {3, 0}},
      {{5, 16, 16}, {5, 16, 16}},
      {{2, 33, 40}, {2, 40, 9}},
      {{3, 17, 130}, {3, 130, 24}},
      {{2, 3, 32, 32}, {3, 32, 32}},
      {{130, 140}, {140, 37}},
  };
  for (const auto& [left, right] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                              DType::kI32, DType::kI64, DType::kU8}) {
      for (const int flags : {0, 1, 2, 3}) {
        const bool ta = (flags & 1) != 0, tb = (flags & 2) != 0;
        Sizes a = left, b = right;
        if (ta) std::swap(a[a.size() - 1], a[a.size() - 2]);
        if (tb) std::swap(b[b.size() - 1], b[b.size() - 2]);
        const Tensor x = Operand(dtype, a, 1), y = Operand(dtype, b, 2);
        const Attributes attributes = {{"transpose_a", ta}, {"transpose_b", tb}};
        const Tensor z = Apply("matmul", {x, y}, attributes);
        std::vector<double> expected = Reference(x, ta, y, tb, z.sizes());
        for (double& value : expected) {
          if (dtype == DType::kI8) value = static_cast<int8_t>(static_cast<int64_t>(value));
          if (dtype == DType::kU8) value = static_cast<uint8_t>(static_cast<int64_t>(value));
          if (dtype == DType::kBF16) value = Values(MakeAs(dtype, {1}, {value}))[0];
        }
        const std::string what = x.TypeString() + " @ " + y.TypeString() + std::to_string(flags);
        EXPECT_EQ(Values(z), expected) << what;
        EXPECT_EQ(
            Values(Apply("matmul", {x, y}, attributes, {.threads = 3, .constant_right = true})),
            expected)
            << what;
      }
    }
  }
}

TEST(Matmul, LargeOnesAreAccurateAndTheSameForAnyThreads) {
  const std::pair<Sizes, Sizes> cases[] = {{{300, 200}, {200, 310}},
                                           {{8, 512}, {512, 1100}},
                                           {{520, 256}, {256, 64}},
                                           {{3, 160, 150}, {3, 150, 170}},
                                           {{20, 64, 64}, {20, 64, 64}}};
  for (const auto& [left, right] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
      const Tensor x = MakeAs(dtype, left, Noise(Product(left), 3));
      const Tensor y = MakeAs(dtype, right, Noise(Product(right), 4));
      for (const bool constant : {false, true}) {
        const Tensor z = Apply("matmul", {x, y}, {}, {.constant_right = constant});
        const std::vector<double> values = Values(z),
                                  expected = Reference(x, false, y, false, z.sizes());
        const double tolerance = dtype == DType::kF64 ? 1e-12 : dtype == DType::kF32 ? 2e-5 : 0.1;
        for (size_t i = 0; i < values.size(); ++i) {
          ASSERT_NEAR(values[i], expected[i], tolerance) << x.TypeString() << " at " << i;
        }
        for (const int threads : {2, 3, 8}) {
          EXPECT_EQ(
              Values(Apply("matmul", {x, y}, {}, {.threads = threads, .constant_right = constant})),
              values);
        }
      }
    }
  }
}

TEST(Matmul, FewRowsByALargeMatrixAreAccurateAndTheSameForAnyThreads) {
  for (const int64_t rows : {1, 2, 3, 12, 13, 16, 17}) {
    for (const auto& [inner, columns] :
         {std::pair<int64_t, int64_t>{300, 1001}, {1037, 259}, {130, 2080}}) {
      for (const bool turned : {false, true}) {
        for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
          const Sizes right = turned ? Sizes{columns, inner} : Sizes{inner, columns};
          const Tensor x = MakeAs(dtype, {rows, inner}, Noise(rows * inner, 3));
          const Tensor y = MakeAs(dtype, right, Noise(inner * columns, 4));
          const std::vector<double> expected = Reference(x, false, y, turned, {rows, columns});
          for (const bool constant : {false, true}) {
            const Attributes attributes = {{"transpose_b", turned}};
            const std::vector<double> values =
                Values(Apply("matmul", {x, y}, attributes, {.constant_right = constant}));
            const double tolerance = dtype == DType::kF32   ? 5e-5
                                     : dtype == DType::kF16 ? 0.03
                                                            : 0.15;
            for (size_t i = 0; i < values.size(); ++i) {
              ASSERT_NEAR(values[i], expected[i], tolerance)
                  << x.TypeString() << " by " << y.TypeString() << " at " << i;
            }
            for (const int threads : {2, 3}) {
              EXPECT_EQ(Values(Apply("matmul", {x, y}, attributes,
                                     {.threads = threads, .constant_right = constant})),
                        values);
            }
          }
        }
      }
    }
  }
}

// A constant of more than 8 MiB is packed in parts: of its rows, or of its columns.
TEST(Matmul, ByAMatrixThatIsPackedInParts) {
  constexpr int64_t kInner = 2111, kColumns = 2077;
  const std::pair<DType, DType> cases[] = {{DType::kF32, DType::kF32},
                                           {DType::kF16, DType::kF32},
                                           {DType::kBF16, DType::kF32},
                                           {DType::kF32, DType::kBF16}};
  for (const auto& [dtype, precision] : cases) {
    for (const bool turned : {false, true}) {
      const Sizes right = turned ? Sizes{kColumns, kInner} : Sizes{kInner, kColumns};
      const Tensor y = Operand(dtype, right, 2);
      ASSERT_GT(y.num_bytes(), 8 << 20);
      for (const int64_t rows : {1, 20}) {
        // Sums of at most 16, which 16-bit floats hold.
        std::vector<double> values(static_cast<size_t>(rows * kInner));
        for (int64_t i = 0; i < rows; ++i)
          for (const int64_t k : {int64_t{0}, kInner / 2 + i, kInner - 1})
            values[static_cast<size_t>(i * kInner + k)] = 1;
        const Tensor x = MakeAs(dtype, {rows, kInner}, values);
        EXPECT_EQ(Values(Apply("matmul", {x, y}, {{"transpose_b", turned}},
                               {.constant_right = true, .matmul_precision = precision})),
                  Reference(x, false, y, turned, {rows, kColumns}));
      }
    }
  }
}

// All ways to divide the last rows and columns, and sums in one part and in several.
TEST(Matmul, ManyRowsByAConstantMatrixAgreeWithTheDefinition) {
  for (const int64_t inner : {130, 257, 600}) {
    for (const int64_t columns : {31, 128, 331}) {
      for (const bool turned : {false, true}) {
        const Sizes right = turned ? Sizes{columns, inner} : Sizes{inner, columns};
        const Tensor y = Operand(DType::kF32, right, 2);
        const Attributes attributes = {{"transpose_b", turned}};
        const Tensor x = Operand(DType::kF32, {60, inner}, 1);
        const std::vector<double> expected = Reference(x, false, y, turned, {60, columns});
        for (int64_t rows = 17; rows <= 60; rows += columns == 331 ? 1 : 7) {
          const Tensor part =
              MakeAs(DType::kF32, {rows, inner},
                     llvm::ArrayRef(Values(x)).take_front(static_cast<size_t>(rows * inner)).vec());
          for (const DType precision : {DType::kF32, DType::kBF16}) {
            const std::vector<double> values = Values(
                Apply("matmul", {part, y}, attributes,
                      {.threads = 3, .constant_right = true, .matmul_precision = precision}));
            ASSERT_TRUE(std::equal(values.begin(), values.end(), expected.begin()))
                << rows << " rows, " << columns << " columns, " << inner << " products";
          }
        }
      }
    }
  }
}

// Weights that bf16 does not hold are rounded, for any number of rows; so is the left operand if
// the processor multiplies bf16 faster. Operands are not rounded for few columns.
TEST(Matmul, ByAConstantMatrixInBf16) {
  if (!CpuHasMatmulPrecision(DType::kBF16)) GTEST_SKIP() << "the processor has no AVX2";
  const DType of_left = HasFastBf16Products() ? DType::kBF16 : DType::kF32;
  for (const int64_t rows : {1, 2, 3, 13, 17, 100}) {
    for (const auto& [inner, columns] : {std::pair<int64_t, int64_t>{301, 1001},
                                         {1037, 259},
                                         {1100, 2080},
                                         {1, 32},
                                         {3, 33},
                                         {64, 47},
                                         {300, 256},
                                         {40, 1},
                                         {5000, 15}}) {
      for (const bool turned : {false, true}) {
        for (const bool turned_left : {false, true}) {
          const Tensor x =
              MakeAs(DType::kF32, turned_left ? Sizes{inner, rows} : Sizes{rows, inner},
                     Noise(rows * inner, 3));
          const Sizes right = turned ? Sizes{columns, inner} : Sizes{inner, columns};
          const Tensor y = MakeAs(DType::kF32, right, Noise(inner * columns, 4));
          const std::vector<double> exact = Reference(x, turned_left, y, turned, {rows, columns});
          const std::vector<double> rounded =
              Reference(MakeAs(of_left, x.sizes(), Values(x)), turned_left,
                        MakeAs(DType::kBF16, right, Values(y)), turned, {rows, columns});
          const Attributes attributes = {{"transpose_a", turned_left}, {"transpose_b", turned}};
          std::vector<double> values;
          for (const int threads : {1, 2, 3}) {
            const Tensor z = Apply(
                "matmul", {x, y}, attributes,
                {.threads = threads, .constant_right = true, .matmul_precision = DType::kBF16});
            ASSERT_EQ(z.dtype(), DType::kF32);
            if (threads == 1) values = Values(z);
            EXPECT_EQ(Values(z), values);
          }
          // That does not depend on the number of rows.
          const bool is_rounded = !turned_left && columns >= PanelColumns();
          const std::vector<double>& of = is_rounded ? rounded : exact;
          for (size_t i = 0; i < values.size(); ++i)
            ASSERT_NEAR(values[i], of[i], 3e-4)
                << x.TypeString() << " by " << y.TypeString() << " at " << i;
          // By an operand that changes, it is f32.
          EXPECT_EQ(Values(Apply("matmul", {x, y}, attributes, {.matmul_precision = DType::kBF16})),
                    Values(Apply("matmul", {x, y}, attributes)));
        }
      }
    }
  }
}

TEST(PanelWords, PairsAreRoundedAsBf16Is) {
  for (int64_t n = 0; n < 70; ++n) {
    const std::vector<double> noise = Noise(2 * n, 9);
    std::vector<float> values(noise.begin(), noise.end());
    if (n > 8) {
      values[0] = INFINITY;
      values[1] = NAN;
      values[2] = 1.00390625f;  // between two numbers: to the even one
      values[3] = 1.01171875f;
      values[4] = 3.4e38f;  // becomes infinite
      values[5] = -0.0f;
      values[6] = -INFINITY;
    }
    const auto expect = [&](const std::vector<float>& words, int64_t word, int half, float of) {
      uint16_t bits[2];
      std::memcpy(bits, &words[static_cast<size_t>(word)], sizeof(bits));
      if (std::isnan(of)) {
        EXPECT_TRUE(std::isnan(math::BfloatToFloat(bits[half])));
      } else {
        EXPECT_EQ(bits[half], math::FloatToBfloat(of)) << of << " of " << n;
      }
    };
    const int64_t count = WordsOf(WordKind::kBf16Pairs, n);
    std::vector<float> words(static_cast<size_t>(count) + 1, 7.0f);
    if (HasBf16Products()) {
      ToBf16Pairs(values.data(), n, words.data());
      for (int64_t i = 0; i < 2 * count; ++i)
        expect(words, i / 2, static_cast<int>(i % 2),
               i < n ? values[static_cast<size_t>(i)] : 0.0f);
    }
    EXPECT_EQ(words.back(), 7.0f);
    words.assign(static_cast<size_t>(n) + 1, 7.0f);
    ToBf16PairsOfRows(values.data(), values.data() + n, n, words.data());
    for (int64_t i = 0; i < n; ++i) {
      expect(words, i, 0, values[static_cast<size_t>(i)]);
      expect(words, i, 1, values[static_cast<size_t>(n + i)]);
    }
    EXPECT_EQ(words.back(), 7.0f);
  }
  if (!HasBf16Products()) return;
  // Subnormal numbers are 0 in products, too.
  const float subnormal[2] = {0x1p-130f, -0x1p-130f};
  float word = 1;
  ToBf16Pairs(subnormal, 2, &word);
  uint16_t bits[2];
  std::memcpy(bits, &word, sizeof(bits));
  EXPECT_EQ(bits[0], 0);
  EXPECT_EQ(bits[1], 0x8000);
}

// Runs of odd lengths, in one part of the sums and in several.
class PanelGemmOfPairs : public ::testing::TestWithParam<WordKind> {};

TEST_P(PanelGemmOfPairs, RoundsItsOperands) {
  const WordKind kind = GetParam();
  if (kind == WordKind::kBf16Pairs && !HasBf16Products())
    GTEST_SKIP() << "the processor has no AVX512-BF16";
  const DType of_left = kind == WordKind::kBf16Pairs ? DType::kBF16 : DType::kF32;
  for (const int64_t run_length : {1, 2, 5, 21, 130, 511, 513, 1027}) {
    for (const int64_t columns : {8, 32, 129}) {
      for (const int64_t rows : {1, 5, 13, 49, 193}) {
        const int64_t depth = 2 * run_length, block = PanelRows();
        const std::vector<double> a = Noise(rows * depth, 7), b = Noise(depth * columns, 8);
        const std::vector<float> left(a.begin(), a.end()), right(b.begin(), b.end());
        const int64_t words = WordsOf(kind, run_length);
        const int64_t panels = (columns + PanelColumns() - 1) / PanelColumns();
        std::vector<float> packed(static_cast<size_t>(panels * PanelColumns() * 2 * words));
        GemmShape shape;
        shape.n = columns;
        shape.k = run_length;
        shape.b_row = columns;
        shape.b_column = 1;
        std::vector<const float*> runs(static_cast<size_t>((rows + block - 1) / block * block * 2));
        for (int64_t run = 0; run < 2; ++run) {
          PackPanels(shape, right.data() + run * run_length * columns, kind,
                     packed.data() + run * words * PanelColumns(), 2 * words);
          for (int64_t i = 0; i < rows; ++i)
            runs[static_cast<size_t>((i / block * 2 + run) * block + i % block)] =
                left.data() + i * depth + run * run_length;
        }
        std::vector<float> c(static_cast<size_t>(rows * columns), NAN);
        std::vector<float> scratch(static_cast<size_t>(PanelScratchBytes(rows, columns, kind) / 4));
        PanelGemm gemm;
        gemm.rows = rows;
        gemm.columns = columns;
        gemm.runs = 2;
        gemm.run_length = run_length;
        gemm.runs_of_a = runs.data();
        gemm.words = kind;
        gemm.b = packed.data();
        gemm.c = c.data();
        gemm.c_row = columns;
        gemm.scratch = scratch.data();
        RunPanelGemm(gemm);
        const std::vector<double> expected =
            Reference(MakeAs(of_left, {rows, depth}, a), false,
                      MakeAs(DType::kBF16, {depth, columns}, b), false, {rows, columns});
        for (size_t i = 0; i < c.size(); ++i)
          ASSERT_NEAR(c[i], expected[i], 1e-4)
              << rows << " rows, " << columns << " columns, runs of " << run_length << " at " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Words, PanelGemmOfPairs,
                         ::testing::Values(WordKind::kBf16Weights, WordKind::kBf16Pairs));

// RunPanelGemm with rows that are packed, and that are read in place; a row has two runs.
TEST(PanelGemm, HasTheSameBitsHoweverItIsCut) {
  for (const int64_t run_length : {5, 130, 300}) {
    for (const int64_t columns : {8, 129, 136, 200}) {
      for (const int64_t rows : {1, 2, 3, 5, 7, 11, 13, 17, 23, 25, 47, 49, 193, 389}) {
        const int64_t depth = 2 * run_length, block = PanelRows();
        const std::vector<double> noise = Noise(rows * depth + depth * columns, 7);
        const std::vector<float> values(noise.begin(), noise.end());
        const float *a = values.data(), *b = a + rows * depth;
        GemmShape shape;
        shape.n = columns;
        shape.k = depth;
        shape.b_row = columns;
        shape.b_column = 1;
        const int64_t panels = (columns + PanelColumns() - 1) / PanelColumns();
        std::vector<float> packed_b(static_cast<size_t>(panels * PanelColumns() * depth));
        PackPanels(shape, b, WordKind::kFloat, packed_b.data(), depth);
        std::vector<const float*> runs(static_cast<size_t>((rows + block - 1) / block * block * 2));
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t run = 0; run < 2; ++run)
            runs[static_cast<size_t>((i / block * 2 + run) * block + i % block)] =
                a + i * depth + run * run_length;
        const auto multiply = [&](bool packs) {
          std::vector<float> c(static_cast<size_t>(rows * columns), NAN);
          // As much as for many columns.
          std::vector<float> scratch(static_cast<size_t>(PanelScratchBytes(rows, 1024) / 4));
          PanelGemm gemm;
          gemm.rows = rows;
          gemm.columns = columns;
          gemm.runs = 2;
          gemm.run_length = run_length;
          gemm.runs_of_a = runs.data();
          gemm.b = packed_b.data();
          gemm.c = c.data();
          gemm.c_row = columns;
          if (packs) gemm.scratch = scratch.data();
          RunPanelGemm(gemm);
          return c;
        };
        const std::vector<float> in_place = multiply(false), packed = multiply(true);
        ASSERT_EQ(std::memcmp(in_place.data(), packed.data(), in_place.size() * sizeof(float)), 0)
            << rows << " rows, " << columns << " columns, runs of " << run_length;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < depth; ++k)
              sum += static_cast<double>(a[i * depth + k]) * b[k * columns + j];
            ASSERT_NEAR(in_place[static_cast<size_t>(i * columns + j)], sum, 5e-5);
          }
        }
      }
    }
  }
}

TEST(PanelBlocks, SuitTheThreads) {
  for (const auto& [rows, columns, depth] :
       {std::array<int64_t, 3>{49, 512, 2048}, {17, 512, 256}, {3136, 96, 384}, {128, 3072, 768}}) {
    for (const int64_t threads : {1, 2, 3, 8, 64}) {
      PanelWork work;
      work.rows = rows;
      work.columns = columns;
      work.depth = depth;
      work.threads = threads;
      work.block_bytes = 512 << 10;
      work.least_rows = 128;
      const PanelBlocks blocks = CutIntoPanelBlocks(work);
      const std::string what =
          std::to_string(rows) + " rows, " + std::to_string(threads) + " threads";
      EXPECT_GE(blocks.rows, 1) << what;
      EXPECT_LE(blocks.rows, rows) << what;
      EXPECT_LE(blocks.columns, columns) << what;
      EXPECT_TRUE(blocks.columns == columns || blocks.columns % PanelColumns() == 0) << what;
      EXPECT_EQ(blocks.count, ((rows + blocks.rows - 1) / blocks.rows) *
                                  ((columns + blocks.columns - 1) / blocks.columns))
          << what;
      EXPECT_LE(blocks.groups, std::min(blocks.count, kMostBlockGroups)) << what;
      if (threads == 1) {
        EXPECT_EQ(blocks.groups, 1) << what;
      } else if (rows * columns * depth >= 16 << 20) {
        EXPECT_GE(blocks.groups, std::min<int64_t>(threads, 8)) << what;
      }
      // Threads beyond those for which there is work do not make blocks smaller.
      EXPECT_GE(blocks.rows * blocks.columns * depth, int64_t{1} << 18) << what;
    }
  }
}

TEST(ScratchAreas, DifferForPiecesThatRunAtTheSameTime) {
  for (const int threads : {1, 2, 3, 8, 64}) {
    CPUContext context(threads);
    for (const int64_t pieces : {1, 2, 5, 16}) {
      const int64_t areas = ScratchAreas(context, pieces);
      EXPECT_EQ(areas, std::min<int64_t>(threads, pieces));
      for (int round = 0; round < 50; ++round) {
        std::array<std::atomic<int>, 16> users{}, runs{};
        ParallelForAreas(context, pieces, areas, [&](int64_t piece, int64_t area) {
          ASSERT_GE(area, 0);
          ASSERT_LT(area, areas);
          EXPECT_EQ(users[static_cast<size_t>(area)]++, 0);
          if (round % 10 == 0) std::this_thread::yield();
          ++runs[static_cast<size_t>(piece)];
          --users[static_cast<size_t>(area)];
        });
        for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(runs[static_cast<size_t>(i)], i < pieces);
      }
    }
  }
}

// Two threads wait for each other only shortly: sizes that no even number of blocks divides.
TEST(PanelBlocks, BalanceTheThreads) {
  for (const auto& [rows, columns, depth] : {std::array<int64_t, 3>{49, 320, 1152},
                                             {49, 192, 1152},
                                             {196, 112, 672},
                                             {196, 480, 80},
                                             {12544, 32, 27},
                                             {3136, 144, 24}}) {
    PanelWork work;
    work.rows = rows;
    work.columns = columns;
    work.depth = depth;
    work.threads = 2;
    work.block_bytes = 96 << 10;
    work.least_rows = 48;
    work.rows_multiple = PanelRows();
    const PanelBlocks blocks = CutIntoPanelBlocks(work);
    // Each thread takes the groups of its own range, then the last ones of the other's.
    int64_t first[2] = {0, blocks.groups / 2}, last[2] = {blocks.groups / 2, blocks.groups};
    int64_t elements[2] = {0, 0};
    const int64_t in_row = (columns + blocks.columns - 1) / blocks.columns;
    for (int64_t done = 0; done < blocks.groups; ++done) {
      const int thread = elements[1] < elements[0] ? 1 : 0;
      const bool has_own = first[thread] < last[thread];
      const int64_t group = has_own ? first[thread]++ : --last[1 - thread];
      for (int64_t block = blocks.count * group / blocks.groups;
           block < blocks.count * (group + 1) / blocks.groups; ++block) {
        elements[thread] += std::min(blocks.rows, rows - block / in_row * blocks.rows) *
                            std::min(blocks.columns, columns - block % in_row * blocks.columns);
      }
    }
    EXPECT_EQ(elements[0] + elements[1], rows * columns);
    EXPECT_LE(std::max(elements[0], elements[1]), rows * columns * 6 / 10)
        << rows << " by " << columns;
  }
}

TEST(Matmul, Infers) {
  const Dim n = Dim::Symbol("N"), t = Dim::Symbol("T"), d = Dim::Symbol("D");
  const auto f32 = [](llvm::ArrayRef<Dim> dims) { return Type(DType::kF32, dims); };
  EXPECT_EQ(InferText("matmul", {f32({n, 784}), f32({784, 10})}), "f32[N, 10]");
  EXPECT_EQ(InferText("matmul", {f32({n, t, d}), f32({d, 3 * d})}), "f32[N, T, 3*D]");
  EXPECT_EQ(InferText("matmul", {f32({n, 8, t, d}), f32({n, 8, t, d})}, {{"transpose_b", true}}),
            "f32[N, 8, T, T]");
  EXPECT_EQ(InferText("matmul", {f32({n, d}), f32({t, 3})}), "f32[N, 3] if D == T");
  EXPECT_EQ(InferText("matmul", {f32({n, 784}), f32({256, 10})}),
            "301 at 0, 1: inner dims differ: 784 and 256");
  EXPECT_EQ(InferText("matmul", {f32({2, 3, 4}), f32({5, 4, 3})}),
            "304 at 0, 1: sizes do not broadcast: 2 and 5");
  EXPECT_EQ(InferText("matmul", {f32({}), f32({3})}),
            "305 at 0: 'a' must have at least one dim, got f32[]");
  EXPECT_EQ(InferText("matmul", {f32({3}), f32({3})}, {{"transpose_a", true}}),
            "305 at transpose_a: a vector cannot be transposed: 'a' is f32[3]");
  EXPECT_EQ(InferText("matmul", {f32({3, 3}), Type(DType::kF64, {3, 3})}),
            "303 at 0, 1: dtypes differ: f32 and f64");
  EXPECT_EQ(
      InferText("matmul", {Type(DType::kBool, {3, 3}), Type(DType::kBool, {3, 3})}).substr(0, 8),
      "302 at 1");
}

}  // namespace
}  // namespace pdl::testing
