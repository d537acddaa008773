#ifndef PDL_BENCH_CEILINGS_H_
#define PDL_BENCH_CEILINGS_H_

#include <cstdint>

#include "benchmark/benchmark.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl::bench {

/// Runs `work`, which does `flops` floating-point operations, alternately with fused multiply-adds
/// in registers of about the same duration, on this thread. The counter "of_peak" is the median
/// ratio of its speed to that peak, "GFLOP/s" the median of its speed. The reported time is that of
/// `work`.
void AgainstFmaPeak(benchmark::State& state, double flops, llvm::function_ref<void()> work);

/// Runs `work` alternately with a memcpy of `bytes`. The counter "of_memcpy" is the median ratio of
/// their times (smaller is better). The reported time is that of `work`.
void AgainstMemcpy(benchmark::State& state, int64_t bytes, llvm::function_ref<void()> work);

/// Runs `work` alternately with a plain read of another `bytes` bytes on this thread. The counter
/// "of_read" is the median ratio of the read's time to that of `work` (1: as fast). Times are wall
/// times if `work` uses other threads, too.
void AgainstRead(benchmark::State& state, int64_t bytes, bool uses_threads,
                 llvm::function_ref<void()> work);

}  // namespace pdl::bench

#endif  // PDL_BENCH_CEILINGS_H_
