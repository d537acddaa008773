// Elementwise operators with one input on the GPU.
#ifndef PDL_KERNELS_UNARY_CUH_
#define PDL_KERNELS_UNARY_CUH_

#include "kernels/cuda_launch.h"
#include "kernels/elementwise.cuh"

namespace pdl::cuda {

/// `packed`: x and y are aligned to packs. y may be x.
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

/// An elementwise operator with one input, whose output has the same dtype.
template <class F, class Types>
class UnaryOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(Types(), context.inputs()[0].dtype, *this)) return error;
    Preparation preparation;
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    return VisitDType(Types(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      constexpr int kPack = PackSize<T>();
      const bool packed = IsAligned(inputs[0]->raw(), 16) && IsAligned(outputs[0]->raw(), 16);
      return Launch(context, type().c_str(), &UnaryKernel<F, T, T>,
                    GridFor(context, n, kBlockThreads * kPack), dim3(kBlockThreads), f_,
                    static_cast<const T*>(inputs[0]->raw()), static_cast<T*>(outputs[0]->raw()), n,
                    packed);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if constexpr (requires { f_.scale; }) {
      return attributes.Get("scale", &f_.scale);
    } else {
      return llvm::Error::success();
    }
  }

 private:
  F f_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_UNARY_CUH_
