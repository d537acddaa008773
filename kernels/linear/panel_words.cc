#include "kernels/linear/panel_words.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/half.h"
#include "kernels/core/isa_dispatch.h"
#include "pdl/runtime/network.h"

namespace pdl {
namespace {

struct PairsOfRowsLoop {
  static PDL_INLINE void Run(const float* first, const float* second, int64_t n, uint32_t* to) {
    if (second == nullptr) {
      for (int64_t j = 0; j < n; ++j) to[j] = math::FloatToBfloat(first[j]);
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      const uint32_t high = math::FloatToBfloat(second[j]);
      to[j] = math::FloatToBfloat(first[j]) | high << 16;
    }
  }
};

#define PDL_BF16 __attribute__((target(PDL_TARGET_AVX512_BF16)))

constexpr int64_t kLanes = 16;

/// The first `count` lanes, of 16.
PDL_BF16 __mmask16 FirstLanes(int64_t count) {
  return static_cast<__mmask16>((1u << std::clamp<int64_t>(count, 0, kLanes)) - 1);
}

}  // namespace

bool CpuHasMatmulPrecision(DType precision) {
  return precision == DType::kF32 || (precision == DType::kBF16 && CurrentIsa() != Isa::kBaseline);
}

WordKind ChooseWords(const PrepareContext& context) {
  const DType dtype = context.inputs()[0].dtype;
  const bool is_permitted =
      dtype == DType::kBF16 || (dtype == DType::kF32 && context.matmul_precision() == DType::kBF16);
  if (!is_permitted || !context.is_constant(1) || CurrentIsa() == Isa::kBaseline)
    return WordKind::kFloat;
  return HasFastBf16Products() ? WordKind::kBf16Pairs : WordKind::kBf16Weights;
}

void ToBf16PairsOfRows(const float* first, const float* second, int64_t n, float* to) {
  static const auto run = ChooseIsa<PairsOfRowsLoop>();
  run(first, second, n, reinterpret_cast<uint32_t*>(to));
}

PDL_BF16 void ToBf16Pairs(const float* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes, to += kLanes) {
    const __m512 low = _mm512_loadu_ps(from + i), high = _mm512_loadu_ps(from + i + kLanes);
    _mm512_storeu_si512(to, __m512i(_mm512_cvtne2ps_pbh(high, low)));
  }
  if (i == n) return;
  const __m512 low = _mm512_maskz_loadu_ps(FirstLanes(n - i), from + i);
  const __mmask16 of_high = FirstLanes(n - i - kLanes);
  const __m512 high =
      of_high == 0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(of_high, from + i + kLanes);
  _mm512_mask_storeu_epi32(to, FirstLanes(WordsOf(WordKind::kBf16Pairs, n - i)),
                           __m512i(_mm512_cvtne2ps_pbh(high, low)));
}

#undef PDL_BF16

}  // namespace pdl
