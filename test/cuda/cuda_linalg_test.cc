// The CUDA kernels of linear algebra compared with the CPU's.
#include <cmath>

#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

constexpr DType kMatrixDTypes[] = {DType::kF32, DType::kF64};

double Tolerance(DType dtype) { return dtype == DType::kF32 ? 2e-4 : 1e-11; }

/// Random matrices that are far from singular: `diagonal` is added to each diagonal.
Tensor Matrices(DType dtype, llvm::ArrayRef<int64_t> sizes, uint64_t seed, double diagonal) {
  Tensor x = RandomTensor(dtype, sizes, seed, -1, 1);
  const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  for (int64_t at = 0; at < x.num_elements(); ++at) {
    if (at % (rows * columns) / columns != at % columns) continue;
    if (dtype == DType::kF32) {
      x.data<float>()[at] += static_cast<float>(diagonal);
    } else {
      x.data<double>()[at] += diagonal;
    }
  }
  return x;
}
/// Sets an element of an f32 tensor.
void Set(Tensor& x, int64_t at, float value) { x.data<float>()[at] = value; }

TEST_F(CudaOps, MatricesOneByOne) {
  for (const DType dtype : kMatrixDTypes) {
    for (const Sizes& sizes : SizesList{
             {1, 1}, {5, 5}, {3, 4, 4}, {2, 1, 3, 3}, {40, 40}, {0, 3, 3}, {2, 0, 0}, {0, 0}}) {
      const Tensor x = Matrices(dtype, sizes, 1, 6);
      for (const char* op : {"inverse", "det", "slogdet", "cofactor", "expm", "eigh", "cholesky"}) {
        // Their elements are too large for f32.
        if (sizes.back() == 40 && op == std::string("cofactor")) continue;
        Compare({op, {x}, {}}, op == std::string("expm") ? 1e-3 : Tolerance(dtype));
      }
      Compare({"cholesky", {x}, {{"upper", true}}}, Tolerance(dtype));
    }
  }
}

TEST_F(CudaOps, SingularMatricesHaveCofactors) {
  Tensor x = RandomTensor(DType::kF64, {2, 3, 3}, 1);
  for (int j = 0; j < 3; ++j) x.data<double>()[3 + j] = 2 * x.data<double>()[j];
  for (const char* op : {"cofactor", "det", "slogdet"}) Compare({op, {x}, {}}, 1e-10);
}

TEST_F(CudaOps, ExponentialsOfLargeAndSmallMatrices) {
  for (const double scale : {1e-3, 1.0, 8.0}) {
    Compare({"expm", {RandomTensor(DType::kF64, {3, 4, 4}, 1, -scale, scale)}, {}}, 1e-10);
  }
}

TEST_F(CudaOps, DecompositionsOfRectangles) {
  for (const DType dtype : kMatrixDTypes) {
    for (const Sizes& sizes : SizesList{{5, 3},
                                        {3, 5},
                                        {4, 4},
                                        {2, 6, 4},
                                        {2, 1, 4, 6},
                                        {3, 1},
                                        {1, 3},
                                        {0, 3},
                                        {3, 0},
                                        {2, 0, 3},
                                        {0, 2, 3}}) {
      const Tensor x = Matrices(dtype, sizes, 3, 0);
      for (const char* op : {"qr", "svd"}) {
        Compare({op, {x}, {}}, Tolerance(dtype));
        // The other columns of q and u are not unique.
        const bool is_unique = sizes[sizes.size() - 2] <= sizes.back() && op == std::string("qr");
        if (is_unique || x.num_elements() == 0 || sizes == Sizes{4, 4})
          Compare({op, {x}, {{"full_matrices", true}}}, Tolerance(dtype));
      }
    }
  }
}

TEST_F(CudaOps, FullBasesAreOrthonormal) {
  for (const Sizes& sizes : SizesList{{5, 3}, {3, 5}}) {
    for (const std::string op : {"qr", "svd"}) {
      const TestCall call{op, {RandomTensor(DType::kF64, sizes, 1)}, {{"full_matrices", true}}};
      const std::vector<Tensor> outputs = RunCall(*cuda_, call);
      for (size_t o = 0; o < outputs.size(); o += 2) {
        if (op == "qr" && o > 0) continue;
        const double* q = outputs[o].data<double>();
        const int64_t n = outputs[o].size(0);
        ASSERT_EQ(n, outputs[o].size(1));
        for (int64_t i = 0; i < n * n; ++i) {
          double product = 0;
          for (int64_t k = 0; k < n; ++k) product += q[i / n * n + k] * q[i % n * n + k];
          EXPECT_NEAR(product, i / n == i % n ? 1 : 0, 1e-12) << op;
        }
      }
    }
  }
}

TEST_F(CudaOps, Equations) {
  const std::vector<std::pair<Sizes, Sizes>> cases = {
      {{3, 3}, {3}},       {{3, 3}, {3, 2}},          {{4, 3, 3}, {3, 2}},
      {{3, 3}, {4, 3, 2}}, {{2, 1, 3, 3}, {5, 3, 1}}, {{4, 3, 3}, {3}},
      {{1, 1}, {1, 1}},    {{0, 3, 3}, {3, 2}},       {{3, 3}, {3, 0}},
      {{0, 0}, {0, 2}},    {{35, 35}, {35, 3}}};
  for (const DType dtype : kMatrixDTypes) {
    for (const auto& [a, b] : cases) {
      const Tensor x = Matrices(dtype, a, 1, 6), y = RandomTensor(dtype, b, 2);
      Compare({"solve", {x, y}, {}}, Tolerance(dtype));
      Compare({"lstsq", {x, y}, {}}, Tolerance(dtype));
      for (const int flags : {0, 1, 2, 3, 4, 5, 6, 7}) {
        Compare({"triangular_solve",
                 {x, y},
                 {{"upper", (flags & 1) != 0},
                  {"transpose_a", (flags & 2) != 0},
                  {"unit_diagonal", (flags & 4) != 0}}},
                1e-3);
      }
    }
    for (const auto& [a, b] : std::vector<std::pair<Sizes, Sizes>>{
             {{5, 3}, {5, 2}}, {{3, 5}, {3, 2}}, {{2, 3, 5}, {3}}, {{0, 3}, {0, 2}}}) {
      const Tensor x = RandomTensor(dtype, a, 1), y = RandomTensor(dtype, b, 2);
      Compare({"lstsq", {x, y}, {}}, 10 * Tolerance(dtype));
      Compare({"lstsq", {x, y}, {{"rcond", 0.9}}}, 10 * Tolerance(dtype));
    }
  }
}

TEST_F(CudaOps, MatricesWithNanGiveNan) {
  for (const float special : {NAN, INFINITY}) {
    Tensor x = Matrices(DType::kF32, {3, 4, 4}, 1, 6);
    Set(x, 16 + 4, special);  // element [1, 0] of the second one
    for (const char* op :
         {"inverse", "det", "slogdet", "cofactor", "expm", "eigh", "cholesky", "qr", "svd"})
      Compare({op, {x}, {}}, op == std::string("expm") ? 1e-3 : 2e-4);
    const Tensor b = RandomTensor(DType::kF32, {4, 2}, 2);
    for (const char* op : {"solve", "lstsq", "triangular_solve"}) Compare({op, {x, b}, {}}, 1e-3);
    // The other triangle is not read.
    Compare({"triangular_solve", {x, b}, {{"upper", true}}}, 1e-3);
  }
}

/// The Error of a run.
std::string ErrorOf(DeviceContext& context, const TestCall& call) {
  auto prepared = PreparedCall::Create(context, call);
  if (!prepared) return llvm::toString(prepared.takeError());
  if (auto error = (*prepared)->Reset()) return llvm::toString(std::move(error));
  if (auto error = (*prepared)->Launch()) return llvm::toString(std::move(error));
  auto outputs = (*prepared)->Outputs();
  return outputs ? "" : llvm::toString(outputs.takeError());
}

TEST_F(CudaOps, MatricesWithoutAResult) {
  Tensor x = Matrices(DType::kF32, {2, 2, 3, 3}, 1, 6);
  for (int j = 0; j < 9; ++j) Set(x, 18 + j, 0);  // matrix [1, 0]
  Tensor negative = Matrices(DType::kF32, {3, 3}, 1, -6);
  const Tensor b = RandomTensor(DType::kF32, {3, 2}, 2);
  const auto expect = [](const TestCall& call, const std::string& message) {
    EXPECT_NE(ErrorOf(*cuda_, call).find(message), std::string::npos)
        << call.op << ": " << ErrorOf(*cuda_, call);
    EXPECT_NE(ErrorOf(cpu_, call).find(message), std::string::npos) << call.op;
  };
  expect({"inverse", {x}, {}}, "matrix [1, 0] of 'x' is singular");
  expect({"solve", {x, b}, {}}, "matrix [1, 0] of 'a' is singular");
  expect({"triangular_solve", {x, b}, {}}, "matrix [1, 0] of 'a' has a 0 on its diagonal");
  expect({"cholesky", {x}, {}}, "matrix [1, 0] of 'x' is not positive definite");
  expect({"cholesky", {negative}, {}}, "'x' is not positive definite");
}

}  // namespace
}  // namespace pdl::testing
