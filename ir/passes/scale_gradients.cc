// Loss scaling (Micikevicius et al., arXiv:1710.03740): gradients are computed from a scaled loss,
// so that small ones do not underflow in f16. A step in which one overflows only changes the scale.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

class GradientScaling {
 public:
  GradientScaling(Graph& graph, const OpRegistry& registry, const GradientScale& options)
      : graph_(graph), registry_(registry), options_(options) {}

  void Run() {
    Value* scale = AddState(options_.state, Constant::Scalar(DType::kF32, options_.initial));
    graph_.SetComment(scale, "The scale of the losses; halved when gradients overflow.");
    Value* good = AddState(options_.state + ".good", Constant::Scalar(DType::kI64, 0));
    graph_.SetComment(good, "Steps since the scale was changed.");
    const llvm::DenseSet<const Op*> outer = OuterGradients(graph_);
    if (outer.empty()) return;
    const std::vector<Op*> ops = graph_.ops().vec();
    llvm::SmallVector<Value*, 8> sums;
    for (Op* op : ops) {
      if (!outer.contains(op)) {
        order_.push_back(op);
        continue;
      }
      location_ = op->location();
      Scale(*op, scale, &sums);
    }
    // The following calls depend on all gradients, and get the location of the last one.
    const LocationId last = location_;
    // Finite if all gradients are.
    Value* total = sums.size() == 1 ? sums[0] : Call("add_n", sums, {}, "gradients_sum");
    Value* finite = Call("isfinite", total, {}, "gradients_finite");
    const std::vector<GraphUpdate> updates = graph_.updates().vec();
    for (const GraphUpdate& update : updates) {
      if (update.state->name() == "step") continue;
      location_ = update.value->location() == kUnknownLocation ? last : update.value->location();
      graph_.AddUpdate(update.state, Where(finite, update.value, update.state,
                                           update.value->name() + "_if_finite"));
    }
    location_ = last;
    UpdateScale(scale, good, finite);
    graph_.SetBlockOps({}, std::move(order_));
  }

 private:
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

  void Scale(Op& gradient, Value* scale, llvm::SmallVectorImpl<Value*>* sums) {
    if (inverse_ == nullptr) inverse_ = Call("reciprocal", scale, {}, scale->name() + "_inverse");
    llvm::SmallVector<Value*, 8> operands(gradient.operands().begin(), gradient.operands().end());
    const DType dtype = operands[0]->type().dtype;
    operands[1] = Call("mul", {operands[1], As(dtype, scale)}, {}, operands[0]->name() + "_scale");
    graph_.RewriteOp(&gradient, gradient.def(), operands, gradient.attribute_values().vec());
    order_.push_back(&gradient);
    for (Value* scaled : gradient.results()) {
      if (scaled->uses().empty()) continue;
      const Type& type = scaled->type();
      Value* factor = As(type.dtype, inverse_);
      Value* unscaled = Call("mul", {scaled, factor}, {}, scaled->name() + "_unscaled");
      Op* call = unscaled->producer();
      graph_.ReplaceAllUses(scaled, unscaled);
      graph_.RewriteOp(call, call->def(), {scaled, factor}, call->attribute_values().vec());
      if (!type.is_plain()) continue;
      // Finite f16 values cannot overflow in an f32 sum.
      const bool is_double = type.dtype == DType::kF64;
      Value* wide = As(is_double ? DType::kF64 : DType::kF32, scaled);
      Value* sum = type.rank() == 0 ? wide : Call("sum", wide, {}, scaled->name() + "_sum");
      // A large f64 would overflow in f32; x - x does not.
      if (is_double) {
        Value* rest = Call("sub", {sum, sum}, {}, scaled->name() + "_rest");
        sum = As(DType::kF32, rest);
      }
      sums->push_back(sum);
    }
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
  LocationId location_ = kUnknownLocation;
  Value* inverse_ = nullptr;
  std::vector<Op*> order_;
};

}  // namespace

void ScaleGradients(Graph& step, const OpRegistry& registry, const GradientScale& scale) {
  GradientScaling(step, registry, scale).Run();
}

}  // namespace pdl
