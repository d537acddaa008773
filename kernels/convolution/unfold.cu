#include <memory>

#include "kernels/convolution/columns.cuh"
#include "kernels/convolution/window_attributes.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

struct UnfoldState : CallState {
  SlidingWindow window;
  ColumnLayout layout;
};

/// `image` is the operand that the windows slide over.
llvm::Expected<Preparation> PrepareUnfold(const PrepareContext& context,
                                          const AttributeReader& attributes,
                                          const OperandType& image) {
  const auto in = llvm::ArrayRef<int64_t>(image.sizes).drop_front(2);
  auto kernel = EvaluateSpatialAttribute(context, attributes, "kernel", in.size());
  if (!kernel) return kernel.takeError();
  auto window = EvaluateWindow(context, attributes, *kernel, in, {});
  if (!window) return window.takeError();
  auto state = std::make_shared<UnfoldState>();
  state->window = *window;
  const int64_t out = window->out();
  state->layout = {image.sizes[0], image.sizes[1], image.sizes[1] * window->kernel() * out, out};
  Preparation preparation;
  preparation.state = std::move(state);
  return preparation;
}

class Im2ColOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(AnyElement(), context.inputs()[0].dtype, *this)) return error;
    return PrepareUnfold(context, attributes(), context.inputs()[0]);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t count = outputs[0]->num_elements();
    if (count == 0) return llvm::Error::success();
    const UnfoldState& state = *context.state<UnfoldState>();
    const int64_t step = state.layout.channels * state.window.in();
    return VisitBits(outputs[0]->dtype(), [&](auto bits) {
      using Bits = decltype(bits);
      return Launch(context, type().c_str(), &ToColumnsKernel<Bits>, GridFor(context, count),
                    dim3(kBlockThreads), state.window, state.layout, step,
                    static_cast<const Bits*>(inputs[0]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    });
  }
};

class Col2ImOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Numbers(), context.inputs()[0].dtype, *this)) return error;
    return PrepareUnfold(context, attributes(), context.outputs()[0]);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t count = outputs[0]->num_elements();
    if (count == 0) return llvm::Error::success();
    const UnfoldState& state = *context.state<UnfoldState>();
    return VisitDType(Numbers(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const T* bias = nullptr;
      return Launch(context, type().c_str(), &AddColumnsKernel<T>, GridFor(context, count),
                    dim3(kBlockThreads), state.window, state.layout,
                    static_cast<const T*>(inputs[0]->raw()), bias,
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddUnfoldKernels(OpRegistry& registry) {
  registry.AddKernel("im2col", DeviceKind::kCUDA, &CreateKernel<Im2ColOp>);
  registry.AddKernel("col2im", DeviceKind::kCUDA, &CreateKernel<Col2ImOp>);
}

}  // namespace pdl::cuda
