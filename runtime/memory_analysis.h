// The memory of a plan as a formula in the symbols of its sizes.
#ifndef PDL_RUNTIME_MEMORY_ANALYSIS_H_
#define PDL_RUNTIME_MEMORY_ANALYSIS_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/memory_report.h"
#include "runtime/binding.h"
#include "runtime/schedule.h"

namespace pdl {

/// Analyzes the memory of a Schedule, whose calls are those of `graph`, and of the bodies of its
/// loops. The first part is that of the schedule.
///
/// Which values share memory is that of a Binding for generic sizes: kernels decide it by which
/// sizes are equal or 1, so values that share memory for sizes that are greater than 1, and whose
/// bytes are equal as polynomials, do so for all sizes. If `given` has all sizes, the plan for
/// these is described, too. An Error if the network cannot be planned for the given sizes, or for
/// any of the generic ones.
llvm::Expected<std::vector<MemoryPart>> AnalyzeMemory(const Graph& graph, const Schedule& schedule,
                                                      DeviceContext& context, PackCache& packs,
                                                      const llvm::StringMap<int64_t>& given);

/// Sizes for `symbols` that differ and are greater than 1. A larger `attempt` gives larger sizes,
/// which have 2 as a factor more often.
llvm::StringMap<int64_t> GenericSizes(llvm::ArrayRef<std::string> symbols, unsigned attempt);

/// The bytes of the slots of a kind: inputs, states, or parameters and constants.
Dim BytesOfSlots(const Schedule& schedule, llvm::ArrayRef<SlotKind> kinds);

}  // namespace pdl

#endif  // PDL_RUNTIME_MEMORY_ANALYSIS_H_
