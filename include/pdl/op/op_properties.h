// Properties of operators for passes, the planner, and ONNX import and export.
// Module: ir
#ifndef PDL_OP_OP_PROPERTIES_H_
#define PDL_OP_OP_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"

namespace pdl {

class Dim;
class Op;
struct AtZero;
struct LayoutRule;

/// How mixed precision, which computes in f16 or bf16 (the reduced dtype), treats a call.
enum class ReducedPrecision : uint8_t {
  /// Unchanged.
  kKeep,
  /// Runs in the reduced dtype, as matmul does: f32 operands of inputs that accept that dtype are
  /// cast to it, and results of that dtype are cast back to f32. The kernel must accumulate in f32.
  kCompute,
  /// Runs in the reduced dtype if all its f32 operands are results of such calls, cast back. Only
  /// for operators that move elements, so that the results have the same bits.
  kFollow,
};

/// Which property of integer operands the results depend on. Determines whether u64 may be computed
/// in i64, which has the same bits but other numbers.
enum class IntegerWidening : uint8_t {
  /// The numeric values: no widening.
  kNone,
  /// Modular arithmetic: the low bits of a result depend only on the low bits of the operands.
  kModular,
  /// Only the order of the elements.
  kOrder,
};

/// Returns the value of an elementwise call for given values of its operands, which are finite.
/// Common rules are in "pdl/op/zero_rule.h".
using ZeroRule = AtZero (*)(const Op& op, llvm::ArrayRef<AtZero> operands);

/// Integer arithmetic on symbolic sizes: one element of the result from one element of each operand
/// of an elementwise call, or from all elements of the operand of a reduction. Returns nullopt if
/// the result is not the same expression for all sizes.
using SizeArithmetic = std::optional<Dim> (*)(const Op& op, llvm::ArrayRef<Dim> elements);

/// Properties of an operator besides its inputs, outputs and attributes. Plain data, set by its
/// OpProtoMaker; the defaults are correct for any operator.
struct OpProperties {
  /// Each element of the only output depends only on the elements of the broadcast inputs at the
  /// same index.
  bool elementwise = false;
  /// f(a, b) and f(b, a) have the same bits.
  bool commutative = false;
  /// Uses random numbers: never merged, folded or reordered.
  bool random = false;
  /// Has side effects: never removed.
  bool has_side_effect = false;
  /// The only effect is that the run fails if a condition on the operands does not hold; requires
  /// has_side_effect. A run performs it if it reads the inputs that the operands depend on. A copy
  /// of a call, made to compute the same values again, is not needed if nothing uses its results.
  bool only_checks = false;
  /// Returns its operand unchanged if it has one operand, of the type of the result.
  bool is_identity = false;
  /// Every element of a result is 0 or an element of an operand, whatever the values of the inputs
  /// that are not selectors (InputDecl::is_selector).
  bool moves_elements = false;
  /// Cannot fail for any data, so it may update a state in place at the end of a run.
  bool cannot_fail = false;
  /// Returns whether the Plan is made for training. It has no inputs and no kernel; the Plan
  /// supplies the value.
  bool is_training_flag = false;
  /// Returns its second or third operand, selected by the first, which a Plan knows. It has no
  /// kernel; the Plan contains only the calls of the selected side.
  bool is_plan_select = false;
  /// Defines the new symbol in its attribute `dims` as its only operand, i64[]. It has no kernel; a
  /// network is split after it.
  bool defines_size = false;

  ReducedPrecision reduced_precision = ReducedPrecision::kKeep;
  IntegerWidening widening = IntegerWidening::kNone;
  /// Null: nothing is known about results for operands that are 0.
  ZeroRule zero_rule = nullptr;
  /// Null: its results are not used as sizes.
  SizeArithmetic size_arithmetic = nullptr;
  /// How a call is rewritten for channels-last operands, see "pdl/op/layout_rule.h"; null: it
  /// requires the original order. Not needed for elementwise operators.
  const LayoutRule* channels_last = nullptr;
  /// The operator of ONNX's default domain that computes the same from the same inputs without
  /// attributes. Import and export use it unless they have a rule of their own; empty: none.
  std::string onnx_name;
};

}  // namespace pdl

#endif  // PDL_OP_OP_PROPERTIES_H_
