#ifndef PDL_BENCH_CEILINGS_H_
#define PDL_BENCH_CEILINGS_H_

#include <cstdint>

#include "benchmark/benchmark.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl::bench {

/// Runs `work`, which does `flops` floating-point operations, in turn with as long a chain of fused
/// multiply-adds in registers, on this thread: the counter "of_peak" is the median of work's speed
/// to that peak, "GFLOP/s" the median of its speed. The benchmark's own time is that of `work`.
void AgainstFmaPeak(benchmark::State& state, double flops, llvm::function_ref<void()> work);

/// Runs `work` in turn with a memcpy of `bytes`: the counter "of_memcpy" is the median of the time
/// of `work` to the time of the copy (smaller is better). The benchmark's own time is that of
/// `work`.
void AgainstMemcpy(benchmark::State& state, int64_t bytes, llvm::function_ref<void()> work);

}  // namespace pdl::bench

#endif  // PDL_BENCH_CEILINGS_H_
