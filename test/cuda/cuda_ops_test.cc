// Every CUDA kernel against the CPU's, through the public interface.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_testing.h"
#include "pdl/error.h"
#include "pdl/op_registry.h"

namespace pdl::testing {
namespace {

using SizesList = std::vector<Sizes>;
using Ints = std::vector<int64_t>;

constexpr DType kDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI8,
                             DType::kI32, DType::kI64,  DType::kU8,  DType::kBool};

class CudaOps : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto context = CreateDeviceContext({DeviceKind::kCUDA, 0});
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

  /// The dtypes that input `index` of an operator takes, of those that tensors have.
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

TEST_F(CudaOps, EveryOperatorHasAKernel) {
  for (const OpDef* def : GlobalRegistry().All()) {
    if (def->kernel(DeviceKind::kCPU) == nullptr) continue;
    EXPECT_NE(def->kernel(DeviceKind::kCUDA), nullptr) << def->name();
  }
}

TEST_F(CudaOps, ACpuContextIsRefused) {
  Scope scope;
  scope.Create("x")->Set(RandomTensor(DType::kF32, {3}, 1));
  OperatorArguments arguments;
  arguments.def = GlobalRegistry().Find("sqrt");
  ASSERT_NE(arguments.def, nullptr);
  arguments.inputs = {"x"};
  arguments.outputs = {"y"};
  auto op = CreateOperator(arguments, DeviceKind::kCUDA);
  ASSERT_TRUE(static_cast<bool>(op)) << llvm::toString(op.takeError());
  llvm::Error error = (*op)->Run(&scope, &cpu_);
  EXPECT_TRUE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
}

TEST(CudaDevice, OneThatIsNotThereIsADeviceError) {
  auto context = CreateDeviceContext({DeviceKind::kCUDA, 1000});
  ASSERT_FALSE(static_cast<bool>(context));
  llvm::Error error = context.takeError();
  EXPECT_TRUE(error.isA<DeviceError>());
  EXPECT_NE(llvm::toString(std::move(error)).find("cuda:1000"), std::string::npos);
}

TEST_F(CudaOps, MoreMemoryThanThereIsIsADeviceError) {
  auto memory = cuda_->Allocate(int64_t{1} << 50);
  ASSERT_FALSE(static_cast<bool>(memory));
  llvm::Error error = memory.takeError();
  EXPECT_TRUE(error.isA<DeviceError>());
  EXPECT_NE(llvm::toString(std::move(error)).find("out of memory"), std::string::npos);
  // The failure is not reported again by what comes after it.
  Compare({"sqrt", {RandomTensor(DType::kF32, {10}, 1, 0)}, {}});
}

TEST_F(CudaOps, Unary) {
  for (const std::string op : {"cos", "sin", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "neg",
                               "abs", "logical_not"}) {
    for (DType dtype : DTypesOf(op)) {
      for (const Sizes& sizes :
           SizesList{{}, {0}, {1}, {7}, {8}, {1000}, {3, 0, 2}, {257, 129}, {1 << 20}}) {
        Tensor x = RandomTensor(dtype, sizes, 1);
        PutSpecialValues(x);
        TestCall call{op, {x}, {}};
        if (op == "cos" || op == "sin") call.attributes = {{"scale", 2.5}};
        Compare(call);
        if (sizes.size() == 1 && sizes[0] < 2000) {
          Compare(call, 0, {.misalignment = 1});
          Compare(call, 0, {.in_place = 0});
        }
      }
    }
  }
}

TEST_F(CudaOps, UnaryOfLargeAngles) {
  for (const char* op : {"cos", "sin"})
    Compare({op, {RandomTensor(DType::kF32, {10000}, 1, -1e6, 1e6)}, {}});
}

/// Pairs of shapes that broadcast: dense, a scalar, rows, columns, both, packs within rows and not.
const std::vector<std::pair<Sizes, Sizes>> kPairs = {
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
    {{1 << 20}, {1 << 20}},
};

TEST_F(CudaOps, Binary) {
  for (const std::string op : {"add", "sub", "mul", "div", "maximum", "minimum", "pow", "floor_div",
                               "mod", "equal", "not_equal", "less", "less_equal", "greater",
                               "greater_equal", "logical_and", "logical_or"}) {
    for (DType dtype : DTypesOf(op)) {
      for (const auto& [left, right] : kPairs) {
        Tensor x = RandomTensor(dtype, left, 1), y = RandomTensor(dtype, right, 2);
        if (left == Sizes{1000}) PutSpecialValues(x);
        if (right == Sizes{1001} || right == Sizes{7}) PutSpecialValues(y);
        const TestCall call{op, {x, y}, {}};
        const double tolerance = op == "pow" ? 1e-5 : 0;
        Compare(call, tolerance);
        if (x.num_elements() > 10000) continue;
        Compare(call, tolerance, {.misalignment = 1});
        Compare(call, tolerance, {.in_place = 0});
        Compare(call, tolerance, {.in_place = 1});
      }
    }
  }
}

}  // namespace
}  // namespace pdl::testing
