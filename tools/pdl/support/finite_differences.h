#ifndef PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_
#define PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_

#include <set>
#include <string>
#include <vector>

#include "tools/pdl/test/calls.h"

namespace pdl {

/// The result of comparing the gradient rule of a call with finite differences.
struct GradientReport {
  /// Rules agree with differences up to this order; 0: nothing was compared.
  unsigned order = 0;
  /// Why nothing was compared, or why not at order 2.
  std::string why;
  /// Derivatives compared at order 1, and those skipped at corners and jumps of the function. Then
  /// the inputs of which a derivative was compared, and those without a gradient.
  unsigned num_compared = 0, num_corners = 0;
  std::set<unsigned> inputs;
  /// Largest errors, relative to max(1, |derivative|): at order 1 and 2, and of the rule in f32.
  double error[2] = {0, 0}, f32_error = 0;
  /// The failures, one line each.
  std::vector<std::string> failures;
};

/// Compares the gradient rule of a call with central differences in f64 at the operands of the
/// call, with all floats as f64; then the gradient of the gradient, if the calls of the rule have
/// rules; and the rule in f32 with the rule in f64. Requires a rule and a CPU kernel.
GradientReport CheckGradient(const TestCall& call);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_FINITE_DIFFERENCES_H_
