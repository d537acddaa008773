// What passes, the planner and the ONNX reader and writer ask of an operator.
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

/// What mixed precision, which computes in f16 or bf16 (the reduced dtype), makes of a call.
enum class ReducedPrecision : uint8_t {
  /// Stays as it was written.
  kKeep,
  /// Runs in the reduced dtype, as matrix products do: f32 operands whose inputs accept that dtype
  /// are cast to it, and results of that dtype are cast back to f32. The kernel must accumulate in
  /// f32.
  kCompute,
  /// Runs in the reduced dtype where all its f32 operands are results of such calls, cast back.
  /// Only for operators that move elements, whose results are the same to the last bit.
  kFollow,
};

/// What results depend on where operands are integers: whether u64 may be computed in i64, which
/// holds the same bits but not the same numbers.
enum class IntegerWidening : uint8_t {
  /// The numbers.
  kNone,
  /// The low bits of a result depend on the low bits of the operands only, whatever their sign.
  kModular,
  /// The order of elements.
  kOrder,
};

/// The value of an elementwise call where its operands are as given, for operands that are finite.
/// "pdl/zero_rule.h" has the common rules.
using ZeroRule = AtZero (*)(const Op& op, llvm::ArrayRef<AtZero> operands);

/// Integer arithmetic on sizes with symbols: one element of the result from one element of each
/// operand of an elementwise call, or from all elements of the one operand of a reduction. nullopt
/// where that is not the same for all sizes.
using SizeArithmetic = std::optional<Dim> (*)(const Op& op, llvm::ArrayRef<Dim> elements);

/// Properties of an operator beyond its inputs, outputs and attributes. Plain data, set by its
/// OpProtoMaker; each default is what is right for an operator of which nothing is known.
struct OpProperties {
  /// Each element of the one output depends on the broadcast elements of the inputs at its index
  /// only.
  bool elementwise = false;
  /// f(a, b) is f(b, a), bit for bit.
  bool commutative = false;
  /// Draws random numbers: never merged, folded or reordered.
  bool random = false;
  /// Does something besides computing its results: never dropped.
  bool has_side_effect = false;
  /// With one operand, of the type of the result, it returns that operand.
  bool is_identity = false;
  /// Every element of a result is an element of an operand (or 0), whatever the values of the
  /// inputs are that are no selectors (InputDecl::is_selector).
  bool moves_elements = false;
  /// No data make a run of it fail, so it may update a state in place at the end of a run.
  bool cannot_fail = false;
  /// Returns whether a Plan is made for training. It has no inputs and no kernel: the Plan knows.
  bool is_training_flag = false;
  /// Returns its second or its third operand as its first one says, which a Plan knows. It has no
  /// kernel: the Plan holds the calls of one side.
  bool is_plan_select = false;
  /// Its one operand, i64[], is the size that the new symbol in its attribute `dims` stands for. It
  /// has no kernel: a network is cut after it.
  bool defines_size = false;

  ReducedPrecision reduced_precision = ReducedPrecision::kKeep;
  IntegerWidening widening = IntegerWidening::kNone;
  /// Null: nothing is known of its results where operands are 0.
  ZeroRule zero_rule = nullptr;
  /// Null: its results are no sizes.
  SizeArithmetic size_arithmetic = nullptr;
  /// How a call is rewritten for operands with channels last, "pdl/layout_rule.h"; null: it takes
  /// operands in their own order. Elementwise operators need none.
  const LayoutRule* channels_last = nullptr;
  /// The operator of ONNX's own domain that computes the same from the same inputs without
  /// attributes, which import and export use unless they have a rule of their own; empty: none.
  std::string onnx_name;
};

}  // namespace pdl

#endif  // PDL_OP_OP_PROPERTIES_H_
