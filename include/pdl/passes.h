#ifndef PDL_PASSES_H_
#define PDL_PASSES_H_

#include <optional>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/constant.h"
#include "pdl/export.h"
#include "pdl/graph.h"

namespace pdl {

/// Computes one call whose operands are known; nullopt where it will not (too large, no kernel).
using Evaluator = llvm::function_ref<llvm::Expected<std::optional<std::vector<Constant>>>(
    const Op& op, llvm::ArrayRef<Constant> operands)>;

/// Removes calls whose results nothing needs: no output, no update, no other call, no effect.
PDL_API void EliminateDeadCode(Graph& graph);
/// Merges calls of one type with equal operands and attributes; random calls and calls with an
/// effect stay apart.
PDL_API void EliminateCommonSubexpressions(Graph& graph);
/// Replaces calls of known operands by constants, up to `max_bytes` for a result; random calls and
/// calls with an effect stay.
PDL_API llvm::Error FoldConstants(Graph& graph, const OpRegistry& registry, Evaluator evaluate,
                                  int64_t max_bytes = 1 << 20);

}  // namespace pdl

#endif  // PDL_PASSES_H_
