// Module: ir
#ifndef PDL_COMPILER_DIFFERENTIATE_H_
#define PDL_COMPILER_DIFFERENTIATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The arguments of Differentiate: outputs and inputs in one block of a graph of dense values.
struct DerivativeRequest {
  BlockId block;
  /// Floating-point values. The function that is differentiated is the sum over all outputs of
  /// output times cotangent.
  llvm::ArrayRef<Value*> outputs;
  /// One for each output, with its dtype and dims.
  llvm::ArrayRef<Value*> cotangents;
  /// Floating-point values, in any order; one may be computed from another.
  llvm::ArrayRef<Value*> inputs;
  /// The calls to differentiate through, in their order in the block; nullopt: all calls of the
  /// block.
  std::optional<llvm::ArrayRef<Op*>> ops = {};
  /// How many calls the block may have in the end.
  size_t max_calls = SIZE_MAX;
};

/// Reverse-mode differentiation (Griewank & Walther, Evaluating Derivatives, 2008): traverses the
/// calls of the block in reverse and appends the calls that their gradient rules emit, each with
/// the location of its forward call. Returns the derivative with respect to each input, with the
/// input's dtype and dims, or null if the outputs do not depend on it. The emitted calls are
/// ordinary ones and can be differentiated again.
///
/// Values of layers with `recompute=true` are not kept for the backward pass: the gradient rules
/// get copies of the forward calls, placed where the backward pass needs them. Random calls are
/// never repeated.
///
/// Returns a UserError (kBadGradient) that names the operator and its position if a floating-point
/// value on a path from an input to an output is computed by an operator without a gradient, and
/// one of kTextTooLong if there are too many calls. The graph then contains unused calls.
PDL_API llvm::Expected<std::vector<Value*>> Differentiate(Graph& graph, const OpRegistry& registry,
                                                          const DerivativeRequest& request);

/// Whether `def` is the operator `gradient`, whose calls LowerGradients replaces; it has no kernel.
PDL_API bool IsGradient(const OpDef& def);
/// Returns the calls of `gradient` in block 0 that no other `gradient` depends on.
PDL_API llvm::DenseSet<const Op*> OuterGradients(const Graph& graph);

/// The result of FindGradientFlow: which inputs the gradient of an output reaches, and why it
/// reaches none.
struct GradientFlow {
  /// For each input, whether the output is differentiably dependent on it.
  std::vector<bool> reaches;
  /// A call without a gradient on a floating-point path from an input to the output; null if there
  /// is none.
  const Op* without_rule = nullptr;
  /// If the gradient reaches no input: the last call on a path from an input to the output that
  /// returns integers or bools and so ends the gradient; null if there is no such path.
  const Op* stop = nullptr;
};

/// Determines how the gradient of `output` would propagate to `inputs`, without adding calls. The
/// graph may have values of any storage.
PDL_API GradientFlow FindGradientFlow(const Graph& graph, const Value* output,
                                      llvm::ArrayRef<Value*> inputs);

}  // namespace pdl

#endif  // PDL_COMPILER_DIFFERENTIATE_H_
