#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

/// A thread computes one element of the result, accumulating in the order of the row.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    CsrMatmulKernel(long long n, long long columns, long long count, long long depth,
                    const long long* offsets, const long long* indices, const T* b, const T* values,
                    T* c) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / columns, column = i - row * columns;
    long long begin = offsets[row], end = offsets[row + 1];
    begin = begin < 0 ? 0 : begin > count ? count : begin;
    end = end < begin ? begin : end > count ? count : end;
    ComputeType<T> sum = 0;
    for (long long k = begin; k < end; ++k) {
      const long long place = indices[k];
      if (place < 0 || place >= depth) continue;
      const ComputeType<T> factor = values ? Element<T>::Load(values[k]) : ComputeType<T>(1);
      sum += factor * Element<T>::Load(b[place * columns + column]);
    }
    c[i] = Element<T>::Store(sum);
  }
}

class CsrMatmulOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.outputs()[0].dtype, *this)) return error;
    return Preparation();
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &CsrMatmulKernel<T>, GridFor(context, n),
                    dim3(kBlockThreads), n, outputs[0]->size(1), inputs[1]->num_elements(),
                    inputs[2]->size(0), static_cast<const long long*>(inputs[0]->raw()),
                    static_cast<const long long*>(inputs[1]->raw()),
                    static_cast<const T*>(inputs[2]->raw()),
                    inputs.size() > 3 ? static_cast<const T*>(inputs[3]->raw()) : nullptr,
                    static_cast<T*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddSparseKernels(OpRegistry& registry) {
  registry.AddKernel("csr_matmul", DeviceKind::kCUDA, &CreateKernel<CsrMatmulOp>);
}

}  // namespace pdl::cuda
