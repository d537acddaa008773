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
  bool open = false;  // the value itself is outside
};

/// What an operator declares of one attribute.
struct PDL_API AttributeDecl {
  std::string name;
  std::string comment;
  AttributeKind kind = AttributeKind::kInt;
  bool is_list = false;
  /// May be given by position, after the inputs and the positional attributes declared before.
  bool positional = false;
  /// `none` is accepted, and is the default where no other is given.
  bool optional = false;
  /// Monostate where the caller must give one.
  AttributeValue default_value;
  /// For int and float attributes, and each element of lists of them.
  std::optional<Bound> lower, upper;
  /// For string attributes: the values accepted; empty means any. For shapes: words that may stand
  /// in place of sizes, `pad="same"`.
  std::vector<std::string> choices;
  /// For tensor attributes: the dtype attribute of the same operator that says how a literal is
  /// read; empty where a literal takes its natural dtype.
  std::string dtype_from;
  /// Counts dims of the first input: an int, or a list of them.
  bool is_axis = false;
  /// For shapes: takes ragged dims, as `dims(x)` of a ragged x has them.
  bool takes_ragged = false;
  /// An int that the compiler counts: how many operands an input has (InputDecl::count), or how
  /// many results a call.
  bool counted = false;

  bool required() const { return !optional && !counted && IsNone(default_value); }
  /// "float > 0 = 1.0": kind, range or choices, default.
  std::string ToString() const;
};

/// The most ragged dims of a type.
inline constexpr uint8_t kMaxRaggedLevels = 2;

/// What an operator declares of one input.
struct InputDecl {
  std::string name;
  std::string comment;
  DTypeSet dtypes = kAnyDType;
  /// Takes one or more operands; the last input, or one with a count.
  bool repeatable = false;
  /// The counted attribute that says how many operands a repeatable input has, from 0 on. Where one
  /// input has it, all repeatable ones do.
  std::string count;
  /// May be left out; no required input follows it.
  bool optional = false;
  /// The number that a compiler puts where an optional input is left out before one that is given;
  /// none: it must not be left out there.
  std::optional<int64_t> stand_in;
  /// An untyped literal given here has a dtype of its own (i64, or f32), whatever stands beside it.
  bool own_dtype = false;
  bool accepts_sparse = false;
  /// The most ragged dims that a value here may have.
  uint8_t ragged_levels = 0;
  /// The gradient rule gives it a gradient. False of every input that takes no floats.
  bool differentiable = true;
  /// Chooses elements of the other inputs, or the indices of elements in the result: an index, a
  /// condition. Its own elements are none of the results'.
  bool is_selector = false;
};

/// What an operator declares of one output.
struct OutputDecl {
  std::string name;
  std::string comment;
  /// Its dtype does not follow that of the operands: indices and counts are i64.
  bool own_dtype = false;
};

/// Everything that an operator type declares; exported as the message `OpProto`.
struct PDL_API OpSignature {
  std::string name;
  std::string comment;
  std::vector<InputDecl> inputs;
  std::vector<OutputDecl> outputs;
  std::vector<AttributeDecl> attributes;
  /// Attributes that say how many results the last output stands for, an int or a list with an item
  /// for each: the first of them that is not none does. Empty: each output is one result.
  std::vector<std::string> results_from;
  OpProperties properties;
  /// What it is listed under: "Reductions"; empty for operators from outside.
  std::string family;
  /// Statements in pdl that run as they stand. `# = [1.0, 2.0]` at the end of an assignment is what
  /// it gives.
  std::vector<std::string> examples;
  /// The largest error of an f32 result in units of its last place, measured over all f32; 0 where
  /// it is not measured.
  double max_ulp = 0;

  /// Index of that attribute or -1.
  int FindAttribute(llvm::StringRef attribute) const;
  int FindInput(llvm::StringRef input) const;
  int FindOutput(llvm::StringRef output) const;
  /// Index of the first positional attribute or -1.
  int PositionalAttribute() const;
  unsigned MinOperands() const;
  /// UINT_MAX where an input is repeatable.
  unsigned MaxOperands() const;
  /// How many results a call with these attributes (complete, in order) has.
  size_t NumResults(llvm::ArrayRef<AttributeValue> values) const;
  /// Whether attributes say how many operands the inputs have.
  bool has_counts() const { return !inputs.empty() && !inputs.front().count.empty(); }
  /// Index of the first operand of an input in a call with these attributes.
  size_t FirstOperand(size_t input, llvm::ArrayRef<AttributeValue> values) const;
  /// The input that an operand belongs to; the last one for an operand too many.
  const InputDecl& InputOf(size_t operand, llvm::ArrayRef<AttributeValue> values) const;
  /// Index of the attribute that is a Block, or -1.
  int BlockAttribute() const;
  /// The declaration of a result.
  const OutputDecl& output(size_t result) const {
    return outputs[result < outputs.size() ? result : outputs.size() - 1];
  }
};

/// Checks the operands and sets the result types; a complaint is a CallError.
using InferFunction = llvm::Error (*)(InferenceContext&);
/// The types of what the block of a call is given: one for each operand that the text writes, in
/// their order. FreshSymbol makes a size that the block alone has.
using BodyFunction = llvm::Expected<std::vector<Type>> (*)(InferenceContext&);
/// Emits the calls that compute the gradients of the inputs from those of the outputs.
using GradientFunction = void (*)(GradientContext&);
/// Emits the calls of dense values that take the place of a call with ragged or sparse operands.
using LowerFunction = llvm::Error (*)(LoweringContext&);
/// Makes the operator of one call for one kind of device.
using KernelCreator = llvm::Expected<std::unique_ptr<OperatorBase>> (*)(const OperatorArguments&);

/// The one record per operator type.
struct OpDef {
  OpSignature signature;
  InferFunction infer = nullptr;
  /// Of an operator with a Block attribute, which the text gives as a function; else null.
  BodyFunction body = nullptr;
  /// Null: not differentiable.
  GradientFunction gradient = nullptr;
  /// Null: the same call on packed values. Where there is no kernel for the CPU, it replaces every
  /// call.
  LowerFunction lower = nullptr;
  /// By DeviceKind; null: not on such a device.
  std::array<KernelCreator, kNumDeviceKinds> kernels = {};

  const std::string& name() const { return signature.name; }
  const OpProperties& properties() const { return signature.properties; }
  KernelCreator kernel(DeviceKind kind) const { return kernels[static_cast<size_t>(kind)]; }
};

}  // namespace pdl

#endif  // PDL_OP_OP_DEF_H_
