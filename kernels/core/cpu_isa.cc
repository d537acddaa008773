#include "kernels/core/cpu_isa.h"

#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/StringRef.h"

namespace pdl {
namespace {

Isa SupportedIsa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::kAvx2
                                                                         : Isa::kBaseline;
}

}  // namespace

Isa LimitIsa(Isa supported, const char* limit) {
  if (limit == nullptr) return supported;
  const llvm::StringRef name(limit);
  Isa allowed = supported;
  if (name.equals_insensitive("SSE41") || name.equals_insensitive("AVX")) {
    allowed = Isa::kBaseline;
  } else if (name.starts_with_insensitive("AVX2")) {
    allowed = Isa::kAvx2;
  }
  return std::min(supported, allowed);
}

Isa CurrentIsa() {
  static const Isa isa = LimitIsa(LimitIsa(SupportedIsa(), std::getenv("PDL_MAX_CPU_ISA")),
                                  std::getenv("DNNL_MAX_CPU_ISA"));
  return isa;
}

bool AllowsBf16(const char* limit) {
  if (limit == nullptr) return true;
  const llvm::StringRef name(limit);
  return LimitIsa(Isa::kAvx512, limit) == Isa::kAvx512 && !name.equals_insensitive("AVX512_CORE") &&
         !name.equals_insensitive("AVX512_CORE_VNNI");
}

bool HasBf16Products() {
#if defined(PDL_ONE_ISA_FORM) && defined(__clang__)
  return false;  // There are no kernels.
#endif
  static const bool has_products =
      CurrentIsa() == Isa::kAvx512 && __builtin_cpu_supports("avx512bf16") != 0 &&
      AllowsBf16(std::getenv("PDL_MAX_CPU_ISA")) && AllowsBf16(std::getenv("DNNL_MAX_CPU_ISA"));
  return has_products;
}

bool HasFastBf16Products() {
  static const bool is_fast = [] {
    const char* limit = std::getenv("PDL_MAX_CPU_ISA");
    const bool is_chosen =
        limit != nullptr && llvm::StringRef(limit).equals_insensitive("AVX512_CORE_BF16");
    return HasBf16Products() && (is_chosen || __builtin_cpu_is("amd") != 0);
  }();
  return is_fast;
}

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  __builtin_unreachable();
}

}  // namespace pdl
