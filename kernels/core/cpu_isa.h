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
/// The same with AVX512-BF16.
#define PDL_TARGET_AVX512_BF16 "avx512bf16," PDL_TARGET_AVX512

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

/// Whether one instruction multiplies pairs of bf16 and adds them up in f32 (AVX512-BF16): the
/// processor has it, and the variables allow AVX512_CORE_BF16.
bool HasBf16Products();
/// Whether it has a higher throughput than f32 multiply-adds: on AMD's processors. On Intel's
/// (Sapphire and Emerald Rapids) it has half of it. True also if PDL_MAX_CPU_ISA is
/// AVX512_CORE_BF16.
bool HasFastBf16Products();

/// Whether `limit`, a value of those variables, allows AVX512-BF16.
bool AllowsBf16(const char* limit);

/// "baseline", "avx2" or "avx512".
const char* IsaName(Isa isa);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_CPU_ISA_H_
