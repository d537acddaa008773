#ifndef PDL_OP_GRADIENT_H_
#define PDL_OP_GRADIENT_H_

#include <initializer_list>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// What a gradient rule sees of one forward call, and how it emits the backward calls. Emitting
/// never fails visibly: after a mistake every Call gives null and takes null, and the driver
/// reports the first Error. A rule reads like the formula:
///
///   void SineGradient(GradientContext& g) {
///     g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Call("cos", {g.input(0)})));
///   }
class PDL_API GradientContext {
 public:
  /// Where rules get values of the forward calls from: they may be computed again.
  class Source {
   public:
    virtual ~Source() = default;
    virtual Value* Get(Value* value) = 0;
  };

  /// `output_gradients`: one for each result of `op`, null where nothing flows back.
  GradientContext(Graph& graph, const OpRegistry& registry, const Op& op,
                  llvm::ArrayRef<Value*> output_gradients, Source* source = nullptr);

  const Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  unsigned num_inputs() const { return static_cast<unsigned>(op_->operands().size()); }
  Value* input(unsigned index) const { return Get(op_->operands()[index]); }
  Value* output(unsigned index = 0) const { return Get(op_->result(index)); }
  Value* output_gradient(unsigned index = 0) const { return output_gradients_[index]; }

  /// Emits a call at the forward call's location; gives its first result.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  Value* Add(Value* a, Value* b) { return Call("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return Call("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return Call("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return Call("div", {a, b}); }
  Value* Neg(Value* a) { return Call("neg", {a}); }
  /// A scalar constant of the dtype of `like`.
  Value* Scalar(double value, Value* like);
  /// Undoes broadcasting: sums `gradient` down to the dims of `to`.
  Value* SumTo(Value* gradient, Value* to);

  /// Leaves an input without a gradient where it is not called for it (integers, conditions).
  void SetInputGradient(unsigned index, Value* gradient);
  llvm::ArrayRef<Value*> input_gradients() const { return input_gradients_; }
  /// What the rule has set, in the dims of the input: of sizes that only a run can compare, a
  /// reshape makes them. Null where it set nothing; an Error where they differ.
  llvm::Expected<Value*> FitGradient(unsigned index);
  /// For a rule that fills a Block.
  Graph& graph() { return *graph_; }
  const OpRegistry& registry() const { return *registry_; }
  /// A mistake of its own.
  void Fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  /// The first mistake of an emitted call. To be checked after the rule ran.
  [[nodiscard]] llvm::Error TakeError();

 private:
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
