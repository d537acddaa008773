// Linear algebra of small matrices, which are computed in blocks, and of those just above their
// limit: all sizes, positions in a batch, matrices without a result, and unusual magnitudes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

constexpr int64_t kLimit = 32;

double Epsilon(DType dtype) { return dtype == DType::kF32 ? 0x1p-23 : 0x1p-52; }

// A matrix of doubles, row-major.
struct Dense {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i * columns + j)];
  }
};

Dense MakeDense(int64_t rows, int64_t columns, uint64_t seed = 1) {
  return {rows, columns, Noise(rows * columns, seed)};
}
Dense Identity(int64_t n) {
  Dense y = {n, n, std::vector<double>(static_cast<size_t>(n * n))};
  for (int64_t i = 0; i < n; ++i) y(i, i) = 1;
  return y;
}
Dense Transpose(const Dense& x) {
  Dense y = {x.columns, x.rows, std::vector<double>(x.values.size())};
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  }
  return y;
}
Dense operator*(const Dense& a, const Dense& b) {
  Dense y = {a.rows, b.columns, std::vector<double>(static_cast<size_t>(a.rows * b.columns))};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.columns; ++j) {
      for (int64_t k = 0; k < a.columns; ++k) y(i, j) += a(i, k) * b(k, j);
    }
  }
  return y;
}
Dense operator*(double factor, Dense x) {
  for (double& value : x.values) value *= factor;
  return x;
}
Dense Diagonal(llvm::ArrayRef<double> values) {
  Dense y = Identity(static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    y(static_cast<int64_t>(i), static_cast<int64_t>(i)) = values[i];
  return y;
}

Tensor AsTensor(DType dtype, const Dense& x) {
  return MakeAs(dtype, {x.rows, x.columns}, x.values);
}
// The matrix of a tensor; a vector is one row.
Dense AsDense(const Tensor& x) {
  const llvm::ArrayRef<int64_t> sizes = x.sizes();
  return {sizes.size() < 2 ? 1 : sizes[sizes.size() - 2], sizes.empty() ? 1 : sizes.back(),
          Values(x)};
}
// As rounded to the dtype.
Dense Rounded(DType dtype, const Dense& x) { return AsDense(AsTensor(dtype, x)); }

std::vector<Dense> Call(const char* op, DType dtype, std::vector<Dense> operands,
                        const Attributes& attributes = {}) {
  std::vector<Tensor> inputs;
  for (const Dense& operand : operands) inputs.push_back(AsTensor(dtype, operand));
  std::vector<Dense> results;
  for (const Tensor& result : llvm::cantFail(TryApply(op, inputs, attributes)))
    results.push_back(AsDense(result));
  return results;
}

double Largest(const Dense& x) {
  double largest = 0;
  for (const double value : x.values) largest = std::max(largest, std::abs(value));
  return largest;
}
// The largest difference of elements, which may be nan.
double Distance(const Dense& x, const Dense& y) {
  EXPECT_EQ(x.values.size(), y.values.size());
  double largest = 0;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const double difference = std::abs(x.values[i] - y.values[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
void ExpectOrthonormalColumns(const Dense& x, double tolerance) {
  EXPECT_LE(Distance(Transpose(x) * x, Identity(x.columns)), tolerance);
}

// The decompositions of a matrix multiply to it, relative to its norm.
void CheckQr(DType dtype, const Dense& x, double tolerance) {
  for (const bool full : {false, true}) {
    const std::vector<Dense> qr = Call("qr", dtype, {x}, {{"full_matrices", full}});
    ExpectOrthonormalColumns(qr[0], tolerance);
    EXPECT_LE(Distance(qr[0] * qr[1], x), tolerance * Largest(x));
    for (int64_t i = 0; i < qr[1].rows; ++i) {
      for (int64_t j = 0; j < std::min(i, x.columns); ++j) EXPECT_EQ(qr[1](i, j), 0);
      if (i < x.columns) {
        EXPECT_GE(qr[1](i, i), 0);
      }
    }
  }
}
void CheckSvd(DType dtype, const Dense& x, double tolerance) {
  for (const bool full : {false, true}) {
    const std::vector<Dense> svd = Call("svd", dtype, {x}, {{"full_matrices", full}});
    const Dense &u = svd[0], &s = svd[1], &vt = svd[2];
    ExpectOrthonormalColumns(u, tolerance);
    ExpectOrthonormalColumns(Transpose(vt), tolerance);
    Dense middle = {u.columns, vt.rows,
                    std::vector<double>(static_cast<size_t>(u.columns * vt.rows))};
    for (int64_t i = 0; i < s.columns; ++i) {
      middle(i, i) = s(0, i);
      EXPECT_GE(s(0, i), i + 1 < s.columns ? s(0, i + 1) : 0);
      double positive = 0, largest = 0;
      for (int64_t j = 0; j < u.rows; ++j) {
        positive = std::max(positive, u(j, i));
        largest = std::max(largest, std::abs(u(j, i)));
      }
      EXPECT_GE(positive, 0.998 * largest) << "column " << i;
    }
    EXPECT_LE(Distance(u * middle * vt, x), tolerance * Largest(x));
  }
}
void CheckEigh(DType dtype, const Dense& x, double tolerance) {
  const std::vector<Dense> eigh = Call("eigh", dtype, {x});
  const Dense &w = eigh[0], &v = eigh[1];
  ExpectOrthonormalColumns(v, tolerance);
  EXPECT_LE(Distance(v * Diagonal(w.values) * Transpose(v), x), tolerance * Largest(x));
  for (int64_t i = 0; i + 1 < w.columns; ++i) EXPECT_LE(w(0, i), w(0, i + 1));
}

// Symmetric positive definite.
Dense Definite(const Dense& x) {
  Dense y = x * Transpose(x);
  for (int64_t i = 0; i < y.rows; ++i) y(i, i) += static_cast<double>(y.rows);
  return y;
}
// With n on its diagonal, up to a permutation of its rows.
Dense Regular(int64_t n, uint64_t seed = 1) {
  Dense x = MakeDense(n, n, seed);
  for (int64_t i = 0; i < n; ++i) x(i, (i + 1) % n) += static_cast<double>(n);
  return x;
}

void CheckSquare(DType dtype, int64_t n, double tolerance) {
  const Dense x = Rounded(dtype, Regular(n));
  const Dense p = Rounded(dtype, Definite(MakeDense(n, n)));
  const Dense b = Rounded(dtype, MakeDense(n, 3, 2));
  EXPECT_LE(Distance(x * Call("inverse", dtype, {x})[0], Identity(n)), tolerance);
  EXPECT_LE(Distance(x * Call("solve", dtype, {x, b})[0], b), tolerance);
  EXPECT_LE(Distance(x * Call("lstsq", dtype, {x, b})[0], b), tolerance);
  const Dense lower = Call("cholesky", dtype, {p})[0];
  EXPECT_LE(Distance(lower * Transpose(lower), p), tolerance * Largest(p));
  EXPECT_EQ(Call("cholesky", dtype, {p}, {{"upper", true}})[0].values, Transpose(lower).values);
  CheckEigh(dtype, p, tolerance);
  CheckEigh(dtype, Rounded(dtype, 0.5 * (x * Transpose(x))), tolerance);
  // The determinant is the product of the diagonal of r, up to its sign.
  const Dense r = Call("qr", dtype, {x})[1];
  double logarithm = 0;
  for (int64_t i = 0; i < n; ++i) logarithm += std::log(r(i, i));
  const std::vector<Dense> slogdet = Call("slogdet", dtype, {x});
  EXPECT_NEAR(slogdet[1](0, 0), logarithm, tolerance);
  if (logarithm > 80) return;
  const double det = Call("det", dtype, {x})[0](0, 0);
  EXPECT_NEAR(det / (slogdet[0](0, 0) * std::exp(logarithm)), 1, tolerance);
}

TEST(SmallMatrices, AllSizes) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (int64_t n = 1; n <= kLimit + 2; ++n) {
      SCOPED_TRACE(DTypeName(dtype).str() + ", " + std::to_string(n) + " rows");
      const double tolerance = 20 * static_cast<double>(n) * Epsilon(dtype);
      CheckSquare(dtype, n, tolerance);
      for (const int64_t columns : {n, n / 2, n + 2, int64_t{1}}) {
        if (columns == 0) continue;
        const Dense x = Rounded(dtype, MakeDense(n, columns, 3));
        CheckQr(dtype, x, 2 * tolerance);
        CheckSvd(dtype, x, 2 * tolerance);
      }
    }
  }
}

const char* const kUnary[] = {"inverse", "det",  "slogdet",  "qr",      "eigh",
                              "svd",     "expm", "cofactor", "cholesky"};

// `count` different matrices, symmetric positive definite ones after every second other one.
Tensor Batch(DType dtype, int64_t count, int64_t n, bool definite) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    Dense x = Regular(n, static_cast<uint64_t>(i) + 1);
    if (definite) x = 0.01 * Definite(x);
    values.insert(values.end(), x.values.begin(), x.values.end());
  }
  return MakeAs(dtype, {count, n, n}, values);
}
// Matrices order[0], order[1] and so on of a batch.
Tensor Select(const Tensor& batch, llvm::ArrayRef<int64_t> order) {
  llvm::SmallVector<int64_t, 4> sizes(batch.sizes());
  const int64_t elements = batch.num_elements() / sizes[0];
  const std::vector<double> all = Values(batch);
  std::vector<double> values;
  for (const int64_t i : order)
    values.insert(values.end(), all.begin() + i * elements, all.begin() + (i + 1) * elements);
  sizes[0] = static_cast<int64_t>(order.size());
  return MakeAs(batch.dtype(), sizes, values);
}
// The bits of matrix i.
std::vector<uint64_t> BitsOf(const Tensor& batch, int64_t i) {
  std::vector<uint64_t> bits;
  for (const double value : Values(Select(batch, {i})))
    bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

TEST(SmallMatrices, SameBitsAtAnyPosition) {
  constexpr int64_t kCount = 37;
  std::vector<int64_t> reversed(kCount);
  for (int64_t i = 0; i < kCount; ++i) reversed[static_cast<size_t>(i)] = kCount - 1 - i;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {1, 2, 3, 5, 8, 17, 32, 33}) {
      for (const char* op : kUnary) {
        const Tensor x = Batch(dtype, kCount, n, op == std::string("cholesky"));
        const auto all = llvm::cantFail(TryApply(op, {x}));
        const auto back = llvm::cantFail(TryApply(op, {Select(x, reversed)}));
        for (const int64_t i : {0, 7, 18, 36}) {
          const auto one = llvm::cantFail(TryApply(op, {Select(x, {i})}));
          for (size_t k = 0; k < all.size(); ++k) {
            EXPECT_EQ(BitsOf(all[k], i), BitsOf(one[k], 0)) << op << ", n = " << n;
            EXPECT_EQ(BitsOf(all[k], i), BitsOf(back[k], kCount - 1 - i)) << op << ", n = " << n;
          }
        }
      }
    }
  }
}

TEST(SmallMatrices, SolutionsHaveTheSameBitsAtAnyPosition) {
  constexpr int64_t kCount = 37;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {1, 2, 5, 17, 32, 33}) {
      const Tensor a = Batch(dtype, kCount, n, false);
      const Tensor b = MakeAs(dtype, {kCount, n, 2}, Noise(kCount * n * 2));
      for (const char* op : {"solve", "lstsq"}) {
        const Tensor all = Apply(op, {a, b});
        // One matrix for all right sides.
        const Tensor shared = Apply(op, {Select(a, {7}), b});
        for (const int64_t i : {0, 7, 36}) {
          const Tensor one = Apply(op, {Select(a, {i}), Select(b, {i})});
          EXPECT_EQ(BitsOf(all, i), BitsOf(one, 0)) << op << ", n = " << n;
        }
        EXPECT_EQ(BitsOf(all, 7), BitsOf(shared, 7)) << op << ", n = " << n;
      }
    }
  }
}

TEST(SmallMatrices, NanStaysInItsMatrix) {
  constexpr int64_t kCount = 21;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {1, 2, 4, 9, 32, 33}) {
      for (const char* op : kUnary) {
        const Tensor good = Batch(dtype, kCount, n, true);
        std::vector<double> values = Values(good);
        values[static_cast<size_t>(3 * n * n)] = std::numeric_limits<double>::quiet_NaN();
        values[static_cast<size_t>(17 * n * n + n * n - 1)] =
            -std::numeric_limits<double>::infinity();
        const auto expected = llvm::cantFail(TryApply(op, {good}));
        const auto actual = llvm::cantFail(TryApply(op, {MakeAs(dtype, {kCount, n, n}, values)}));
        for (size_t k = 0; k < actual.size(); ++k) {
          for (int64_t i = 0; i < kCount; ++i) {
            if (i != 3 && i != 17) {
              EXPECT_EQ(BitsOf(actual[k], i), BitsOf(expected[k], i)) << op << ", matrix " << i;
              continue;
            }
            for (const double value : Values(Select(actual[k], {i})))
              EXPECT_TRUE(std::isnan(value));
          }
        }
      }
    }
  }
}

TEST(SmallMatrices, EmptyOnes) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor no_rows = MakeAs(dtype, {3, 0, 0}, {}), no_matrices = MakeAs(dtype, {0, 2, 2}, {});
    EXPECT_EQ(Values(Apply("det", {no_rows})), (std::vector<double>{1, 1, 1}));
    for (const char* op : kUnary) {
      if (op == std::string("det") || op == std::string("slogdet")) continue;
      EXPECT_EQ(llvm::cantFail(TryApply(op, {no_rows}))[0].num_elements(), 0) << op;
      EXPECT_EQ(llvm::cantFail(TryApply(op, {no_matrices}))[0].num_elements(), 0) << op;
    }
  }
}

TEST(SmallMatrices, AnyScale) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double far = dtype == DType::kF32 ? 1e18 : 1e150;
    const double denormal = dtype == DType::kF32 ? 1e-40 : 1e-310;
    for (const int64_t n : {1, 2, 3, 8, 20, 32, 40}) {
      for (const double scale : {far, 1 / far, far * far, 1 / far / far, denormal}) {
        SCOPED_TRACE(std::to_string(n) + " rows, scale " + std::to_string(std::log10(scale)));
        // Denormals have few digits.
        const double digits = dtype == DType::kF32 ? 1e-44 : 1e-322;
        const double tolerance = 40 * static_cast<double>(n) * (Epsilon(dtype) + digits / scale);
        const Dense x = Rounded(dtype, scale * MakeDense(n, n));
        CheckSvd(dtype, x, tolerance);
        const Dense symmetric = Rounded(dtype, scale * Definite(MakeDense(n, n)));
        if (std::isfinite(Largest(symmetric))) CheckEigh(dtype, symmetric, tolerance);
        if (n <= kLimit) CheckQr(dtype, x, tolerance);
        // Up to the rounding of the operand.
        const double logarithm =
            Call("slogdet", dtype, {Rounded(dtype, scale * Regular(n))})[1](0, 0);
        const double expected = Call("slogdet", DType::kF64, {Regular(n)})[1](0, 0);
        EXPECT_NEAR(logarithm, expected + static_cast<double>(n) * std::log(scale),
                    1e4 * static_cast<double>(n) * tolerance);
      }
    }
  }
}

// Columns and rows of very different norms.
TEST(SmallMatrices, GradedMatrices) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double step = dtype == DType::kF32 ? 1e-3 : 1e-20;
    for (const int64_t n : {2, 3, 8, 12, 40}) {
      const double tolerance = 40 * static_cast<double>(n) * Epsilon(dtype);
      for (const bool columns : {false, true}) {
        Dense x = MakeDense(n, n);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j)
            x(i, j) *= std::pow(step, static_cast<double>((columns ? j : i) % 12));
        }
        x = Rounded(dtype, x);
        CheckSvd(dtype, x, tolerance);
        CheckQr(dtype, x, tolerance);
        CheckEigh(dtype, Rounded(dtype, x * Transpose(x)), tolerance);
      }
    }
  }
}

TEST(SmallMatrices, Singular) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {2, 3, 4, 8, 20, 32, 40}) {
      const double tolerance = 40 * static_cast<double>(n) * Epsilon(dtype);
      const Dense zero = 0 * Identity(n);
      const std::vector<Dense> svd = Call("svd", dtype, {zero});
      EXPECT_EQ(Largest(svd[1]), 0);
      ExpectOrthonormalColumns(svd[0], tolerance);
      ExpectOrthonormalColumns(svd[2], tolerance);
      EXPECT_EQ(Largest(Call("eigh", dtype, {zero})[0]), 0);
      CheckEigh(dtype, zero, tolerance);
      CheckQr(dtype, zero, tolerance);
      // Rank 1 and n - 1, and two equal rows.
      const Dense rank_one = Rounded(dtype, MakeDense(n, 1, 5) * MakeDense(1, n, 6));
      CheckSvd(dtype, rank_one, tolerance);
      CheckEigh(dtype, Rounded(dtype, MakeDense(n, 1, 5) * Transpose(MakeDense(n, 1, 5))),
                tolerance);
      Dense equal = Rounded(dtype, Regular(n));
      for (int64_t j = 0; j < n; ++j) equal(n - 1, j) = equal(0, j);
      CheckSvd(dtype, equal, tolerance);
      EXPECT_LE(std::abs(Call("svd", dtype, {equal})[1](0, n - 1)), tolerance * Largest(equal));
      EXPECT_EQ(Call("det", dtype, {zero})[0](0, 0), 0);
      const std::vector<Dense> slogdet = Call("slogdet", dtype, {zero});
      EXPECT_EQ(slogdet[0](0, 0), 0);
      EXPECT_EQ(slogdet[1](0, 0), -std::numeric_limits<double>::infinity());
      // The solution with the smallest norm: the pseudoinverse of the exact matrix a b^T is
      // b a^T / (|a|^2 |b|^2).
      const Dense left = MakeDense(n, 1, 5), right = MakeDense(n, 1, 6);
      const double norms = (Transpose(left) * left)(0, 0) * (Transpose(right) * right)(0, 0);
      const Dense pseudoinverse = (1 / norms) * (right * Transpose(left));
      const Dense solution = Call("lstsq", dtype, {left * Transpose(right), Identity(n)})[0];
      EXPECT_LE(Distance(solution, pseudoinverse), 10 * tolerance * Largest(pseudoinverse));
    }
  }
}

// Equal eigenvalues and singular values.
TEST(SmallMatrices, RepeatedValues) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {2, 4, 9, 32}) {
      const double tolerance = 20 * static_cast<double>(n) * Epsilon(dtype);
      CheckEigh(dtype, 3 * Identity(n), tolerance);
      CheckSvd(dtype, -2 * Identity(n), tolerance);
      Dense ones = {n, n, std::vector<double>(static_cast<size_t>(n * n), 1.0)};
      CheckEigh(dtype, ones, tolerance);
      CheckSvd(dtype, ones, tolerance);
      EXPECT_EQ(Call("inverse", dtype, {-2 * Identity(n)})[0].values, (-0.5 * Identity(n)).values);
    }
  }
}

}  // namespace
}  // namespace pdl::testing
