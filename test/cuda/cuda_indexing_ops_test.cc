// The CUDA kernels of operators that move elements, sort, and attend, compared with the CPU's.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

using Attributes = std::vector<NamedAttribute>;

pdl::Shape ShapeOf(llvm::ArrayRef<int64_t> sizes) { return pdl::Shape(sizes.begin(), sizes.end()); }

Tensor Indices(llvm::ArrayRef<int64_t> sizes, int64_t low, int64_t high, uint64_t seed = 7) {
  return RandomTensor(seed % 2 == 0 ? DType::kI32 : DType::kI64, sizes, seed,
                      static_cast<double>(low), static_cast<double>(high));
}

TEST_F(CudaOps, PadFlipRollTile) {
  for (DType dtype : DTypesOf("pad")) {
    for (const Sizes& sizes : SizesList{{5}, {3, 4}, {2, 3, 4}, {1, 7}, {40, 33}}) {
      const Tensor x = RandomTensor(dtype, sizes, 1);
      const int64_t rank = static_cast<int64_t>(sizes.size());
      const Sizes before(sizes.size(), 2), after(sizes.size(), -1);
      for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
        if (sizes[0] == 1) continue;
        Compare({"pad",
                 {x},
                 {{"before", ShapeOf(before)},
                  {"after", ShapeOf(after)},
                  {"mode", mode},
                  {"value", dtype == DType::kBool ? 1.0 : 3.0}}});
        Compare({"pad",
                 {x},
                 {{"before", ShapeOf({0})},
                  {"after", ShapeOf({9})},
                  {"axes", Ints{-1}},
                  {"mode", mode}}});
      }
      Compare({"flip", {x}, {}});
      Compare({"flip", {x}, {{"axes", Ints{0}}}});
      Compare({"roll", {x}, {{"shifts", ShapeOf({3})}}});
      Compare({"roll", {x}, {{"shifts", ShapeOf({-2})}, {"axes", Ints{rank - 1}}}});
      Compare({"tile", {x}, {{"repeats", ShapeOf({2, 1, 3})}}});
      Compare({"tile", {x}, {{"repeats", ShapeOf({1})}}});
    }
    const Tensor none = RandomTensor(dtype, {2, 0}, 1);
    Compare({"pad", {none}, {{"before", ShapeOf({1, 2})}, {"after", ShapeOf({0, 0})}}});
    Compare({"roll", {none}, {{"shifts", ShapeOf({3})}}});
    Compare({"tile", {none}, {{"repeats", ShapeOf({2, 2})}}});
  }
}

TEST_F(CudaOps, StackSqueezeUnsqueeze) {
  for (DType dtype : DTypesOf("stack")) {
    const Tensor x = RandomTensor(dtype, {3, 4}, 1), y = RandomTensor(dtype, {3, 4}, 2);
    for (int64_t axis = -3; axis < 3; ++axis) Compare({"stack", {x, y, x}, {{"axis", axis}}});
    Compare({"stack", {x}, {}});
    Compare({"squeeze", {RandomTensor(dtype, {1, 5, 1}, 1)}, {}});
    Compare({"unsqueeze", {x}, {{"axes", Ints{0, -1}}}});
  }
}

TEST_F(CudaOps, Diagonals) {
  for (DType dtype : DTypesOf("triu")) {
    for (const Sizes& sizes : SizesList{{3, 5}, {5, 3}, {2, 3, 3}, {0, 3}, {3, 0}, {30, 70}}) {
      const Tensor x = RandomTensor(dtype, sizes, 1);
      for (int64_t k : {-6, -1, 0, 2, 7}) {
        for (const char* op : {"triu", "tril"}) {
          Compare({op, {x}, {{"k", k}}});
          Compare({op, {x}, {{"k", k}}}, 0, {.in_place = 0});
        }
        Compare({"diag", {x}, {{"k", k}}});
        Compare({"diagonal", {x}, {{"k", k}}});
        Compare({"eye", {}, {{"dims", ShapeOf(sizes)}, {"dtype", dtype}, {"k", k}}});
      }
    }
  }
}

TEST_F(CudaOps, GatherNdAndTakeAlongAxis) {
  for (DType dtype : DTypesOf("gather_nd")) {
    const Tensor x = RandomTensor(dtype, {5, 6, 7}, 1);
    for (const Sizes& sizes : SizesList{{9, 1}, {4, 2}, {2, 3, 3}, {3, 0}, {0, 2}, {2}}) {
      Compare({"gather_nd", {x, Indices(sizes, -8, 8)}, {}});
      Compare({"gather_nd", {x, Indices(sizes, -8, 8, 8)}, {}});
    }
    Compare({"gather_nd", {x, Indices({5, 4, 1}, -7, 7)}, {{"batch_dims", int64_t{1}}}});
    Compare({"gather_nd", {x, Indices({5, 6, 3, 1}, -7, 7)}, {{"batch_dims", int64_t{2}}}});
    for (int64_t axis = 0; axis < 3; ++axis) {
      Sizes sizes = {5, 6, 7};
      sizes[static_cast<size_t>(axis)] = 4;
      Compare({"take_along_axis", {x, Indices(sizes, -9, 9)}, {{"axis", axis}}});
    }
    Compare({"take_along_axis", {x, Indices({1, 6, 3}, -9, 9, 8)}, {}});
    Compare({"take_along_axis", {RandomTensor(dtype, {5, 1}, 1), Indices({5, 4}, -1, 0)}, {}});
  }
}

TEST_F(CudaOps, Scatter) {
  for (DType dtype : DTypesOf("scatter")) {
    for (const std::string reduction : {"none", "add", "mul", "min", "max"}) {
      if (dtype == DType::kBool && reduction != "none") continue;
      const Tensor x = RandomTensor(dtype, {5, 6, 7}, 1, -2, 2);
      for (int64_t axis = 0; axis < 3; ++axis) {
        const Sizes sizes = {axis == 0 ? 9 : 4, axis == 1 ? 9 : 6, axis == 2 ? 9 : 5};
        const TestCall call{"scatter",
                            {x, Indices(sizes, -8, 8), RandomTensor(dtype, sizes, 2, -2, 2)},
                            {{"axis", axis}, {"reduction", reduction}}};
        Compare(call);
        Compare(call, 0, {.in_place = 0});
      }
      const TestCall rows{"scatter_nd",
                          {x, Indices({20, 1}, -6, 6), RandomTensor(dtype, {20, 6, 7}, 2, -1, 1)},
                          {{"reduction", reduction}}};
      Compare(rows);
      Compare(rows, 0, {.in_place = 0});
      Compare({"scatter_nd",
               {x, Indices({5, 8, 2}, -7, 7, 8), RandomTensor(dtype, {5, 8}, 2, -2, 2)},
               {{"reduction", reduction}, {"batch_dims", int64_t{1}}}});
    }
  }
}

// Sums of 16-bit floats that are rounded after each update, or each few, would differ. Slices are
// wider than the columns that a block of threads combines at a time.
TEST_F(CudaOps, ManyUpdatesOfOnePosition) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kI32}) {
    for (const std::string reduction : {"none", "add", "min", "max"}) {
      Compare({"scatter",
               {RandomTensor(dtype, {2, 3}, 1), Indices({2, 3000}, -3, 3),
                RandomTensor(dtype, {2, 3000}, 2)},
               {{"axis", int64_t{1}}, {"reduction", reduction}}});
      Compare({"scatter_nd",
               {RandomTensor(dtype, {3, 2500}, 1), Indices({700, 1}, -3, 3),
                RandomTensor(dtype, {700, 2500}, 2)},
               {{"reduction", reduction}}});
    }
    Compare({"scatter_add",
             {RandomTensor(dtype, {2, 3, 1100}, 1), Indices({700}, -3, 3),
              RandomTensor(dtype, {2, 700, 1100}, 2)},
             {{"axis", int64_t{1}}}});
  }
}

TEST_F(CudaOps, Write) {
  for (DType dtype : DTypesOf("write")) {
    const Tensor x = RandomTensor(dtype, {3, 5, 4}, 1), value = RandomTensor(dtype, {3, 2, 4}, 2);
    for (int64_t at : {0, 1, 4, 5, 100, -1, -6, -7, -100}) {
      const TestCall call{"write",
                          {x, value, Tensor::FromValues<int64_t>(DType::kI64, {}, {at})},
                          {{"axis", int64_t{1}}}};
      Compare(call);
      Compare(call, 0, {.in_place = 0});
    }
  }
}

TEST_F(CudaOps, Sort) {
  for (DType dtype : DTypesOf("sort")) {
    for (const Sizes& sizes : SizesList{{1}, {10}, {1024}, {5, 7, 3}, {0, 3}, {3, 0}, {2, 2500}}) {
      // Larger than a single block can sort; one dtype suffices.
      if (sizes.back() > 2000 && dtype != DType::kBF16) continue;
      Tensor x = RandomTensor(dtype, sizes, 1, -3, 3);
      PutSpecialValues(x);
      for (int64_t axis = -1; axis < static_cast<int64_t>(sizes.size()); ++axis) {
        const int64_t size = sizes[static_cast<size_t>(axis < 0 ? axis + sizes.size() : axis)];
        for (bool backwards : {false, true}) {
          Compare({"sort", {x}, {{"axis", axis}, {"descending", backwards}}});
          Compare({"argsort", {x}, {{"axis", axis}, {"descending", backwards}}});
          Compare({"topk",
                   {x},
                   {{"axis", axis},
                    {"largest", backwards},
                    {"k", ShapeOf({std::min<int64_t>(size, 4)})}}});
        }
      }
    }
  }
}

TEST_F(CudaOps, Attention) {
  struct Case {
    Sizes q, k, v, mask;
    bool causal = false;
    int64_t past = 0;
  };
  const std::vector<Case> cases = {
      {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}, {}},
      {{1, 4, 20, 33}, {1, 2, 70, 33}, {1, 2, 70, 65}, {}, true, 50},
      {{2, 2, 5, 8}, {2, 2, 130, 8}, {2, 2, 130, 140}, {2, 1, 1, 130}},
      {{2, 5, 8}, {2, 6, 8}, {2, 6, 300}, {5, 6}, true, 0},
      {{17, 2}, {3, 2}, {3, 2}, {3}, true, -2},
      {{2, 0, 4}, {2, 3, 4}, {2, 3, 4}, {}},
      {{2, 3, 4}, {2, 0, 4}, {2, 0, 4}, {}},
      {{2, 3, 4}, {2, 3, 4}, {2, 3, 0}, {}},
  };
  for (DType dtype : DTypesOf("attention")) {
    const double tolerance = dtype == DType::kF64 ? 1e-11 : 1e-4;
    const DType wide = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
    for (const Case& c : cases) {
      std::vector<Tensor> inputs = {RandomTensor(dtype, c.q, 1, -1, 1),
                                    RandomTensor(dtype, c.k, 2, -1, 1),
                                    RandomTensor(dtype, c.v, 3, -1, 1)};
      Sizes y = c.q;
      y.back() = c.v.back();
      const Sizes rows(c.q.begin(), c.q.end() - 1);
      std::vector<Tensor> backward = inputs;
      backward.push_back(RandomTensor(wide, rows, 4, 2, 4));
      backward.push_back(RandomTensor(dtype, y, 5, -1, 1));
      backward.push_back(RandomTensor(wide, rows, 6, -1, 1));
      for (std::vector<Tensor>* operands : {&inputs, &backward}) {
        operands->push_back(Tensor::FromValues<int64_t>(DType::kI64, {}, {c.past}));
      }
      for (const DType mask : {dtype, DType::kBool}) {
        std::vector<Tensor> forward_with = inputs, backward_with = backward;
        if (!c.mask.empty()) {
          forward_with.push_back(RandomTensor(mask, c.mask, 7, -1, 1));
          backward_with.push_back(RandomTensor(mask, c.mask, 7, -1, 1));
        }
        const Attributes attributes = {{"causal", c.causal}};
        Compare({"attention", forward_with, attributes}, tolerance);
        Compare({"attention_gradient", backward_with, attributes}, tolerance);
      }
    }
  }
}

TEST_F(CudaOps, RotaryEmbedding) {
  for (DType dtype : DTypesOf("rotary_embedding")) {
    const Tensor x = RandomTensor(dtype, {2, 3, 5, 6}, 1);
    for (const bool interleaved : {false, true}) {
      for (const Sizes& sizes : SizesList{{}, {5}, {2, 1, 5}}) {
        Compare(
            {"rotary_embedding", {x, Indices(sizes, -100, 100)}, {{"interleaved", interleaved}}},
            1e-6);
      }
      Compare({"rotary_embedding",
               {x, Indices({5}, 0, 9, 8)},
               {{"interleaved", interleaved}, {"width", int64_t{4}}, {"base", 100.0}}},
              1e-6, {.in_place = 0});
    }
  }
}

}  // namespace
}  // namespace pdl::testing
