// The CUDA kernels of further reductions, scans, losses, random choices and quantization compared
// with the CPU's.
#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

int64_t NumElements(llvm::ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

TEST_F(CudaOps, FurtherReductions) {
  for (const std::string op :
       {"prod", "any", "all", "count_nonzero", "logsumexp", "variance", "std"}) {
    for (DType dtype : DTypesOf(op)) {
      const double low = op == "prod" ? 0.9 : -3, high = op == "prod" ? 1.1 : 3;
      for (const auto& [sizes, axes] : kFolds) {
        // The large sizes take too long on an emulated GPU.
        if (dtype != DType::kF32 && NumElements(sizes) > 10000) continue;
        Compare({op, {RandomTensor(dtype, sizes, 1, low, high)}, {{"axes", axes}}},
                dtype == DType::kF64 ? 1e-10 : 1e-4);
      }
      Compare({op, {RandomTensor(dtype, {3, 0}, 1)}, {{"axes", Ints{1}}}});
    }
  }
  TestCall call{"variance", {RandomTensor(DType::kF32, {3, 50}, 1)}, {}};
  call.attributes = {{"axes", Ints{1}}, {"ddof", int64_t{1}}};
  Compare(call, 1e-4);
  Tensor x = RandomTensor(DType::kF32, {5, 10}, 1);
  PutSpecialValues(x);
  for (const char* op : {"prod", "any", "all", "count_nonzero", "logsumexp"})
    Compare({op, {x}, {{"axes", Ints{0}}}}, 1e-5);
}

TEST_F(CudaOps, Argmin) {
  for (DType dtype : DTypesOf("argmin")) {
    for (const Sizes& sizes : SizesList{{1}, {1000}, {50000}, {300, 10}, {4, 5, 6}}) {
      for (int64_t axis = -1; axis < static_cast<int64_t>(sizes.size()); ++axis)
        Compare({"argmin", {RandomTensor(dtype, sizes, 1)}, {{"axis", axis}}});
    }
  }
}

TEST_F(CudaOps, LongScans) {
  for (const std::string op : {"cumsum", "cumprod", "linear_recurrence"}) {
    for (DType dtype : {DType::kF32, DType::kF64, DType::kI32}) {
      if (op == "linear_recurrence" && dtype == DType::kI32) continue;
      for (const Sizes& sizes : SizesList{{1}, {7}, {3000}, {5, 300}, {300, 5}, {3, 9, 40}}) {
        for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
          for (const bool reverse : {false, true}) {
            TestCall call{op, {RandomTensor(dtype, sizes, 1, -1, 1)}, {}};
            call.attributes = {{"axis", axis}, {"reverse", reverse}};
            if (op == "linear_recurrence")
              call.inputs.push_back(RandomTensor(dtype, sizes, 2, -1, 1));
            Compare(call, 1e-4);
            if (reverse) Compare(call, 1e-4, {.in_place = 0});
            if (op == "linear_recurrence") continue;
            call.attributes.push_back({"exclusive", true});
            Compare(call, 1e-4);
          }
        }
      }
    }
  }
}

TEST_F(CudaOps, LossesOfLabels) {
  for (const std::string op : {"cross_entropy", "nll"}) {
    for (DType dtype : DTypesOf(op)) {
      for (const Sizes& sizes : SizesList{{10}, {64, 10}, {3, 5000}, {6, 7, 8}, {0, 4}}) {
        Sizes rows = sizes;
        const int64_t classes = rows.pop_back_val();
        TestCall call{op, {RandomTensor(dtype, sizes, 1, -9, 9)}, {}};
        // Some labels are not classes.
        call.inputs.push_back(RandomTensor(DType::kI64, rows, 7, -1, static_cast<double>(classes)));
        Compare(call, 1e-5);
        call.attributes = {{"ignore_index", int64_t{-1}}};
        Compare(call, 1e-5);
        call.inputs.push_back(RandomTensor(dtype, {classes}, 3, 0.5, 2));
        Compare(call, 1e-5);
        if (op == "nll") continue;
        call.attributes.push_back({"label_smoothing", 0.25});
        Compare(call, 1e-4);
      }
    }
  }
}

TEST_F(CudaOps, ChoicesAtRandomAreTheSameOnBothDevices) {
  for (const RandomState state : {RandomState{0, 0}, RandomState{7, 3}}) {
    cpu_.SetRandom(state);
    cuda_->SetRandom(state);
    for (DType dtype : DTypesOf("bernoulli")) {
      for (const Sizes& sizes : SizesList{{}, {0}, {5}, {3, 333}, {70000}}) {
        Compare({"bernoulli", {RandomTensor(dtype, sizes, 1, 0, 1)}, {}});
        Compare({"bernoulli", {RandomTensor(dtype, sizes, 1, 0, 1)}, {{"dtype", DType::kBool}}});
      }
    }
    for (int64_t n : {0, 1, 2, 17, 5000}) Compare({"randperm", {}, {{"n", Shape{n}}}});
    for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
      for (const Shape& dims :
           {Shape{0, 3}, Shape{1, 1}, Shape{3, 5}, Shape{50, 7}, Shape{6, 3, 5}})
        Compare({"orthogonal", {}, {{"dims", dims}, {"dtype", dtype}}},
                dtype == DType::kF64 ? 1e-10 : 1e-5);
    }
  }
}

TEST_F(CudaOps, Quantization) {
  for (DType real : DTypesOf("quantize")) {
    for (DType dtype : {DType::kI8, DType::kU8}) {
      TestCall call{"quantize", {RandomTensor(real, {4, 5, 6}, 1, -50, 200)}, {{"dtype", dtype}}};
      PutSpecialValues(call.inputs[0]);
      TestCall back{"dequantize", {RandomTensor(dtype, {4, 5, 6}, 1, -100, 100)}, {}};
      const auto compare = [&](const Sizes& scales, int64_t axis) {
        call.inputs.resize(1);
        call.inputs.push_back(RandomTensor(real, scales, 2, 0.25, 2));
        call.attributes = {{"dtype", dtype}, {"axis", axis}};
        back.inputs.resize(1);
        back.inputs.push_back(call.inputs[1]);
        back.attributes = {{"axis", axis}};
        Compare(call);
        Compare(back);
        call.inputs.push_back(RandomTensor(dtype, scales, 3, -20, 20));
        back.inputs.push_back(call.inputs[2]);
        Compare(call);
        Compare(back);
      };
      compare({}, 1);
      compare({4}, 0);
      compare({5}, 1);
      compare({6}, -1);
    }
  }
}

}  // namespace
}  // namespace pdl::testing
