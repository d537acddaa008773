// The instruction set that vector loops use on this machine.
#ifndef PDL_KERNELS_CORE_CPU_ISA_H_
#define PDL_KERNELS_CORE_CPU_ISA_H_

/// The target attribute of functions that are compiled for Isa::kAvx512. clang does not accept a
/// preferred vector width there.
#ifdef __clang__
#define PDL_TARGET_AVX512 "avx512f,avx512dq,avx512bw,avx512vl"
#else
#define PDL_TARGET_AVX512 "avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"
#endif

namespace pdl {

/// Ordered from narrow to wide; each set contains the ones before it.
enum class Isa {
  kBaseline,  // x86-64-v2: SSE4.2
  kAvx2,      // with FMA
  kAvx512,    // F, DQ, BW and VL
};

/// The widest set that the processor and the operating system support, limited by the environment
/// variables PDL_MAX_CPU_ISA and DNNL_MAX_CPU_ISA (oneDNN's names: SSE41, AVX, AVX2, AVX512_CORE
/// and so on, in upper or lower case; other values are ignored). Determined at the first call, then
/// fixed.
Isa CurrentIsa();

/// The widest set that is at most `supported` and that `limit`, a value of those variables, allows.
Isa LimitIsa(Isa supported, const char* limit);

/// "baseline", "avx2" or "avx512".
const char* IsaName(Isa isa);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_CPU_ISA_H_
