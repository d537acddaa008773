// Channels-last layout: a convolution of an input stored as [N, H, W, C] is a matmul at peak
// performance, and subsequent per-channel operations access contiguous memory.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"
#include "pdl/op/layout_rule.h"

namespace pdl {
namespace {

constexpr unsigned kFirstSpatial = 2;

/// The permutation from [N, C, H, W] to [N, H, W, C].
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
Shape Permuted(const Shape& dims, llvm::ArrayRef<int64_t> perm) {
  Shape permuted;
  for (const int64_t axis : perm) permuted.push_back(dims[static_cast<size_t>(axis)]);
  return permuted;
}

class ChannelsLast {
  class Rewriting;

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
  static LayoutGain GainOf(const Op& op) {
    const LayoutRule* rule = op.def().properties().channels_last;
    return rule == nullptr || rule->gain == nullptr ? LayoutGain::kNone : rule->gain(op);
  }

  /// Whether there is a call that gains by the layout and another one that supports it: a single
  /// call converts its operand inside its kernel.
  bool IsWorthIt() const {
    unsigned takes = 0;
    bool is_requested = false;
    for (const Op* op : graph_.ops()) {
      const LayoutGain gain = GainOf(*op);
      if (gain == LayoutGain::kForbids) return false;
      if (gain != LayoutGain::kNone) ++takes;
      is_requested |= gain == LayoutGain::kBenefits;
    }
    return is_requested && takes > 1;
  }

  bool IsLast(const Value* value) const { return last_.contains(value); }

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

  static bool IsTransposition(const Op& op, llvm::ArrayRef<int64_t> expected) {
    if (op.type() != "transpose") return false;
    const auto* perm = std::get_if<std::vector<int64_t>>(op.attributes().Find("perm"));
    if (perm == nullptr || perm->size() != expected.size()) return false;
    const auto rank = static_cast<int64_t>(expected.size());
    return llvm::all_of(llvm::zip_equal(*perm, expected), [&](const auto& pair) {
      const auto& [given, axis] = pair;
      return given == axis || given + rank == axis;
    });
  }

  /// The channels-last version of a value of full rank.
  Value* LastOf(Value* value, const Op& at) {
    Value*& last = last_[value];
    if (last != nullptr) return last;
    const Shape& dims = value->type().dims;
    const unsigned rank = value->type().rank();
    const Op* producer = value->producer();
    if (producer != nullptr && IsTransposition(*producer, ToFirst(rank)))
      return last = producer->operands()[0];
    // A single channel needs no transpose.
    const bool is_moved = dims[1] != Dim(1);
    last = is_moved ? Emit("transpose", value, {ToLast(rank)}, NameFor(value), at)
                    : Emit("reshape", value, {Permuted(dims, ToLast(rank))}, NameFor(value), at);
    return last;
  }

  /// The channels-last version of an operand that broadcasts to `rank` dims.
  Value* BroadcastLast(Value* value, unsigned rank, const Op& at) {
    const Shape& given = value->type().dims;
    if (given.empty()) return value;
    if (given.size() == rank && IsLast(value)) return last_[value];
    Shape dims(rank - given.size(), Dim(1));
    dims.append(given.begin(), given.end());
    const Shape last = Permuted(dims, ToLast(rank));
    const auto longer_than_1 = [](const Dim& dim) { return dim != Dim(1); };
    // Dims of size 1 are moved by a reshape.
    if (llvm::count_if(dims, longer_than_1) <= 1 || last == dims) {
      return last == given ? value : Emit("reshape", value, {last}, NameFor(value), at);
    }
    if (dims != given) value = Emit("reshape", value, {dims}, NameFor(value), at);
    return LastOf(value, at);
  }

  /// Replaces `op` by `last`; uses that need the original order read a transpose of it.
  bool Replace(Op& op, Value* last) {
    last_[op.result()] = last;
    const OpDef* transpose = registry_.Find("transpose");
    graph_.RewriteOp(&op, *transpose, last, {ToFirst(op.result()->type().rank())});
    order_.push_back(&op);
    return true;
  }

  /// Returns false if the call stays unchanged.
  bool Rewrite(Op& op) {
    if (op.operands().empty() || op.results().size() != 1) return false;
    const OpProperties& properties = op.def().properties();
    // Random numbers are generated by index.
    if (properties.elementwise && !properties.random)
      return TakesLast(op) && RewriteElementwise(op);
    const bool reads_last =
        llvm::any_of(op.operands(), [&](const Value* operand) { return IsLast(operand); });
    if (reads_last && IsTransposition(op, ToLast(op.result()->type().rank()))) {
      if (op.checks().empty()) graph_.ReplaceAllUses(op.result(), last_[op.operands()[0]]);
      return false;
    }
    const LayoutRule* rule = properties.channels_last;
    if (rule == nullptr || !(reads_last || GainOf(op) != LayoutGain::kNone)) return false;
    return RewriteByRule(*rule, op);
  }
  bool RewriteByRule(const LayoutRule& rule, Op& op);

  /// Whether an elementwise call has a channels-last operand with the dims of the result, and a
  /// result that can be transposed: one of i16 cannot.
  bool TakesLast(const Op& op) const {
    const Type& type = op.result()->type();
    const DTypeSet transposable = registry_.Find("transpose")->signature.inputs[0].dtypes;
    return type.rank() >= 3 && transposable.Contains(type.dtype) &&
           llvm::any_of(op.operands(), [&](const Value* operand) {
             return IsLast(operand) && operand->type().dims == type.dims;
           });
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
      if (auto* axis = std::get_if<int64_t>(&attributes[i]))
        *axis = LayoutContext::AxisInLast(*axis, rank);
      if (auto* axes = std::get_if<std::vector<int64_t>>(&attributes[i]))
        for (int64_t& axis : *axes) axis = LayoutContext::AxisInLast(axis, rank);
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

  /// Whether the dims that a reduction keeps have the same order in both layouts: it does not keep
  /// both the channels and a dim after them.
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
  /// By the value in the original layout.
  llvm::DenseMap<const Value*, Value*> last_;
  std::vector<Op*> order_;
};

/// The LayoutContext of one call.
class ChannelsLast::Rewriting : public LayoutContext {
 public:
  Rewriting(ChannelsLast& pass, Op& op) : LayoutContext(op), pass_(pass) {}

  bool IsLast(const Value* value) const override { return pass_.IsLast(value); }
  Value* Last(Value* value) override { return pass_.LastOf(value, op()); }
  bool HasInternal(llvm::StringRef name) const override {
    return pass_.registry_.FindInternal(name) != nullptr;
  }
  const Op* CallInternal(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                         std::vector<AttributeValue> attributes,
                         llvm::ArrayRef<std::string> names) override {
    return pass_.EmitCall(*pass_.registry_.FindInternal(name), operands, std::move(attributes),
                          names, op());
  }
  Value* Call(llvm::StringRef name, llvm::ArrayRef<Value*> operands) override {
    return pass_.Emit(name, operands, {}, NewResultName(), op());
  }
  std::string NewResultName() override { return pass_.NameFor(op().result()); }
  std::string NewName(llvm::StringRef suffix) override {
    return pass_.graph_.NewName(op().result()->name() + suffix.str());
  }
  bool Replace(Value* last) override { return pass_.Replace(op(), last); }
  bool RenumberAxes() override { return pass_.RewriteAxes(op()); }

 private:
  ChannelsLast& pass_;
};

bool ChannelsLast::RewriteByRule(const LayoutRule& rule, Op& op) {
  Rewriting context(*this, op);
  return rule.rewrite(context);
}

}  // namespace

bool MayGainByChannelsLast(const Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Op* op : graph.block({i}).ops)
      if (const LayoutRule* rule = op->def().properties().channels_last; rule && rule->gain)
        return true;
  return false;
}

bool KeepChannelsLast(Graph& graph, const OpRegistry& registry) {
  return ChannelsLast(graph, registry).Run();
}

}  // namespace pdl
