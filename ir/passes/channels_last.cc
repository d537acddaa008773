// Channels last: a convolution whose input lies as [N, H, W, C] is a product of matrices at the
// machine's peak, and what is done to each channel behind it goes along rows of memory.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/error.h"
#include "pdl/passes.h"

namespace pdl {
namespace {

constexpr unsigned kFirstSpatial = 2;

enum class Rule {
  kKeep,
  kTranspose,    // what its operand is already
  kForm,         // has a form for channels that are last
  kElementwise,  // takes any order that its operands have in common
  kNormalize,    // becomes elementwise
  kAxes,         // says which axes it goes along
};

/// [N, H, W, C] of [N, C, H, W].
std::vector<int64_t> ToLast(unsigned rank) {
  std::vector<int64_t> perm = {0};
  for (unsigned axis = kFirstSpatial; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return perm;
}
std::vector<int64_t> ToFirst(unsigned rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (unsigned axis = 1; axis + 1 < rank; ++axis) perm.push_back(axis);
  return perm;
}
/// Where an axis of [N, C, H, W] is in [N, H, W, C].
int64_t AxisInLast(int64_t axis, unsigned rank) {
  if (axis < 0) axis += rank;
  return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
}

Shape Permuted(const Shape& dims, llvm::ArrayRef<int64_t> perm) {
  Shape permuted;
  for (const int64_t axis : perm) permuted.push_back(dims[static_cast<size_t>(axis)]);
  return permuted;
}

bool IsImage(const Value* value) {
  return value->type().dtype == DType::kF32 && value->type().rank() >= 3 &&
         value->type().rank() <= 5;
}

class ChannelsLast {
 public:
  ChannelsLast(Graph& graph, const OpRegistry& registry) : graph_(graph), registry_(registry) {}

  bool Run() {
    if (!IsWorthIt()) return false;
    const std::vector<Op*> ops = graph_.ops().vec();
    for (Op* op : ops)
      if (!Rewrite(*op)) order_.push_back(op);
    graph_.SetBlockOps({}, std::move(order_));
    EliminateDeadCode(graph_);
    return true;
  }

 private:
  const OpDef* FormOf(const Op& op) const {
    return registry_.FindInternal(op.type() + ".channels_last");
  }
  static bool IsConvolution(const Op& op) {
    return op.type() == "conv1d" || op.type() == "conv2d" || op.type() == "conv3d";
  }

  /// A convolution with a window of one place is a product as it lies, and one that is alone finds
  /// a way to the layout that suits it in its kernel.
  bool IsWorthIt() const {
    unsigned convolutions = 0;
    bool some = false;
    for (const Op* op : graph_.ops()) {
      if (op->type() == "conv_weight_grad") return false;
      if (!IsConvolution(*op) || !IsImage(op->operands()[0])) continue;
      ++convolutions;
      const Shape& weight = op->operands()[1]->type().dims;
      some |= !llvm::all_of(llvm::ArrayRef<Dim>(weight).drop_front(kFirstSpatial),
                            [](const Dim& size) { return size == Dim(1); });
    }
    return some && convolutions > 1;
  }

  bool IsLast(const Value* value) const { return last_.contains(value); }

  Rule RuleOf(const Op& op) const {
    if (op.operands().empty() || op.results().size() != 1) return Rule::kKeep;
    const Value* x = op.operands()[0];
    if (IsImage(x) && FormOf(op) != nullptr && (IsConvolution(op) || IsLast(x))) return Rule::kForm;
    // Random numbers are drawn by place.
    if (op.def().has(kElementwise) && !op.def().has(kRandom)) {
      const Type& type = op.result()->type();
      const bool follows =
          type.rank() >= 3 && llvm::any_of(op.operands(), [&](const Value* operand) {
            return IsLast(operand) && operand->type().dims == type.dims;
          });
      return follows ? Rule::kElementwise : Rule::kKeep;
    }
    if (!llvm::any_of(op.operands(), [&](const Value* operand) { return IsLast(operand); }))
      return Rule::kKeep;
    return llvm::StringSwitch<Rule>(op.type())
        .Case("transpose", Rule::kTranspose)
        .Case("normalize", Rule::kNormalize)
        .Cases("sum", "mean", "max", "min", "prod", "logsumexp", Rule::kAxes)
        .Cases("softmax", "log_softmax", "concat", Rule::kAxes)
        .Default(Rule::kKeep);
  }

  std::string NameFor(const Value* value) { return graph_.NewName(value->name() + "_nhwc"); }

  const Op* EmitCall(const OpDef& def, llvm::ArrayRef<Value*> operands,
                     std::vector<AttributeValue> attributes, llvm::ArrayRef<std::string> names,
                     const Op& at) {
    CallOptions options;
    options.location = at.location();
    options.layer_path = at.layer_path();
    llvm::Expected<Op*> call =
        graph_.AddOpWithValues(def, operands, std::move(attributes), names, std::move(options));
    if (!call)
      InternalError("'" + def.name() + "' of channels last: " + llvm::toString(call.takeError()));
    order_.push_back(*call);
    return *call;
  }
  Value* Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
              std::vector<AttributeValue> attributes, const std::string& name, const Op& at) {
    return EmitCall(def, operands, std::move(attributes), name, at)->result();
  }
  Value* Emit(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              std::vector<AttributeValue> attributes, const std::string& name, const Op& at) {
    const OpDef* def = registry_.Find(op);
    if (def == nullptr) InternalError("there is no operator '" + op.str() + "'");
    return Emit(*def, operands, std::move(attributes), name, at);
  }

  static bool IsTransposition(const Op& op, llvm::ArrayRef<int64_t> wanted) {
    if (op.type() != "transpose") return false;
    const auto* perm = std::get_if<std::vector<int64_t>>(op.attributes().Find("perm"));
    if (perm == nullptr || perm->size() != wanted.size()) return false;
    const auto rank = static_cast<int64_t>(wanted.size());
    return llvm::all_of(llvm::zip_equal(*perm, wanted), [&](const auto& pair) {
      const auto& [given, axis] = pair;
      return given == axis || given + rank == axis;
    });
  }

  /// A value of full rank with its channels last.
  Value* LastOf(Value* value, const Op& at) {
    Value*& last = last_[value];
    if (last != nullptr) return last;
    const Shape& dims = value->type().dims;
    const unsigned rank = value->type().rank();
    const Op* producer = value->producer();
    if (producer != nullptr && IsTransposition(*producer, ToFirst(rank)))
      return last = producer->operands()[0];
    // One channel is nothing to move.
    const bool is_moved = dims[1] != Dim(1);
    last = is_moved ? Emit("transpose", value, {ToLast(rank)}, NameFor(value), at)
                    : Emit("reshape", value, {Permuted(dims, ToLast(rank))}, NameFor(value), at);
    return last;
  }

  /// An operand that broadcasts to `rank` dims.
  Value* BroadcastLast(Value* value, unsigned rank, const Op& at) {
    const Shape& given = value->type().dims;
    if (given.empty()) return value;
    if (given.size() == rank && IsLast(value)) return last_[value];
    Shape dims(rank - given.size(), Dim(1));
    dims.append(given.begin(), given.end());
    const Shape last = Permuted(dims, ToLast(rank));
    const auto longer_than_1 = [](const Dim& dim) { return dim != Dim(1); };
    // Dims of size 1 may go anywhere without a move.
    if (llvm::count_if(dims, longer_than_1) <= 1 || last == dims) {
      return last == given ? value : Emit("reshape", value, {last}, NameFor(value), at);
    }
    if (dims != given) value = Emit("reshape", value, {dims}, NameFor(value), at);
    return LastOf(value, at);
  }

  /// `op` gives what `last` gives, in its own order, for those who read that.
  bool Replace(Op& op, Value* last) {
    last_[op.result()] = last;
    const OpDef* transpose = registry_.Find("transpose");
    graph_.RewriteOp(&op, *transpose, last, {ToFirst(op.result()->type().rank())});
    order_.push_back(&op);
    return true;
  }

  /// False where the call stays as it is.
  bool Rewrite(Op& op) {
    switch (RuleOf(op)) {
      case Rule::kKeep:
        return false;
      case Rule::kTranspose:
        if (op.checks().empty() && IsTransposition(op, ToLast(op.result()->type().rank())))
          graph_.ReplaceAllUses(op.result(), last_[op.operands()[0]]);
        return false;
      case Rule::kForm:
        return RewriteForm(op);
      case Rule::kElementwise:
        return RewriteElementwise(op);
      case Rule::kNormalize:
        return RewriteNormalize(op);
      case Rule::kAxes:
        return RewriteAxes(op);
    }
    return false;
  }

  bool RewriteForm(Op& op) {
    llvm::SmallVector<Value*, 3> operands(op.operands());
    operands[0] = LastOf(operands[0], op);
    Value* bias = nullptr;
    if (IsConvolution(op) && operands.size() == 3) bias = operands.pop_back_val();
    Value* y = Emit(*FormOf(op), operands, op.attribute_values().vec(), NameFor(op.result()), op);
    // One for each channel: it broadcasts along the last dim.
    if (bias != nullptr) y = Emit("add", {y, bias}, {}, NameFor(op.result()), op);
    return Replace(op, y);
  }

  bool RewriteElementwise(Op& op) {
    const Type& type = op.result()->type();
    llvm::SmallVector<Value*, 3> operands;
    for (Value* operand : op.operands()) {
      operands.push_back(operand->type().dims == type.dims
                             ? LastOf(operand, op)
                             : BroadcastLast(operand, type.rank(), op));
    }
    return Replace(op,
                   Emit(op.def(), operands, op.attribute_values().vec(), NameFor(op.result()), op));
  }

  /// x * factor + shift, computed once for each channel: both calls fit behind a convolution.
  bool RewriteNormalize(Op& op) {
    const llvm::ArrayRef<Value*> operands = op.operands();
    Value* x = operands[0];
    const unsigned rank = x->type().rank();
    const OpDef* factors = registry_.FindInternal("normalize.factors");
    const AttributeReader attributes = op.attributes();
    if (!IsLast(x) || factors == nullptr || AxisInLast(attributes.Int("axis"), rank) != rank - 1)
      return false;
    for (Value* operand : operands.drop_front())
      if (operand->type().dtype != DType::kF32 || IsLast(operand)) return false;
    const std::string& name = op.result()->name();
    const std::string names[] = {graph_.NewName(name + "_factor"), graph_.NewName(name + "_shift")};
    const Op* of_channel =
        EmitCall(*factors, operands.drop_front(), {attributes.Float("eps")}, names, op);
    Value* y = Emit("mul", {LastOf(x, op), of_channel->result(0)}, {}, NameFor(op.result()), op);
    y = Emit("add", {y, of_channel->result(1)}, {}, NameFor(op.result()), op);
    return Replace(op, y);
  }

  bool RewriteAxes(Op& op) {
    const unsigned rank = op.operands()[0]->type().rank();
    std::vector<AttributeValue> attributes = op.attribute_values().vec();
    const OpSignature& signature = op.def().signature;
    llvm::SmallVector<Value*, 4> operands;
    for (Value* operand : op.operands()) {
      if (operand->type().rank() != rank) return false;
    }
    for (size_t i = 0; i < attributes.size(); ++i) {
      if (!signature.attributes[i].is_axis) continue;
      if (auto* axis = std::get_if<int64_t>(&attributes[i])) *axis = AxisInLast(*axis, rank);
      if (auto* axes = std::get_if<std::vector<int64_t>>(&attributes[i]))
        for (int64_t& axis : *axes) axis = AxisInLast(axis, rank);
    }
    if (op.result()->type().rank() == rank) {
      for (Value* operand : op.operands()) operands.push_back(LastOf(operand, op));
      return Replace(op, Emit(op.def(), operands, std::move(attributes), NameFor(op.result()), op));
    }
    if (!KeepsOrder(op, rank)) return false;
    for (Value* operand : op.operands()) operands.push_back(LastOf(operand, op));
    graph_.RewriteOp(&op, op.def(), operands, std::move(attributes));
    order_.push_back(&op);
    return true;
  }

  /// Whether what a reduction leaves of the dims stands in the same order either way: not both the
  /// channels and something behind them.
  static bool KeepsOrder(const Op& op, unsigned rank) {
    const auto* axes = std::get_if<std::vector<int64_t>>(op.attributes().Find("axes"));
    if (axes == nullptr) return true;
    bool channels = true;
    unsigned spatial = rank - kFirstSpatial;
    for (const int64_t axis : *axes) {
      const int64_t from_0 = axis < 0 ? axis + rank : axis;
      if (from_0 == 1) channels = false;
      if (from_0 > 1) --spatial;
    }
    return !channels || spatial == 0;
  }

  Graph& graph_;
  const OpRegistry& registry_;
  /// By the value with its channels second.
  llvm::DenseMap<const Value*, Value*> last_;
  std::vector<Op*> order_;
};

}  // namespace

bool HasChannelsLastForms(const Graph& graph, const OpRegistry& registry) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Op* op : graph.block({i}).ops)
      if (registry.FindInternal(op->type() + ".channels_last") != nullptr) return true;
  return false;
}

bool KeepChannelsLast(Graph& graph, const OpRegistry& registry) {
  return ChannelsLast(graph, registry).Run();
}

}  // namespace pdl
