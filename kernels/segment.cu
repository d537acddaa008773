#include "kernels/cuda_launch.h"
#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

/// The first of `n` ascending ends that is larger than `row`.
__device__ __forceinline__ long long SegmentOf(const long long* ends, long long n, long long row) {
  long long low = 0, high = n;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (ends[middle] <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void __launch_bounds__(kBlockThreads)
    SegmentIdsKernel(long long n, long long segments, const long long* offsets, long long* ids) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long id = SegmentOf(offsets + 1, segments, i);
    ids[i] = id < segments ? id : segments > 0 ? segments - 1 : 0;
  }
}

class SegmentIdsOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return Launch(context, type().c_str(), &SegmentIdsKernel, GridFor(context, n),
                  dim3(kBlockThreads), n, inputs[0]->num_elements() - 1,
                  static_cast<const long long*>(inputs[0]->raw()),
                  static_cast<long long*>(outputs[0]->raw()));
  }
};

}  // namespace

void AddSegmentKernels(OpRegistry& registry) {
  registry.AddKernel("segment_ids", DeviceKind::kCUDA, &CreateKernel<SegmentIdsOp>);
}

}  // namespace pdl::cuda
