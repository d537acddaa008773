// Scratch memory of the pieces of a parallel loop.
#ifndef PDL_KERNELS_CORE_SCRATCH_AREAS_H_
#define PDL_KERNELS_CORE_SCRATCH_AREAS_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "pdl/op/device_context.h"

namespace pdl {

/// The number of areas of scratch memory for a loop of `pieces` pieces on `device`: one for each
/// piece that runs at the same time, at most 64.
int64_t ScratchAreas(const DeviceContext& device, int64_t pieces);

/// Calls f(piece, area) for all pieces below `pieces`, as ParallelFor does. `areas` is that of
/// ScratchAreas. Pieces that run at the same time have different areas, which are less than
/// `areas`.
void ParallelForAreas(CPUContext& context, int64_t pieces, int64_t areas,
                      llvm::function_ref<void(int64_t piece, int64_t area)> f);

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_SCRATCH_AREAS_H_
