// Module: ir
#ifndef PDL_COMPILER_PASSES_H_
#define PDL_COMPILER_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/symbols.h"

namespace pdl {

/// Computes one call whose operands are known: all its results. Nullopt where it will not (too
/// large, no kernel, a value that only a Plan knows).
using Evaluator = llvm::function_ref<llvm::Expected<std::optional<std::vector<Constant>>>(
    const Op& op, llvm::ArrayRef<Constant> operands)>;
/// Computes all results of one call of `graph` whose operands are known, where `sizes` gives the
/// symbols that it asks for.
using SizedEvaluator = llvm::function_ref<llvm::Expected<std::vector<Constant>>(
    const Graph& graph, const Op& op, llvm::ArrayRef<Constant> operands, SymbolLookup sizes)>;

/// A graph of dense values alone that computes what `graph` does, by operators that have kernels
/// and calls of `gradient`. Ragged and sparse inputs, and outputs that are ragged, become those of
/// PartsOf; the others keep their names. An Error where a ragged dim stands for the lengths of two
/// different things.
PDL_API llvm::Expected<Graph> LowerStorage(const Graph& graph, const OpRegistry& registry);
/// Whether LowerStorage has something to do: a value is not dense, or an operator has a lowering
/// rule and no kernel.
PDL_API bool NeedsLowering(const Graph& graph);

/// Replaces each call of `gradient` by the calls of its backward pass, which take its position: in
/// order, so that a later one may differentiate what an earlier one became. All values must be
/// dense. An Error (see Differentiate) leaves the graph incomplete.
PDL_API llvm::Error LowerGradients(Graph& graph, const OpRegistry& registry);
/// Whether there are calls of `gradient`.
PDL_API bool HasGradients(const Graph& graph);

/// Removes calls whose results nothing needs: no output, no update, no training, no other call, no
/// effect.
PDL_API void EliminateDeadCode(Graph& graph);
/// Puts the operand of a call that is the identity (OpProperties::is_identity) in its place; the
/// calls are left to EliminateDeadCode. Gradients must have been taken before.
PDL_API void ForwardSingleOperands(Graph& graph);
/// Merges calls of one type with equal operands and attributes; random calls and calls with an
/// effect stay apart.
PDL_API void EliminateCommonSubexpressions(Graph& graph);
/// Where next values of states are computed element by element from gradients of rows (a
/// scatter_add onto zeros), makes the updates compute and write the rows alone that are used: if
/// the others keep what they are anyway, or `lazy_rows` says that they may. A UserError
/// (kBadMinimize) where it says so of a gradient that some call needs as a whole.
PDL_API llvm::Error UpdateUsedRows(Graph& graph, const OpRegistry& registry);
/// Computes products (matmul, convolutions, attention, and the calls of their gradients) of f32 in
/// `half`, f16 or bf16, whose kernels add up in f32, and all else as it is. A value is cast once,
/// where a product first asks for it; calls that only move elements take halves where all that they
/// move came from products. In the body of a loop what is carried stays as it is; what products
/// alone use of a captured value or a sequence is cast once, in front of the loop. Gradients must
/// have been taken before.
PDL_API void ComputeProductsInHalves(Graph& graph, const OpRegistry& registry, DType half);

/// How gradients are scaled: what ScaleGradients is given.
struct GradientScale {
  static constexpr double kSmallest = 0x1p-24, kLargest = 0x1p24;
  /// The name of the state that is the scale; `state`.good counts steps. Both must be new.
  std::string state = "loss_scale";
  double initial = 0x1p16;
  /// The scale is doubled after so many steps in which all gradients were finite.
  int64_t growth_steps = 2000;
};
/// Makes the network of a step compute each gradient from a scaled cotangent and divide it by the
/// scale again, a power of 2. Where a gradient is not finite then, the step changes nothing but
/// the scale, which it halves, and `step`, which counts all. (Micikevicius et al.,
/// arXiv:1710.03740.) `gradient` is not lowered yet; a gradient within another one is not scaled.
PDL_API void ScaleGradients(Graph& step, const OpRegistry& registry, const GradientScale& scale);

/// Makes a convolutional network of f32 that a CPU runs keep its channels last: [N, C, H, W] lies
/// as [N, H, W, C] from the first convolution to where another order is needed. Convolutions,
/// pooling and what the registry has an internal form of (`conv2d.channels_last`) take that form;
/// elementwise calls, reductions and whatever counts axes follow; transpositions stand where the
/// orders meet. Graphs that train convolutions stay as they are, and so do those with less than
/// two. Whether it changed something.
PDL_API bool KeepChannelsLast(Graph& graph, const OpRegistry& registry);
/// Whether a call of the graph may gain by it (LayoutRule::gain), so that it is worth trying.
PDL_API bool MayGainByChannelsLast(const Graph& graph);
/// Replaces a loop by a later one over the same sequences whose body gives the same and more.
PDL_API void MergeLoops(Graph& graph);
/// Leaves of each plan_select that `outputs` (names; empty means all) and updates need the side
/// that its condition chooses, and adds "y = then  # m.pdl:3:5" to `choices` for each. The calls of
/// the other sides stay, and nothing reads them. An Error where a condition that decides asks for a
/// size that is not known.
PDL_API llvm::Error SelectSides(Graph& graph, llvm::ArrayRef<std::string> outputs, bool training,
                                SymbolLookup sizes, SizedEvaluator evaluate,
                                std::vector<std::string>* choices);

/// Replaces calls of known operands by calls of `constant`, and a plan_select whose condition is
/// known by the operand that it gives, up to `max_bytes` for a result and 64
/// times that in all. Random calls, calls with an effect, with several results or a symbol in an
/// attribute stay, and those that `evaluate` refuses or fails to compute; only a DeviceError ends
/// the pass. Calls that nobody needs any more are left to EliminateDeadCode.
PDL_API llvm::Error FoldConstants(Graph& graph, const OpRegistry& registry, Evaluator evaluate,
                                  int64_t max_bytes = 1 << 20);

}  // namespace pdl

#endif  // PDL_COMPILER_PASSES_H_
