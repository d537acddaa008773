// Elementwise operators with two inputs on the GPU, broadcast as in NumPy.
#ifndef PDL_KERNELS_ELEMENTWISE_BINARY_CUH_
#define PDL_KERNELS_ELEMENTWISE_BINARY_CUH_

#include <memory>

#include "kernels/core/elementwise.cuh"
#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {

/// How a BinaryKernel addresses its operands; made once for given sizes.
struct BinaryWalk {
  IndexMap<2> map;
  /// Whether the operand is a single element along the innermost axis.
  bool splat[2] = {false, false};
};

template <int N, class T>
__device__ __forceinline__ Pack<T, N> LoadOrSplat(const T* from, bool splat) {
  if (!splat) return LoadPack<N>(from);
  const T value = *from;
  Pack<T, N> pack;
#pragma unroll
  for (int k = 0; k < N; ++k) pack.at[k] = value;
  return pack;
}

/// `packed`: each pack is within one row, and all operands are aligned to packs. y may be the
/// memory of a or b if that operand is not broadcast.
template <class F, class Out, class In>
__global__ void __launch_bounds__(kBlockThreads)
    BinaryKernel(F f, const __grid_constant__ BinaryWalk walk, const In* a, const In* b, Out* y,
                 bool packed) {
  constexpr int kPack = PackSize<Out, In>();
  const long long n = walk.map.num_elements;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x * kPack;
  long long begin = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack;
  for (; begin < n; begin += step) {
    if (packed && n - begin >= kPack) {
      const Offsets<2> offset = walk.map.At(begin);
      const Pack<In, kPack> left = LoadOrSplat<kPack>(a + offset.at[0], walk.splat[0]);
      const Pack<In, kPack> right = LoadOrSplat<kPack>(b + offset.at[1], walk.splat[1]);
      Pack<Out, kPack> out;
#pragma unroll
      for (int k = 0; k < kPack; ++k)
        out.at[k] =
            Element<Out>::Store(f(Element<In>::Load(left.at[k]), Element<In>::Load(right.at[k])));
      StorePack<kPack>(y + begin, out);
    } else {
      const long long end = n - begin < kPack ? n : begin + kPack;
#pragma unroll 1
      for (long long i = begin; i < end; ++i) {
        const Offsets<2> offset = walk.map.At(i);
        y[i] = Element<Out>::Store(
            f(Element<In>::Load(a[offset.at[0]]), Element<In>::Load(b[offset.at[1]])));
      }
    }
  }
}

/// How dense operands of sizes `left` and `right` are read as ones of sizes `to`.
inline llvm::Expected<BinaryWalk> MakeBinaryWalk(llvm::ArrayRef<int64_t> left,
                                                 llvm::ArrayRef<int64_t> right,
                                                 llvm::ArrayRef<int64_t> to) {
  const Sizes left_strides = BroadcastStrides(left, to);
  const Sizes right_strides = BroadcastStrides(right, to);
  auto map = MakeIndexMap<2>(to, {left_strides, right_strides});
  if (!map) return map.takeError();
  BinaryWalk walk;
  walk.map = *map;
  for (int k = 0; k < 2; ++k) walk.splat[k] = map->rank > 0 && map->strides[k][map->rank - 1] == 0;
  return walk;
}

/// Whether each pack of the output is within one row, and the operands' packs have aligned offsets.
inline bool WalksInPacks(const BinaryWalk& walk, int pack) {
  const IndexMap<2>& map = walk.map;
  if (map.rank == 0) return false;
  const int inner = map.rank - 1;
  if (map.rank > 1 && map.sizes[inner] % pack != 0) return false;
  for (int k = 0; k < 2; ++k) {
    if (walk.splat[k]) continue;
    if (map.strides[k][inner] != 1) return false;
    for (int axis = 0; axis < inner; ++axis) {
      if (map.strides[k][axis] % pack != 0) return false;
    }
  }
  return true;
}

/// y[i] = f(a[i], b[i]).
template <class Out, class In, class F>
llvm::Error LaunchBinary(const CUDAContext& context, const char* name, const F& f,
                         const BinaryWalk& walk, const void* a, const void* b, void* y) {
  const int64_t n = walk.map.num_elements;
  if (n == 0) return llvm::Error::success();
  constexpr int kPack = PackSize<Out, In>();
  const bool packed = WalksInPacks(walk, kPack) && IsAligned(y, kPack * sizeof(Out)) &&
                      (walk.splat[0] || IsAligned(a, kPack * sizeof(In))) &&
                      (walk.splat[1] || IsAligned(b, kPack * sizeof(In)));
  return Launch(context, name, &BinaryKernel<F, Out, In>,
                GridFor(context, n, kBlockThreads * kPack), dim3(kBlockThreads), f, walk,
                static_cast<const In*>(a), static_cast<const In*>(b), static_cast<Out*>(y), packed);
}

struct BinaryState : CallState {
  BinaryWalk walk;
};

/// y[i] = f(a[i], b[i]), or f(b[i], a[i]) if kSwapped. Comparisons return bool, others the dtype of
/// their inputs. F may have `void Initialize(const AttributeReader&)`.
template <class F, class Types, bool kComparison = false, bool kSwapped = false>
class BinaryOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& left = context.inputs()[kSwapped ? 1 : 0];
    const OperandType& right = context.inputs()[kSwapped ? 0 : 1];
    const OperandType& out = context.outputs()[0];
    if (auto error = RequireDType(Types(), left.dtype, *this)) return error;
    auto walk = MakeBinaryWalk(left.sizes, right.sizes, out.sizes);
    if (!walk) return walk.takeError();
    auto state = std::make_shared<BinaryState>();
    state->walk = *walk;

    Preparation preparation;
    preparation.state = std::move(state);
    for (unsigned k = 0; k < 2; ++k) {
      const OperandType& input = context.inputs()[k];
      if (input.sizes == out.sizes && DTypeSize(input.dtype) == DTypeSize(out.dtype))
        preparation.in_place.push_back({0, k});
    }
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const BinaryWalk& walk = context.state<BinaryState>()->walk;
    return VisitDType(Types(), inputs[0]->dtype(), [&](auto tag) {
      using In = typename decltype(tag)::Type;
      using Out = std::conditional_t<kComparison, bool, In>;
      return LaunchBinary<Out, In>(context, type().c_str(), f_, walk,
                                   inputs[kSwapped ? 1 : 0]->raw(), inputs[kSwapped ? 0 : 1]->raw(),
                                   outputs[0]->raw());
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

#endif  // PDL_KERNELS_ELEMENTWISE_BINARY_CUH_
