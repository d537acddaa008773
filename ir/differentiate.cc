#include "pdl/compiler/differentiate.h"

#include <algorithm>

#include "ir/operator_code.h"
#include "ir/padded_parts.h"
#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/error.h"
#include "pdl/op/gradient.h"

namespace pdl {
namespace {

bool HasFloats(const Value* value) { return IsFloat(value->type().dtype); }

/// " at net.pdl:3:5", or nothing for a call without a location.
std::string AtPlaceOf(const Graph& graph, const Op& op) {
  const std::string place = graph.PathToString(op.location());
  return place.empty() ? place : " at " + place;
}

/// Recomputes calls of layers with `recompute=true` in the backward pass.
class Recomputation : public GradientContext::Source {
 public:
  /// `ops` are the calls of the forward pass.
  Recomputation(Graph& graph, llvm::ArrayRef<Op*> ops)
      : graph_(graph), effects_(EffectsOfBlocks(graph)) {
    for (const auto& [index, op] : llvm::enumerate(ops)) {
      if (op->recompute() != 0) index_of_[op] = index;
      for (const Value* operand : op->operands()) {
        const Op* producer = operand->producer();
        if (producer == nullptr || producer->recompute() == 0) continue;
        if (producer->recompute() != op->recompute() || IsRandom(*producer)) kept_.insert(operand);
      }
    }
  }

  Value* Get(Value* value) override {
    if (IsKept(value)) return value;
    if (Value* copy = copies_.lookup(value)) return copy;
    // The calls that it depends on, in order.
    auto computed_from = [&](Value* from, AddValue add) {
      for (Value* operand : from->producer()->operands())
        if (!IsKept(operand) && !copies_.contains(operand)) add(operand);
    };
    std::vector<const Op*> order;
    for (const Value* needed : BackwardSlice(value, computed_from))
      order.push_back(needed->producer());
    llvm::sort(order,
               [&](const Op* a, const Op* b) { return index_of_.lookup(a) < index_of_.lookup(b); });
    order.erase(std::unique(order.begin(), order.end()), order.end());
    for (const Op* op : order) Copy(*op);
    return copies_.lookup(value);
  }

 private:
  bool IsRandom(const Op& op) const { return !EffectsOf(op, effects_).IsRepeatable(); }
  /// Values that are used by calls of another `recompute` number are kept anyway.
  bool IsKept(const Value* value) const {
    const Op* op = value->producer();
    return op == nullptr || op->recompute() == 0 || IsRandom(*op) || kept_.contains(value);
  }

  void Copy(const Op& op) {
    llvm::SmallVector<Value*, 4> operands;
    for (Value* operand : op.operands()) {
      Value* copy = copies_.lookup(operand);
      operands.push_back(copy != nullptr ? copy : operand);
    }
    std::vector<std::string> names;
    for (const Value* result : op.results())
      names.push_back(graph_.NewName(result->name() + "_again"));
    CallOptions options;
    options.location = op.location();
    options.block = op.block();
    options.layer_path = op.layer_path();
    options.recompute = op.recompute();
    llvm::Expected<Op*> copy = graph_.AddOpWithValues(
        op.def(), operands, op.attribute_values().vec(), names, std::move(options));
    if (!copy) InternalError("a call cannot be repeated: " + llvm::toString(copy.takeError()));
    for (auto [from, to] : llvm::zip_equal(op.results(), (*copy)->results())) copies_[from] = to;
  }

  Graph& graph_;
  std::vector<CallEffects> effects_;
  llvm::DenseMap<const Op*, size_t> index_of_;  // of calls that may be repeated
  llvm::DenseSet<const Value*> kept_;
  llvm::DenseMap<const Value*, Value*> copies_;
};

class Differentiator {
 public:
  Differentiator(Graph& graph, const OpRegistry& registry, const DerivativeRequest& request)
      : graph_(graph), registry_(registry), request_(request), varied_(graph) {}

  llvm::Expected<std::vector<Value*>> Run() {
    const std::vector<Op*> ops =
        request_.ops ? request_.ops->vec() : graph_.block(request_.block).ops;
    varied_.InsertAll(request_.inputs);
    PropagateForward(ops, varied_, HasFloats);
    for (auto [output, cotangent] : llvm::zip_equal(request_.outputs, request_.cotangents))
      if (varied_.contains(output)) parts_[output].push_back(cotangent);
    Recomputation recomputation(graph_, ops);
    for (Op* op : llvm::reverse(ops))
      if (llvm::Error error = Derive(*op, recomputation)) return error;
    std::vector<Value*> found;
    for (Value* input : request_.inputs) {
      llvm::Expected<Value*> gradient = Sum(input, nullptr);
      if (!gradient) return gradient.takeError();
      found.push_back(*gradient);
    }
    return found;
  }

 private:
  /// Returns the sum of the gradients of a value, null if there are none. `at` is the call that
  /// computes the value.
  llvm::Expected<Value*> Sum(Value* value, const Op* at) {
    auto found = parts_.find(value);
    if (found == parts_.end()) return nullptr;
    llvm::SmallVector<Value*, 2>& parts = found->second;
    if (parts.size() > 1) {
      CallOptions options;
      options.block = request_.block;
      options.location = at != nullptr ? at->location() : value->location();
      if (at != nullptr) options.layer_path = at->layer_path();
      const std::string name = "d_" + value->name();
      if (llvm::Error error = JoinPaddedParts(graph_, registry_, options, name, parts))
        return error;
      if (parts.size() == 1) return parts.front();
      const OpDef* def = registry_.Find(parts.size() == 2 ? "add" : "add_n");
      if (def == nullptr) return llvm::createStringError("there is no operator for addition");
      llvm::Expected<Op*> sum =
          graph_.AddOp(*def, parts, {}, {graph_.NewName(name)}, std::move(options));
      if (!sum) return sum.takeError();
      parts = {(*sum)->result()};
    }
    return parts.front();
  }

  llvm::Error Derive(Op& op, Recomputation& recomputation) {
    if (graph_.block(request_.block).ops.size() > request_.max_calls)
      return MakeUserError(Code::kTextTooLong,
                           "the backward pass has too many calls; each gradient of a gradient "
                           "multiplies their number");
    llvm::SmallVector<Value*, 2> output_gradients;
    bool flows = false;
    for (Value* result : op.results()) {
      llvm::Expected<Value*> gradient = varied_.contains(result) ? Sum(result, &op) : nullptr;
      if (!gradient) return gradient.takeError();
      output_gradients.push_back(*gradient);
      flows |= *gradient != nullptr;
    }
    if (!flows || !varied_.ContainsAny(op.operands())) return llvm::Error::success();
    if (op.def().gradient == nullptr) {
      return MakeUserError(Code::kBadGradient,
                           "the gradient depends on '{0}'{1}, which has no gradient; "
                           "stop_gradient(…) in front of it "
                           "treats its operand as a constant",
                           op.type(), AtPlaceOf(graph_, op));
    }
    GradientContext context(graph_, registry_, op, output_gradients, &recomputation);
    llvm::Error failure = ConvertExceptions(
        [&] {
          op.def().gradient(context);
          return context.TakeError();
        },
        [&](const char* what) {
          return MakeUserError(Code::kBadGradient, "gradient of '{0}'{1}: its rule failed: {2}",
                               op.type(), AtPlaceOf(graph_, op), what);
        });
    if (failure) return failure;
    for (unsigned i = 0; i < op.operands().size(); ++i) {
      Value* operand = op.operands()[i];
      if (!varied_.contains(operand)) continue;
      llvm::Expected<Value*> gradient = context.FitGradient(i);
      if (!gradient) return gradient.takeError();
      if (*gradient != nullptr) parts_[operand].push_back(*gradient);
    }
    return llvm::Error::success();
  }

  Graph& graph_;
  const OpRegistry& registry_;
  const DerivativeRequest& request_;
  ValueSet varied_;  // computed from an input through floats only
  llvm::DenseMap<const Value*, llvm::SmallVector<Value*, 2>> parts_;
};

/// Returns a call without a gradient on a floating-point path through the body of a loop, from
/// varied operands to useful results; null if there is none.
const Op* FindWithoutRule(const Graph& graph, const Op& loop, const ValueSet& varied_outside,
                          const ValueSet& useful_outside) {
  const LoopBody body(graph, loop);
  ValueSet varied(graph), useful(graph);
  for (unsigned i = 0; i < body.num_inputs(); ++i)
    if (varied_outside.contains(loop.operands()[i])) varied.insert(body.input(i));
  body.PropagateForward(varied, HasFloats);
  for (unsigned i = 0; i < body.num_outputs(); ++i)
    if (varied.contains(body.output(i)) && useful_outside.contains(loop.result(i)))
      useful.insert(body.output(i));
  const Op* found = nullptr;
  body.PropagateBackward(useful, HasFloats, [&](const Op& op) {
    if (!varied.ContainsAny(op.operands())) return;
    for (const Value* operand : op.operands())
      if (varied.contains(operand)) useful.insert(operand);
    if (op.def().gradient == nullptr) found = &op;
  });
  return found;
}

}  // namespace

llvm::Expected<std::vector<Value*>> Differentiate(Graph& graph, const OpRegistry& registry,
                                                  const DerivativeRequest& request) {
  return Differentiator(graph, registry, request).Run();
}

bool IsGradient(const OpDef& def) { return def.name() == "gradient"; }

llvm::DenseSet<const Op*> OuterGradients(const Graph& graph) {
  llvm::DenseSet<const Op*> outer;
  ValueSet below(graph);
  auto is_gradient = [](const Op& op) { return IsGradient(op.def()); };
  PropagateBackward(graph.ops(), below, is_gradient, [&](const Op& op) {
    if (!below.ContainsAny(op.results())) outer.insert(&op);
    below.InsertAll(op.operands());
  });
  return outer;
}

GradientFlow FindGradientFlow(const Graph& graph, const Value* output,
                              llvm::ArrayRef<Value*> inputs) {
  const llvm::ArrayRef<Op*> ops = graph.ops();
  ValueSet computed_from(graph);
  computed_from.insert(output);
  PropagateBackward(ops, computed_from);
  GradientFlow flow;
  const Op* stop = nullptr;
  ValueSet varied(graph);
  varied.InsertAll(inputs);
  PropagateForward(ops, varied, [&](const Value* result) {
    if (!computed_from.contains(result)) return false;
    if (!HasFloats(result)) stop = result->producer();
    return HasFloats(result);
  });
  // Backward from the output, through varied values.
  ValueSet active(graph);
  if (varied.contains(output)) active.insert(output);
  PropagateBackward(ops, active, nullptr, [&](const Op& op) {
    const OpDef& def = op.def();
    if (def.body)
      if (const Op* inner = FindWithoutRule(graph, op, varied, active)) flow.without_rule = inner;
    if (!varied.ContainsAny(op.operands())) return;
    for (const Value* operand : op.operands())
      if (varied.contains(operand)) active.insert(operand);
    if (def.gradient == nullptr && def.lower == nullptr && !IsGradient(def))
      flow.without_rule = &op;
  });
  for (const Value* input : inputs) flow.reaches.push_back(active.contains(input));
  if (!llvm::is_contained(flow.reaches, true)) flow.stop = stop;
  return flow;
}

}  // namespace pdl
