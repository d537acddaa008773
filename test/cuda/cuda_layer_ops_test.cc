// The CUDA kernels of operators used in layers compared with the CPU's: selection, gathers,
// normalization, losses, scans.
#include <array>

#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

Tensor RandomIndices(DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t size) {
  // Some indices are negative, some are out of range.
  return RandomTensor(dtype, sizes, 7, -1.2 * static_cast<double>(size),
                      1.2 * static_cast<double>(size));
}

TEST_F(CudaOps, Where) {
  const std::vector<std::array<Sizes, 3>> cases = {
      {Sizes{}, Sizes{}, Sizes{}},          {Sizes{1000}, Sizes{1000}, Sizes{1000}},
      {Sizes{0}, Sizes{}, Sizes{0}},        {Sizes{5, 7}, Sizes{7}, Sizes{}},
      {Sizes{5, 1}, Sizes{5, 7}, Sizes{7}}, {Sizes{}, Sizes{2, 3, 4}, Sizes{3, 1}},
  };
  for (DType dtype : DTypesOf("where", 1)) {
    for (const auto& [condition, x, y] : cases) {
      const TestCall call{"where",
                          {RandomTensor(DType::kBool, condition, 3), RandomTensor(dtype, x, 1),
                           RandomTensor(dtype, y, 2)},
                          {}};
      Compare(call);
      for (int input : {0, 1, 2}) Compare(call, 0, {.misalignment = 1, .in_place = input});
    }
  }
}

TEST_F(CudaOps, AddN) {
  for (DType dtype : DTypesOf("add_n")) {
    TestCall call{"add_n", {}, {}};
    for (const Sizes& sizes : SizesList{{30, 40}, {40}, {30, 1}, {}, {30, 40}}) {
      call.inputs.push_back(RandomTensor(dtype, sizes, call.inputs.size()));
      Compare(call, 1e-5);
      Compare(call, 1e-5, {.in_place = 0});
    }
  }
}

TEST_F(CudaOps, GatherAndScatterAdd) {
  for (DType index : {DType::kI32, DType::kI64}) {
    for (DType dtype : DTypesOf("gather")) {
      const auto compare = [&](const Sizes& x, const Sizes& indices, int64_t axis) {
        const int64_t size = x[static_cast<size_t>(axis < 0 ? axis + x.size() : axis)];
        TestCall call{"gather",
                      {RandomTensor(dtype, x, 1), RandomIndices(index, indices, size)},
                      {{"axis", axis}}};
        Compare(call);
        if (dtype == DType::kBool) return;
        const std::vector<Tensor> gathered = RunCall(cpu_, call);
        if (gathered.empty()) return;
        call.op = "scatter_add";
        call.inputs.push_back(RandomTensor(dtype, gathered[0].sizes(), 2));
        Compare(call);
        Compare(call, 0, {.in_place = 0});
      };
      compare({5}, {20}, 0);
      compare({5, 3}, {4, 2}, 0);
      compare({5, 3}, {}, -1);
      compare({2, 5, 3}, {40}, 1);
      compare({3, 300}, {700}, 0);
      compare({4, 3}, {0}, 0);
      compare({0, 3}, {2}, 0);
    }
  }
}

TEST_F(CudaOps, OneHot) {
  for (DType dtype : kDTypes) {
    for (const Sizes& sizes : SizesList{{}, {0}, {7}, {3, 50}}) {
      Compare({"one_hot",
               {RandomIndices(DType::kI64, sizes, 6)},
               {{"depth", Shape{6}}, {"dtype", dtype}}});
    }
  }
}

TEST_F(CudaOps, Moments) {
  for (DType dtype : DTypesOf("moments")) {
    for (const auto& [sizes, keep] : kFolds) {
      Compare({"moments", {RandomTensor(dtype, sizes, 1, 6, 14)}, {{"keep", keep}}}, 1e-4);
    }
    Compare({"moments", {RandomTensor(dtype, {70000}, 1)}, {}}, 1e-4);
  }
}

TEST_F(CudaOps, Normalize) {
  for (DType dtype : DTypesOf("normalize")) {
    for (int64_t axis : {0, 1, -1}) {
      const Sizes sizes = {4, 5, 6};
      const int64_t c = sizes[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
      TestCall call{"normalize",
                    {RandomTensor(dtype, sizes, 1), RandomTensor(dtype, {c}, 2),
                     RandomTensor(dtype, {c}, 3, 0.5, 4)},
                    {{"axis", axis}}};
      Compare(call, 1e-5);
      call.inputs.push_back(RandomTensor(dtype, {c}, 4));
      Compare(call, 1e-5, {.in_place = 0});
      call.inputs.push_back(RandomTensor(dtype, {c}, 5));
      Compare(call, 1e-5);
      call.inputs[3] = RandomTensor(dtype, {}, 6);
      Compare(call, 1e-5);
    }
  }
}

TEST_F(CudaOps, Standardize) {
  for (DType dtype : DTypesOf("standardize")) {
    for (const Sizes& sizes : SizesList{{1}, {10}, {64, 10}, {3, 5000}, {6, 7, 8}, {0, 4}}) {
      const int64_t rank = static_cast<int64_t>(sizes.size());
      for (int64_t axis = -1; axis < rank; ++axis) {
        TestCall call{"standardize", {RandomTensor(dtype, sizes, 1, 6, 14)}, {{"axis", axis}}};
        Compare(call, 1e-4);
        Compare(call, 1e-4, {.in_place = 0});
        const Sizes row(sizes.begin() + (axis < 0 ? axis + rank : axis), sizes.end());
        call.inputs.push_back(RandomTensor(dtype, row, 2));
        Compare(call, 1e-4);
        call.inputs.push_back(RandomTensor(dtype, row, 3));
        Compare(call, 1e-4, {.in_place = 0});
        call.inputs[1] = RandomTensor(dtype, {}, 4);
        call.attributes.push_back({"center", false});
        Compare(call, 1e-4);
      }
    }
  }
}

TEST_F(CudaOps, Losses) {
  for (DType dtype : DTypesOf("cross_entropy")) {
    for (const Sizes& sizes : SizesList{{1}, {10}, {64, 10}, {3, 5000}, {6, 7, 8}, {0, 4}}) {
      Sizes rows = sizes;
      const int64_t classes = rows.pop_back_val();
      for (DType label : {DType::kI32, DType::kI64}) {
        Compare({"cross_entropy",
                 {RandomTensor(dtype, sizes, 1, -30, 30), RandomIndices(label, rows, classes)},
                 {}},
                1e-5);
      }
      Compare({"mse", {RandomTensor(dtype, sizes, 1), RandomTensor(dtype, sizes, 2)}, {}}, 1e-5);
    }
    Compare({"mse", {RandomTensor(dtype, {70001}, 1), RandomTensor(dtype, {70001}, 2)}, {}}, 1e-5);
    for (const auto& [left, right] : kPairs) {
      Compare({"binary_cross_entropy",
               {RandomTensor(dtype, left, 1, 0, 1), RandomTensor(dtype, right, 2, 0, 1)},
               {}},
              1e-5);
      Compare({"binary_cross_entropy",
               {RandomTensor(dtype, left, 1), RandomTensor(dtype, right, 2, 0, 1)},
               {{"logits", true}}},
              1e-5);
    }
  }
}

TEST_F(CudaOps, Scans) {
  for (const char* op : {"cumsum", "cumprod"}) {
    for (DType dtype : DTypesOf(op)) {
      for (const Sizes& sizes : SizesList{{1}, {50}, {6, 10}, {4, 5, 6}, {0, 4}, {4, 0}}) {
        for (int64_t axis = -1; axis < static_cast<int64_t>(sizes.size()); ++axis) {
          for (bool exclusive : {false, true}) {
            const TestCall call{
                op,
                {RandomTensor(dtype, sizes, 1, -1, 1)},
                {{"axis", axis}, {"exclusive", exclusive}, {"reverse", !exclusive}}};
            Compare(call);
            Compare(call, 0, {.in_place = 0});
          }
        }
      }
    }
  }
}

TEST_F(CudaOps, RangeAndLinspace) {
  for (DType dtype : kDTypes) {
    if (dtype == DType::kBool) continue;
    for (int64_t step : {1, 3}) {
      for (int64_t stop : {2, 3, 100}) {
        Compare({"range",
                 {},
                 {{"start", Shape{2}}, {"stop", Shape{stop}}, {"step", step}, {"dtype", dtype}}});
      }
    }
    if (!IsFloat(dtype)) continue;
    for (int64_t count : {0, 1, 2, 1000}) {
      Compare({"linspace",
               {},
               {{"start", 0.1}, {"stop", -3.0}, {"count", Shape{count}}, {"dtype", dtype}}});
    }
  }
}

TEST_F(CudaOps, Flatten) { Compare({"flatten", {RandomTensor(DType::kF32, {6, 4, 5}, 1)}, {}}); }

}  // namespace
}  // namespace pdl::testing
