#ifndef PDL_OP_GRADIENT_H_
#define PDL_OP_GRADIENT_H_

#include <initializer_list>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The interface between a gradient rule and the graph: access to one forward call, and functions
/// that emit the calls of the backward pass. A rule needs no error handling: after an error every
/// Call accepts and returns null, and the caller of the rule reports the first Error. A rule reads
/// like the formula:
///
///   void SineGradient(GradientContext& g) {
///     g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Call("cos", {g.input(0)})));
///   }
class PDL_API GradientContext {
 public:
  /// Provides rules with values of the forward pass, which may be recomputed.
  class Source {
   public:
    virtual ~Source() = default;
    virtual Value* Get(Value* value) = 0;
  };

  /// `output_gradients` has one element for each result of `op`; null if that result has no
  /// gradient.
  GradientContext(Graph& graph, const OpRegistry& registry, const Op& op,
                  llvm::ArrayRef<Value*> output_gradients, Source* source = nullptr);

  const Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  unsigned num_inputs() const { return static_cast<unsigned>(op_->operands().size()); }
  Value* input(unsigned index) const {
    return Get(op_->operands()[Checked(index, num_inputs(), "operand")]);
  }
  Value* output(unsigned index = 0) const {
    return Get(op_->result(Checked(index, output_gradients_.size(), "output")));
  }
  Value* output_gradient(unsigned index = 0) const {
    return output_gradients_[Checked(index, output_gradients_.size(), "output")];
  }

  /// Emits a call at the forward call's location and returns its first result.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  Value* Add(Value* a, Value* b) { return Call("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return Call("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return Call("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return Call("div", {a, b}); }
  Value* Neg(Value* a) { return Call("neg", {a}); }
  /// A scalar constant of the dtype of `like`.
  Value* Scalar(double value, Value* like);
  /// Reverses broadcasting: sums `gradient` over the broadcast dims, to the dims of `to`.
  Value* SumTo(Value* gradient, Value* to);

  /// Sets the gradient of an input. Inputs that are never set (integers, conditions) have no
  /// gradient.
  void SetInputGradient(unsigned index, Value* gradient);
  llvm::ArrayRef<Value*> input_gradients() const { return input_gradients_; }
  /// Returns the gradient that the rule set, with the dims of the input; emits a reshape if only a
  /// run can compare the sizes. Returns null if the rule set none, and an Error if the dims differ.
  llvm::Expected<Value*> FitGradient(unsigned index);
  /// For rules that build a Block.
  Graph& graph() { return *graph_; }
  const OpRegistry& registry() const { return *registry_; }
  /// Reports an error from the rule.
  void Fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  /// Returns the first error of an emitted call. Must be called after the rule.
  [[nodiscard]] llvm::Error TakeError();

 private:
  /// The index; throws std::out_of_range if there are not so many.
  static unsigned Checked(unsigned index, size_t count, const char* what) {
    if (index >= count) ThrowNo(what, index, count);
    return index;
  }
  [[noreturn]] static void ThrowNo(const char* what, unsigned index, size_t count);
  Value* Get(Value* value) const { return source_ == nullptr ? value : source_->Get(value); }

  Graph* graph_;
  const OpRegistry* registry_;
  const Op* op_;
  Source* source_;
  llvm::SmallVector<Value*, 2> output_gradients_;
  llvm::SmallVector<Value*, 2> input_gradients_;
  std::string error_;
};

}  // namespace pdl

#endif  // PDL_OP_GRADIENT_H_
