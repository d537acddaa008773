// Linear algebra: rejected operands, threads, and matrices that tables of numbers do not show. The
// numbers are in test/ops.
#include <gtest/gtest.h>

#include <cmath>

#include "pdl/op/gradient.h"
#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

Type Floats(std::initializer_list<Dim> dims) { return Type(DType::kF32, Shape(dims)); }

// `count` matrices of n rows, n on the diagonal and noise.
Tensor Regular(DType dtype, int64_t count, int64_t n, uint64_t seed = 1) {
  std::vector<double> values = Noise(count * n * n, seed);
  for (int64_t i = 0; i < count * n; ++i)
    values[static_cast<size_t>(i * n + i % n)] += static_cast<double>(n);
  return MakeAs(dtype, {count, n, n}, values);
}

TEST(Linalg, InfersTypes) {
  const Dim n = Dim::Symbol("N"), m = Dim::Symbol("M"), k = Dim::Symbol("K");
  EXPECT_EQ(InferText("inverse", {Floats({2, n, n})}), "f32[2, N, N]");
  EXPECT_EQ(InferText("inverse", {Floats({n, m})}), "f32[N, M] if N == M");
  EXPECT_EQ(InferText("det", {Floats({k, 3, 3})}), "f32[K]");
  EXPECT_EQ(InferText("solve", {Floats({k, n, n}), Floats({n, 2})}), "f32[K, N, 2]");
  EXPECT_EQ(InferText("solve", {Floats({k, n, n}), Floats({n})}), "f32[K, N]");
  EXPECT_EQ(InferText("lstsq", {Floats({m, n}), Floats({k, m, 2})}), "f32[K, N, 2]");
}

TEST(Linalg, RejectsOperands) {
  EXPECT_EQ(InferText("cholesky", {Floats({3})}),
            "305 at 0: 'x' must have at least two dims, got f32[3]");
  EXPECT_EQ(InferText("det", {Floats({2, 3})}),
            "301 at 0: the matrices of 'x' must be square: 2 and 3");
  EXPECT_EQ(InferText("eigh", {Type(DType::kF16, Shape{2, 2})}),
            "302 at 0: 'x' must be f32 or f64, got f16[2, 2]");
  EXPECT_EQ(InferText("solve", {Floats({2, 2}), Floats({3})}),
            "301 at 0, 1: the numbers of rows differ: 2 and 3");
  EXPECT_EQ(InferText("solve", {Floats({2, 2}), Floats({})}),
            "305 at 1: 'b' must have at least one dim, got f32[]");
  EXPECT_EQ(InferText("lstsq", {Floats({2, 3}), Type(DType::kF64, Shape{2})}),
            "303 at 0, 1: dtypes differ: f32 and f64");
  EXPECT_EQ(InferText("triangular_solve", {Floats({2, 2, 2}), Floats({3, 2, 1})}),
            "304 at 0, 1: sizes do not broadcast: 2 and 3");
}

// The first matrix is named, whichever thread finds another one first.
TEST(Linalg, NamesTheFirstMatrixWithoutResult) {
  for (const int threads : {1, 2, 4}) {
    RunOptions options;
    options.threads = threads;
    Tensor x = Regular(DType::kF32, 20000, 3);
    float* data = x.data<float>();
    for (const int64_t i : {19999, 7001, 7002, 15000}) std::fill_n(data + i * 9, 9, 0.0f);
    for (const char* op : {"inverse", "cholesky"}) {
      auto result = TryApply(op, {x}, {}, options);
      ASSERT_FALSE(static_cast<bool>(result));
      const std::string text = llvm::toString(result.takeError());
      const std::string problem =
          op == std::string("inverse") ? "is singular" : "is not positive definite";
      EXPECT_NE(text.find("matrix [7001] of 'x' " + problem), std::string::npos) << text;
    }
  }
}

TEST(Linalg, SameBitsForAnyNumberOfThreads) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {3, 7, 20}) {
      const Tensor x = Regular(dtype, 500, n), b = Regular(dtype, 500, n, 2);
      for (const char* op : {"inverse", "det", "qr", "eigh", "svd", "expm", "cofactor", "solve",
                             "triangular_solve", "lstsq"}) {
        const bool has_two =
            llvm::is_contained({"solve", "triangular_solve", "lstsq"}, std::string(op));
        std::vector<Tensor> inputs = {x};
        if (has_two) inputs.push_back(b);
        RunOptions options;
        auto one = TryApply(op, inputs, {}, options);
        options.threads = 4;
        auto four = TryApply(op, inputs, {}, options);
        ASSERT_TRUE(one && four);
        for (size_t i = 0; i < one->size(); ++i) EXPECT_EQ(Values((*one)[i]), Values((*four)[i]));
      }
    }
  }
}

// Magnitudes near the limits of the dtype, for which iterations must end.
TEST(Linalg, HugeAndTinyMatricesEnd) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double huge = dtype == DType::kF32 ? 3e38 : 1e308;
    const double tiny = dtype == DType::kF32 ? 1e-45 : 5e-324;
    for (const double scale : {huge, tiny}) {
      for (const int64_t n : {2, 5, 20}) {
        std::vector<double> values = Noise(n * n);
        for (double& value : values) value *= scale;
        const Tensor x = MakeAs(dtype, {n, n}, values);
        for (const char* op : {"svd", "eigh", "qr", "det", "expm", "slogdet", "cofactor"}) {
          auto result = TryApply(op, {x});
          EXPECT_TRUE(static_cast<bool>(result)) << op << llvm::toString(result.takeError());
        }
      }
    }
  }
}

// Large matrices, for which Eigen uses blocked algorithms: the parts multiply to the operand.
TEST(Linalg, LargeMatrices) {
  const Tensor x = Regular(DType::kF64, 1, 150);
  const Attributes none;
  const Tensor y = Apply("inverse", {x});
  const std::vector<double> product = Values(Apply("matmul", {x, y}));
  for (int64_t i = 0; i < 150 * 150; ++i)
    EXPECT_NEAR(product[static_cast<size_t>(i)], i / 150 == i % 150, 1e-12);
  auto parts = llvm::cantFail(TryApply("svd", {x}));
  const Tensor s = Apply("diag", {parts[1]});
  const std::vector<double> rebuilt =
      Values(Apply("matmul", {Apply("matmul", {parts[0], s}), parts[2]}));
  const std::vector<double> expected = Values(x);
  for (size_t i = 0; i < rebuilt.size(); ++i) EXPECT_NEAR(rebuilt[i], expected[i], 1e-10);
}

void ExpectNear(const Tensor& actual, const Tensor& expected, double tolerance) {
  const std::vector<double> x = Values(actual), y = Values(expected);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance) << "element " << i;
}

Tensor Eye(int64_t n) {
  std::vector<double> values(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i * (n + 1))] = 1;
  return MakeAs(DType::kF64, {n, n}, values);
}

// Bases that full_matrices=true completes, without a gradient.
TEST(Linalg, FullMatricesOfOtherSizes) {
  const Attributes full = {{"full_matrices", true}};
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>(5, 2), {2, 5}, {3, 0}, {0, 3}}) {
    const Tensor x = MakeAs(DType::kF64, {rows, columns}, Noise(rows * columns));
    auto qr = llvm::cantFail(TryApply("qr", {x}, full));
    ASSERT_EQ(qr[0].sizes(), llvm::ArrayRef<int64_t>({rows, rows}));
    ExpectNear(Apply("matmul", {qr[0], qr[1]}), x, 1e-12);
    ExpectNear(Apply("matmul", {qr[0], qr[0]}, {{"transpose_a", true}}), Eye(rows), 1e-12);
    auto svd = llvm::cantFail(TryApply("svd", {x}, full));
    ExpectNear(Apply("matmul", {svd[0], svd[0]}, {{"transpose_a", true}}), Eye(rows), 1e-12);
    ExpectNear(Apply("matmul", {svd[2], svd[2]}, {{"transpose_a", true}}), Eye(columns), 1e-12);
    auto thin = llvm::cantFail(TryApply("svd", {x}));
    EXPECT_EQ(Values(thin[1]).size(), static_cast<size_t>(std::min(rows, columns)));
    ExpectNear(svd[1], thin[1], 1e-12);
  }
}

TEST(Linalg, LstsqTakesSmallSingularValuesForZero) {
  const Tensor a = MakeAs(DType::kF64, {2, 2}, {4, 0, 0, 1}), b = MakeAs(DType::kF64, {2}, {4, 1});
  EXPECT_EQ(Values(Apply("lstsq", {a, b})), (std::vector<double>{1, 1}));
  EXPECT_EQ(Values(Apply("lstsq", {a, b}, {{"rcond", 0.3}})), (std::vector<double>{1, 0}));
  // The default depends on the dtype.
  const std::vector<double> nearly = {1, 0, 0, 1e-8};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor x = Apply("lstsq", {MakeAs(dtype, {2, 2}, nearly), MakeAs(dtype, {2}, {1, 1})});
    EXPECT_EQ(Values(x)[1] == 0, dtype == DType::kF32);
  }
}

std::string GradientError(const char* op, const Type& x, unsigned output) {
  Graph graph;
  const OpDef* def = GlobalRegistry().Find(op);
  std::vector<std::string> names;
  for (size_t i = 0; i < def->signature.outputs.size(); ++i)
    names.push_back("y" + std::to_string(i));
  Op* call =
      llvm::cantFail(graph.AddOp(*def, {graph.AddInput("x", x)}, {{"full_matrices", true}}, names));
  std::vector<Value*> gradients(names.size());
  gradients[output] = graph.AddInput("dy", call->result(output)->type());
  GradientContext context(graph, GlobalRegistry(), *call, gradients);
  def->gradient(context);
  return llvm::toString(context.TakeError());
}

TEST(Linalg, GradientsOfCompletedBases) {
  const Dim n = Dim::Symbol("N");
  const char* const qr =
      "gradient of 'qr': q of full_matrices=true is not unique if there are more rows than columns "
      "[PDL0316]";
  EXPECT_EQ(GradientError("qr", Floats({3, 2}), 0), qr);
  EXPECT_EQ(GradientError("qr", Floats({n, 2}), 0), qr);
  EXPECT_EQ(GradientError("qr", Floats({2, 3}), 0), "");
  EXPECT_EQ(GradientError("qr", Floats({n, n}), 1), "");
  const char* const svd =
      "gradient of 'svd': u and vt of full_matrices=true are unique for square matrices only "
      "[PDL0316]";
  EXPECT_EQ(GradientError("svd", Floats({3, 2}), 0), svd);
  EXPECT_EQ(GradientError("svd", Floats({3, 2}), 1), "");
  EXPECT_EQ(GradientError("svd", Floats({3, 2}), 2), "");
  EXPECT_EQ(GradientError("svd", Floats({2, 3}), 2), svd);
  EXPECT_EQ(GradientError("svd", Floats({n, n}), 2), "");
}

}  // namespace
}  // namespace pdl::testing
