// Helpers for tests of CUDA operators.
#ifndef PDL_TEST_CUDA_CUDA_OPS_FIXTURE_H_
#define PDL_TEST_CUDA_CUDA_OPS_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda_testing.h"
#include "pdl/op/op_registry.h"

namespace pdl::testing {

using SizesList = std::vector<Sizes>;
using Ints = std::vector<int64_t>;

inline constexpr DType kDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI8,
                                    DType::kI32, DType::kI64,  DType::kU8,  DType::kBool};

class CudaOps : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto context = CreateCudaContext();
    if (context) {
      cuda_ = std::move(*context);
    } else {
      reason_ = llvm::toString(context.takeError());
    }
  }
  static void TearDownTestSuite() { cuda_.reset(); }
  void SetUp() override {
    if (!cuda_) GTEST_SKIP() << reason_;
  }

  /// The dtypes that input `index` of an operator accepts, except those that tensors cannot have.
  static std::vector<DType> DTypesOf(const std::string& op, unsigned index = 0) {
    const OpDef* def = GlobalRegistry().Find(op);
    std::vector<DType> accepted;
    for (DType dtype : kDTypes) {
      if (def && def->signature.inputs[index].dtypes.Contains(dtype)) accepted.push_back(dtype);
    }
    EXPECT_FALSE(accepted.empty()) << op;
    return accepted;
  }

  static void Compare(const TestCall& call, double tolerance = 0, const Placement& placement = {}) {
    ExpectSame(cpu_, *cuda_, call, placement, tolerance);
  }

  static inline CPUContext cpu_{0};
  static inline std::unique_ptr<DeviceContext> cuda_;
  static inline std::string reason_;
};

/// Pairs of shapes that broadcast: dense, a scalar, rows, columns, both, vectors within and across
/// rows.
inline const std::vector<std::pair<Sizes, Sizes>> kPairs = {
    {{}, {}},
    {{1000}, {1000}},
    {{1000}, {}},
    {{}, {1001}},
    {{5, 7}, {7}},
    {{7}, {5, 7}},
    {{5, 1}, {1, 7}},
    {{0, 3}, {3}},
    {{64, 128}, {128}},
    {{64, 128}, {64, 1}},
    {{64, 1}, {64, 128}},
    {{2, 3, 4, 16}, {3, 1, 16}},
    {{2, 1, 4, 1}, {1, 3, 1, 16}},
    {{3, 1, 1, 2, 1, 2}, {1, 2, 1, 2, 3, 2}},
    {{200001}, {200001}},
};

/// Sizes, and axes of them.
inline const std::vector<std::pair<Sizes, Ints>> kFolds = {
    {{5}, {0}},
    {{1}, {0}},
    {{1000}, {0}},
    {{100000}, {0}},
    {{3, 4}, {0}},
    {{3, 4}, {1}},
    {{3, 4}, {0, 1}},
    {{1000, 7}, {0}},
    {{7, 1000}, {1}},
    {{100, 300}, {0}},
    {{100, 300}, {-1}},
    {{3, 20000}, {1}},
    {{20000, 3}, {0}},
    {{6000, 70}, {0}},
    {{4, 5, 6, 7}, {1, 3}},
    {{4, 5, 6, 7}, {0, 2}},
    {{4, 5, 6, 7}, {1, 2}},
    {{2, 1, 5}, {1}},
    {{0, 5}, {1}},
};

}  // namespace pdl::testing

#endif  // PDL_TEST_CUDA_CUDA_OPS_FIXTURE_H_
