// Elementwise operators with one input on the GPU.
#ifndef PDL_KERNELS_ELEMENTWISE_UNARY_CUH_
#define PDL_KERNELS_ELEMENTWISE_UNARY_CUH_

#include <type_traits>

#include "kernels/core/elementwise.cuh"
#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {

/// `packed`: x and y are aligned to packs. y may be the memory of x.
template <class F, class Out, class In>
__global__ void __launch_bounds__(kBlockThreads)
    UnaryKernel(F f, const In* x, Out* y, long long n, bool packed) {
  constexpr int kPack = PackSize<Out, In>();
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x * kPack;
  long long begin = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack;
  for (; begin < n; begin += step) {
    if (packed && n - begin >= kPack) {
      const Pack<In, kPack> in = LoadPack<kPack>(x + begin);
      Pack<Out, kPack> out;
#pragma unroll
      for (int k = 0; k < kPack; ++k)
        out.at[k] = Element<Out>::Store(f(Element<In>::Load(in.at[k])));
      StorePack<kPack>(y + begin, out);
    } else {
      const long long end = n - begin < kPack ? n : begin + kPack;
#pragma unroll 1
      for (long long i = begin; i < end; ++i)
        y[i] = Element<Out>::Store(f(Element<In>::Load(x[i])));
    }
  }
}

/// y[i] = f(x[i]).
template <class Out, class In, class F>
llvm::Error LaunchUnary(const CUDAContext& context, const char* name, const F& f, const Tensor& x,
                        Tensor& y) {
  constexpr int kPack = PackSize<Out, In>();
  const int64_t n = y.num_elements();
  if (n == 0) return llvm::Error::success();
  const bool packed =
      IsAligned(x.raw(), kPack * sizeof(In)) && IsAligned(y.raw(), kPack * sizeof(Out));
  return Launch(context, name, &UnaryKernel<F, Out, In>, GridFor(context, n, kBlockThreads * kPack),
                dim3(kBlockThreads), f, static_cast<const In*>(x.raw()), static_cast<Out*>(y.raw()),
                n, packed);
}

/// An elementwise operator with one input. The output has dtype Result, or that of the input if
/// Result is void. F may have `void Initialize(const AttributeReader&)`.
template <class F, class Types, class Result = void>
class UnaryOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Types(), context.inputs()[0].dtype, *this)) return error;
    Preparation preparation;
    if (DTypeSize(context.inputs()[0].dtype) == DTypeSize(context.outputs()[0].dtype))
      preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitDType(Types(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Out = std::conditional_t<std::is_void_v<Result>, T, Result>;
      return LaunchUnary<Out, T>(context, type().c_str(), f_, *inputs[0], *outputs[0]);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if constexpr (requires { f_.Initialize(attributes); }) f_.Initialize(attributes);
    return llvm::Error::success();
  }

 private:
  F f_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_ELEMENTWISE_UNARY_CUH_
