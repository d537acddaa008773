// attention compared with its formula in double, with sizes next to those of the kernel's blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  int64_t rows, columns, depth, width;
  bool causal = false;
  int64_t past = 0;
  enum Mask { kNone, kOfKeys, kBool, kAdded, kOfRows } mask = kNone;
  std::optional<double> scale = std::nullopt;
  int64_t heads = 2, groups = 1;
};

std::string Describe(const Case& c, DType dtype) {
  return DTypeName(dtype).str() + ": " + std::to_string(c.rows) + " queries, " +
         std::to_string(c.columns) + " keys, " + std::to_string(c.depth) + ", " +
         std::to_string(c.width) + ", mask " + std::to_string(c.mask) +
         (c.causal ? ", causal" : "");
}

struct Operands {
  std::vector<Tensor> inputs;
  Attributes attributes;
};

// The mask excludes all keys of every seventh query.
Tensor MakeMask(const Case& c, DType dtype) {
  const int64_t rows = c.mask == Case::kOfKeys ? 1 : c.rows;
  const int64_t columns = c.mask == Case::kOfRows ? 1 : c.columns;
  std::vector<double> values = Noise(rows * columns, 4);
  for (int64_t i = 0; i < rows * columns; ++i) {
    double& x = values[static_cast<size_t>(i)];
    const bool is_blind = rows > 1 && i / columns % 7 == 3;
    if (c.mask == Case::kAdded) {
      x = is_blind || x > 0.7 ? -kInfinity : 4 * x;
    } else {
      x = !is_blind && x > -0.5 ? 1 : 0;
    }
  }
  return MakeAs(c.mask == Case::kAdded ? dtype : DType::kBool, {rows, columns}, values);
}

Operands MakeOperands(const Case& c, DType dtype) {
  const auto numbers = [&](int64_t heads, int64_t rows, int64_t columns, uint64_t seed) {
    std::vector<double> values = Noise(heads * rows * columns, seed);
    for (double& x : values) x *= 2;
    return MakeAs(dtype, {heads, rows, columns}, values);
  };
  Operands o;
  o.inputs = {numbers(c.heads, c.rows, c.depth, 1), numbers(c.groups, c.columns, c.depth, 2),
              numbers(c.groups, c.columns, c.width, 3),
              MakeAs(DType::kI64, {}, {static_cast<double>(c.past)})};
  if (c.mask != Case::kNone) o.inputs.push_back(MakeMask(c, dtype));
  o.attributes = {{"causal", c.causal}};
  if (c.scale) o.attributes.push_back({"scale", *c.scale});
  return o;
}

struct Expected {
  std::vector<double> y, lse;
};

Expected Reference(const Case& c, const Operands& o) {
  const std::vector<double> q = Values(o.inputs[0]), k = Values(o.inputs[1]),
                            v = Values(o.inputs[2]);
  const std::vector<double> mask =
      c.mask == Case::kNone ? std::vector<double>() : Values(o.inputs[4]);
  const double scale = c.scale ? *c.scale : 1 / std::sqrt(static_cast<double>(c.depth));
  Expected expected;
  std::vector<double> scores(static_cast<size_t>(c.columns));
  for (int64_t row = 0; row < c.heads * c.rows; ++row) {
    const int64_t group = row / c.rows / (c.heads / c.groups), i = row % c.rows;
    double largest = -kInfinity, total = 0;
    for (int64_t j = 0; j < c.columns; ++j) {
      double sum = 0;
      for (int64_t d = 0; d < c.depth; ++d) {
        sum += q[row * c.depth + d] * k[(group * c.columns + j) * c.depth + d];
      }
      sum *= scale;
      if (c.mask != Case::kNone) {
        const double m = mask[c.mask == Case::kOfKeys   ? j
                              : c.mask == Case::kOfRows ? i
                                                        : i * c.columns + j];
        sum = c.mask == Case::kAdded ? sum + m : m != 0 ? sum : -kInfinity;
      }
      if (c.causal && j > c.past + i) sum = -kInfinity;
      scores[j] = sum;
      largest = std::max(largest, sum);
    }
    std::vector<double> y(static_cast<size_t>(c.width));
    for (int64_t j = 0; j < c.columns && largest > -kInfinity; ++j) {
      const double p = std::exp(scores[j] - largest);
      total += p;
      for (int64_t e = 0; e < c.width; ++e) y[e] += p * v[(group * c.columns + j) * c.width + e];
    }
    for (const double sum : y) expected.y.push_back(total == 0 ? 0 : sum / total);
    expected.lse.push_back(total == 0 ? -kInfinity : largest + std::log(total));
  }
  return expected;
}

void ExpectNear(const std::vector<double>& values, const std::vector<double>& expected,
                double tolerance) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i]) continue;
    ASSERT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i])))
        << "at " << i;
  }
}

void Check(const Case& c, DType dtype, double tolerance) {
  SCOPED_TRACE(Describe(c, dtype));
  const Operands o = MakeOperands(c, dtype);
  const Expected expected = Reference(c, o);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3}) {
    auto results = TryApply("attention", o.inputs, o.attributes, {.threads = threads});
    ASSERT_TRUE(static_cast<bool>(results)) << llvm::toString(results.takeError());
    if (first.empty()) {
      first = *results;
      ExpectNear(Values(first[0]), expected.y, tolerance);
      ExpectNear(Values(first[1]), expected.lse, tolerance);
    }
    EXPECT_EQ(Values((*results)[0]), Values(first[0]));
    EXPECT_EQ(Values((*results)[1]), Values(first[1]));
  }
}

TEST(Attention, AgreesWithTheFormulaAtTheEdgesOfBlocks) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double tolerance = dtype == DType::kF32 ? 2e-6 : 2e-14;
    for (const int64_t rows : {1, 3, 4, 8, 9, 16, 17, 31, 32, 33, 49, 64, 65, 100}) {
      Check({rows, 49, 32, 32}, dtype, tolerance);
    }
    for (const int64_t columns : {1, 2, 7, 12, 13, 15, 127, 128, 129, 143, 300}) {
      Check({20, columns, 16, 24}, dtype, tolerance);
      Check({20, columns, 16, 24, true, columns - 15}, dtype, tolerance);
    }
    for (const int64_t size : {1, 2, 3, 5, 23, 31, 33, 40, 63, 64, 65, 80, 96, 127, 128}) {
      Check({18, 50, size, size}, dtype, tolerance);
      Check({18, 50, size, 3}, dtype, tolerance);
      Check({18, 50, 3, size}, dtype, tolerance);
    }
  }
}

TEST(Attention, AgreesWithTheFormulaWithMasks) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double tolerance = dtype == DType::kF32 ? 2e-6 : 2e-14;
    for (const Case::Mask mask :
         {Case::kNone, Case::kOfKeys, Case::kBool, Case::kAdded, Case::kOfRows}) {
      for (const auto& [rows, columns] :
           {std::pair<int64_t, int64_t>{2, 70}, {37, 70}, {70, 150}, {150, 70}, {16, 16}}) {
        Check({rows, columns, 16, 8, false, 0, mask}, dtype, tolerance);
        for (const int64_t past : {int64_t{0}, columns - rows, int64_t{-20}, int64_t{1000}}) {
          Check({rows, columns, 16, 8, true, past, mask}, dtype, tolerance);
        }
      }
      for (const double scale : {0.0, -0.5, 3.0}) {
        Check({10, 20, 8, 8, true, 4, mask, scale, 4, 2}, dtype, tolerance * 4);
      }
    }
  }
}

TEST(Attention, HalfPrecisionAgreesWithTheFormula) {
  for (const Case::Mask mask : {Case::kNone, Case::kBool, Case::kAdded}) {
    Check({70, 150, 24, 40, true, 80, mask}, DType::kF16, 2e-3);
    Check({70, 150, 40, 24, false, 0, mask}, DType::kBF16, 2e-2);
    Check({3, 150, 40, 24, false, 0, mask}, DType::kF16, 2e-3);
  }
}

// Scores that grow from block to block, so that all sums are rescaled.
TEST(Attention, RescalesEarlierBlocks) {
  const int64_t rows = 20, columns = 1000;
  std::vector<double> keys(columns), values(columns);
  for (int64_t j = 0; j < columns; ++j) {
    keys[j] = 0.3 * static_cast<double>(j);
    values[j] = static_cast<double>(j % 17);
  }
  const Tensor q = MakeAs(DType::kF32, {rows, 1}, std::vector<double>(rows, 1.0));
  for (const double scale : {1.0, -1.0}) {
    const Tensor y = Apply(
        "attention",
        {q, MakeAs(DType::kF32, {columns, 1}, keys), MakeAs(DType::kF32, {columns, 1}, values)},
        {{"scale", scale}});
    double sum = 0, total = 0;
    for (int64_t j = 0; j < columns; ++j) {
      const double p = std::exp(scale > 0 ? keys[j] - keys.back() : -keys[j]);
      total += p;
      sum += p * values[j];
    }
    for (const double x : Values(y)) EXPECT_NEAR(x, sum / total, 1e-4);
  }
}

// Queries, keys and values that are bf16 already: only probabilities are rounded, to 2^-9, and lse
// is exact. Where products of f32 are faster, nothing is.
TEST(Attention, InBf16RoundsItsOperands) {
  const auto check = [](const Case& c) {
    SCOPED_TRACE(Describe(c, DType::kBF16));
    Operands o = MakeOperands(c, DType::kBF16);
    for (Tensor& input : o.inputs) {
      if (input.dtype() == DType::kBF16) input = MakeAs(DType::kF32, input.sizes(), Values(input));
    }
    const Expected expected = Reference(c, o);
    std::vector<Tensor> first;
    for (const int threads : {1, 3}) {
      auto results = TryApply("attention", o.inputs, o.attributes,
                              {.threads = threads, .matmul_precision = DType::kBF16});
      ASSERT_TRUE(static_cast<bool>(results)) << llvm::toString(results.takeError());
      if (first.empty()) first = *results;
      ExpectNear(Values((*results)[0]), expected.y, 8e-3);
      ExpectNear(Values((*results)[1]), expected.lse, 2e-6);
      EXPECT_EQ(Values((*results)[0]), Values(first[0]));
    }
  };
  for (const int64_t rows : {1, 3, 4, 8, 17, 31, 33, 64, 65, 70}) check({rows, 49, 32, 32});
  for (const int64_t columns : {1, 2, 7, 127, 128, 129, 300}) {
    check({20, columns, 16, 24});
    check({20, columns, 16, 24, true, columns - 15});
  }
  for (const int64_t size : {1, 2, 3, 5, 23, 31, 33, 64, 65, 127}) {
    check({18, 50, size, 3});
    check({18, 50, 3, size});
  }
  // No query attends to a key.
  for (const int64_t depth : {2, 3}) {
    check({4, 0, depth, 5});
    check({4, 8, depth, 5, true, -100});
  }
  for (const Case::Mask mask : {Case::kOfKeys, Case::kBool, Case::kAdded, Case::kOfRows}) {
    check({37, 71, 17, 19, false, 0, mask});
    check({70, 151, 16, 8, true, 81, mask, -0.5, 4, 2});
  }
}

// Subnormal probabilities are 0: on some processors, they would take a hundred times as long.
TEST(Attention, HasNoSubnormalProbabilities) {
  for (const int64_t rows : {4, 40}) {
    const Tensor zeros = MakeAs(DType::kF32, {1, rows, 8}, std::vector<double>(rows * 8));
    const Tensor keys = MakeAs(DType::kF32, {1, 3, 8}, std::vector<double>(24));
    std::vector<double> added;
    // e^-100 is 2^-144.3, e^-87 is 2^-125.5.
    for (int64_t i = 0; i < rows; ++i) added.insert(added.end(), {0.0, -100.0, -87.0});
    const Tensor mask = MakeAs(DType::kF32, {rows, 3}, added);
    const Tensor values = MakeAs(DType::kF32, {1, 3, 1}, {0.0, 1e38, 1e30});
    const Tensor past = MakeAs(DType::kI64, {}, {0.0});
    auto results = TryApply("attention", {zeros, keys, values, past, mask});
    ASSERT_TRUE(static_cast<bool>(results)) << llvm::toString(results.takeError());
    for (const double y : Values((*results)[0])) EXPECT_NEAR(y, 1e30 * std::exp(-87.0), 1e-10);
  }
}

// The largest score has the probability 1, however large it is.
TEST(Attention, LargeScoresAreFinite) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const double large : {1e10, 3e15, 1e30, -1e30}) {
      std::vector<double> q(40 * 2), k, v;
      for (size_t i = 0; i < q.size(); ++i) q[i] = large * (1 + 0.01 * static_cast<double>(i));
      for (int i = 0; i < 300; ++i) {
        k.insert(k.end(), {0.01 * i, -0.005 * i});
        v.push_back(i);
      }
      auto results = TryApply("attention", {MakeAs(dtype, {40, 2}, q), MakeAs(dtype, {300, 2}, k),
                                            MakeAs(dtype, {300, 1}, v)});
      const double expected = Values(MakeAs(dtype, {1}, {large > 0 ? 299.0 : 0.0}))[0];
      for (const double y : Values((*results)[0])) EXPECT_NEAR(y, expected, 4) << large;
    }
  }
}

void CheckNanAndInfinity(DType precision) {
  const double nan = std::nan("");
  const int64_t rows = 40, columns = 300, depth = 8;
  std::vector<double> q = Noise(rows * depth, 1);
  for (double& x : q) x = std::fabs(x) + 0.1;
  const std::vector<double> k = Noise(columns * depth, 2), v = Noise(columns * depth, 3);
  const auto run = [&](const std::vector<double>& queries, const std::vector<double>& keys) {
    auto results = TryApply(
        "attention",
        {MakeAs(DType::kF32, {rows, depth}, queries), MakeAs(DType::kF32, {columns, depth}, keys),
         MakeAs(DType::kF32, {columns, depth}, v)},
        {}, {.matmul_precision = precision});
    return std::pair(Values((*results)[0]), Values((*results)[1]));
  };
  const auto [y, lse] = run(q, k);
  std::vector<double> odd = q;
  odd[depth * 5 + 2] = nan;
  const auto [y_nan, lse_nan] = run(odd, k);
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_EQ(std::isnan(lse_nan[i]), i == 5);
    for (int64_t e = 0; e < depth; ++e) {
      EXPECT_EQ(std::isnan(y_nan[i * depth + e]), i == 5);
      if (i != 5) {
        EXPECT_EQ(y_nan[i * depth + e], y[i * depth + e]);
      }
    }
  }
  // An infinite score; then one and a nan, in either order.
  for (const auto& [first, second] :
       {std::pair(kInfinity, 0.0), {kInfinity, nan}, {nan, kInfinity}}) {
    std::vector<double> keys = k;
    keys[3 * depth] = first;
    keys[250 * depth] = second;
    const auto [y_odd, lse_odd] = run(q, keys);
    for (int64_t i = 0; i < rows; ++i) {
      EXPECT_TRUE(std::isnan(y_odd[i * depth]));
      EXPECT_EQ(std::isnan(lse_odd[i]), second != 0.0);
    }
  }
  // A score of -inf excludes a key.
  std::vector<double> keys = k;
  for (int64_t j = 0; j < columns; ++j) keys[j * depth] = -kInfinity;
  for (const double x : run(q, keys).first) EXPECT_EQ(x, 0);
  for (const double x : run(q, keys).second) EXPECT_EQ(x, -kInfinity);
}

TEST(Attention, NanAndInfinityReachTheirQueriesOnly) { CheckNanAndInfinity(DType::kF32); }

TEST(Attention, NanAndInfinityReachTheirQueriesOnlyInBf16) { CheckNanAndInfinity(DType::kBF16); }

}  // namespace
}  // namespace pdl::testing
