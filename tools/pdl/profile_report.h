// Where the time of runs went.
#ifndef TOOLS_PDL_PROFILE_REPORT_H_
#define TOOLS_PDL_PROFILE_REPORT_H_

#include <cstdint>

#include "llvm/Support/raw_ostream.h"
#include "pdl/run_profile.h"

namespace pdl {

/// Prints how long a run took on average, and its steps, the longest first: time, share of the run,
/// operators, result, place. `seconds`: of all runs, by the clock.
void PrintProfile(const RunProfile& profile, int64_t runs, double seconds, llvm::raw_ostream& os);

}  // namespace pdl

#endif  // TOOLS_PDL_PROFILE_REPORT_H_
