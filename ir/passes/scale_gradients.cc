// Loss scaling (Micikevicius et al., arXiv:1710.03740): gradients are computed from a scaled loss,
// so that small ones do not underflow in f16. A step in which one overflows only changes the scale.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The suffix of the state that counts steps.
constexpr llvm::StringLiteral kGood = ".good";

class GradientScaling {
 public:
  GradientScaling(Graph& graph, const OpRegistry& registry, const GradientScale& options)
      : graph_(graph),
        registry_(registry),
        options_(options),
        gradients_(OuterGradients(graph)),
        from_gradients_(graph),
        needed_(graph) {}

  void Run() {
    Value* scale = AddState(options_.state, Constant::Scalar(DType::kF32, options_.initial));
    graph_.SetComment(scale, "The scale of the losses; halved when gradients overflow.");
    Value* good = AddState(options_.state + kGood.str(), Constant::Scalar(DType::kI64, 0));
    graph_.SetComment(good, "Steps since the scale was changed.");
    FindDependences();
    for (Op* op : graph_.ops().vec()) {
      order_.push_back(op);
      if (!gradients_.contains(op)) continue;
      location_ = op->location();
      Scale(*op, scale);
    }
    // The following calls depend on all gradients, and get the location of the last one.
    if (!sums_.empty()) {
      // Finite if all gradients are.
      Value* total = sums_.size() == 1 ? sums_[0] : Call("add_n", sums_, {}, "gradients_sum");
      Value* finite = Call("isfinite", total, {}, "gradients_finite");
      GuardAssertions(finite);
      GuardUpdates(finite);
      UpdateScale(scale, good, finite);
    }
    graph_.SetBlockOps({}, std::move(order_));
    SortCalls(graph_);
  }

 private:
  /// Finds the values that are computed from gradients, and those that updates or assertions need.
  void FindDependences() {
    for (const Op* op : gradients_) from_gradients_.InsertAll(op->results());
    PropagateForward(graph_.ops(), from_gradients_);
    for (const GraphUpdate& update : graph_.updates()) needed_.insert(update.value);
    for (Op* op : graph_.ops()) {
      if (!op->def().properties().only_checks || !from_gradients_.ContainsAny(op->operands()))
        continue;
      assertions_.push_back(op);
      needed_.InsertAll(op->operands());
    }
    PropagateBackward(graph_.ops(), needed_);
  }

  /// A step whose gradients overflow is not rejected by an assertion about them: it is skipped.
  void GuardAssertions(Value* finite) {
    for (Op* assertion : assertions_) {
      location_ = assertion->location();
      std::vector<Value*> operands = assertion->operands().vec();
      if (operands[0]->type().dtype != DType::kBool) continue;
      Value* overflow = Call("logical_not", finite, {}, "gradients_overflow");
      operands[0] =
          Call("logical_or", {operands[0], overflow}, {}, operands[0]->name() + "_or_skipped");
      graph_.RewriteOp(assertion, assertion->def(), operands, assertion->attribute_values().vec());
    }
  }

  void GuardUpdates(Value* finite) {
    const LocationId last = location_;
    for (const GraphUpdate& update : graph_.updates().vec()) {
      if (update.state->name() == "step") continue;
      Value* next = update.value;
      location_ = next->location() == kUnknownLocation ? last : next->location();
      const std::vector<Value::Use> uses = next->uses().vec();
      Value* guarded = Where(finite, next, update.state, next->name() + "_if_finite");
      graph_.AddUpdate(update.state, guarded);
      // Averages read the new value of a parameter through an identity: that of the state, so that
      // UpdateUsedRows recognizes it. No gradient depends on values that come from gradients.
      if (!from_gradients_.contains(next)) continue;
      for (const Value::Use& use : uses)
        if (use.op->def().properties().is_identity)
          graph_.RewriteOp(use.op, use.op->def(), guarded, use.op->attribute_values().vec());
    }
    location_ = last;
  }

  Value* AddState(const std::string& name, Constant first) {
    CallOptions options;
    options.block = graph_.AddBlock();
    const DType dtype = first.dtype();
    auto call = graph_.AddOp(Find("constant"), {}, {{"value", std::move(first)}, {"dtype", dtype}},
                             {graph_.NewName(name + "_first")}, std::move(options));
    if (!call) InternalError(llvm::toString(call.takeError()));
    graph_.SetBlockOutputs((*call)->block(), {(*call)->result()});
    VariableInfo info;
    info.initializer = (*call)->block();
    return graph_.AddState(name, Type(dtype, {}), std::move(info));
  }

  void Scale(Op& gradient, Value* scale) {
    if (inverse_ == nullptr) inverse_ = Call("reciprocal", scale, {}, scale->name() + "_inverse");
    llvm::SmallVector<Value*, 8> operands(gradient.operands().begin(), gradient.operands().end());
    const DType dtype = operands[0]->type().dtype;
    operands[1] = Call("mul", {operands[1], As(dtype, scale)}, {}, operands[0]->name() + "_scale");
    graph_.RewriteOp(&gradient, gradient.def(), operands, gradient.attribute_values().vec());
    for (Value* scaled : gradient.results().vec()) {
      const DType wide_dtype = scaled->type().dtype == DType::kF64 ? DType::kF64 : DType::kF32;
      Value* wide = Unscale(scaled, wide_dtype);
      if (needed_.contains(scaled)) sums_.push_back(Sum(wide, scaled->name()));
    }
  }

  /// Replaces a gradient by its quotient by the scale. A gradient of 16 bits is divided in f32,
  /// where readers that convert it to f32, as optimizers do, keep the bits that scaling preserved.
  /// Returns the gradient itself in f32 or f64.
  Value* Unscale(Value* scaled, DType wide_dtype) {
    const DType dtype = scaled->type().dtype;
    const std::vector<Value::Use> uses = scaled->uses().vec();
    Value* wide = As(wide_dtype, scaled);
    Value* quotient =
        Call("mul", {wide, As(wide_dtype, inverse_)}, {}, scaled->name() + "_unscaled");
    if (dtype != wide_dtype) {
      for (const Value::Use& use : uses)
        if (&use.op->def() == &Find("cast") && use.op->result()->type().dtype == wide_dtype)
          graph_.ReplaceAllUses(use.op->result(), quotient);
    }
    Value* narrow = As(dtype, quotient);
    graph_.ReplaceAllUses(scaled, narrow);
    Op* first = wide == scaled ? quotient->producer() : wide->producer();
    std::vector<Value*> operands = first->operands().vec();
    operands[0] = scaled;
    graph_.RewriteOp(first, first->def(), operands, first->attribute_values().vec());
    return wide;
  }

  /// An f32 scalar that is finite if all elements are.
  Value* Sum(Value* gradient, const std::string& name) {
    // Finite f16 values cannot overflow in an f32 sum.
    const bool is_scalar = gradient->type().is_plain() && gradient->type().rank() == 0;
    Value* sum = is_scalar ? gradient : Call("sum", gradient, {}, name + "_sum");
    if (sum->type().dtype == DType::kF32) return sum;
    // A large f64 would overflow in f32; x - x does not.
    return As(DType::kF32, Call("sub", {sum, sum}, {}, name + "_rest"));
  }

  /// Doubles the scale after enough good steps, and divides it by 2 after a bad one.
  void UpdateScale(Value* scale, Value* good, Value* finite) {
    const std::string& name = scale->name();
    Value* more = Call("add", {good, Number(DType::kI64, 1)}, {}, good->name() + "_more");
    Value* grows = Call("greater_equal",
                        {more, Number(DType::kI64, static_cast<double>(options_.growth_steps))}, {},
                        name + "_grows");
    Value* none = Number(DType::kI64, 0);
    graph_.AddUpdate(good, Where(finite, Where(grows, none, more, good->name() + "_kept"), none,
                                 good->name() + "_next"));
    Value* twice = Call("mul", {scale, Number(DType::kF32, 2)}, {}, name + "_twice");
    twice = Call("minimum", {twice, Number(DType::kF32, GradientScale::kLargest)}, {},
                 name + "_larger");
    Value* half = Call("mul", {scale, Number(DType::kF32, 0.5)}, {}, name + "_half");
    half = Call("maximum", {half, Number(DType::kF32, GradientScale::kSmallest)}, {},
                name + "_smaller");
    graph_.AddUpdate(
        scale, Where(finite, Where(grows, twice, scale, name + "_kept"), half, name + "_next"));
  }

  const OpDef& Find(llvm::StringRef name) const {
    const OpDef* def = registry_.Find(name);
    if (def == nullptr) InternalError("there is no operator '" + name.str() + "'");
    return *def;
  }

  Value* Call(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes, const std::string& result) {
    CallOptions options;
    options.location = location_;
    auto call = graph_.AddOp(Find(name), operands, attributes, {graph_.NewName(result)},
                             std::move(options));
    if (!call) InternalError("scaling of gradients: " + llvm::toString(call.takeError()));
    order_.push_back(*call);
    return (*call)->result();
  }

  Value* Where(Value* condition, Value* then, Value* otherwise, const std::string& result) {
    return Call("where", {condition, then, otherwise}, {}, result);
  }

  Value* Number(DType dtype, double value) {
    return Call("constant", {}, {{"value", Constant::Scalar(dtype, value)}, {"dtype", dtype}},
                "number");
  }

  Value* As(DType dtype, Value* scalar) {
    if (scalar->type().dtype == dtype) return scalar;
    return Call("cast", scalar, {{"to", dtype}}, scalar->name() + "_" + DTypeName(dtype).str());
  }

  Graph& graph_;
  const OpRegistry& registry_;
  const GradientScale& options_;
  const llvm::DenseSet<const Op*> gradients_;
  ValueSet from_gradients_, needed_;
  llvm::SmallVector<Op*, 2> assertions_;  // that are computed from gradients
  llvm::SmallVector<Value*, 8> sums_;     // of gradients
  LocationId location_ = kUnknownLocation;
  Value* inverse_ = nullptr;
  std::vector<Op*> order_;
};

}  // namespace

std::string NameOfScale(const Graph& network) {
  Graph copy = network.Clone();
  for (;;) {
    std::string name = copy.NewName(GradientScale().state);
    if (copy.FindValue(name + kGood.str()) == nullptr) return name;
    copy.ReserveName(name);
  }
}

void ScaleGradients(Graph& step, const OpRegistry& registry, const GradientScale& scale) {
  GradientScaling(step, registry, scale).Run();
}

}  // namespace pdl
