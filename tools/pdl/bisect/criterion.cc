#include "tools/pdl/bisect/criterion.h"

#include "runtime/check_finite.h"

namespace pdl {

bool HoldsNotFinite(const Tensor& tensor) {
  return tensor.num_elements() > 0 && FindNotFinite(tensor) >= 0;
}

bool Criterion::IsWrong(const Tensor& good, const Tensor& bad) const {
  if (not_finite) return HoldsNotFinite(bad) && !HoldsNotFinite(good);
  return CompareValues(ComparedValue::Kind::kCall, "", {good, "", ""}, {bad, "", ""}, tolerance)
             .result == ComparedValue::Result::kDifferent;
}

std::string ChooseOutput(const Graph& graph, const llvm::StringMap<Tensor>& good,
                         const llvm::StringMap<Tensor>& bad, llvm::StringRef only,
                         Criterion* criterion) {
  for (const bool not_finite : {true, false}) {
    criterion->not_finite = not_finite;
    for (const GraphOutput& output : graph.outputs()) {
      if (!only.empty() && output.name != only) continue;
      const auto mine = good.find(output.name), theirs = bad.find(output.name);
      if (mine == good.end() || theirs == bad.end()) continue;
      if (criterion->IsWrong(mine->second, theirs->second)) return output.name;
    }
  }
  return "";
}

}  // namespace pdl
