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

/// One node while it becomes calls: what a rule reads from and writes to. Nothing fails visibly:
/// after a mistake every call takes null and gives null, and the first mistake is reported.
class Node {
 public:
  Node(Importer& importer, const onnx::NodeProto& proto, OnnxScope& scope, int64_t opset);

  const onnx::NodeProto& proto() const { return proto_; }
  llvm::StringRef op_type() const { return proto_.op_type(); }
  /// The version of the operator's set that the model uses.
  int64_t opset() const { return opset_; }
  Graph& graph() { return importer_.graph(); }
  Importer& importer() { return importer_; }
  OnnxScope& scope() { return scope_; }

  // --- Inputs -------------------------------------------------------------------------------
  unsigned num_inputs() const { return static_cast<unsigned>(proto_.input_size()); }
  unsigned num_outputs() const { return static_cast<unsigned>(proto_.output_size()); }
  bool Has(unsigned input) const;
  bool Wants(unsigned output) const;
  /// A required input.
  Value* In(unsigned index);
  /// Null where it is left out.
  Value* OptionalIn(unsigned index) { return Has(index) ? In(index) : nullptr; }
  /// All inputs.
  std::vector<Value*> AllIn();
  /// A required input that is a list of tensors.
  std::vector<Value*> SequenceIn(unsigned index);

  /// The elements of an input that must be known while importing, as sizes, integers or reals.
  Shape SizesIn(unsigned index);
  std::vector<int64_t> IntsIn(unsigned index);
  std::vector<double> RealsIn(unsigned index);
  /// The same of one element.
  Dim SizeIn(unsigned index);
  int64_t IntIn(unsigned index);
  double RealIn(unsigned index);
  /// Whether the elements are known; records no mistake.
  bool IsKnown(const Value* value) const;
  std::optional<KnownSizes> KnownSizesOf(const Value* value) const;
  /// The value of a scalar that is known.
  std::optional<double> KnownReal(const Value* value) const;

  // --- Attributes ---------------------------------------------------------------------------
  const onnx::AttributeProto* Attribute(llvm::StringRef name) const;
  bool HasAttribute(llvm::StringRef name) const { return Attribute(name) != nullptr; }
  int64_t Int(llvm::StringRef name, int64_t otherwise) const;
  double Float(llvm::StringRef name, double otherwise) const;
  std::string String(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::vector<int64_t> Ints(llvm::StringRef name) const;
  std::vector<double> Floats(llvm::StringRef name) const;
  /// The element type that an attribute names.
  DType TypeAttribute(llvm::StringRef name, DType otherwise);

  // --- Calls --------------------------------------------------------------------------------
  /// A call; its first result. Operands of a dtype that the operator does not take are computed in
  /// a wider one, and the result is cast back.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// The same with all results.
  std::vector<Value*> CallAll(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
                              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// A loop of a run.
  struct Loop {
    /// What it goes along, and what is carried into the first step.
    std::vector<Value*> xs, init;
    /// The steps of each row; null: all.
    Value* lengths = nullptr;
    int64_t axis = 0;
    bool reverse = false;
    /// What the text calls the slices, and what is carried.
    std::vector<std::string> names;
  };
  /// `body` is given a slice of each sequence and what is carried, and returns what is carried on,
  /// then the values of the step. The values of all steps, stacked, then what the last one carried.
  std::vector<Value*> Scan(const Loop& loop,
                           llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> body);
  Value* Add(Value* a, Value* b) { return Call("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return Call("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return Call("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return Call("div", {a, b}); }
  Value* Cast(Value* x, DType to);
  Value* Reshape(Value* x, llvm::ArrayRef<Dim> dims);
  Value* Transpose(Value* x, llvm::ArrayRef<int64_t> perm);
  /// A scalar of that dtype; of the dtype of `like`.
  Value* Scalar(double value, DType dtype);
  Value* Scalar(double value, Value* like);
  Value* Literal(Constant constant) { return Parameter(std::move(constant), ""); }
  /// Weights of the network; a small constant stands in the text.
  Value* Parameter(Constant constant, llvm::StringRef name);
  Value* Literal(llvm::ArrayRef<int64_t> values);
  /// One number everywhere.
  Value* Filled(llvm::ArrayRef<Dim> dims, double value, DType dtype);
  /// The sizes as an i64 tensor of one dim; known to later nodes.
  Value* SizeValue(llvm::ArrayRef<Dim> sizes);

  // --- Outputs ------------------------------------------------------------------------------
  void Out(unsigned index, Value* value);
  void Out(Value* value) { Out(0, value); }
  void SequenceOut(unsigned index, std::vector<Value*> values);

  // --- Mistakes -----------------------------------------------------------------------------
  bool failed() const { return code_.has_value(); }
  /// The node contradicts itself.
  template <class... Args>
  void Fail(const char* format, Args&&... args) {
    SetError(Code::kBadNetwork, llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  /// The node is good, and needs what pdl lacks.
  template <class... Args>
  void Unsupported(const char* format, Args&&... args) {
    SetError(Code::kNotSupported, llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  /// An axis in [-rank, rank) counted from the front.
  unsigned Axis(int64_t axis, size_t rank);
  std::vector<int64_t> Axes(llvm::ArrayRef<int64_t> axes, size_t rank);
  void Take(llvm::Error error);
  llvm::Error TakeError();

 private:
  /// The same number everywhere in other dims, where the call only moves what `fill` gives.
  Value* FilledAlike(const Op& op);
  /// One number in place of a tensor of it that broadcasts to the other operand.
  void UseScalars(llvm::MutableArrayRef<Value*> operands);
  /// The order of u64 in an i64, and back.
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
