#include <cstring>
#include <memory>

#include "kernels/cuda_launch.h"
#include "kernels/cuda_ops.h"

namespace pdl::cuda {
namespace {

/// Sixteen bytes: one element, repeated.
struct Pattern {
  alignas(16) unsigned char bytes[16];
};

/// Repeats the pattern over `size` bytes. `aligned`: y is, to 16 bytes.
__global__ void __launch_bounds__(kBlockThreads)
    FillKernel(const __grid_constant__ Pattern pattern, unsigned char* y, long long size,
               bool aligned) {
  const uint4 word = *reinterpret_cast<const uint4*>(pattern.bytes);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x * 16;
  long long begin = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
  for (; begin < size; begin += step) {
    if (aligned && size - begin >= 16) {
      *reinterpret_cast<uint4*>(y + begin) = word;
    } else {
      const int end = size - begin < 16 ? static_cast<int>(size - begin) : 16;
#pragma unroll 1
      for (int i = 0; i < end; ++i) y[begin + i] = pattern.bytes[i];
    }
  }
}

/// Makes all elements of y the one of `value`.
llvm::Error Fill(const CUDAContext& context, const char* name, const Constant& value, Tensor& y) {
  const int64_t size = y.num_bytes();
  if (size == 0) return llvm::Error::success();
  Pattern pattern;
  const size_t element = static_cast<size_t>(DTypeSize(y.dtype()));
  for (size_t i = 0; i < sizeof pattern.bytes; i += element)
    std::memcpy(pattern.bytes + i, value.data(), element);
  return Launch(context, name, &FillKernel, GridFor(context, size, kBlockThreads * 16),
                dim3(kBlockThreads), pattern, static_cast<unsigned char*>(y.raw()), size,
                IsAligned(y.raw(), 16));
}

struct FillState : CallState {
  /// A scalar of the output's dtype.
  Constant value;
};

class FillOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<FillState>();
    state->value = Constant::Scalar(context.outputs()[0].dtype, value_);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return Fill(context, type().c_str(), context.state<FillState>()->value, *outputs[0]);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("value", &value_);
  }
  double value_ = 0;
};

template <int kValue>
class FillWithOp : public FillOp {
 protected:
  llvm::Error InitializeAttributes(const AttributeReader&) override {
    value_ = kValue;
    return llvm::Error::success();
  }
};

/// The value, on the GPU.
struct ConstantState : CallState {
  std::shared_ptr<void> bytes;
};

class ConstantOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<ConstantState>();
    auto bytes = context.device().Allocate(value_.num_bytes());
    if (!bytes) return bytes.takeError();
    if (auto error = context.device().CopyFromHost(bytes->get(), value_.data(), value_.num_bytes()))
      return error;
    state->bytes = std::move(*bytes);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return context.CopyWithin(outputs[0]->raw(), context.state<ConstantState>()->bytes.get(),
                              outputs[0]->num_bytes());
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("value", &value_);
  }

 private:
  Constant value_;
};

}  // namespace

void AddConstantKernels(OpRegistry& registry) {
  registry.AddKernel("constant", DeviceKind::kCUDA, &CreateKernel<ConstantOp>);
  registry.AddKernel("zeros", DeviceKind::kCUDA, &CreateKernel<FillWithOp<0>>);
  registry.AddKernel("ones", DeviceKind::kCUDA, &CreateKernel<FillWithOp<1>>);
  registry.AddKernel("fill", DeviceKind::kCUDA, &CreateKernel<FillOp>);
}

}  // namespace pdl::cuda
