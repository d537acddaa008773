#include "pdl/runtime/run_profile.h"

namespace pdl {

void RunProfile::Add(const CallDescription& step, double seconds) {
  const auto [entry, is_new] = by_result_.try_emplace(step.result, steps_.size());
  if (is_new) steps_.push_back({step});
  Step& counted = steps_[entry->second];
  counted.seconds += seconds;
  ++counted.runs;
}

}  // namespace pdl
