// Vector registers of floats and doubles for each instruction set, for kernels that keep a block of
// a matrix in registers.
//
// A kernel is a template over one of these structs, compiled for its set by ChooseRegister. Unlike
// the formulas of simd.h, kernels do not give the same bits on every set: the baseline has no fused
// multiply-add, and MulAdd rounds twice there.
//
// Matmuls read the right operand as words: elements, or pairs of bf16 (RegisterBf16, Bf16Weights).
#ifndef PDL_KERNELS_CORE_REGISTERS_H_
#define PDL_KERNELS_CORE_REGISTERS_H_

#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/vector_math.h"

// See simd.h.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pdl::simd {

// The operations that are written alike for each set. Comparisons with nan are false.
#define PDL_REGISTER_OPERATIONS(bytes)                                                     \
  using Scalar = T;                                                                        \
  static constexpr int kLanes = (bytes) / static_cast<int>(sizeof(T));                     \
  typedef T V __attribute__((vector_size(bytes)));                                         \
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)); \
  PDL_SIMD V Set(T x) { return x - V{}; }                                                  \
  PDL_SIMD V Load(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }     \
  PDL_SIMD void Store(T* to, V x) { *reinterpret_cast<Unaligned*>(to) = x; }               \
  PDL_SIMD V Add(V a, V b) { return a + b; }                                               \
  PDL_SIMD V Sub(V a, V b) { return a - b; }                                               \
  /* The multiply-adds of a word; the operands of one of them: adjacent words, and an */   \
  /* element in all lanes. */                                                              \
  static constexpr int kSteps = 1;                                                         \
  template <int kStep>                                                                     \
  PDL_SIMD V LoadWords(const T* from) {                                                    \
    return Load(from);                                                                     \
  }                                                                                        \
  PDL_SIMD V SplatWord(const T* from) { return Set(*from); }                               \
  /* The bf16 in the lower and higher 16 bits of words. */                                 \
  typedef int32_t Ints __attribute__((vector_size(bytes)));                                \
  PDL_SIMD V LowBf16(const T* from) { return V(Ints(Load(from)) << 16); }                  \
  PDL_SIMD V HighBf16(const T* from) { return V(Ints(Load(from)) & ~0xffff); }             \
  PDL_SIMD V Mul(V a, V b) { return a * b; }                                               \
  /* a where x < y, else b. */                                                             \
  PDL_SIMD V IfLess(V x, V y, V a, V b) { return x < y ? a : b; }

// The sums of the elements of four registers of four floats.
PDL_INLINE void SumFour(__m128 a, __m128 b, __m128 c, __m128 d, float* to) {
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, (a + b) + (c + d));
}

/// SSE4.2.
template <class T>
struct Register128 {
#define PDL_SIMD PDL_INLINE static
  PDL_REGISTER_OPERATIONS(16)
  static constexpr Isa kIsa = Isa::kBaseline;
  /// Rows of a block of two vectors each that leave registers for its operands.
  static constexpr int kBlockRows = 4;

  PDL_SIMD V MulAdd(V a, V b, V c) { return a * b + c; }
  /// The larger or smaller one; b if one of them is nan, or if both are 0.
  PDL_SIMD V Max(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm_max_ps(a, b);
    } else {
      return _mm_max_pd(a, b);
    }
  }
  PDL_SIMD V Min(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm_min_ps(a, b);
    } else {
      return _mm_min_pd(a, b);
    }
  }
  /// Element kIndex of each four floats, in all of the four.
  template <int kIndex>
  PDL_SIMD V SplatInQuads(V x) {
    return _mm_shuffle_ps(x, x, kIndex * 0x55);
  }
  /// The sums of the lanes of four registers of floats.
  PDL_SIMD void SumLanes(V a, V b, V c, V d, float* to) { SumFour(a, b, c, d, to); }
  /// x * 2^n for an integer n from -126 to 127; `shifted` is n + 0x1.8p23.
  PDL_SIMD V TimesPower(V x, V, V shifted) {
    const __m128i bits = _mm_add_epi32(_mm_castps_si128(shifted), _mm_set1_epi32(127));
    return x * V(_mm_slli_epi32(bits, 23));
  }
#undef PDL_SIMD
};

template <class T>
struct Register256 {
#define PDL_SIMD __attribute__((target("avx2,fma"))) static inline
  PDL_REGISTER_OPERATIONS(32)
  static constexpr Isa kIsa = Isa::kAvx2;
  static constexpr int kBlockRows = 6;

  PDL_SIMD V MulAdd(V a, V b, V c) {
    if constexpr (sizeof(T) == 4) {
      return _mm256_fmadd_ps(a, b, c);
    } else {
      return _mm256_fmadd_pd(a, b, c);
    }
  }
  PDL_SIMD V Max(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm256_max_ps(a, b);
    } else {
      return _mm256_max_pd(a, b);
    }
  }
  PDL_SIMD V Min(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm256_min_ps(a, b);
    } else {
      return _mm256_min_pd(a, b);
    }
  }
  template <int kIndex>
  PDL_SIMD V SplatInQuads(V x) {
    return _mm256_permute_ps(x, kIndex * 0x55);
  }
  PDL_SIMD __m128 FoldTwo(V a) { return _mm256_castps256_ps128(a) + _mm256_extractf128_ps(a, 1); }
  PDL_SIMD void SumLanes(V a, V b, V c, V d, float* to) {
    SumFour(FoldTwo(a), FoldTwo(b), FoldTwo(c), FoldTwo(d), to);
  }
  PDL_SIMD V TimesPower(V x, V, V shifted) {
    const __m256i bits = _mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127));
    return x * V(_mm256_slli_epi32(bits, 23));
  }
#undef PDL_SIMD
};

template <class T>
struct Register512 {
#define PDL_SIMD __attribute__((target(PDL_TARGET_AVX512))) static inline
  PDL_REGISTER_OPERATIONS(64)
  static constexpr Isa kIsa = Isa::kAvx512;
  static constexpr int kBlockRows = 12;

  // GCC 12 warns about the undefined values inside the intrinsics that take no mask.
  PDL_SIMD V MulAdd(V a, V b, V c) {
    if constexpr (sizeof(T) == 4) {
      return _mm512_fmadd_ps(a, b, c);
    } else {
      return _mm512_fmadd_pd(a, b, c);
    }
  }
  PDL_SIMD V Max(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm512_maskz_max_ps(0xffff, a, b);
    } else {
      return _mm512_maskz_max_pd(0xff, a, b);
    }
  }
  PDL_SIMD V Min(V a, V b) {
    if constexpr (sizeof(T) == 4) {
      return _mm512_maskz_min_ps(0xffff, a, b);
    } else {
      return _mm512_maskz_min_pd(0xff, a, b);
    }
  }
  template <int kIndex>
  PDL_SIMD V SplatInQuads(V x) {
    return _mm512_maskz_permute_ps(0xffff, x, kIndex * 0x55);
  }
  PDL_SIMD __m128 FoldFour(V a) {
    const __m256 half = __m256(__builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7)) +
                        __m256(__builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15));
    return _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
  }
  PDL_SIMD void SumLanes(V a, V b, V c, V d, float* to) {
    SumFour(FoldFour(a), FoldFour(b), FoldFour(c), FoldFour(d), to);
  }
  PDL_SIMD V TimesPower(V x, V n, V) { return _mm512_maskz_scalef_ps(0xffff, x, n); }
#undef PDL_SIMD
};
#undef PDL_REGISTER_OPERATIONS

/// Words are pairs of bf16, and the left operand consists of floats.
template <class R>
struct Bf16Weights : R {
  static constexpr int kSteps = 2;
  template <int kStep>
  PDL_INLINE static typename R::V LoadWords(const float* from) {
    if constexpr (kStep == 0) {
      return R::LowBf16(from);
    } else {
      return R::HighBf16(from);
    }
  }
};

/// AVX512-BF16: words of both operands are pairs of bf16, and MulAdd adds two products to each f32
/// sum. Subnormal numbers count as 0.
struct RegisterBf16 : Register512<float> {
#define PDL_SIMD __attribute__((target(PDL_TARGET_AVX512_BF16))) static inline
  using Register512<float>::MulAdd;
  template <int kStep>
  PDL_SIMD __m512i LoadWords(const float* from) {
    return _mm512_loadu_si512(from);
  }
  PDL_SIMD __m512i SplatWord(const float* from) {
    return _mm512_castps_si512(_mm512_set1_ps(*from));
  }
  PDL_SIMD V MulAdd(__m512i a, __m512i b, V c) {
    return _mm512_dpbf16_ps(c, __m512bh(a), __m512bh(b));
  }
  /// Words of the elements of two rows, rounded to nearest, ties to even.
  PDL_SIMD void StorePairs(float* to, V first, V second) {
    // GCC 12 warns of an uninitialized variable in the forms without a mask.
    constexpr __mmask16 kAll = 0xffff;
    const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, __m256i(_mm512_cvtneps_pbh(first)));
    const __m512i high = _mm512_maskz_cvtepu16_epi32(kAll, __m256i(_mm512_cvtneps_pbh(second)));
    _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16)));
  }
#undef PDL_SIMD
};

/// 2^x for x up to 127, with a relative error of 2^-23.5; 0 below -126. NaN stays.
template <class R>
PDL_INLINE typename R::V Exp2(typename R::V x) {
  if constexpr (sizeof(typename R::Scalar) == 4) {
    constexpr float kRound = 0x1.8p23f;
    const auto lowest = R::Set(-126.0f);
    const auto above = R::Max(lowest, x);
    const auto shifted = R::Add(above, R::Set(kRound));
    const auto n = R::Sub(shifted, R::Set(kRound));
    const auto r = R::Sub(above, n);
    // A minimax fit (Remez) of (2^r - 1) / r.
    auto p = R::Set(0x1.470b4ap-13f);
    for (const float c :
         {0x1.5f7276p-10f, 0x1.3b270ep-7f, 0x1.c6ae72p-5f, 0x1.ebfbe2p-3f, 0x1.62e432p-1f, 1.0f}) {
      p = R::MulAdd(p, r, R::Set(c));
    }
    // Arithmetic on subnormal numbers takes a hundred times as long on some processors.
    return R::IfLess(x, lowest, R::Set(0.0f), R::TimesPower(p, n, shifted));
  } else {
    double lanes[R::kLanes];
    R::Store(lanes, x);
    for (double& lane : lanes) lane = std::exp2(lane);
    return R::Load(lanes);
  }
}

}  // namespace pdl::simd

namespace pdl {

/// The form of `Loop<RegisterBf16>::Run`; requires HasBf16Products().
template <template <class R> class Loop>
auto ChooseBf16Register() {
#if defined(PDL_ONE_ISA_FORM) && defined(__clang__)
  using Function = decltype(&Loop<simd::Register128<float>>::Run);
  return Function(nullptr);  // HasBf16Products() is false.
#else
  using Function = decltype(&Loop<simd::RegisterBf16>::Run);
  return Function(&detail::IsaForms<Loop<simd::RegisterBf16>, Function>::Avx512Bf16);
#endif
}

/// The form of the static function `Loop<R>::Run` for an instruction set, with its struct of
/// registers of T; see ChooseSimd about PDL_ONE_ISA_FORM.
template <class T, template <class R> class Loop>
auto ChooseRegister(Isa isa = CurrentIsa()) {
  using Function = decltype(&Loop<simd::Register128<T>>::Run);
#if defined(PDL_ONE_ISA_FORM) && defined(__clang__)
  static_cast<void>(isa);
  return Function(&detail::IsaForms<Loop<simd::Register128<T>>, Function>::Baseline);
#else
  switch (isa) {
    case Isa::kBaseline:
      return Function(&detail::IsaForms<Loop<simd::Register128<T>>, Function>::Baseline);
    case Isa::kAvx2:
      return Function(&detail::IsaForms<Loop<simd::Register256<T>>, Function>::Avx2);
    case Isa::kAvx512:
      return Function(&detail::IsaForms<Loop<simd::Register512<T>>, Function>::Avx512);
  }
  __builtin_unreachable();
#endif
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_REGISTERS_H_
