// Sparse updates of tables: the gradient of the rows that a run uses is a scatter_add onto zeros.
// Values that are computed from it element by element are computed for those rows only.
#include "ir/located_error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"
#include "pdl/op/gradient.h"
#include "pdl/op/zero_rule.h"

namespace pdl {
namespace {

/// Smaller tables are updated densely: finding the used rows would cost as much.
constexpr int64_t kManyRows = 10'000;
/// Results of longer chains of calls are computed densely, and their rows are gathered.
constexpr unsigned kMaxDepth = 500;

/// Whether the call is a scatter_add of rows onto zeros.
bool IsSource(const Op& op) {
  if (op.type() != "scatter_add") return false;
  const Op* base = op.operands()[0]->producer();
  const Type& type = op.result()->type();
  const int64_t axis = op.attributes().Int("axis");
  return base != nullptr && base->type() == "zeros" && type.dims[0] != Dim(1) &&
         (axis == 0 || axis == -static_cast<int64_t>(type.rank()));
}

bool SumsAll(const Op& op) { return op.type() == "sum" && op.result()->type().rank() == 0; }

/// Values that are computed, element by element, from row gradients of tables with equal dims.
struct Component {
  llvm::SmallVector<Op*, 2> sources;
  llvm::SmallVector<Op*, 1> sums;  // sums of all elements, which are 0 in unused rows
  llvm::SmallVector<GraphUpdate, 3> updates;
  llvm::SmallVector<Op*, 1> readers;  // identities that read complete new values
  const Op* dense_at = nullptr;       // a call that is not elementwise
  bool is_dense = false;              // all rows are needed
  bool is_lazy = false;               // contains lazy_rows
};

/// Rewrites one Component.
class RowRewriter {
 public:
  RowRewriter(Graph& graph, const OpRegistry& registry, const Component& component)
      : graph_(graph),
        component_(component),
        table_(component.sources[0]->result()->type()),
        g_(graph, registry, *component.sources[0], {}) {}

  llvm::Error Run() {
    FindRows();
    for (const GraphUpdate& update : component_.updates) {
      Value* rows = RowsOf(update.value);
      Value* next = g_.Call("scatter_nd", {update.state, row_indices_, rows});
      graph_.AddUpdate(update.state, next);
      for (Op* reader : component_.readers)
        if (reader->operands()[0] == update.value)
          graph_.RewriteOp(reader, reader->def(), next, reader->attribute_values().vec());
    }
    for (Op* sum : component_.sums) {
      Value* rows = RowsOf(sum->operands()[0]);
      if (rows) graph_.RewriteOp(sum, sum->def(), rows, sum->attribute_values().vec());
    }
    return g_.TakeError();
  }

 private:
  Value* Count(const Dim& dim) {
    return g_.Call("size", {}, {{"dims", Shape{dim}}, {"dtype", DType::kI64}});
  }
  Value* Constant64(int64_t value) {
    return g_.Call("constant", {},
                   {{"value", Constant::Scalar(DType::kI64, value)}, {"dtype", DType::kI64}});
  }

  /// The row indices of one source, normalized to be >= 0. Indices outside the table become its
  /// size or larger.
  Value* RowIndicesOf(const Op& source) {
    Value* indices = source.operands()[1];
    const Type& type = indices->type();
    Value* flat = g_.Call("reshape", {indices}, {{"dims", Shape{NumElements(type.dims)}}});
    if (type.dtype != DType::kI64) flat = g_.Call("cast", {flat}, {{"to", DType::kI64}});
    if (type.index_bound) return flat;
    Value* zero = Constant64(0);
    Value* size = Count(table_.dims[0]);
    const auto is_negative = [&](Value* index) { return g_.Call("less", {index, zero}); };
    flat = g_.Call("where", {is_negative(flat), g_.Add(flat, size), flat});
    return g_.Call("where", {is_negative(flat), size, flat});
  }

  /// Computes the sorted distinct row indices, padded with indices outside the table to the number
  /// of all indices, and for each source the positions of its rows among them.
  void FindRows() {
    llvm::SmallVector<Value*, 2> parts;
    Dim count(0);
    for (const Op* source : component_.sources) {
      parts.push_back(RowIndicesOf(*source));
      count = count + NumElements(source->operands()[1]->type().dims);
    }
    const Shape all = {count};
    Value* row_indices = parts.size() == 1 ? parts[0] : g_.Call("concat", parts);
    Value* order = g_.Call("argsort", {row_indices});
    Value* sorted = g_.Call("gather", {row_indices, order});
    Value* ordinal = g_.Call("cumsum", {g_.Call("run_starts", {sorted})});
    Value* row = g_.Sub(ordinal, Constant64(1));
    Value* zeros = g_.Call("zeros", {}, {{"dims", all}, {"dtype", DType::kI64}});
    Value* row_of = g_.Call("scatter", {zeros, order, row});
    Value* size = Count(table_.dims[0]);
    Value* outside = g_.Call("broadcast_to", {size}, {{"dims", all}});
    Value* used = g_.Call("scatter", {outside, row, sorted});
    // Clamped for reading; rows outside the table are not written.
    read_ = g_.Call("minimum", {used, g_.Sub(size, Constant64(1))});
    row_indices_ = g_.Call("reshape", {used}, {{"dims", Shape{count, 1}}});
    Dim begin(0);
    for (auto [source, part] : llvm::zip_equal(component_.sources, parts)) {
      const Type& indices = source->operands()[1]->type();
      const Dim end = begin + NumElements(indices.dims);
      Value* own = row_of;
      if (parts.size() > 1) {
        own = g_.Call(
            "slice", {row_of},
            {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{begin}}, {"stops", Shape{end}}});
      }
      // Elements outside the table are dropped.
      if (!indices.index_bound) {
        Value* nowhere = Count(count);
        own = g_.Call("where", {g_.Call("less", {part, size}), own, nowhere});
      }
      own = g_.Call("reshape", {own}, {{"dims", indices.dims}});
      begin = end;
      Shape dims = table_.dims;
      dims[0] = count;
      Value* none = g_.Call("zeros", {}, {{"dims", dims}, {"dtype", table_.dtype}});
      rows_[source->result()] = g_.Call("scatter_add", {none, own, source->operands()[2]});
    }
  }

  bool HasRows(const Value* value) const {
    const Shape& dims = value->type().dims;
    return dims.size() == table_.dims.size() && dims[0] == table_.dims[0];
  }

  /// Returns the used rows of a value with as many rows as the table; null after an error.
  Value* RowsOf(Value* value) {
    if (Value* known = rows_.lookup(value)) return known;
    const Op* op = value->producer();
    const bool is_computed = op != nullptr && op->def().properties().elementwise &&
                             value->type().dims == table_.dims && depth_ < kMaxDepth;
    ++depth_;
    Value* rows = is_computed ? RowsOfCall(*op) : g_.Call("gather", {value, read_});
    --depth_;
    rows_[value] = rows;
    return rows;
  }

  Value* RowsOfCall(const Op& op) {
    llvm::SmallVector<Value*, 3> operands;
    for (Value* operand : op.operands()) {
      operands.push_back(HasRows(operand) ? RowsOf(operand) : operand);
      if (operands.back() == nullptr) return nullptr;
    }
    CallOptions options;
    options.location = op.location();
    options.layer_path = op.layer_path();
    llvm::Expected<Op*> call =
        graph_.AddOpWithValues(op.def(), operands, op.attribute_values().vec(),
                               {graph_.NewName(op.result()->name() + "_rows")}, std::move(options));
    if (call) return (*call)->result();
    g_.Fail(op.type() + ": " + llvm::toString(call.takeError()));
    return nullptr;
  }

  Graph& graph_;
  const Component& component_;
  const Type table_;
  GradientContext g_;
  Value* read_ = nullptr;
  Value* row_indices_ = nullptr;
  unsigned depth_ = 0;
  llvm::DenseMap<const Value*, Value*> rows_;
};

class RowUpdates {
 public:
  RowUpdates(Graph& graph, const OpRegistry& registry) : graph_(graph), registry_(registry) {}

  llvm::Error Run() {
    if (graph_.updates().empty() ||
        llvm::none_of(graph_.ops(), [](const Op* op) { return IsSource(*op); }))
      return llvm::Error::success();
    EliminateDeadCode(graph_);
    FindComponents();
    bool changed = false;
    for (unsigned i = 0; i < components_.size(); ++i) {
      const Component& component = components_[i];
      if (parent_[i] != i || component.updates.empty()) continue;
      if (component.is_dense && component.is_lazy && component.dense_at)
        return RejectLazyRows(*component.dense_at);
      if (component.is_dense || !IsWorthIt(component)) continue;
      if (llvm::Error error = RowRewriter(graph_, registry_, component).Run()) return error;
      changed = true;
    }
    if (!changed) return llvm::Error::success();
    SortCalls(graph_);
    EliminateDeadCode(graph_);
    return llvm::Error::success();
  }

 private:
  llvm::Error RejectLazyRows(const Op& op) const {
    return UserErrorAt(graph_, op.location(), Code::kBadMinimize,
                       "lazy: '" + op.type() +
                           "' is not elementwise in a gradient, so no row can be left unchanged");
  }

  unsigned Root(unsigned component) {
    while (parent_[component] != component) component = parent_[component];
    return component;
  }

  unsigned Merge(unsigned a, unsigned b) {
    if (a == b) return a;
    Component& into = components_[a];
    Component& from = components_[b];
    into.sources.append(from.sources);
    into.sums.append(from.sums);
    into.readers.append(from.readers);
    into.is_dense |= from.is_dense;
    into.is_lazy |= from.is_lazy;
    if (!into.dense_at) into.dense_at = from.dense_at;
    from = Component();
    parent_[b] = a;
    return a;
  }

  void MakeDense(unsigned component, const Op* at) {
    components_[component].is_dense = true;
    if (!components_[component].dense_at) components_[component].dense_at = at;
  }

  AtZero AtZeroOf(const Value* value) const {
    auto found = at_zero_.find(value);
    return found == at_zero_.end() ? AtZero::Same(value) : found->second;
  }

  void FindComponents() {
    llvm::DenseSet<const Value*> updated;
    for (const GraphUpdate& update : graph_.updates()) updated.insert(update.value);
    for (Op* op : graph_.ops()) {
      llvm::SmallVector<unsigned, 2> read;
      for (const Value* operand : op->operands())
        if (auto found = component_of_.find(operand); found != component_of_.end())
          read.push_back(Root(found->second));
      if (!read.empty() && op->def().properties().is_identity &&
          updated.contains(op->operands()[0])) {
        components_[read[0]].readers.push_back(op);
        continue;
      }
      if (!read.empty()) Visit(*op, read);
      if (!IsSource(*op)) continue;
      for (const unsigned component : read) MakeDense(component, op);
      component_of_[op->result()] = static_cast<unsigned>(components_.size());
      at_zero_[op->result()] = AtZero::Zero();
      parent_.push_back(static_cast<unsigned>(components_.size()));
      components_.emplace_back().sources.push_back(op);
    }
    for (const GraphOutput& output : graph_.outputs())
      if (auto found = component_of_.find(output.value); found != component_of_.end())
        MakeDense(Root(found->second), nullptr);
    for (const GraphUpdate& update : graph_.updates()) {
      auto found = component_of_.find(update.value);
      if (found == component_of_.end()) continue;
      Component& component = components_[Root(found->second)];
      component.updates.push_back(update);
      const bool keeps = AtZeroOf(update.value) == AtZero::Same(update.state);
      needs_lazy_[update.state] = !keeps;
      if (!keeps && !lazy_.contains(update.value)) component.is_dense = true;
    }
  }

  /// `read` are the components of the operands.
  void Visit(Op& op, llvm::ArrayRef<unsigned> read) {
    const auto has_dims = [&](const Value* operand) {
      return !component_of_.contains(operand) || operand->type().dims == op.result()->type().dims;
    };
    if (SumsAll(op) && AtZeroOf(op.operands()[0]).is_zero()) {
      components_[read[0]].sums.push_back(&op);
      return;
    }
    // Random numbers for rows would differ from those for all elements.
    if (!op.def().properties().elementwise || op.def().properties().random ||
        !llvm::all_of(op.operands(), has_dims)) {
      for (const unsigned component : read) MakeDense(component, &op);
      return;
    }
    unsigned component = read[0];
    for (const unsigned other : read.drop_front()) component = Merge(Root(component), Root(other));
    llvm::SmallVector<AtZero, 3> operands;
    bool is_lazy = op.type() == "lazy_rows" && AtZeroOf(op.operands()[0]).is_zero();
    components_[component].is_lazy |= is_lazy;
    for (const Value* operand : op.operands()) {
      operands.push_back(AtZeroOf(operand));
      is_lazy |= lazy_.contains(operand);
    }
    component_of_[op.result()] = component;
    at_zero_[op.result()] = ResultAtZero(op, operands);
    if (is_lazy) lazy_.insert(op.result());
  }

  bool IsWorthIt(const Component& component) const {
    const Dim& rows = component.sources[0]->result()->type().dims[0];
    if (!rows.is_constant() || rows.constant() >= kManyRows) return true;
    return llvm::any_of(component.updates, [&](const GraphUpdate& update) {
      return needs_lazy_.lookup(update.state);
    });
  }

  Graph& graph_;
  const OpRegistry& registry_;
  std::vector<Component> components_;
  std::vector<unsigned> parent_;  // by component: the one it was merged into, or itself
  llvm::DenseMap<const Value*, unsigned> component_of_;
  llvm::DenseMap<const Value*, AtZero> at_zero_;
  llvm::DenseMap<const Value*, bool> needs_lazy_;  // by state
  llvm::DenseSet<const Value*> lazy_;              // computed from results of lazy_rows
};

}  // namespace

llvm::Error UpdateUsedRows(Graph& graph, const OpRegistry& registry) {
  return RowUpdates(graph, registry).Run();
}

}  // namespace pdl
