#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/convolution/columns.cuh"
#include "kernels/convolution/resize_taps.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// One axis: element o of the result is a weighted sum of `count` elements.
struct Axis {
  int64_t rows = 0, inner = 1;  // of the result
  int64_t from = 1, to = 1, count = 1;
  const int64_t* places = nullptr;
  const double* weights = nullptr;
};

template <class In, class Out, class C>
__global__ void __launch_bounds__(kBlockThreads)
    RowsKernel(const __grid_constant__ Axis axis, const In* in, Out* out) {
  for (int64_t i = ThreadNumber(); i < axis.rows * axis.inner; i += ThreadStep()) {
    const int64_t row = i / axis.inner, o = row % axis.to;
    const In* from = in + row / axis.to * axis.from * axis.inner + i % axis.inner;
    C sum = 0;
    for (int64_t t = o * axis.count; t < (o + 1) * axis.count; ++t) {
      // Taps of weight 0 are ignored, even if their element is nan.
      if (axis.weights[t] == 0) continue;
      sum += static_cast<C>(axis.weights[t]) * Element<In>::Load(from[axis.places[t] * axis.inner]);
    }
    out[i] = Element<Out>::Store(sum);
  }
}

/// One tap of weight 1: elements of any dtype are copied.
template <class Bits>
__global__ void __launch_bounds__(kBlockThreads)
    CopyRowsKernel(const __grid_constant__ Axis axis, const Bits* in, Bits* out) {
  for (int64_t i = ThreadNumber(); i < axis.rows * axis.inner; i += ThreadStep()) {
    const int64_t row = i / axis.inner;
    out[i] =
        in[(row / axis.to * axis.from + axis.places[row % axis.to]) * axis.inner + i % axis.inner];
  }
}

struct ResizeState : CallState {
  std::vector<Axis> axes;
  /// The taps, in GPU memory.
  std::vector<std::shared_ptr<void>> tables;
  int64_t elements = 0;  // the maximum between two passes
};

template <bool kTransposed>
class ResizeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(AnyElement(), context.inputs()[0].dtype, *this)) return error;
    const Sizes& first = context.inputs()[0].sizes;
    const Sizes& last = context.outputs()[0].sizes;
    auto axes = kTransposed ? MakeResizeAxes(attributes(), last, first)
                            : MakeResizeAxes(attributes(), first, last);
    if (!axes) return axes.takeError();
    if (kTransposed) std::reverse(axes->begin(), axes->end());
    auto state = std::make_shared<ResizeState>();
    for (size_t i = 0; i < axes->size(); ++i) {
      llvm::Expected<ResizeAxis> made =
          kTransposed ? Transposed((*axes)[i]) : llvm::Expected<ResizeAxis>((*axes)[i]);
      if (!made) return made.takeError();
      const ResizeAxis& axis = *made;
      auto places = Upload(context.device(), axis.places, *state);
      if (!places) return places.takeError();
      auto weights = Upload(context.device(), axis.weights, *state);
      if (!weights) return weights.takeError();
      state->axes.push_back({axis.outer * axis.to, axis.inner, axis.from, axis.to, axis.count,
                             static_cast<const int64_t*>(*places),
                             static_cast<const double*>(*weights)});
      if (i + 1 < axes->size())
        state->elements = std::max(state->elements, axis.outer * axis.to * axis.inner);
    }
    Preparation preparation;
    preparation.workspace_bytes = 2 * state->elements * 8;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const ResizeState& state = *context.state<ResizeState>();
    const Tensor& x = *inputs[0];
    Tensor& y = *outputs[0];
    if (y.num_elements() == 0) return llvm::Error::success();
    if (state.axes.empty()) return context.CopyWithin(y.raw(), x.raw(), x.num_bytes());
    const void* from = x.raw();
    for (size_t i = 0; i < state.axes.size(); ++i) {
      const bool is_first = i == 0, is_last = i + 1 == state.axes.size();
      double* buffers = static_cast<double*>(context.workspace());
      void* to = is_last ? y.raw() : buffers + static_cast<int64_t>(i % 2) * state.elements;
      if (auto error = RunAxis(state.axes[i], x.dtype(), is_first, is_last, from, to, context))
        return error;
      from = to;
    }
    return llvm::Error::success();
  }

 private:
  template <class T>
  static llvm::Expected<const void*> Upload(DeviceContext& device, const std::vector<T>& values,
                                            ResizeState& state) {
    const int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
    auto memory = device.Allocate(std::max<int64_t>(bytes, 1));
    if (!memory) return memory.takeError();
    if (auto error = device.CopyFromHost(memory->get(), values.data(), bytes)) return error;
    state.tables.push_back(*memory);
    return static_cast<const void*>(memory->get());
  }

  llvm::Error RunAxis(const Axis& axis, DType dtype, bool is_first, bool is_last, const void* from,
                      void* to, CUDAContext& context) const {
    const dim3 grid = GridFor(context, axis.rows * axis.inner), block(kBlockThreads);
    if (!kTransposed && attributes().String("mode") == "nearest") {
      return VisitBits(dtype, [&](auto bits) {
        using Bits = decltype(bits);
        return Launch(context, type().c_str(), &CopyRowsKernel<Bits>, grid, block, axis,
                      static_cast<const Bits*>(from), static_cast<Bits*>(to));
      });
    }
    return VisitDType(Floats(), dtype, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using C = ComputeType<T>;
      const auto run = [&](auto in, auto out) {
        using In = decltype(in);
        using Out = decltype(out);
        return Launch(context, type().c_str(), &RowsKernel<In, Out, C>, grid, block, axis,
                      static_cast<const In*>(from), static_cast<Out*>(to));
      };
      if (is_first) return is_last ? run(T{}, T{}) : run(T{}, C{});
      return is_last ? run(C{}, T{}) : run(C{}, C{});
    });
  }
};

}  // namespace

void AddResizeKernels(OpRegistry& registry) {
  registry.AddKernel("resize", DeviceKind::kCUDA, &CreateKernel<ResizeOp<false>>);
  registry.AddKernel("resize_grad", DeviceKind::kCUDA, &CreateKernel<ResizeOp<true>>);
}

}  // namespace pdl::cuda
