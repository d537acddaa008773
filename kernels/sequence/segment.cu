#include "kernels/cuda/cuda_launch.h"
#include "kernels/sequence/segment.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// The result for each row: its segment, or its index in the reversed segment.
enum class RowMap { kId, kReverse };

template <RowMap kMap>
__global__ void __launch_bounds__(kBlockThreads)
    RowMapKernel(long long rows, long long segments, const long long* offsets, long long* indices) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; row < rows;
       row += step) {
    const long long segment = SegmentOf(offsets, segments, row);
    if (kMap == RowMap::kId) {
      indices[row] = segment;
    } else {
      const Range range = RangeOf(offsets, segments, segment, rows);
      indices[row] =
          row >= range.begin && row < range.end ? range.begin + (range.end - 1 - row) : row;
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    WindowKernel(long long n, long long rows, long long size, long long start, long long segments,
                 const long long* offsets, long long* indices) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / size;
    const Range range = RangeOf(offsets, segments, SegmentOf(offsets, segments, row), rows);
    const long long position = row + start + (i - row * size);
    indices[i] = position >= range.begin && position < range.end ? position : rows;
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    PadKernel(long long n, long long rows, long long size, long long segments,
              const long long* offsets, long long* indices) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long segment = i / size;
    const Range range = RangeOf(offsets, segments, segment, rows);
    const long long position = range.begin + (i - segment * size);
    indices[i] = position < range.end ? position : rows;
  }
}

const long long* Offsets(const Tensor& tensor) {
  return static_cast<const long long*>(tensor.raw());
}
long long* Indices(Tensor& tensor) { return static_cast<long long*>(tensor.raw()); }

template <RowMap kMap>
class RowMapOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t rows = outputs[0]->num_elements();
    if (rows == 0) return llvm::Error::success();
    return Launch(context, type().c_str(), &RowMapKernel<kMap>, GridFor(context, rows),
                  dim3(kBlockThreads), rows, inputs[0]->num_elements() - 1, Offsets(*inputs[0]),
                  Indices(*outputs[0]));
  }
};
using SegmentIdsOp = RowMapOp<RowMap::kId>;
using SegmentReverseOp = RowMapOp<RowMap::kReverse>;

class SegmentWindowOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return Launch(context, type().c_str(), &WindowKernel, GridFor(context, n), dim3(kBlockThreads),
                  n, outputs[0]->size(0), outputs[0]->size(1), attributes().Int("start"),
                  inputs[0]->num_elements() - 1, Offsets(*inputs[0]), Indices(*outputs[0]));
  }
};

class SegmentPadOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<State>();
    llvm::Expected<int64_t> rows = context.Evaluate(attributes().Dims("dims")[0]);
    if (!rows) return rows.takeError();
    state->rows = *rows;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return Launch(context, type().c_str(), &PadKernel, GridFor(context, n), dim3(kBlockThreads), n,
                  context.state<State>()->rows, outputs[0]->size(1), inputs[0]->num_elements() - 1,
                  Offsets(*inputs[0]), Indices(*outputs[0]));
  }

 private:
  struct State : CallState {
    int64_t rows = 0;
  };
};

}  // namespace

void AddSegmentKernels(OpRegistry& registry) {
  registry.AddKernel("segment_ids", DeviceKind::kCUDA, &CreateKernel<SegmentIdsOp>);
  registry.AddKernel("segment_reverse", DeviceKind::kCUDA, &CreateKernel<SegmentReverseOp>);
  registry.AddKernel("segment_window", DeviceKind::kCUDA, &CreateKernel<SegmentWindowOp>);
  registry.AddKernel("segment_pad", DeviceKind::kCUDA, &CreateKernel<SegmentPadOp>);
}

}  // namespace pdl::cuda
