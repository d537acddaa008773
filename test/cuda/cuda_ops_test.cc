// CUDA kernels compared with the CPU's, through the public interface.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cuda_ops_fixture.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"

namespace pdl::testing {
namespace {

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
  // The next call does not report the failure again.
  Compare({"sqrt", {RandomTensor(DType::kF32, {10}, 1, 0)}, {}});
}

TEST_F(CudaOps, Matmul) {
  struct Case {
    Sizes x, y;
    bool transpose_a = false, transpose_b = false;
  };
  const std::vector<Case> cases = {
      {{3, 4}, {4, 5}},
      {{4, 3}, {4, 5}, true, false},
      {{3, 4}, {5, 4}, false, true},
      {{4, 3}, {5, 4}, true, true},
      {{1, 1}, {1, 1}},
      {{33, 65}, {65, 17}},
      {{128, 256}, {256, 64}},
      {{1, 1000}, {1000, 1}},
      {{0, 4}, {4, 5}},
      {{3, 0}, {0, 5}},
      {{2, 3, 4, 5}, {2, 3, 5, 6}},
      {{7, 4, 5}, {5, 6}},
      {{7, 5, 4}, {5, 6}, true, false},
      {{4, 5}, {7, 5, 6}},
      {{2, 1, 4, 5}, {1, 3, 5, 6}},
      {{2, 1, 4, 5}, {3, 6, 5}, false, true},
      {{0, 4, 5}, {5, 6}},
      {{5}, {5}},
      {{5}, {5, 6}},
      {{4, 5}, {5}},
      {{3, 4, 5}, {5}},
      {{5}, {3, 5, 6}},
  };
  for (DType dtype : DTypesOf("matmul", 1)) {
    for (const Case& c : cases) {
      const TestCall call{"matmul",
                          {RandomTensor(dtype, c.x, 1), RandomTensor(dtype, c.y, 2)},
                          {{"transpose_a", c.transpose_a}, {"transpose_b", c.transpose_b}}};
      // The accumulated terms are about 16 sqrt(k) in size; the tolerance is far below the effect
      // of an error.
      const double tolerance = dtype == DType::kF64 ? 1e-11 : dtype == DType::kF32 ? 2e-4 : 4e-2;
      Compare(call, tolerance);
      Compare(call, tolerance, {.misalignment = 1});
    }
  }
}

TEST_F(CudaOps, CosSim) {
  for (DType dtype : DTypesOf("cos_sim")) {
    for (const auto& [x, y] : std::vector<std::pair<Sizes, Sizes>>{{{1, 1}, {1, 1}},
                                                                   {{4, 3}, {4, 3}},
                                                                   {{100, 77}, {100, 77}},
                                                                   {{3, 5000}, {3, 5000}},
                                                                   {{0, 4}, {0, 4}}}) {
      Compare({"cos_sim", {RandomTensor(dtype, x, 1), RandomTensor(dtype, y, 2)}, {{"scale", 3.0}}},
              dtype == DType::kF64 ? 1e-12 : 1e-5);
    }
  }
}

TEST_F(CudaOps, Reductions) {
  for (const std::string op : {"sum", "mean", "norm", "max", "min"}) {
    for (DType dtype : DTypesOf(op)) {
      for (const auto& [sizes, axes] : kFolds) {
        Compare({op, {RandomTensor(dtype, sizes, 1)}, {{"axes", axes}}},
                dtype == DType::kF64 ? 1e-11 : 1e-4);
      }
      Compare({op, {RandomTensor(dtype, {6, 50, 7}, 1)}, {}}, dtype == DType::kF64 ? 1e-11 : 1e-4);
    }
  }
}

TEST_F(CudaOps, SumOfNothingIsZero) {
  Compare({"sum", {RandomTensor(DType::kF32, {3, 0}, 1)}, {{"axes", Ints{1}}}});
}

TEST_F(CudaOps, ReductionsGiveTheSameBitsInEveryRun) {
  const TestCall call{"sum", {RandomTensor(DType::kF32, {300000}, 1)}, {}};
  const float first = RunCall(*cuda_, call)[0].data<float>()[0];
  for (int run = 0; run < 5; ++run) EXPECT_EQ(RunCall(*cuda_, call)[0].data<float>()[0], first);
}

TEST_F(CudaOps, NanWinsInReductions) {
  for (const std::string op : {"sum", "max", "min", "argmax"}) {
    for (int64_t n : {1, 7, 1000, 50000}) {
      Tensor x = RandomTensor(DType::kF32, {n}, 1);
      x.data<float>()[n / 2] = NAN;
      x.data<float>()[n - 1] = NAN;
      const Ints zero = {0};
      TestCall call{op, {x}, {{"axes", zero}}};
      if (op == "argmax") call.attributes = {{"axis", int64_t{0}}};
      Compare(call);
    }
  }
}

TEST_F(CudaOps, Argmax) {
  for (DType dtype : DTypesOf("argmax")) {
    for (const Sizes& sizes : SizesList{{1}, {1000}, {50000}, {300, 10}, {4, 5, 6}, {0, 3}}) {
      for (int64_t axis = -1; axis < static_cast<int64_t>(sizes.size()); ++axis) {
        // Small integers, so that many are equal: the first one wins.
        if (sizes[static_cast<size_t>(axis < 0 ? axis + sizes.size() : axis)] == 0) continue;
        Compare({"argmax", {RandomTensor(dtype, sizes, 1)}, {{"axis", axis}}});
      }
    }
  }
}

TEST_F(CudaOps, Softmax) {
  for (DType dtype : DTypesOf("softmax")) {
    for (const Sizes& sizes :
         SizesList{{1}, {10}, {1000}, {64, 10}, {3, 5000}, {6, 7, 8}, {0, 4}, {70, 200}}) {
      for (int64_t axis = -1; axis < static_cast<int64_t>(sizes.size()); ++axis) {
        for (const char* op : {"softmax", "log_softmax"}) {
          const TestCall call{op, {RandomTensor(dtype, sizes, 1, -30, 30)}, {{"axis", axis}}};
          Compare(call);
          Compare(call, 0, {.in_place = 0});
        }
      }
    }
    Tensor x = RandomTensor(dtype, {4, 8}, 1);
    PutSpecialValues(x);
    Compare({"softmax", {x}, {}});
  }
}

TEST_F(CudaOps, Transpose) {
  const std::vector<std::pair<Sizes, Ints>> cases = {
      {{}, {}},
      {{5}, {0}},
      {{3, 4}, {1, 0}},
      {{3, 4}, {0, 1}},
      {{100, 77}, {1, 0}},
      {{1, 77}, {1, 0}},
      {{64, 128}, {1, 0}},
      {{3, 50, 40}, {0, 2, 1}},
      {{3, 50, 40}, {2, 1, 0}},
      {{3, 50, 40}, {1, 0, 2}},
      {{2, 3, 16, 20}, {0, 2, 1, 3}},
      {{2, 3, 16, 20}, {3, 1, 0, 2}},
      {{9, 3, 20, 10}, {2, 0, 3, 1}},
      {{0, 4}, {1, 0}},
      {{3, 2, 3, 2, 3}, {4, 2, 0, 3, 1}},
  };
  for (DType dtype : DTypesOf("transpose")) {
    for (const auto& [sizes, permutation] : cases) {
      const TestCall call{"transpose", {RandomTensor(dtype, sizes, 1)}, {{"perm", permutation}}};
      Compare(call);
      Compare(call, 0, {.misalignment = 1});
    }
  }
}

TEST_F(CudaOps, Reshape) {
  Compare({"reshape", {RandomTensor(DType::kF32, {6, 4}, 1)}, {{"dims", Shape{3, 8}}}});
}

TEST_F(CudaOps, BroadcastTo) {
  const std::vector<std::pair<Sizes, Shape>> cases = {
      {{}, {5}},        {{}, {0}},           {{1}, {1000}},    {{7}, {3, 7}},
      {{16}, {30, 16}}, {{16, 1}, {16, 32}}, {{3, 4}, {3, 4}}, {{2, 1, 4, 1}, {3, 2, 5, 4, 6}},
  };
  for (DType dtype : DTypesOf("broadcast_to")) {
    for (const auto& [sizes, dims] : cases) {
      const TestCall call{"broadcast_to", {RandomTensor(dtype, sizes, 1)}, {{"dims", dims}}};
      Compare(call);
      Compare(call, 0, {.misalignment = 1});
    }
  }
}

TEST_F(CudaOps, Concat) {
  for (DType dtype : DTypesOf("concat")) {
    const auto compare = [&](const SizesList& sizes, int64_t axis) {
      TestCall call{"concat", {}, {{"axis", axis}}};
      for (size_t i = 0; i < sizes.size(); ++i)
        call.inputs.push_back(RandomTensor(dtype, sizes[i], i));
      Compare(call);
      Compare(call, 0, {.misalignment = 1});
    };
    compare({{3}}, 0);
    compare({{3}, {4}, {0}, {9}}, 0);
    compare({{3, 4}, {3, 5}}, 1);
    compare({{3, 4}, {3, 5}}, -1);
    compare({{32, 16}, {32, 48}}, 1);
    compare({{3, 4}, {5, 4}}, 0);
    compare({{2, 3, 4}, {2, 5, 4}, {2, 1, 4}}, 1);
  }
}

TEST_F(CudaOps, Slice) {
  for (DType dtype : DTypesOf("slice")) {
    const auto compare = [&](const Sizes& sizes, Ints axes, Ints starts, Ints stops, Ints steps) {
      Shape from(starts.begin(), starts.end()), to(stops.begin(), stops.end());
      const TestCall call{"slice",
                          {RandomTensor(dtype, sizes, 1)},
                          {{"axes", axes}, {"starts", from}, {"stops", to}, {"steps", steps}}};
      Compare(call);
      Compare(call, 0, {.misalignment = 1});
    };
    compare({10}, {0}, {2}, {7}, {1});
    compare({10}, {0}, {2}, {9}, {3});
    compare({10}, {0}, {5}, {5}, {1});
    compare({10, 64}, {1}, {16}, {48}, {1});
    compare({10, 64}, {0, 1}, {3, 1}, {9, 60}, {2, 5});
    compare({4, 5, 6}, {1}, {1}, {4}, {1});
    compare({4, 5, 6}, {0, 2}, {1, 0}, {3, 6}, {1, 1});
  }
}

TEST_F(CudaOps, Cast) {
  for (DType from : DTypesOf("cast")) {
    for (DType to : kDTypes) {
      for (int64_t n : {0, 1, 7, 1000}) {
        // Values out of the target's range are covered by another test.
        const double high = to == DType::kBool ? 1 : 100;
        const TestCall call{
            "cast", {RandomTensor(from, {n}, 1, IsUnsigned(to) ? 0 : -high, high)}, {{"to", to}}};
        Compare(call);
        Compare(call, 0, {.misalignment = 1});
        Compare(call, 0, {.in_place = 0});
      }
    }
  }
}

TEST_F(CudaOps, CastOfWhatDoesNotFit) {
  for (DType from : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    Tensor x = RandomTensor(from, {1000}, 1, -1e5, 1e5);
    PutSpecialValues(x);
    for (DType to : kDTypes) Compare({"cast", {x}, {{"to", to}}});
  }
  for (DType to : kDTypes) {
    Compare({"cast", {RandomTensor(DType::kI64, {1000}, 1, -1e15, 1e15)}, {{"to", to}}});
    Compare({"cast", {RandomTensor(DType::kF64, {1000}, 1, -1e300, 1e300)}, {{"to", to}}});
  }
}

TEST_F(CudaOps, Constants) {
  for (DType dtype : kDTypes) {
    for (const Shape& dims :
         {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{3, 333}, Shape{100000}}) {
      for (int64_t misalignment : {0, 1}) {
        const Placement placement{.misalignment = misalignment};
        Compare({"zeros", {}, {{"dims", dims}, {"dtype", dtype}}}, 0, placement);
        Compare({"ones", {}, {{"dims", dims}, {"dtype", dtype}}}, 0, placement);
        const Constant three = Constant::Scalar(dtype, 3);
        Compare({"fill", {}, {{"dims", dims}, {"value", three}, {"dtype", dtype}}}, 0, placement);
      }
    }
    const Constant value = RandomTensor(dtype, {5, 3}, 1).ToConstant();
    Compare({"constant", {}, {{"value", value}, {"dtype", dtype}}});
    if (dtype != DType::kBool) Compare({"size", {}, {{"dims", Shape{5, 7}}, {"dtype", dtype}}});
  }
}

TEST_F(CudaOps, RandomNumbersAreTheSameOnBothDevices) {
  for (const std::string op : {"uniform", "normal", "truncated_normal", "xavier_uniform",
                               "xavier_normal", "he_uniform", "he_normal"}) {
    for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
      for (const Shape& dims :
           {Shape{}, Shape{0}, Shape{1}, Shape{5}, Shape{3, 333}, Shape{70000}}) {
        for (const RandomState state : {RandomState{0, 0}, RandomState{7, 3}}) {
          cpu_.SetRandom(state);
          cuda_->SetRandom(state);
          Compare({op, {}, {{"dims", dims}, {"dtype", dtype}}},
                  dtype == DType::kF64 ? 1e-13 : 1e-5);
        }
      }
    }
  }
}

}  // namespace
}  // namespace pdl::testing
