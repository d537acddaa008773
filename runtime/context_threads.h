// The number of threads of a context.
#ifndef PDL_RUNTIME_CONTEXT_THREADS_H_
#define PDL_RUNTIME_CONTEXT_THREADS_H_

#include <cstdint>

#include "pdl/op/device_context.h"

namespace pdl {

/// The threads among which a CPUContext divides work; 1 for any other context. Prepared calls may
/// depend on it.
inline int64_t ThreadsOf(const DeviceContext& context) {
  const bool is_cpu = context.is_native() && context.device().kind == DeviceKind::kCPU;
  return is_cpu ? static_cast<const CPUContext&>(context).threads() : 1;
}

}  // namespace pdl

#endif  // PDL_RUNTIME_CONTEXT_THREADS_H_
