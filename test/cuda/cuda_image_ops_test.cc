// The CUDA kernels of convolution, pooling and resizing against the CPU's.
#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

using Attributes = std::vector<NamedAttribute>;

struct ConvCase {
  Sizes x, w;
  Attributes attributes = {};
};

const std::vector<ConvCase> kConvolutions = {
    {{2, 3, 8}, {4, 3, 3}},
    {{2, 4, 9}, {6, 2, 3}, {{"groups", int64_t{2}}, {"stride", Shape{2}}, {"pad", Shape{1}}}},
    {{2, 3, 7, 6}, {4, 3, 3, 2}},
    {{2, 3, 7, 6}, {4, 3, 1, 1}},
    {{2, 3, 7, 6}, {4, 3, 3, 3}, {{"pad", std::string("same")}, {"stride", Shape{2}}}},
    {{2, 3, 9, 8}, {4, 3, 3, 2}, {{"dilation", Shape{2, 3}}, {"pad", Shape{1, 0, 2, 1}}}},
    {{2, 8, 7, 6}, {8, 1, 3, 3}, {{"groups", int64_t{8}}, {"pad", Shape{1}}}},
    {{1, 8, 6, 5}, {6, 8, 3, 3}, {{"pad", Shape{1}}}},
    {{2, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {{"stride", Shape{1, 2, 2}}, {"pad", Shape{1, 0, 1}}}},
    {{0, 3, 7, 6}, {4, 3, 3, 2}},
    {{2, 0, 7, 6}, {4, 0, 3, 2}},
};

double ToleranceOf(DType dtype) {
  return dtype == DType::kF64   ? 1e-11
         : dtype == DType::kF32 ? 1e-3
         : dtype == DType::kF16 ? 2e-2
                                : 8e-2;
}

Tensor Operand(DType dtype, const Sizes& sizes, uint64_t seed) {
  return RandomTensor(dtype, sizes, seed, -1, 1);
}

TEST_F(CudaOps, Convolutions) {
  for (DType dtype : DTypesOf("conv2d")) {
    for (const ConvCase& c : kConvolutions) {
      const std::string rank = std::to_string(c.x.size() - 2) + "d";
      const Tensor x = Operand(dtype, c.x, 1), w = Operand(dtype, c.w, 2);
      const Tensor bias = Operand(dtype, {c.w[0]}, 3);
      const double tolerance = ToleranceOf(dtype);
      Compare({"conv" + rank, {x, w}, c.attributes}, tolerance);
      Compare({"conv" + rank, {x, w, bias}, c.attributes}, tolerance);
      const std::vector<Tensor> y = RunCall(cpu_, {"conv" + rank, {x, w}, c.attributes});
      ASSERT_EQ(y.size(), 1u);
      Attributes with_kernel = c.attributes;
      with_kernel.push_back({"kernel", Shape(c.w.begin() + 2, c.w.end())});
      Compare({"conv_weight_grad", {x, Operand(dtype, Sizes(y[0].sizes()), 4)}, with_kernel},
              tolerance);
      Attributes with_size = c.attributes;
      with_size.push_back({"size", Shape(c.x.begin() + 2, c.x.end())});
      const Tensor dy = Operand(dtype, Sizes(y[0].sizes()), 5);
      Compare({"conv_transpose" + rank, {dy, w}, with_size}, tolerance);
      Compare({"conv_transpose" + rank, {dy, w, Operand(dtype, {c.x[1]}, 6)}, with_size},
              tolerance);
    }
  }
}

const std::vector<Attributes> kWindows = {
    {{"kernel", Shape{2}}},
    {{"kernel", Shape{3}}, {"stride", Shape{2}}, {"pad", Shape{1}}},
    {{"kernel", Shape{3}}, {"stride", Shape{1}}, {"pad", std::string("same")}},
    {{"kernel", Shape{2}}, {"stride", Shape{1}}, {"dilation", Shape{2}}, {"pad", Shape{1}}},
};

TEST_F(CudaOps, Pooling) {
  for (const Sizes& sizes : SizesList{{2, 3, 9}, {2, 3, 7, 8}, {1, 2, 4, 5, 6}, {0, 3, 7, 8}}) {
    for (const std::string op : {"max_pool", "max_pool_index", "avg_pool", "lp_pool"}) {
      for (DType dtype : DTypesOf(op)) {
        Tensor x = RandomTensor(dtype, sizes, 1);
        if (op != "lp_pool") PutSpecialValues(x);
        for (Attributes attributes : kWindows) {
          Compare({op, {x}, attributes}, 1e-5);
          attributes.push_back({"ceil_mode", true});
          Compare({op, {x}, attributes}, 1e-5);
          if (op != "avg_pool") continue;
          attributes.push_back({"count_include_pad", false});
          Compare({op, {x}, attributes}, 1e-5);
          attributes.push_back({"divisor", int64_t{3}});
          Compare({op, {x}, attributes}, 1e-5);
        }
      }
    }
    for (DType dtype : DTypesOf("avg_pool_grad")) {
      for (Attributes attributes : kWindows) {
        const Tensor x = RandomTensor(dtype, sizes, 1);
        const std::vector<Tensor> y = RunCall(cpu_, {"avg_pool", {x}, attributes});
        ASSERT_EQ(y.size(), 1u);
        attributes.push_back({"size", Shape(sizes.begin() + 2, sizes.end())});
        Compare({"avg_pool_grad", {RandomTensor(dtype, y[0].sizes(), 2)}, attributes}, 1e-5);
      }
    }
    for (int64_t size : {1, 2, 3, 11}) {
      const Attributes attributes = {{"size", Shape{size}}};
      for (const std::string op : {"adaptive_max_pool", "adaptive_max_pool_index",
                                   "adaptive_avg_pool", "adaptive_avg_pool_grad"}) {
        for (DType dtype : DTypesOf(op)) {
          Compare({op, {RandomTensor(dtype, sizes, 1)}, attributes}, 1e-5);
        }
      }
    }
  }
  Compare(
      {"lp_pool", {RandomTensor(DType::kF32, {2, 3, 9}, 1)}, {{"kernel", Shape{3}}, {"p", 3.0}}},
      1e-5);
}

TEST_F(CudaOps, Unpooling) {
  for (const Sizes& sizes : SizesList{{2, 3, 9}, {2, 3, 7, 8}, {2, 2, 30, 40}, {0, 3, 7, 8}}) {
    const Tensor indices = RandomTensor(DType::kI64, sizes, 3, -2, 30);
    for (DType dtype : DTypesOf("max_unpool")) {
      Compare({"max_unpool", {RandomTensor(dtype, sizes, 1), indices}, {{"size", Shape{6}}}}, 1e-5);
    }
    for (DType dtype : DTypesOf("plane_gather")) {
      Sizes larger = sizes;
      larger.back() += 1;
      Compare({"plane_gather", {RandomTensor(dtype, larger, 1), indices}, {}});
    }
  }
}

TEST_F(CudaOps, Columns) {
  for (const Sizes& sizes : SizesList{{2, 3, 9}, {2, 3, 7, 8}, {1, 2, 4, 5, 6}, {0, 3, 7, 8}}) {
    for (const Attributes& window : kWindows) {
      for (DType dtype : DTypesOf("im2col")) {
        const TestCall call{"im2col", {RandomTensor(dtype, sizes, 1)}, window};
        Compare(call);
        if (dtype == DType::kBool) continue;
        const std::vector<Tensor> columns = RunCall(cpu_, call);
        ASSERT_EQ(columns.size(), 1u);
        Attributes attributes = window;
        attributes.push_back({"size", Shape(sizes.begin() + 2, sizes.end())});
        Compare({"col2im", {columns[0]}, attributes}, 1e-5);
      }
    }
  }
}

TEST_F(CudaOps, Resize) {
  for (const Sizes& sizes : SizesList{{2, 3, 9}, {2, 3, 7, 8}, {1, 2, 4, 5, 6}, {0, 3, 7, 8}}) {
    for (const std::string mode : {"nearest", "linear", "cubic"}) {
      for (DType dtype : DTypesOf("resize")) {
        if (mode != "nearest" && !IsFloat(dtype)) continue;
        for (const NamedAttribute& size :
             Attributes{{"scale", 2.0}, {"size", Shape{4}}, {"scale", 0.5}}) {
          const Attributes attributes = {{"mode", mode}, size};
          const TestCall call{"resize", {RandomTensor(dtype, sizes, 1)}, attributes};
          Compare(call, 1e-5);
          if (!IsFloat(dtype)) continue;
          const std::vector<Tensor> y = RunCall(cpu_, call);
          ASSERT_EQ(y.size(), 1u);
          Attributes backwards = attributes;
          backwards.push_back({"before", Shape(sizes.begin() + 2, sizes.end())});
          Compare({"resize_grad", {RandomTensor(dtype, y[0].sizes(), 2)}, backwards}, 1e-5);
          if (mode == "nearest") continue;
          TestCall antialiased = call;
          antialiased.attributes.push_back({"antialias", true});
          antialiased.attributes.push_back({"outside", std::string("skip")});
          Compare(antialiased, 1e-5);
        }
      }
    }
  }
}

TEST_F(CudaOps, DepthAndSpace) {
  for (const std::string mode : {"dcr", "crd"}) {
    const Attributes attributes = {{"block", int64_t{2}}, {"mode", mode}};
    for (DType dtype : DTypesOf("depth_to_space")) {
      for (const Sizes& sizes : SizesList{{2, 8, 6}, {2, 8, 4, 6}, {1, 8, 2, 4, 6}, {2, 8, 0, 6}}) {
        const Tensor x = RandomTensor(dtype, sizes, 1);
        Compare({"depth_to_space", {x}, attributes});
        Compare({"space_to_depth", {x}, attributes});
      }
    }
  }
}

}  // namespace
}  // namespace pdl::testing
