// Module: ir
#ifndef PDL_OP_LOCATION_H_
#define PDL_OP_LOCATION_H_

#include <cstdint>

namespace pdl {

/// Index into a Graph's location table; kUnknownLocation for no location.
using LocationId = uint32_t;
inline constexpr LocationId kUnknownLocation = UINT32_MAX;

/// The source position of a call.
struct Location {
  uint32_t file = 0;    // index into the Graph's file names
  uint32_t line = 0;    // 1-based
  uint32_t column = 0;  // 1-based, in characters
  /// The location that this one was expanded, derived or fused from.
  LocationId origin = kUnknownLocation;
};

}  // namespace pdl

#endif  // PDL_OP_LOCATION_H_
