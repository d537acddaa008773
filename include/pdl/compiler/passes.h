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

/// Evaluates one call with constant operands and returns all of its results. Returns nullopt if it
/// declines: the result is too large, there is no kernel, or only a Plan knows a value.
using Evaluator = llvm::function_ref<llvm::Expected<std::optional<std::vector<Constant>>>(
    const Op& op, llvm::ArrayRef<Constant> operands)>;
/// Evaluates one call of `graph` with constant operands and returns all of its results. `sizes`
/// maps the symbols that the call depends on to their sizes.
using SizedEvaluator = llvm::function_ref<llvm::Expected<std::vector<Constant>>(
    const Graph& graph, const Op& op, llvm::ArrayRef<Constant> operands, SymbolLookup sizes)>;

/// Returns a graph of dense values that is equivalent to `graph` and consists of operators with
/// kernels and calls of `gradient`. Ragged and sparse inputs and outputs become the values of
/// PartsOf; all others keep their names. An Error if one ragged dim stands for the lengths of two
/// different values.
PDL_API llvm::Expected<Graph> LowerStorage(const Graph& graph, const OpRegistry& registry);
/// Whether LowerStorage changes the graph: a value is not dense, or an operator has a lowering rule
/// and no kernel.
PDL_API bool NeedsLowering(const Graph& graph);

/// Replaces each call of `gradient` in place by the calls of its backward pass, in order, so that a
/// later gradient can differentiate the result of an earlier one. All values must be dense. An
/// Error (see Differentiate) leaves the graph incomplete.
PDL_API llvm::Error LowerGradients(Graph& graph, const OpRegistry& registry);
/// Whether the graph contains calls of `gradient`.
PDL_API bool HasGradients(const Graph& graph);

/// Removes checks (OpProperties::only_checks) that depend on an input which neither the named
/// outputs nor the updates of states read, so that a run of some outputs does not require it.
PDL_API void DropUnreadChecks(Graph& graph, llvm::ArrayRef<std::string> outputs);

/// Removes all checks whose results are unused.
PDL_API void DropChecks(Graph& graph);

/// Removes calls that have no side effects and whose results are not used by an output, an update,
/// training, or another live call.
PDL_API void EliminateDeadCode(Graph& graph);
/// Replaces matmuls of transposed matrices by matmuls with transpose_a or transpose_b, which read
/// the matrices as they are stored; EliminateDeadCode removes unused transposes. Run after
/// gradients are lowered, which creates such calls.
PDL_API void FoldTransposes(Graph& graph);
/// Replaces uses of calls that are the identity (OpProperties::is_identity) with their operand;
/// EliminateDeadCode removes the calls. Run after gradients are lowered.
PDL_API void ForwardSingleOperands(Graph& graph);
/// Merges calls of the same operator with equal operands and attributes, except random calls and
/// calls with side effects.
PDL_API void EliminateCommonSubexpressions(Graph& graph);
/// Makes updates of tables sparse. If the new value of a state is computed element by element from
/// a gradient of rows (a scatter_add onto zeros), computes and writes only the rows that are used,
/// provided that the other rows do not change anyway or `lazy_rows` permits it. Calls that
/// are the identity may use the complete new value. Returns a UserError
/// (kBadMinimize) if `lazy_rows` is set for a gradient that some call needs as a dense tensor.
PDL_API llvm::Error UpdateUsedRows(Graph& graph, const OpRegistry& registry);
/// Mixed precision: computes f32 matmul, convolutions, attention and the calls of their gradients
/// (ReducedPrecision::kCompute) in `half`, f16 or bf16, with accumulation in f32. All other calls
/// stay in f32. A value is cast once, before its first such use. Calls that only move elements run
/// in `half` if all their operands come from calls that do. In the body of a loop, carried values
/// keep their dtype; captured values and sequences that are used only by such calls are cast once,
/// before the loop. Run after gradients are lowered.
PDL_API void ReducePrecision(Graph& graph, const OpRegistry& registry, DType half);

/// Parameters of gradient scaling (ScaleGradients).
struct GradientScale {
  static constexpr double kSmallest = 0x1p-24, kLargest = 0x1p24;
  /// The name of the state that holds the scale; the state `state`.good counts steps. Both names
  /// must be new to the graph.
  std::string state = "loss_scale";
  double initial = 0x1p16;
  /// The scale is doubled after this number of consecutive steps with finite gradients.
  int64_t growth_steps = 2000;
};
/// The name of the state of a network's loss scale: "loss_scale", or one with a suffix if the
/// network uses that name or its counter's.
PDL_API std::string NameOfScale(const Graph& network);
/// Adds dynamic loss scaling to the network of a training step (Micikevicius et al.,
/// arXiv:1710.03740): gradients are computed from a scaled cotangent and divided by the scale, a
/// power of 2. If a gradient is then not finite, the step only halves the scale and increments
/// `step`, which counts all steps. Run before gradients are lowered; a gradient inside another
/// gradient is not scaled.
PDL_API void ScaleGradients(Graph& step, const OpRegistry& registry, const GradientScale& scale);

/// Parameters of AverageParameters.
struct ParameterAverages {
  /// In 0..1.
  double decay = 0;
  std::vector<std::string> parameters;
};
/// Adds moving averages of parameters to the network of a training step, in which the parameters
/// are states: for each one a state AverageName(parameter), a copy of the parameter at first, which
/// each step moves by the fraction 1 - `decay` towards the parameter's new value. It is f32 for a
/// 16-bit parameter. A UserError (kBadMinimize) if the graph uses that name already.
PDL_API llvm::Error AverageParameters(Graph& step, const OpRegistry& registry,
                                      const ParameterAverages& averages);
/// The names of the parameters that the `minimize` statements of a network change.
PDL_API std::vector<std::string> TrainedParameters(const Graph& network);
/// The name of the state with the moving average of a parameter: "fc.w.average".
PDL_API std::string AverageName(llvm::StringRef parameter);

/// Folds the normalization of the channels of an f32 convolution (`normalize`) into the
/// convolution's weights and bias, where these and the statistics are the same in every run.
/// `is_fixed`: whether a parameter or state is. Results differ in the last bits.
PDL_API void FoldNormalizations(Graph& graph, const OpRegistry& registry,
                                llvm::function_ref<bool(const Value&)> is_fixed);
/// Whether the graph calls `normalize`.
PDL_API bool HasNormalizations(const Graph& graph);

/// Converts an f32 convolutional network to channels-last layout for the CPU: [N, C, H, W] is
/// stored as [N, H, W, C] from the first convolution to the first use that requires another order.
/// Convolutions, pooling and other operators with a registered channels-last form
/// (`conv2d.channels_last`) use that form; elementwise calls, reductions and calls with axis
/// attributes are adapted; transposes are inserted where the layouts meet. Graphs that train
/// convolutions and graphs with fewer than two convolutions stay unchanged. Returns whether the
/// graph changed.
PDL_API bool KeepChannelsLast(Graph& graph, const OpRegistry& registry);
/// Whether the layout conversion may pay off: some call of the graph gains by it
/// (LayoutRule::gain).
PDL_API bool MayGainByChannelsLast(const Graph& graph);
/// Replaces a loop by a later one over the same sequences if the later body computes the same
/// results and more.
PDL_API void MergeLoops(Graph& graph);
/// Makes loops over sequences that are computed by matmuls run over the first axis of the
/// sequences, where the slices of the steps are contiguous; transposes the left operands of the
/// matmuls, if these are no larger, and the results of the loops instead.
PDL_API void RunLoopsTimeMajor(Graph& graph, const OpRegistry& registry);
/// Removes results of loops that nothing reads or that equal another result of the same loop, and
/// the sequences, carried and captured values that the body then does not read, with the calls that
/// are dead then.
PDL_API void PruneLoops(Graph& graph);
/// Resolves each plan_select that `outputs` (names; empty: all) and updates depend on to the side
/// that its condition selects, and appends "y = then  # m.pdl:3:5" to `choices` for each. The calls
/// of the other sides become dead. An Error if a condition depends on a size that is not known.
PDL_API llvm::Error SelectSides(Graph& graph, llvm::ArrayRef<std::string> outputs, bool training,
                                SymbolLookup sizes, SizedEvaluator evaluate,
                                std::vector<std::string>* choices);

/// Constant folding: replaces calls with constant operands by calls of `constant`, and a
/// plan_select with a constant condition by the operand that it selects. A result has at most
/// `max_bytes` bytes, and all together at most 64 times that. Not folded: random calls, calls with
/// side effects, with several results, or with a symbol in an attribute, and calls that `evaluate`
/// declines or fails to evaluate; only a DeviceError ends the pass. Unused calls are left to
/// EliminateDeadCode.
PDL_API llvm::Error FoldConstants(Graph& graph, const OpRegistry& registry, Evaluator evaluate,
                                  int64_t max_bytes = 1 << 20);

}  // namespace pdl

#endif  // PDL_COMPILER_PASSES_H_
