#include <memory>

#include "kernels/cuda/cuda_copying_op.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

/// The sizes of a batch of matrices.
struct Matrices {
  long long num_elements = 0, height = 1, width = 1;
};

struct MatricesState : CallState {
  Matrices matrices;
};

/// The position of an element: its matrix, row and column.
struct MatrixPlace {
  long long block, row, column;
};
__device__ __forceinline__ MatrixPlace PlaceAt(const Matrices& m, long long i) {
  const long long line = i / m.width;
  const long long block = line / m.height;
  return {block, line - block * m.height, i - line * m.width};
}

template <class Bits, bool kUpper>
__global__ void __launch_bounds__(kBlockThreads)
    TriangleKernel(Matrices m, long long k, const Bits* x, Bits* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < m.num_elements; i += step) {
    const MatrixPlace place = PlaceAt(m, i);
    const long long distance = place.column - place.row - k;
    y[i] = (kUpper ? distance >= 0 : distance <= 0) ? x[i] : Bits(0);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads) EyeKernel(Matrices m, long long k, T* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < m.num_elements; i += step) {
    const MatrixPlace place = PlaceAt(m, i);
    const bool on = place.column - place.row == k;
    y[i] = Element<T>::Store(static_cast<ComputeType<T>>(on ? 1 : 0));
  }
}

template <class Bits>
__global__ void __launch_bounds__(kBlockThreads)
    DiagKernel(Matrices m, long long k, long long n, const Bits* x, Bits* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < m.num_elements; i += step) {
    const MatrixPlace place = PlaceAt(m, i);
    const bool on = place.column - place.row == k;
    y[i] = on ? x[place.block * n + (k < 0 ? place.column : place.row)] : Bits(0);
  }
}

class MatrixOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& y = context.outputs()[0];
    if (auto error = RequireDType(AnyElement(), y.dtype, *this)) return error;
    auto state = std::make_shared<MatricesState>();
    state->matrices = {y.num_elements(), y.sizes[y.sizes.size() - 2], y.sizes.back()};
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    k_ = attributes.Int("k");
    return llvm::Error::success();
  }
  int64_t k_ = 0;
};

template <bool kUpper>
class TriangleOp : public MatrixOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto preparation = MatrixOp::Prepare(context);
    if (preparation) preparation->in_place.push_back({0, 0});
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const Matrices& m = context.state<MatricesState>()->matrices;
    if (m.num_elements == 0) return llvm::Error::success();
    return VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      return Launch(context, type().c_str(), &TriangleKernel<Bits, kUpper>,
                    GridFor(context, m.num_elements), dim3(kBlockThreads), m, k_,
                    static_cast<const Bits*>(inputs[0]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    });
  }
};

class EyeOp : public MatrixOp {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const Matrices& m = context.state<MatricesState>()->matrices;
    if (m.num_elements == 0) return llvm::Error::success();
    return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &EyeKernel<T>, GridFor(context, m.num_elements),
                    dim3(kBlockThreads), m, k_, static_cast<T*>(outputs[0]->raw()));
    });
  }
};

class DiagOp : public MatrixOp {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const Matrices& m = context.state<MatricesState>()->matrices;
    if (m.num_elements == 0) return llvm::Error::success();
    return VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      return Launch(context, type().c_str(), &DiagKernel<Bits>, GridFor(context, m.num_elements),
                    dim3(kBlockThreads), m, k_, inputs[0]->sizes().back(),
                    static_cast<const Bits*>(inputs[0]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    });
  }
};

class DiagonalOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const Sizes& sizes = context.inputs()[0].sizes;
    const int64_t k = attributes().Int("k");
    Sizes from = DenseStrides(sizes);
    from.pop_back();
    from.back() = sizes.back() + 1;
    const bool is_empty = context.outputs()[0].num_elements() == 0;
    return PrepareOne(context, {from, is_empty ? 0 : k < 0 ? -k * sizes.back() : k});
  }
};

}  // namespace

void AddDiagonalKernels(OpRegistry& registry) {
  registry.AddKernel("triu", DeviceKind::kCUDA, &CreateKernel<TriangleOp<true>>);
  registry.AddKernel("tril", DeviceKind::kCUDA, &CreateKernel<TriangleOp<false>>);
  registry.AddKernel("eye", DeviceKind::kCUDA, &CreateKernel<EyeOp>);
  registry.AddKernel("diag", DeviceKind::kCUDA, &CreateKernel<DiagOp>);
  registry.AddKernel("diagonal", DeviceKind::kCUDA, &CreateKernel<DiagonalOp>);
}

}  // namespace pdl::cuda
