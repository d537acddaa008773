// Loops that reach the peak speeds of the processor: for profiles, and for benchmarks, which
// compare with them.
#ifndef PDL_KERNELS_CORE_PEAK_LOOPS_H_
#define PDL_KERNELS_CORE_PEAK_LOOPS_H_

#include <cstdint>

#include "pdl/compiler/export.h"

namespace pdl {

/// Performs about as many f32 operations, as multiply-adds in registers of this thread; returns the
/// exact number, where a multiply-add counts as 2.
PDL_API double RunMultiplyAdds(double operations);

/// As RunMultiplyAdds, of pairs of bf16 with sums in f32; requires HasBf16Products().
PDL_API double RunBf16MultiplyAdds(double operations);

/// As RunMultiplyAdds, with products of bf16 and sums in f32; requires HasBf16Products().
PDL_API double RunBf16MultiplyAdds(double operations);

/// Reads n floats in this thread, and returns their sum in some order.
PDL_API float ReadFloats(const float* x, int64_t n);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_PEAK_LOOPS_H_
