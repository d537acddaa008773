// Element types on the GPU, and how runs of elements are read and written. Includes no host
// headers: nvcc compiles it into the kernels, and its source is also compiled by NVRTC.
#ifndef PDL_KERNELS_CORE_ELEMENTS_CUH_
#define PDL_KERNELS_CORE_ELEMENTS_CUH_

#include "kernels/core/half_conversion.cuh"

namespace pdl::cuda {

/// IEEE 754 binary16 and bfloat16 as stored in memory; arithmetic on them is done in float.
struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

/// The type that elements of a storage type are computed in: float for f16 and bf16, otherwise the
/// type itself. Conversions round to nearest even.
template <class T>
struct Element {
  using Compute = T;
  static __device__ __forceinline__ T Load(T x) { return x; }
  static __device__ __forceinline__ T Store(T x) { return x; }
};

template <>
struct Element<Half> {
  using Compute = float;
  static __device__ __forceinline__ float Load(Half x) { return HalfToFloat(x.bits); }
  static __device__ __forceinline__ Half Store(float x) { return {FloatToHalf(x)}; }
};

template <>
struct Element<Bfloat> {
  using Compute = float;
  static __device__ __forceinline__ float Load(Bfloat x) {
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
  }
  static __device__ __forceinline__ Bfloat Store(float x) { return {FloatToBfloat(x)}; }
};

template <class T>
using ComputeType = typename Element<T>::Compute;

// Type traits, since NVRTC has no <type_traits>.
template <class T>
inline constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<float> = true;
template <>
inline constexpr bool kIsFloat<double> = true;
template <class T>
inline constexpr bool kIsSigned = T(-1) < T(0);
template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;
template <bool kCondition, class A, class B>
struct Choice {
  using Type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using Type = B;
};
template <bool kCondition, class A, class B>
using Conditional = typename Choice<kCondition, A, B>::Type;

/// N elements that are read or written with one access.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
};

/// The largest power of two N such that N elements of each T take at most 16 bytes.
template <class... T>
__host__ __device__ constexpr int PackSize() {
  unsigned long largest = 1;
  ((largest = sizeof(T) > largest ? sizeof(T) : largest), ...);
  return static_cast<int>(16 / largest);
}

namespace detail {
template <int kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = unsigned char;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<4> {
  using Type = unsigned;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
}  // namespace detail

/// Reads a pack with one instruction; `from` is aligned to the size of the pack.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> LoadPack(const T* from) {
  using Word = typename detail::WordOf<sizeof(T) * N>::Type;
  const Word word = *reinterpret_cast<const Word*>(from);
  Pack<T, N> pack;
  __builtin_memcpy(&pack, &word, sizeof word);
  return pack;
}
template <int N, class T>
__device__ __forceinline__ void StorePack(T* to, const Pack<T, N>& pack) {
  using Word = typename detail::WordOf<sizeof(T) * N>::Type;
  Word word;
  __builtin_memcpy(&word, &pack, sizeof word);
  *reinterpret_cast<Word*>(to) = word;
}

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CORE_ELEMENTS_CUH_
