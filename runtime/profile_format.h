// Numbers of a profile as strings.
#ifndef PDL_RUNTIME_PROFILE_FORMAT_H_
#define PDL_RUNTIME_PROFILE_FORMAT_H_

#include <string>

#include "pdl/runtime/profile_report.h"

namespace pdl {

/// Returns "1.234 ms", with a suitable unit.
std::string TimeOf(double seconds);
/// Returns a number per second in units of 10^9, or "-" for 0.
std::string Giga(double per_second);
/// Returns 100 times the fraction, with one digit after the point.
std::string Percent(double fraction);
/// Returns "compute", "memory", or "-" if it is unknown.
std::string BoundOf(const ProfileReport::Row& row);

}  // namespace pdl

#endif  // PDL_RUNTIME_PROFILE_FORMAT_H_
