#include "pdl/train/best_epoch.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"

namespace pdl {

llvm::Expected<Monitor> Monitor::Parse(llvm::StringRef text, llvm::ArrayRef<std::string> metrics) {
  if (text.empty()) return Monitor{metrics.empty() ? "" : metrics[0]};
  llvm::StringRef name = text;
  const bool is_largest = name.consume_back(":max");
  if (!is_largest) name.consume_back(":min");
  if (name.empty()) name = text;
  if (llvm::is_contained(metrics, name)) return Monitor{name.str(), is_largest};
  const std::vector<llvm::StringRef> known(metrics.begin(), metrics.end());
  const llvm::StringRef near = NearestName(name, known);
  return MakeUserError(Code::kUnknownName, "there is no loss or metric '{0}'{1}", name,
                       !near.empty()     ? ", did you mean '" + near.str() + "'?"
                       : metrics.empty() ? ""
                                         : "; there are " + llvm::join(metrics, ", "));
}

bool BestEpoch::Update(std::optional<double> value, bool larger_is_better) {
  const bool is_best = value && (larger_is_better ? *value > best : *value < best);
  if (is_best) best = *value;
  stale = is_best ? 0 : stale + 1;
  return is_best;
}

}  // namespace pdl
