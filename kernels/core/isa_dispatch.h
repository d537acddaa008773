// Compiles a loop for every instruction set; one of them is chosen at run time.
#ifndef PDL_KERNELS_CORE_ISA_DISPATCH_H_
#define PDL_KERNELS_CORE_ISA_DISPATCH_H_

#include "kernels/core/cpu_isa.h"

namespace pdl {
namespace detail {

template <class Loop, class Signature>
struct IsaForms;

// The wider forms inline everything that Loop::Run calls, and so compile it for their set.
template <class Loop, class Result, class... Arguments>
struct IsaForms<Loop, Result (*)(Arguments...)> {
  __attribute__((flatten)) static Result Baseline(Arguments... arguments) {
    return Loop::Run(arguments...);
  }
  __attribute__((target("avx2,fma"), flatten)) static Result Avx2(Arguments... arguments) {
    return Loop::Run(arguments...);
  }
  __attribute__((target(PDL_TARGET_AVX512), flatten)) static Result Avx512(Arguments... arguments) {
    return Loop::Run(arguments...);
  }
  __attribute__((target(PDL_TARGET_AVX512_BF16), flatten)) static Result Avx512Bf16(
      Arguments... arguments) {
    return Loop::Run(arguments...);
  }
};

}  // namespace detail

/// The form of the static function `Loop::Run` for an instruction set. Run should be PDL_INLINE,
/// with loops that the compiler can vectorize. With PDL_ONE_ISA_FORM only the baseline form is
/// compiled, which makes the same memory accesses.
template <class Loop>
auto ChooseIsa(Isa isa = CurrentIsa()) -> decltype(&Loop::Run) {
  using Forms = detail::IsaForms<Loop, decltype(&Loop::Run)>;
#ifdef PDL_ONE_ISA_FORM
  static_cast<void>(isa);
  return Forms::Baseline;
#else
  switch (isa) {
    case Isa::kBaseline:
      return Forms::Baseline;
    case Isa::kAvx2:
      return Forms::Avx2;
    case Isa::kAvx512:
      return Forms::Avx512;
  }
  __builtin_unreachable();
#endif
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ISA_DISPATCH_H_
