// Gradients of fused operators, derived from a formula for their results.
#ifndef PDL_KERNELS_CORE_FORMULA_GRADIENT_H_
#define PDL_KERNELS_CORE_FORMULA_GRADIENT_H_

#include <vector>

#include "pdl/op/gradient.h"

namespace pdl {

/// Emits calls that compute the results of `g.op()` from its inputs, and returns one value for each
/// result, of that result's type. It may return null for a result without a gradient. All calls
/// must have gradient rules where they depend on floats.
using ResultFormula = std::vector<Value*> (*)(GradientContext& g);

/// A gradient rule for an operator whose kernel fuses a formula: emits the formula and sets the
/// gradients that reverse-mode differentiation of its calls gives. Calls of the formula that the
/// gradients do not need are dead code. Every order of differentiation follows, since what the rule
/// emits are calls of other operators.
void DifferentiateFormula(GradientContext& g, ResultFormula formula);

/// DifferentiateFormula as a GradientFunction.
template <ResultFormula formula>
void GradientOfFormula(GradientContext& g) {
  DifferentiateFormula(g, formula);
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_FORMULA_GRADIENT_H_
