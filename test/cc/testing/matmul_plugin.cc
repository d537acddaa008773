// Operators for test/tool/plugin_precision.test: matmul with and without support for mixed
// precision.
#include <type_traits>

#include "pdl/op/gradient.h"
#include "pdl/op/half.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

template <typename Context>
class ProductOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    inputs[0]->dtype() == pdl::DType::kBF16
        ? Multiply<pdl::bfloat16>(*inputs[0], *inputs[1], outputs[0])
        : Multiply<float>(*inputs[0], *inputs[1], outputs[0]);
    return llvm::Error::success();
  }

 private:
  template <typename T>
  static void Multiply(const pdl::Tensor& a, const pdl::Tensor& b, pdl::Tensor* c) {
    const int64_t m = a.sizes()[0], k = a.sizes()[1], n = b.sizes()[1];
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += static_cast<float>(a.data<T>()[i * k + p]) *
                 static_cast<float>(b.data<T>()[p * n + j]);
        }
        c->data<T>()[i * n + j] = static_cast<T>(sum);
      }
    }
  }
};

llvm::Error InferProduct(pdl::InferenceContext& context) {
  const pdl::Type& a = context.input(0);
  const pdl::Type& b = context.input(1);
  for (const unsigned i : {0u, 1u}) {
    if (context.input(i).rank() != 2)
      return context.FailAt({i}, pdl::Code::kRank, "a matrix has two dims");
  }
  if (llvm::Error error = context.RequireEqual(a.dims[1], b.dims[0], {0, 1}, "inner dims differ"))
    return error;
  context.SetOutput(pdl::Type(a.dtype, {a.dims[0], b.dims[1]}));
  return llvm::Error::success();
}

void ProductGradient(pdl::GradientContext& g) {
  const auto transposed = [&](pdl::Value* x) {
    return g.Call("transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}});
  };
  pdl::Value* dc = g.output_gradient();
  g.SetInputGradient(0, g.Call(g.op().type(), {dc, transposed(g.input(1))}));
  g.SetInputGradient(1, g.Call(g.op().type(), {transposed(g.input(0)), dc}));
}

template <pdl::ReducedPrecision kPrecision>
struct ProductMaker : pdl::OpProtoMaker {
  void Make() override {
    const pdl::DTypeSet dtypes = pdl::DTypeSet(pdl::DType::kF32) | pdl::DType::kBF16;
    AddComment("The product of two matrices.");
    AddInput("a", "[M, K]").Accepts(dtypes);
    AddInput("b", "[K, N]; dtype as a").Accepts(dtypes);
    AddOutput("c", "[M, N]; dtype as a");
    properties().reduced_precision = kPrecision;
    SetInference(InferProduct);
    SetGradient(ProductGradient);
  }
};

REGISTER_OP(ProductOp, ProductMaker<pdl::ReducedPrecision::kCompute>, "test_matmul");
REGISTER_OP(ProductOp, ProductMaker<pdl::ReducedPrecision::kKeep>, "test_matmul_f32");

}  // namespace
