// Convolutions with 1x1 kernels as matmuls of their operands, without im2col.
#include <algorithm>

#include "kernels/convolution/conv_plan.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/linear/matmul_plan.h"

namespace pdl {
namespace {

// Describes the call as the matmul of w, or its transpose, and each image.
class ProductContext : public PrepareContext {
 public:
  ProductContext(const PrepareContext& context, ConvKind kind, const ConvSizes& s)
      : context_(context) {
    const DType dtype = context.inputs()[0].dtype;
    const int64_t x_channels = kind == ConvKind::kForward ? s.channels : s.features;
    const int64_t y_channels = kind == ConvKind::kForward ? s.features : s.channels;
    inputs_[0] = {dtype, {s.features, s.channels}};
    inputs_[1] = {dtype, {s.batch, x_channels, s.window.out()}};
    output_ = {dtype, {s.batch, y_channels, s.window.out()}};
  }

  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return output_; }
  DeviceContext& device() const override { return context_.device(); }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override { return context_.Evaluate(dim); }

 private:
  const PrepareContext& context_;
  OperandType inputs_[2];
  OperandType output_;
};

class PointwiseConvPlan : public ConvPlan {
 public:
  explicit PointwiseConvPlan(std::shared_ptr<const MatmulPlan> product)
      : product_(std::move(product)) {
    Take(product_->workspace_bytes());
  }

  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
           CPUContext& context) const override {
    product_->Run(*inputs[1], *inputs[0], output->raw(), context.workspace(), context);
    if (inputs.size() < 3) return;
    const int64_t channels = output->sizes()[1];
    const int64_t rows = output->sizes()[0] * channels;
    const int64_t row = output->num_elements() / rows;
    VisitDType(NumberTypes(), output->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* bias = static_cast<const T*>(inputs[2]->raw());
      T* y = static_cast<T*>(output->raw());
      context.ParallelFor(rows, 1 + kGrainMoves / row, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          for (int64_t i = r * row; i < (r + 1) * row; ++i) y[i] = Sum(y[i], bias[r % channels]);
        }
      });
    });
  }

 private:
  template <class T>
  static T Sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return Element<T>::Store(Element<T>::Load(a) + Element<T>::Load(b));
    }
  }

  std::shared_ptr<const MatmulPlan> product_;
};

}  // namespace

bool IsPointwise(const ConvSizes& sizes) {
  for (const WindowDim& d : sizes.window.d) {
    if (d.kernel != 1 || d.stride != 1 || d.begin != 0 || d.in != d.out) return false;
  }
  return sizes.groups == 1;
}

llvm::Expected<std::shared_ptr<const ConvPlan>> MakePointwiseConvPlan(const PrepareContext& context,
                                                                      ConvKind kind,
                                                                      const ConvSizes& sizes) {
  auto product =
      MatmulPlan::Make(ProductContext(context, kind, sizes), kind == ConvKind::kTransposed, false);
  if (!product) return product.takeError();
  return std::make_shared<const PointwiseConvPlan>(std::move(*product));
}

}  // namespace pdl
