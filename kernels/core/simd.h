// Vectors of floats for each instruction set, for formulas that a compiler does not vectorize:
// those with fused multiply-adds, and those with tables that are looked up by permutation.
//
// A formula is a template over one of these structs, so it is written once; all of them give the
// same bits. `Floats` holds kLanes floats; operands may also be a `Set` constant. A formula is
// called from a loop that ChooseSimd compiles (tile_dispatch.h).
#ifndef PDL_KERNELS_CORE_SIMD_H_
#define PDL_KERNELS_CORE_SIMD_H_

#include <immintrin.h>

#include <cmath>
#include <cstdint>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/vector_math.h"

// Functions that pass vectors are always inlined into functions compiled for the set. Templates are
// instantiated at the end of a file, so the warning stays off until there.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pdl::simd {

/// The number of entries of a table; the low four bits of an index select one.
inline constexpr int kTableSize = 16;

/// One float at a time; the baseline has no fused multiply-add.
struct Portable {
  static constexpr Isa kIsa = Isa::kBaseline;
  static constexpr int kLanes = 1;
  using Floats = float;
  using Constant = float;
  using Table = const float*;
  using Indices = uint32_t;

  static PDL_INLINE Constant Set(float x) { return x; }
  static PDL_INLINE Table LoadTable(const float* table) { return table; }
  static PDL_INLINE Floats Load(const float* from) { return *from; }
  static PDL_INLINE void Store(float* to, Floats x) { *to = x; }
  static PDL_INLINE void Stream(float* to, Floats x) { *to = x; }

  /// a * b + c, rounded once. Rounding the sum to double first gives the same float unless that may
  /// be a tie.
  static PDL_INLINE Floats Fma(float a, float b, float c) {
    const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    constexpr uint64_t kBelowFloat = 0x1fff'ffffu, kTie = 0x1000'0000u;
    const bool may_tie = (math::detail::Bits(sum) & kBelowFloat) == kTie ||
                         (math::Abs(sum) < 0x1p-126 && sum != 0.0);
    if (may_tie) [[unlikely]]
      return std::fmaf(a, b, c);
    return static_cast<float>(sum);
  }
  static PDL_INLINE Floats Fms(float a, float b, float c) { return Fma(a, b, -c); }
  static PDL_INLINE Floats Fnma(float a, float b, float c) { return Fma(-a, b, c); }
  static PDL_INLINE Floats Add(float a, float b) { return a + b; }
  static PDL_INLINE Floats Sub(float a, float b) { return a - b; }
  static PDL_INLINE Floats Mul(float a, float b) { return a * b; }
  static PDL_INLINE Floats Div(float a, float b) { return a / b; }
  static PDL_INLINE Floats Min(float a, float b) { return a < b ? a : b; }
  static PDL_INLINE Floats Max(float a, float b) { return a > b ? a : b; }
  static PDL_INLINE Floats Abs(float a) { return math::Abs(a); }
  static PDL_INLINE Floats Neg(float a) { return -a; }
  template <int kCount>
  static PDL_INLINE Floats ShiftLeft(float a) {
    return math::detail::FloatOf(math::detail::Bits(a) << kCount);
  }
  template <int kCount>
  static PDL_INLINE Indices ShiftRight(float a) {
    return math::detail::Bits(a) >> kCount;
  }
  static PDL_INLINE Floats LookUp(Table table, Indices index) { return table[index % kTableSize]; }
};

#define PDL_SIMD __attribute__((target("avx2,fma"))) static inline
struct Avx2 {
  static constexpr Isa kIsa = Isa::kAvx2;
  static constexpr int kLanes = 8;
  using Floats = __m256;
  using Constant = __m256;
  struct Table {
    __m256 low, high;
  };
  using Indices = __m256i;

  PDL_SIMD Constant Set(float x) { return _mm256_set1_ps(x); }
  PDL_SIMD Table LoadTable(const float* table) {
    return {_mm256_loadu_ps(table), _mm256_loadu_ps(table + 8)};
  }
  PDL_SIMD Floats Load(const float* from) { return _mm256_loadu_ps(from); }
  PDL_SIMD void Store(float* to, Floats x) { _mm256_storeu_ps(to, x); }
  PDL_SIMD void Stream(float* to, Floats x) { _mm256_stream_ps(to, x); }
  PDL_SIMD Floats Fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  PDL_SIMD Floats Fms(Floats a, Floats b, Floats c) { return _mm256_fmsub_ps(a, b, c); }
  PDL_SIMD Floats Fnma(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
  PDL_SIMD Floats Add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  PDL_SIMD Floats Sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  PDL_SIMD Floats Mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  PDL_SIMD Floats Div(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  PDL_SIMD Floats Min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  PDL_SIMD Floats Max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  PDL_SIMD Floats Abs(Floats a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
  PDL_SIMD Floats Neg(Floats a) { return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a); }
  template <int kCount>
  PDL_SIMD Floats ShiftLeft(Floats a) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), kCount));
  }
  template <int kCount>
  PDL_SIMD Indices ShiftRight(Floats a) {
    return _mm256_srli_epi32(_mm256_castps_si256(a), kCount);
  }
  PDL_SIMD Floats LookUp(const Table& table, Indices index) {
    const __m256 in_high = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.low, index),
                            _mm256_permutevar8x32_ps(table.high, index), in_high);
  }
};
#undef PDL_SIMD

#define PDL_SIMD __attribute__((target(PDL_TARGET_AVX512))) static inline
/// Two vectors together: while one waits for a result, the other is computed.
struct Avx512 {
  static constexpr Isa kIsa = Isa::kAvx512;
  static constexpr int kLanes = 32;
  struct Floats {
    __m512 v[2];
  };
  using Constant = __m512;
  using Table = __m512;
  struct Indices {
    __m512i v[2];
  };

  PDL_SIMD Constant Set(float x) { return _mm512_set1_ps(x); }
  PDL_SIMD Table LoadTable(const float* table) { return _mm512_loadu_ps(table); }
  PDL_SIMD Floats Load(const float* from) {
    return {{_mm512_loadu_ps(from), _mm512_loadu_ps(from + 16)}};
  }
  PDL_SIMD void Store(float* to, const Floats& x) {
    _mm512_storeu_ps(to, x.v[0]);
    _mm512_storeu_ps(to + 16, x.v[1]);
  }
  PDL_SIMD void Stream(float* to, const Floats& x) {
    _mm512_stream_ps(to, x.v[0]);
    _mm512_stream_ps(to + 16, x.v[1]);
  }
  template <class A, class B, class C>
  PDL_SIMD Floats Fma(const A& a, const B& b, const C& c) {
    return {{_mm512_fmadd_ps(At(a, 0), At(b, 0), At(c, 0)),
             _mm512_fmadd_ps(At(a, 1), At(b, 1), At(c, 1))}};
  }
  template <class A, class B, class C>
  PDL_SIMD Floats Fms(const A& a, const B& b, const C& c) {
    return {{_mm512_fmsub_ps(At(a, 0), At(b, 0), At(c, 0)),
             _mm512_fmsub_ps(At(a, 1), At(b, 1), At(c, 1))}};
  }
  template <class A, class B, class C>
  PDL_SIMD Floats Fnma(const A& a, const B& b, const C& c) {
    return {{_mm512_fnmadd_ps(At(a, 0), At(b, 0), At(c, 0)),
             _mm512_fnmadd_ps(At(a, 1), At(b, 1), At(c, 1))}};
  }
  template <class A, class B>
  PDL_SIMD Floats Add(const A& a, const B& b) {
    return {{At(a, 0) + At(b, 0), At(a, 1) + At(b, 1)}};
  }
  template <class A, class B>
  PDL_SIMD Floats Sub(const A& a, const B& b) {
    return {{At(a, 0) - At(b, 0), At(a, 1) - At(b, 1)}};
  }
  template <class A, class B>
  PDL_SIMD Floats Mul(const A& a, const B& b) {
    return {{At(a, 0) * At(b, 0), At(a, 1) * At(b, 1)}};
  }
  template <class A, class B>
  PDL_SIMD Floats Div(const A& a, const B& b) {
    return {{At(a, 0) / At(b, 0), At(a, 1) / At(b, 1)}};
  }
  template <class A, class B>
  PDL_SIMD Floats Min(const A& a, const B& b) {
    return {{_mm512_maskz_min_ps(kAll, At(a, 0), At(b, 0)),
             _mm512_maskz_min_ps(kAll, At(a, 1), At(b, 1))}};
  }
  template <class A, class B>
  PDL_SIMD Floats Max(const A& a, const B& b) {
    return {{_mm512_maskz_max_ps(kAll, At(a, 0), At(b, 0)),
             _mm512_maskz_max_ps(kAll, At(a, 1), At(b, 1))}};
  }
  PDL_SIMD Floats Abs(const Floats& a) {
    return {{_mm512_maskz_and_ps(kAll, NotSign(), a.v[0]),
             _mm512_maskz_and_ps(kAll, NotSign(), a.v[1])}};
  }
  PDL_SIMD Floats Neg(const Floats& a) { return {{-a.v[0], -a.v[1]}}; }
  template <int kCount>
  PDL_SIMD Floats ShiftLeft(const Floats& a) {
    return {
        {_mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, _mm512_castps_si512(a.v[0]), kCount)),
         _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, _mm512_castps_si512(a.v[1]), kCount))}};
  }
  template <int kCount>
  PDL_SIMD Indices ShiftRight(const Floats& a) {
    return {{_mm512_maskz_srli_epi32(kAll, _mm512_castps_si512(a.v[0]), kCount),
             _mm512_maskz_srli_epi32(kAll, _mm512_castps_si512(a.v[1]), kCount)}};
  }
  PDL_SIMD Floats LookUp(Table table, const Indices& index) {
    return {{_mm512_maskz_permutexvar_ps(kAll, index.v[0], table),
             _mm512_maskz_permutexvar_ps(kAll, index.v[1], table)}};
  }

 private:
  // GCC 12 warns about the undefined values inside the intrinsics that take no mask.
  static constexpr __mmask16 kAll = 0xffff;
  PDL_SIMD __m512 NotSign() { return _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff)); }
  PDL_SIMD __m512 At(const Floats& x, int i) { return x.v[i]; }
  PDL_SIMD __m512 At(const Constant& x, int) { return x; }
};
#undef PDL_SIMD

}  // namespace pdl::simd

#endif  // PDL_KERNELS_CORE_SIMD_H_
