#include "pdl/differentiate.h"

#include "ir/passes/block_effects.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/error.h"
#include "pdl/gradient.h"

namespace pdl {
namespace {

bool HasFloats(const Value* value) { return IsFloat(value->type().dtype); }

std::string PlaceOf(const Graph& graph, const Op& op) {
  const std::string place = graph.PathToString(op.location());
  return place.empty() ? place : place + ": ";
}

/// Repeats calls of layers that are to be computed again.
class Recomputation : public GradientContext::Source {
 public:
  /// `ops`: the calls before any of the way back.
  Recomputation(Graph& graph, llvm::ArrayRef<Op*> ops)
      : graph_(graph), effects_(EffectsOfBlocks(graph)) {
    for (const Op* op : ops) {
      for (const Value* operand : op->operands()) {
        const Op* producer = operand->producer();
        if (producer == nullptr || producer->recompute() == 0) continue;
        if (producer->recompute() != op->recompute() || IsDrawn(*producer)) kept_.insert(operand);
      }
    }
  }

  Value* Get(Value* value) override {
    if (IsKept(value)) return value;
    if (Value* copy = copies_.lookup(value)) return copy;
    // The calls that it needs, which may be a long chain, in their order.
    llvm::SmallVector<const Op*, 16> pending = {value->producer()}, order;
    llvm::DenseSet<const Op*> seen = {value->producer()};
    while (!pending.empty()) {
      order.push_back(pending.pop_back_val());
      for (const Value* operand : order.back()->operands()) {
        if (IsKept(operand) || copies_.contains(operand)) continue;
        if (seen.insert(operand->producer()).second) pending.push_back(operand->producer());
      }
    }
    llvm::sort(order, [&](const Op* a, const Op* b) {
      return graph_.number(a->result()) < graph_.number(b->result());
    });
    for (const Op* op : order) Copy(*op);
    return copies_.lookup(value);
  }

 private:
  bool IsDrawn(const Op& op) const { return !EffectsOf(op, effects_).IsRepeatable(); }
  /// What others than the calls of its number use is there anyway.
  bool IsKept(const Value* value) const {
    const Op* op = value->producer();
    return op == nullptr || op->recompute() == 0 || IsDrawn(*op) || kept_.contains(value);
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
  llvm::DenseSet<const Value*> kept_;
  llvm::DenseMap<const Value*, Value*> copies_;
};

class Differentiator {
 public:
  Differentiator(Graph& graph, const OpRegistry& registry, const DerivativeRequest& request)
      : graph_(graph), registry_(registry), request_(request) {}

  llvm::Expected<std::vector<Value*>> Run() {
    const std::vector<Op*> ops = graph_.block(request_.block).ops;
    FindMovingValues(ops);
    for (auto [output, cotangent] : llvm::zip_equal(request_.outputs, request_.cotangents))
      if (Moves(output)) parts_[output].push_back(cotangent);
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
  bool Moves(const Value* value) const {
    return graph_.number(value) < moves_.size() && moves_[graph_.number(value)];
  }

  void FindMovingValues(llvm::ArrayRef<Op*> ops) {
    moves_.resize(graph_.num_values());
    for (const Value* input : request_.inputs) moves_.set(graph_.number(input));
    for (const Op* op : ops) {
      if (!llvm::any_of(op->operands(), [&](const Value* operand) { return Moves(operand); }))
        continue;
      for (const Value* result : op->results())
        if (HasFloats(result)) moves_.set(graph_.number(result));
    }
  }

  /// The sum of what flows back to a value, null where nothing does. `at`: the call that computes
  /// it.
  llvm::Expected<Value*> Sum(Value* value, const Op* at) {
    auto found = parts_.find(value);
    if (found == parts_.end()) return nullptr;
    llvm::SmallVector<Value*, 2>& parts = found->second;
    if (parts.size() > 1) {
      CallOptions options;
      options.block = request_.block;
      options.location = at != nullptr ? at->location() : value->location();
      if (at != nullptr) options.layer_path = at->layer_path();
      const OpDef* def = registry_.Find(parts.size() == 2 ? "add" : "add_n");
      if (def == nullptr) return llvm::createStringError("there is no operator that adds");
      llvm::Expected<Op*> sum =
          graph_.AddOp(*def, parts, {}, {graph_.NewName("d_" + value->name())}, std::move(options));
      if (!sum) return sum.takeError();
      parts = {(*sum)->result()};
    }
    return parts.front();
  }

  llvm::Error Derive(Op& op, Recomputation& recomputation) {
    llvm::SmallVector<Value*, 2> output_gradients;
    bool flows = false;
    for (Value* result : op.results()) {
      llvm::Expected<Value*> gradient = Moves(result) ? Sum(result, &op) : nullptr;
      if (!gradient) return gradient.takeError();
      output_gradients.push_back(*gradient);
      flows |= *gradient != nullptr;
    }
    const bool has_moving_operand =
        llvm::any_of(op.operands(), [&](const Value* operand) { return Moves(operand); });
    if (!flows || !has_moving_operand) return llvm::Error::success();
    if (op.def().gradient == nullptr) {
      return MakeUserError(Code::kBadGradient,
                           "{0}the gradient flows through '{1}', which has none; stop_gradient(…) "
                           "in front of it counts what it is given as a constant",
                           PlaceOf(graph_, op), op.type());
    }
    GradientContext context(graph_, registry_, op, output_gradients, &recomputation);
    op.def().gradient(context);
    if (llvm::Error error = context.TakeError()) return error;
    for (unsigned i = 0; i < op.operands().size(); ++i) {
      Value* operand = op.operands()[i];
      if (!Moves(operand)) continue;
      llvm::Expected<Value*> gradient = context.FitGradient(i);
      if (!gradient) return gradient.takeError();
      if (*gradient != nullptr) parts_[operand].push_back(*gradient);
    }
    return llvm::Error::success();
  }

  Graph& graph_;
  const OpRegistry& registry_;
  const DerivativeRequest& request_;
  llvm::BitVector moves_;  // by number: computed from an input, by floats alone
  llvm::DenseMap<const Value*, llvm::SmallVector<Value*, 2>> parts_;
};

/// The way back through the body of a loop, all of whose steps count together.
class BodyFlow {
 public:
  BodyFlow(const Graph& graph, const Op& loop)
      : block_(graph.block(std::get<BlockId>(Attribute(loop, "body")))),
        num_xs_(static_cast<size_t>(std::get<int64_t>(Attribute(loop, "num_xs")))),
        num_init_(static_cast<size_t>(std::get<int64_t>(Attribute(loop, "num_init")))) {}

  /// A call without a gradient on the way from the results that count to the operands that move;
  /// null where there is none.
  const Op* FindWithoutRule(llvm::function_ref<bool(unsigned)> moves_operand,
                            llvm::function_ref<bool(unsigned)> counts_result) {
    for (unsigned i = 0; i < block_.inputs.size(); ++i)
      if (moves_operand(i)) moves_.insert(block_.inputs[i]);
    // What a step carries moves the next one.
    do {
      for (const Op* op : block_.ops) MoveResults(*op);
    } while (Carry(moves_, block_.outputs, 0, block_.inputs, num_xs_));
    // Results are the values of the steps, then what is carried.
    const size_t num_steps = block_.outputs.size() - num_init_;
    for (unsigned i = 0; i < block_.outputs.size(); ++i) {
      const Value* output = block_.outputs[i < num_steps ? num_init_ + i : i - num_steps];
      if (moves_.contains(output) && counts_result(i)) flows_.insert(output);
    }
    const Op* found = nullptr;
    do {
      for (const Op* op : llvm::reverse(block_.ops))
        if (FlowBack(*op) && op->def().gradient == nullptr) found = op;
    } while (Carry(flows_, block_.inputs, num_xs_, block_.outputs, 0));
    return found;
  }

 private:
  using Values = llvm::DenseSet<const Value*>;

  static const AttributeValue& Attribute(const Op& loop, llvm::StringRef name) {
    const int index = loop.def().signature.FindAttribute(name);
    return loop.attribute_values()[static_cast<size_t>(index)];
  }
  static bool HasAny(const Values& values, llvm::ArrayRef<Value*> some) {
    return llvm::any_of(some, [&](const Value* value) { return values.contains(value); });
  }

  void MoveResults(const Op& op) {
    if (!HasAny(moves_, op.operands())) return;
    for (const Value* result : op.results())
      if (HasFloats(result)) moves_.insert(result);
  }
  bool FlowBack(const Op& op) {
    if (!HasAny(flows_, op.results())) return false;
    bool continues = false;
    for (const Value* operand : op.operands()) {
      if (!moves_.contains(operand)) continue;
      flows_.insert(operand);
      continues = true;
    }
    return continues;
  }
  /// Whether something was new.
  bool Carry(Values& values, llvm::ArrayRef<Value*> from, size_t first_from,
             llvm::ArrayRef<Value*> to, size_t first_to) const {
    bool is_new = false;
    for (size_t i = 0; i < num_init_; ++i)
      if (values.contains(from[first_from + i]) && HasFloats(to[first_to + i]))
        is_new |= values.insert(to[first_to + i]).second;
    return is_new;
  }

  const Block& block_;
  const size_t num_xs_, num_init_;
  Values moves_, flows_;
};

}  // namespace

llvm::Expected<std::vector<Value*>> Differentiate(Graph& graph, const OpRegistry& registry,
                                                  const DerivativeRequest& request) {
  return Differentiator(graph, registry, request).Run();
}

GradientFlow FindGradientFlow(const Graph& graph, const Value* output,
                              llvm::ArrayRef<Value*> inputs) {
  // What the output is computed from, and, for each of that, whether a change of some input moves
  // it. Calls stand after what they read.
  llvm::BitVector needed(graph.num_values());
  needed.set(graph.number(output));
  const llvm::ArrayRef<Op*> ops = graph.ops();
  for (const Op* op : llvm::reverse(ops)) {
    const auto is_needed = [&](const Value* result) { return needed[graph.number(result)]; };
    if (!llvm::any_of(op->results(), is_needed)) continue;
    for (const Value* operand : op->operands()) needed.set(graph.number(operand));
  }
  GradientFlow flow;
  llvm::BitVector moves(graph.num_values());
  for (const Value* input : inputs) moves.set(graph.number(input));
  const Op* stop = nullptr;
  for (const Op* op : ops) {
    const auto is_moving = [&](const Value* value) { return moves[graph.number(value)]; };
    if (!llvm::any_of(op->operands(), is_moving)) continue;
    for (const Value* result : op->results()) {
      if (!needed[graph.number(result)]) continue;
      if (HasFloats(result)) {
        moves.set(graph.number(result));
      } else {
        stop = op;
      }
    }
  }
  // Back from the output, along what moves.
  llvm::BitVector flows(graph.num_values());
  flows[graph.number(output)] = moves[graph.number(output)];
  for (const Op* op : llvm::reverse(ops)) {
    if (!llvm::any_of(op->results(), [&](const Value* v) { return flows[graph.number(v)]; }))
      continue;
    bool continues = false;
    if (op->def().body) {
      const auto moves_operand = [&](unsigned i) { return moves[graph.number(op->operands()[i])]; };
      const auto counts = [&](unsigned i) { return flows[graph.number(op->result(i))]; };
      if (const Op* inner = BodyFlow(graph, *op).FindWithoutRule(moves_operand, counts))
        flow.without_rule = inner;
    }
    for (const Value* operand : op->operands()) {
      if (!moves[graph.number(operand)]) continue;
      flows.set(graph.number(operand));
      continues = true;
    }
    if (continues && op->def().gradient == nullptr && op->def().lower == nullptr)
      flow.without_rule = op;
  }
  for (const Value* input : inputs) flow.reaches.push_back(flows[graph.number(input)]);
  if (!llvm::is_contained(flow.reaches, true)) flow.stop = stop;
  return flow;
}

}  // namespace pdl
