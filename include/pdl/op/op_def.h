#ifndef PDL_OP_OP_DEF_H_
#define PDL_OP_OP_DEF_H_

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/attribute.h"
#include "pdl/op/device.h"
#include "pdl/op/dtype.h"
#include "pdl/op/op_properties.h"

namespace pdl {

class AttributeReader;
class GradientContext;
class InferenceContext;
class LoweringContext;
class OperatorBase;
class Tensor;
struct OperatorArguments;
struct OpSignature;
struct Type;

/// An int or a float; those of different kinds are compared exactly.
using AttributeNumber = std::variant<int64_t, double>;
/// Unordered if one of them is NaN.
PDL_API std::partial_ordering Compare(const AttributeNumber& a, const AttributeNumber& b);

/// One end of an attribute's range.
struct Bound {
  AttributeNumber value;
  bool open = false;  // excludes `value` itself
  /// The nearest double.
  double real() const {
    return std::visit([](auto number) { return static_cast<double>(number); }, value);
  }
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
  /// For float attributes and lists of them: the operator computes with the double itself, whatever
  /// the dtype of its operands. Others must fit the dtype that the operands are computed in: a
  /// finite number must not become infinite in it, and only 0 must be 0.
  bool in_double = false;
  /// An int that the compiler sets: the number of operands of an input (InputDecl::count) or of
  /// results.
  bool counted = false;

  /// Whether the number is in the range. NaN is in no range, except in the absence of both bounds.
  bool Admits(const AttributeNumber& number) const;
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
  /// The minimum and maximum number of ragged dims of an operand.
  uint8_t min_ragged_levels = 0;
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
  /// The dtype, if it is always the same.
  std::optional<DType> dtype = {};
  /// The input whose first operand has the same dtype, or the dtype attribute that sets it; empty
  /// if `dtype` is set or only type inference determines it.
  std::string dtype_of = {};
  /// The input whose first operand has the same dims, or the shape attribute that sets them; empty
  /// if `rank` or `is_broadcast` is set or only type inference determines them.
  std::string dims_of = {};
  /// The number of dims, if it is always the same.
  std::optional<unsigned> rank = {};
  /// Its dims are those of all operands, broadcast.
  bool is_broadcast = false;
};

/// Describes how the result types of a call contradict what the output declarations say about
/// dtypes and dims: "output 'y' is declared with the dtype of 'x', f32, and is f64". Empty if they
/// do not.
PDL_API std::string FaultOfOutputs(const OpSignature& signature,
                                   llvm::ArrayRef<const Type*> operands,
                                   llvm::ArrayRef<AttributeValue> attributes,
                                   llvm::ArrayRef<const Type*> results);

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
/// Checks the indices among the operands of one call, which are in CPU memory; of the results, only
/// the sizes are known. The Error, of Code::kIndexRange, names an index that is out of range, and
/// its axis.
using IndexCheckFunction = llvm::Error (*)(const AttributeReader& attributes,
                                           llvm::ArrayRef<const Tensor*> operands,
                                           llvm::ArrayRef<const Tensor*> results);
/// Creates the kernel of one call for one kind of device.
using KernelCreator = llvm::Expected<std::unique_ptr<OperatorBase>> (*)(const OperatorArguments&);
/// Runs the checks of a call's attributes that the operator itself makes
/// (OperatorBase::InitializeAttributes). Errors are CallErrors, or DeviceErrors.
using AttributeCheck = llvm::Error (*)(const OperatorArguments&);

/// The highest order of differentiation that `pdl gradcheck` compares.
inline constexpr unsigned kMaxGradientOrder = 2;

/// The definition of an operator type: declaration, rules and kernels.
struct OpDef {
  OpSignature signature;
  InferFunction infer = nullptr;
  /// Set for operators with a Block attribute, which source gives as a function; else null.
  BodyFunction body = nullptr;
  /// Null if the operator is not differentiable.
  GradientFunction gradient = nullptr;
  /// How often the operator can be differentiated, as far as tests compare it with finite
  /// differences: `pdl gradcheck` fails if they reach another order. At most
  /// kMaxGradientOrder; 0 if it has no rule, or no test can compare the rule.
  unsigned gradient_order = 0;
  /// Null: the same call on packed values (LoweringContext::LowerPacked). If the operator has no
  /// CPU kernel, the rule replaces every call.
  LowerFunction lower = nullptr;
  /// For operators whose kernels accept indices out of range, which RunOptions::check_indices
  /// makes errors; else null.
  IndexCheckFunction check_indices = nullptr;
  /// By DeviceKind; null: not available on that kind of device.
  std::array<KernelCreator, kNumDeviceKinds> kernels = {};
  /// Null if all attributes that pass the checks of their declarations are accepted.
  AttributeCheck check_attributes = nullptr;

  const std::string& name() const { return signature.name; }
  /// Whether the operator is from outside libpdl, so that the types of its results are
  /// compared with its declaration in each call.
  bool is_external() const { return signature.family.empty(); }
  const OpProperties& properties() const { return signature.properties; }
  KernelCreator kernel(DeviceKind kind) const { return kernels[static_cast<size_t>(kind)]; }
};

}  // namespace pdl

#endif  // PDL_OP_OP_DEF_H_
