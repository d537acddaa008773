#ifndef PDL_OP_OP_DEF_H_
#define PDL_OP_OP_DEF_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/attribute.h"
#include "pdl/op/device.h"
#include "pdl/op/dtype.h"
#include "pdl/op/op_properties.h"

namespace pdl {

class GradientContext;
class InferenceContext;
class LoweringContext;
class OperatorBase;
struct OperatorArguments;
struct Type;

/// One end of an attribute's range.
struct Bound {
  double value = 0;
  bool open = false;  // excludes `value` itself
};

/// The declaration of one attribute of an operator.
struct PDL_API AttributeDecl {
  std::string name;
  std::string comment;
  AttributeKind kind = AttributeKind::kInt;
  bool is_list = false;
  /// May be given by position, after the inputs and the positional attributes declared before it.
  bool positional = false;
  /// Accepts `none`, which is the default unless another one is declared.
  bool optional = false;
  /// The default; monostate if there is none.
  AttributeValue default_value;
  /// The range of int and float attributes, and of the elements of lists of them.
  std::optional<Bound> lower, upper;
  /// For string attributes: the accepted values; empty: any. For shapes: words that are accepted
  /// instead of sizes, as in `pad="same"`.
  std::vector<std::string> choices;
  /// For tensor attributes: the dtype attribute of the same operator that determines the dtype of a
  /// literal; empty: the literal's default dtype.
  std::string dtype_from;
  /// For int attributes and lists of them: an axis of the first input.
  bool is_axis = false;
  /// For shapes: accepts ragged dims, as in `dims(x)` of a ragged x.
  bool takes_ragged = false;
  /// An int that the compiler sets: the number of operands of an input (InputDecl::count) or of
  /// results.
  bool counted = false;

  bool required() const { return !optional && !counted && IsNone(default_value); }
  /// Kind, range or choices, and default, for documentation: "float > 0 = 1.0".
  std::string ToString() const;
};

/// The maximum number of ragged dims of a type.
inline constexpr uint8_t kMaxRaggedLevels = 2;

/// The declaration of one input of an operator.
struct InputDecl {
  std::string name;
  std::string comment;
  DTypeSet dtypes = kAnyDType;
  /// Takes one or more operands. Only for the last input, or inputs with a `count`.
  bool repeatable = false;
  /// The counted attribute (AttributeDecl::counted) with the number of operands of a repeatable
  /// input, which may be 0. If one input has it, all repeatable inputs do.
  std::string count;
  /// May be omitted; must not be followed by a required input.
  bool optional = false;
  /// The scalar that the compiler inserts if an optional input is omitted before one that is given;
  /// nullopt: it must not be omitted there.
  std::optional<int64_t> stand_in;
  /// An untyped literal given here has its default dtype (i64 or f32), regardless of the dtype of
  /// the other operands.
  bool own_dtype = false;
  bool accepts_sparse = false;
  /// The maximum number of ragged dims of an operand.
  uint8_t ragged_levels = 0;
  /// Whether the gradient rule sets a gradient for it; false for all inputs that do not accept
  /// floats.
  bool differentiable = true;
  /// Selects elements of the other inputs, or indices in the result: an index or a condition. No
  /// element of a result is copied from it.
  bool is_selector = false;
};

/// The declaration of one output of an operator.
struct OutputDecl {
  std::string name;
  std::string comment;
  /// Its dtype is independent of the operands' dtypes: indices and counts are i64.
  bool own_dtype = false;
};

/// The complete declaration of an operator type; exported as the message `OpProto`.
struct PDL_API OpSignature {
  std::string name;
  std::string comment;
  std::vector<InputDecl> inputs;
  std::vector<OutputDecl> outputs;
  std::vector<AttributeDecl> attributes;
  /// The attributes that determine how many results the last output stands for, an int or a list
  /// with one item for each: the first that is not none is used. Empty: each output is one result.
  std::vector<std::string> results_from;
  OpProperties properties;
  /// The heading in lists: "Reductions"; empty for operators from outside pdl.
  std::string family;
  /// Complete programs in pdl. A trailing `# = [1.0, 2.0]` states the value of the assignment.
  std::vector<std::string> examples;
  /// The maximum measured error of f32 results over all f32 arguments, in ulp; 0 if it has not been
  /// measured.
  double max_ulp = 0;

  /// The index of the declaration with that name, or -1.
  int FindAttribute(llvm::StringRef attribute) const;
  int FindInput(llvm::StringRef input) const;
  int FindOutput(llvm::StringRef output) const;
  /// The index of the first positional attribute, or -1.
  int PositionalAttribute() const;
  unsigned MinOperands() const;
  /// UINT_MAX if an input is repeatable.
  unsigned MaxOperands() const;
  /// The number of results of a call with these attributes, which must be complete and in order.
  size_t NumResults(llvm::ArrayRef<AttributeValue> values) const;
  /// Whether attributes determine the number of operands of the inputs.
  bool has_counts() const { return !inputs.empty() && !inputs.front().count.empty(); }
  /// The index of an input's first operand in a call with these attributes.
  size_t FirstOperand(size_t input, llvm::ArrayRef<AttributeValue> values) const;
  /// The input that an operand belongs to; the last input if there are too many operands.
  const InputDecl& InputOf(size_t operand, llvm::ArrayRef<AttributeValue> values) const;
  /// The index of the attribute of kind kBlock, or -1.
  int BlockAttribute() const;
  /// The output declaration that a result belongs to.
  const OutputDecl& output(size_t result) const {
    return outputs[result < outputs.size() ? result : outputs.size() - 1];
  }
};

/// Checks the operands and sets the result types. Errors are CallErrors.
using InferFunction = llvm::Error (*)(InferenceContext&);
/// Returns the input types of a call's block: one for each operand given in the source, in order.
/// FreshSymbol creates sizes that are local to the block.
using BodyFunction = llvm::Expected<std::vector<Type>> (*)(InferenceContext&);
/// Emits the calls that compute the gradients of the inputs from those of the outputs.
using GradientFunction = void (*)(GradientContext&);
/// Emits the calls on dense values that replace a call with ragged or sparse operands.
using LowerFunction = llvm::Error (*)(LoweringContext&);
/// Creates the kernel of one call for one kind of device.
using KernelCreator = llvm::Expected<std::unique_ptr<OperatorBase>> (*)(const OperatorArguments&);

/// The definition of an operator type: declaration, rules and kernels.
struct OpDef {
  OpSignature signature;
  InferFunction infer = nullptr;
  /// Set for operators with a Block attribute, which source gives as a function; else null.
  BodyFunction body = nullptr;
  /// Null if the operator is not differentiable.
  GradientFunction gradient = nullptr;
  /// Null: the same call on packed values (LoweringContext::LowerPacked). If the operator has no
  /// CPU kernel, the rule replaces every call.
  LowerFunction lower = nullptr;
  /// By DeviceKind; null: not available on that kind of device.
  std::array<KernelCreator, kNumDeviceKinds> kernels = {};

  const std::string& name() const { return signature.name; }
  const OpProperties& properties() const { return signature.properties; }
  KernelCreator kernel(DeviceKind kind) const { return kernels[static_cast<size_t>(kind)]; }
};

}  // namespace pdl

#endif  // PDL_OP_OP_DEF_H_
