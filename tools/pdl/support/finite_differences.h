#ifndef PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_
#define PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_

#include <set>
#include <string>
#include <vector>

#include "tools/pdl/test/calls.h"

namespace pdl {

/// What comparing one call's gradient rule with differences has shown.
struct GradientReport {
  /// Rules agree with differences up to this order; 0: not compared at all.
  unsigned order = 0;
  /// Why not at all, or not at order 2.
  std::string why;
  /// Derivatives compared at order 1, and those left out because the function has a corner or a
  /// jump there. Inputs of which some derivative was compared, and that have no gradient.
  unsigned num_compared = 0, num_corners = 0;
  std::set<unsigned> inputs;
  /// Largest errors, relative to max(1, |derivative|): at order 1 and 2, and of the rule in f32.
  double error[2] = {0, 0}, f32_error = 0;
  /// What is wrong, a line each.
  std::vector<std::string> failures;
};

/// Compares the gradient rule of a call with central differences in f64 at the points of the call,
/// with all floats as f64; the gradient's own gradient likewise where the rules of its calls allow;
/// and the rule in f32 with that in f64. Requires a rule and a CPU kernel.
GradientReport CheckGradient(const TestCall& call);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_
