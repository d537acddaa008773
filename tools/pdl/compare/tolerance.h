#ifndef PDL_TOOLS_PDL_COMPARE_TOLERANCE_H_
#define PDL_TOOLS_PDL_COMPARE_TOLERANCE_H_

#include <cstdint>
#include <optional>

#include "pdl/op/dtype.h"
#include "tools/pdl/support/command_line.h"

namespace pdl {

/// Two elements are near each other if |a - b| <= absolute + relative * |b|, or if they are at most
/// `ulp` floats apart.
struct Tolerance {
  /// If not set, the defaults of the dtype.
  std::optional<double> relative, absolute;
  std::optional<uint64_t> ulp;
  /// The precision of matmuls on one side: the default of a more precise dtype is that of this one.
  std::optional<DType> precision;
  bool nan_differs = false;
};

/// Adds --rtol, --atol, --ulp and --nan-differs.
void AddToleranceOptions(CommandLine& line, Tolerance* tolerance);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_TOLERANCE_H_
