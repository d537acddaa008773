#include <cstring>
#include <memory>

#include "kernels/creation/size_value.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/dim.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// 16 bytes: copies of one element.
struct Pattern {
  alignas(16) unsigned char bytes[16];
};

/// Repeats the pattern over `size` bytes. `aligned`: y is aligned to 16 bytes.
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

/// The pattern of an element with these bytes.
Pattern RepeatBytes(const void* element, DType dtype) {
  Pattern pattern;
  const size_t size = static_cast<size_t>(DTypeSize(dtype));
  for (size_t i = 0; i < sizeof pattern.bytes; i += size)
    std::memcpy(pattern.bytes + i, element, size);
  return pattern;
}

/// The pattern of an integer converted to `dtype`; integers wrap around.
Pattern RepeatInteger(int64_t value, DType dtype) {
  if (IsInteger(dtype)) return RepeatBytes(&value, dtype);
  return RepeatBytes(Constant::Scalar(dtype, static_cast<double>(value)).data(), dtype);
}

llvm::Error Fill(const CUDAContext& context, const char* name, const Pattern& pattern, Tensor& y) {
  const int64_t size = y.num_bytes();
  if (size == 0) return llvm::Error::success();
  return Launch(context, name, &FillKernel, GridFor(context, size, kBlockThreads * 16),
                dim3(kBlockThreads), pattern, static_cast<unsigned char*>(y.raw()), size,
                IsAligned(y.raw(), 16));
}

/// Fills the output with kValue.
template <int kValue>
class RepeatOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return Fill(context, type().c_str(), pattern_, *outputs[0]);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    pattern_ = RepeatInteger(kValue, attributes.Dtype("dtype"));
    return llvm::Error::success();
  }
  Pattern pattern_;
};

/// Fills the output with the attribute `value`.
class FillOp : public RepeatOp<0> {
 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    const Constant& value = attributes.Tensor("value");
    pattern_ = RepeatBytes(value.data(), value.dtype());
    return llvm::Error::success();
  }
};

struct SizeState : CallState {
  Pattern pattern;
};

/// The product of sizes.
class SizeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto value = EvaluateSize(context, attributes());
    if (!value) return value.takeError();
    auto state = std::make_shared<SizeState>();
    state->pattern = RepeatInteger(*value, context.outputs()[0].dtype);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return Fill(context, type().c_str(), context.state<SizeState>()->pattern, *outputs[0]);
  }
};

/// The value in GPU memory.
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

/// Element i of `range`: start + i * step.
template <class T>
struct RangeOf {
  long long start, step;
  __device__ T At(long long i, long long) const {
    return Element<T>::Store(static_cast<ComputeType<T>>(start + i * step));
  }
};
/// Element i of n evenly spaced numbers from `start` to `stop`.
template <class T>
struct LinspaceOf {
  double start, stop, step;
  __device__ T At(long long i, long long n) const {
    const double x = i > 0 && i == n - 1 ? stop : start + static_cast<double>(i) * step;
    return Element<T>::Store(static_cast<ComputeType<T>>(x));
  }
};

template <class T, class Rule>
__global__ void __launch_bounds__(kBlockThreads) FillByIndexKernel(Rule rule, T* y, long long n) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    y[i] = rule.At(i, n);
}

template <class T, class Rule>
llvm::Error FillByIndex(const CUDAContext& context, const char* name, const Rule& rule, Tensor& y) {
  const int64_t n = y.num_elements();
  if (n == 0) return llvm::Error::success();
  return Launch(context, name, &FillByIndexKernel<T, Rule>, GridFor(context, n),
                dim3(kBlockThreads), rule, static_cast<T*>(y.raw()), n);
}

struct RangeState : CallState {
  int64_t start = 0;
};

class RangeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Numbers(), context.outputs()[0].dtype, *this)) return error;
    auto start = context.Evaluate(attributes().Dims("start")[0]);
    if (!start) return start.takeError();
    auto state = std::make_shared<RangeState>();
    state->start = *start;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t start = context.state<RangeState>()->start;
    return VisitDType(Numbers(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return FillByIndex<T>(context, type().c_str(), RangeOf<T>{start, step_}, *outputs[0]);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("step", &step_);
  }

 private:
  int64_t step_ = 1;
};

class LinspaceOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Floats(), context.outputs()[0].dtype, *this)) return error;
    return Preparation();
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    const double step = n > 1 ? (stop_ - start_) / static_cast<double>(n - 1) : 0;
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return FillByIndex<T>(context, type().c_str(), LinspaceOf<T>{start_, stop_, step},
                            *outputs[0]);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    start_ = attributes.Float("start");
    stop_ = attributes.Float("stop");
    return llvm::Error::success();
  }

 private:
  double start_ = 0, stop_ = 0;
};

}  // namespace

void AddConstantKernels(OpRegistry& registry) {
  registry.AddKernel("constant", DeviceKind::kCUDA, &CreateKernel<ConstantOp>);
  registry.AddKernel("zeros", DeviceKind::kCUDA, &CreateKernel<RepeatOp<0>>);
  registry.AddKernel("ones", DeviceKind::kCUDA, &CreateKernel<RepeatOp<1>>);
  registry.AddKernel("fill", DeviceKind::kCUDA, &CreateKernel<FillOp>);
  registry.AddKernel("size", DeviceKind::kCUDA, &CreateKernel<SizeOp>);
  registry.AddKernel("range", DeviceKind::kCUDA, &CreateKernel<RangeOp>);
  registry.AddKernel("linspace", DeviceKind::kCUDA, &CreateKernel<LinspaceOp>);
}

}  // namespace pdl::cuda
