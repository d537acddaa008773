#include <algorithm>
#include <memory>

#include "kernels/cuda/cuda_launch.h"
#include "kernels/indexing/slice_updates.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// x is outer blocks of `size` rows of `inner` elements; the gathered tensor has `count` rows in
/// each block.
struct GatherShape {
  long long outer = 1, size = 1, inner = 1, count = 1;
};

struct GatherState : CallState {
  GatherShape shape;
};

std::shared_ptr<GatherState> MakeState(const PrepareContext& context, int64_t axis) {
  auto state = std::make_shared<GatherState>();
  GatherShape& shape = state->shape;
  const Sizes& x = context.inputs()[0].sizes;
  const int64_t rank = static_cast<int64_t>(x.size());
  if (axis < 0) axis += rank;
  for (int64_t d = 0; d < rank; ++d) {
    (d < axis ? shape.outer : d > axis ? shape.inner : shape.size) *= x[static_cast<size_t>(d)];
  }
  shape.count = context.inputs()[1].num_elements();
  return state;
}

// --- gather -------------------------------------------------------------------------------------

/// `lanes` threads copy a row; rows of indices out of range are filled with `missing`.
template <class Bits, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    GatherKernel(GatherShape shape, int lanes, Bits missing, const Bits* x, const Index* indices,
                 Bits* y) {
  const int width = kBlockThreads / lanes;
  const int thread = static_cast<int>(threadIdx.x);
  const long long rows = shape.outer * shape.count;
  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long row = static_cast<long long>(blockIdx.x) * width + thread / lanes; row < rows;
       row += step) {
    const long long block = row / shape.count;
    const long long position = PositionOf(indices, row - block * shape.count, shape.size);
    const long long from = (block * shape.size + position) * shape.inner;
    for (long long c = thread % lanes; c < shape.inner; c += lanes)
      y[row * shape.inner + c] = position < 0 ? missing : x[from + c];
  }
}

class GatherOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(AnyElement(), context.inputs()[0].dtype, *this)) return error;
    Preparation preparation;
    preparation.state = MakeState(context, attributes().Int("axis"));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const GatherShape& shape = context.state<GatherState>()->shape;
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    int lanes = 1;
    while (lanes < kBlockThreads && lanes < shape.inner) lanes *= 2;
    const DType dtype = outputs[0]->dtype();
    return VisitBits(dtype, [&](auto bits) {
      using Bits = decltype(bits);
      return VisitIndex(inputs[1]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(context, type().c_str(), &GatherKernel<Bits, Index>,
                      GridFor(context, shape.outer * shape.count, kBlockThreads / lanes),
                      dim3(kBlockThreads), shape, lanes, static_cast<Bits>(MissingBits(dtype)),
                      static_cast<const Bits*>(inputs[0]->raw()),
                      static_cast<const Index*>(inputs[1]->raw()),
                      static_cast<Bits*>(outputs[0]->raw()));
      });
    });
  }
};

// --- scatter_add --------------------------------------------------------------------------------

/// A block for each index.
template <class T, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    ScatterAddKernel(GatherShape shape, const Index* indices, const T* updates, T* y) {
  const auto position_at = [&](long long i) { return PositionOf(indices, i, shape.size); };
  const auto element = [&](long long rows, long long row, long long c) {
    const long long block = c / shape.inner;
    return (block * rows + row) * shape.inner + c - block * shape.inner;
  };
  const auto target = [&](long long position, long long c) {
    return element(shape.size, position, c);
  };
  const auto source = [&](long long i, long long c) { return element(shape.count, i, c); };
  for (long long first = blockIdx.x; first < shape.count; first += gridDim.x)
    UpdateSlice(Reduction::kAdd, 0, first, shape.count, shape.outer * shape.inner, position_at,
                target, source, updates, y);
}

class ScatterAddOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Numbers(), context.inputs()[0].dtype, *this)) return error;
    Preparation preparation;
    preparation.state = MakeState(context, attributes().Int("axis"));
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const GatherShape& shape = context.state<GatherState>()->shape;
    if (inputs[0]->raw() != outputs[0]->raw()) {
      if (auto error =
              context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes()))
        return error;
    }
    if (inputs[2]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Numbers(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return VisitIndex(inputs[1]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(context, type().c_str(), &ScatterAddKernel<T, Index>,
                      GridFor(context, shape.count, 1), dim3(kBlockThreads), shape,
                      static_cast<const Index*>(inputs[1]->raw()),
                      static_cast<const T*>(inputs[2]->raw()), static_cast<T*>(outputs[0]->raw()));
      });
    });
  }
};

// --- one_hot ------------------------------------------------------------------------------------

template <class T, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    OneHotKernel(long long n, long long depth, const Index* indices, T* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / depth;
    const bool here = PositionOf(indices, row, depth) == i - row * depth;
    y[i] = Element<T>::Store(static_cast<ComputeType<T>>(here ? 1 : 0));
  }
}

class OneHotOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(AnyElement(), context.outputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return VisitIndex(inputs[0]->dtype(), [&](auto index) {
        using Index = decltype(index);
        return Launch(context, type().c_str(), &OneHotKernel<T, Index>, GridFor(context, n),
                      dim3(kBlockThreads), n, outputs[0]->sizes().back(),
                      static_cast<const Index*>(inputs[0]->raw()),
                      static_cast<T*>(outputs[0]->raw()));
      });
    });
  }
};

}  // namespace

void AddGatherKernels(OpRegistry& registry) {
  registry.AddKernel("gather", DeviceKind::kCUDA, &CreateKernel<GatherOp>);
  registry.AddKernel("scatter_add", DeviceKind::kCUDA, &CreateKernel<ScatterAddOp>);
  registry.AddKernel("one_hot", DeviceKind::kCUDA, &CreateKernel<OneHotOp>);
}

}  // namespace pdl::cuda
