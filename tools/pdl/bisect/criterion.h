#ifndef PDL_TOOLS_PDL_BISECT_CRITERION_H_
#define PDL_TOOLS_PDL_BISECT_CRITERION_H_

#include <string>

#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "tools/pdl/compare/report.h"

namespace pdl {

/// The condition under which a value is wrong.
struct Criterion {
  Tolerance tolerance;
  /// The value holds a nan or an infinity and the right one holds none; else it only differs.
  bool not_finite = false;

  /// Whether `bad` is wrong, given the right value.
  bool IsWrong(const Tensor& good, const Tensor& bad) const;
};

/// The output of `graph` to search the cause of, given its right and its wrong outputs: the first
/// one that has a nan or an infinity, and the right one none; else the first one that differs; if
/// `only` is not empty, no other one. Sets `criterion->not_finite`. Empty if none is wrong.
std::string ChooseOutput(const Graph& graph, const llvm::StringMap<Tensor>& good,
                         const llvm::StringMap<Tensor>& bad, llvm::StringRef only,
                         Criterion* criterion);

/// Whether the value, which is on the CPU, holds a nan or an infinity.
bool HoldsNotFinite(const Tensor& tensor);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_CRITERION_H_
