#ifndef PDL_ONNX_IMPORT_NODE_H_
#define PDL_ONNX_IMPORT_NODE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "onnx/import/importer.h"
#include "onnx/import/widen.h"

namespace pdl {

/// A node that is converted to calls; rules read from it and write to it. Errors do not interrupt a
/// rule: after an error all calls accept and return null, and the first error is reported.
class Node {
 public:
  Node(Importer& importer, const onnx::NodeProto& proto, OnnxScope& scope, int64_t opset);

  const onnx::NodeProto& proto() const { return proto_; }
  llvm::StringRef op_type() const { return proto_.op_type(); }
  /// The version of the operator's set in the model.
  int64_t opset() const { return opset_; }
  Graph& graph() { return importer_.graph(); }
  Importer& importer() { return importer_; }
  OnnxScope& scope() { return scope_; }

  // --- Inputs -----------------------------------------------------------------------------------
  unsigned num_inputs() const { return static_cast<unsigned>(proto_.input_size()); }
  unsigned num_outputs() const { return static_cast<unsigned>(proto_.output_size()); }
  bool Has(unsigned input) const;
  bool IsUsed(unsigned output) const;
  /// A required input.
  Value* In(unsigned index);
  /// Null if it is omitted.
  Value* OptionalIn(unsigned index) { return Has(index) ? In(index) : nullptr; }
  /// All inputs.
  std::vector<Value*> AllIn();
  /// A required input that is a list of tensors.
  std::vector<Value*> SequenceIn(unsigned index);

  /// The elements of an input that must be known at import, as sizes, integers or floats.
  Shape SizesIn(unsigned index);
  std::vector<int64_t> IntsIn(unsigned index);
  std::vector<double> RealsIn(unsigned index);
  /// The same for one element.
  Dim SizeIn(unsigned index);
  int64_t IntIn(unsigned index);
  double RealIn(unsigned index);
  /// Whether the elements are known; reports no error.
  bool IsKnown(const Value* value) const;
  std::optional<KnownSizes> KnownSizesOf(const Value* value) const;
  /// The value of a scalar, if it is known.
  std::optional<double> KnownReal(const Value* value) const;

  // --- Attributes -------------------------------------------------------------------------------
  const onnx::AttributeProto* Attribute(llvm::StringRef name) const;
  bool HasAttribute(llvm::StringRef name) const { return Attribute(name) != nullptr; }
  int64_t Int(llvm::StringRef name, int64_t otherwise) const;
  double Float(llvm::StringRef name, double otherwise) const;
  std::string String(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::vector<int64_t> Ints(llvm::StringRef name) const;
  std::vector<double> Floats(llvm::StringRef name) const;
  /// An attribute that is an element type.
  DType TypeAttribute(llvm::StringRef name, DType otherwise);

  // --- Calls ------------------------------------------------------------------------------------
  /// Adds a call and returns its first result. Operands of a dtype that the operator does not
  /// accept are widened, and the result is cast back.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// The same, but returns all results.
  std::vector<Value*> CallAll(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
                              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// A loop that is executed at run time.
  struct Loop {
    /// The sequences that the loop iterates over, and the initial values of carried values.
    std::vector<Value*> xs, init;
    /// The number of steps of each row; null: all.
    Value* lengths = nullptr;
    int64_t axis = 0;
    bool reverse = false;
    /// If set, the loop has no sequences; it ends when the first carried value, bool[], is false,
    /// and after this number of steps.
    std::optional<Dim> max_steps;
    /// The names of the slices and of the carried values in the source.
    std::vector<std::string> names;
  };
  /// `body` receives a slice of each sequence and the carried values, and returns the new carried
  /// values, then the outputs of the step. Returns the outputs of all steps, stacked, then the last
  /// carried values.
  std::vector<Value*> Scan(const Loop& loop,
                           llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> body);
  Value* Add(Value* a, Value* b) { return Call("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return Call("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return Call("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return Call("div", {a, b}); }
  Value* Cast(Value* x, DType to);
  Value* Reshape(Value* x, llvm::ArrayRef<Dim> dims);
  Value* Transpose(Value* x, llvm::ArrayRef<int64_t> perm);
  /// A scalar of that dtype, or of the dtype of `like`.
  Value* Scalar(double value, DType dtype);
  Value* Scalar(double value, Value* like);
  Value* Literal(Constant constant) { return Parameter(std::move(constant), ""); }
  /// A parameter of the network, or a literal for a small constant.
  Value* Parameter(Constant constant, llvm::StringRef name);
  Value* Literal(llvm::ArrayRef<int64_t> values);
  /// A tensor with the same value in all elements.
  Value* Filled(llvm::ArrayRef<Dim> dims, const Constant& value);
  Value* Filled(llvm::ArrayRef<Dim> dims, double value, DType dtype);
  /// The sizes as an i64 vector, known to later nodes.
  Value* SizeValue(llvm::ArrayRef<Dim> sizes);

  // --- Outputs ----------------------------------------------------------------------------------
  void Out(unsigned index, Value* value);
  void Out(Value* value) { Out(0, value); }
  void SequenceOut(unsigned index, std::vector<Value*> values);

  // --- Errors -----------------------------------------------------------------------------------
  bool failed() const { return code_.has_value(); }
  /// The node is inconsistent.
  template <class... Args>
  void Fail(const char* format, Args&&... args) {
    SetError(Code::kBadNetwork, llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  /// The node is valid, but requires a feature that pdl lacks.
  template <class... Args>
  void Unsupported(const char* format, Args&&... args) {
    SetError(Code::kNotSupported, llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  /// Converts an axis in [-rank, rank) to one counted from the front.
  unsigned Axis(int64_t axis, size_t rank);
  std::vector<int64_t> Axes(llvm::ArrayRef<int64_t> axes, size_t rank);
  void Take(llvm::Error error);
  llvm::Error TakeError();

 private:
  /// If the call only moves elements of a `fill`, a `fill` with the dims of its result.
  Value* FilledAlike(const Op& op);
  /// Replaces a tensor with the same value in all elements by a scalar, if it broadcasts to the
  /// other operand.
  void UseScalars(llvm::MutableArrayRef<Value*> operands);
  /// Maps u64 to i64 with the same order, and back.
  Value* TurnSign(const Widening& widening, Value* value);
  void SetError(Code code, std::string message);
  void NeedsKnown(unsigned input, Value* value);
  const Constant* ConstantIn(unsigned index);

  Importer& importer_;
  const onnx::NodeProto& proto_;
  OnnxScope& scope_;
  int64_t opset_;
  LocationId location_;
  std::optional<Code> code_;
  std::string message_;
  std::vector<std::string> needed_;
};

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_NODE_H_
