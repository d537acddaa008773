// Module: ir
#ifndef PDL_COMPILER_DIFFERENTIATE_H_
#define PDL_COMPILER_DIFFERENTIATE_H_

#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// What is derived by what, in one block of a graph of dense values.
struct DerivativeRequest {
  BlockId block;
  /// Floats; the derivative is that of the sum of all outputs times their cotangents.
  llvm::ArrayRef<Value*> outputs;
  /// One for each output, of its dtype and dims.
  llvm::ArrayRef<Value*> cotangents;
  /// Floats, in any order; a value may be computed from another one of them.
  llvm::ArrayRef<Value*> inputs;
  /// The calls of the block to differentiate, in their order; nullopt means all of them.
  std::optional<llvm::ArrayRef<Op*>> ops = {};
};

/// Reverse-mode differentiation (Griewank & Walther, Evaluating Derivatives, 2008): walks the calls
/// of the block from its end and appends what their gradient rules emit, each call at the place of
/// the forward call. Gives the derivative with respect to each input, of the input's dtype and
/// dims; null where nothing flows back. The calls are ordinary ones, which can be differentiated
/// again.
///
/// Values of layers that are to be computed again (`recompute=true`) are not kept for the way back:
/// the rules are given copies of the calls, which stand where they are needed. Random calls are
/// never repeated.
///
/// A UserError (kBadGradient) where a floating-point value on the way is computed by an operator
/// that has no gradient, which it names with its place. The graph then has calls that nobody needs.
PDL_API llvm::Expected<std::vector<Value*>> Differentiate(Graph& graph, const OpRegistry& registry,
                                                          const DerivativeRequest& request);

/// Whether it is `gradient`, whose calls LowerGradients replaces: no kernel runs it.
PDL_API bool IsGradient(const OpDef& def);

/// Where the flow from one value back to others ends, in a graph of any values.
struct GradientFlow {
  /// For each input whether a change of it moves the output.
  std::vector<bool> reaches;
  /// A call on the way of floats from an input to the output that has no gradient; null where there
  /// is none.
  const Op* without_rule = nullptr;
  /// Where no input reaches the output, the last call that takes what moves with one and gives
  /// integers or truth values, which do not move; null where none of them leads to the output.
  const Op* stop = nullptr;
};

/// How a change of `inputs` would move `output`, without making any call.
PDL_API GradientFlow FindGradientFlow(const Graph& graph, const Value* output,
                                      llvm::ArrayRef<Value*> inputs);

}  // namespace pdl

#endif  // PDL_COMPILER_DIFFERENTIATE_H_
