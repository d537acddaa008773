#include "view/levels.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace pdl::view {
namespace {

/// The most calls and layers of a level, and the least of a part of a larger level.
constexpr size_t kMaxItems = 100;
constexpr size_t kMinPart = 50;

bool IsVariable(const Value& value) {
  return value.kind() == ValueKind::kParameter || value.kind() == ValueKind::kState;
}

/// The next component of a layer path after its first `prefix` bytes: "fc" of "encoder.fc.act"
/// after "encoder."; empty at its end.
llvm::StringRef NextLayer(const Op& op, size_t prefix) {
  return llvm::StringRef(op.layer_path()).substr(prefix).split('.').first;
}

/// Consecutive calls that become one node.
struct Item {
  size_t begin, end;  // indices of calls in the job's calls
  llvm::StringRef layer;
  bool is_part = false;
};

/// A level that remains to be made.
struct Job {
  uint32_t owner;
  BlockId block;
  llvm::ArrayRef<Op*> ops;
  /// The bytes of their layer paths that are the path of the owner.
  size_t prefix;
  /// The calls are the complete block.
  bool is_block;
};

class LevelMaker {
 public:
  explicit LevelMaker(const Graph& graph) : graph_(graph) {
    for (uint32_t i = 0; i < graph.num_blocks(); ++i)
      for (auto [position, op] : llvm::enumerate(graph.block({i}).ops)) position_[op] = position;
    for (const GraphOutput& output : graph.outputs()) returned_.insert(output.value);
    for (const GraphUpdate& update : graph.updates())
      updates_[update.value].push_back(update.state);
    for (const GraphTraining& training : graph.trainings()) returned_.insert(training.loss);
    for (uint32_t i = 1; i < graph.num_blocks(); ++i)
      for (const Value* value : graph.block({i}).outputs) returned_.insert(value);
  }

  Levels Run() {
    jobs_.push_back({kNone, {}, graph_.ops(), 0, true});
    while (!jobs_.empty()) {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      Make(job);
    }
    return std::move(result_);
  }

 private:
  void Make(const Job& job) {
    const auto index = static_cast<uint32_t>(result_.levels.size());
    Level level;
    level.owner = job.owner;
    level.first = static_cast<uint32_t>(result_.nodes.size());
    if (job.owner != kNone) result_.nodes[job.owner].level = index;
    AddInputs(job);
    for (const Item& item : ItemsOf(job)) AddItem(job, item);
    const auto items_end = static_cast<uint32_t>(result_.nodes.size());
    for (uint32_t i = level.first; i < items_end; ++i) {
      if (result_.nodes[i].kind != NodeKind::kCall) continue;
      for (const Value* value : result_.nodes[i].ops.front()->results()) AddUpdates(value);
    }
    if (job.is_block) {
      AddBlockOutputs(job);
    } else {
      const std::vector<const Value*> results = result_.nodes[job.owner].results;
      for (const Value* value : results) AddNode(NodeKind::kOutput, ShortName(*value), {value});
    }
    level.count = static_cast<uint32_t>(result_.nodes.size()) - level.first;
    AddEdges(level);
    result_.levels.push_back(std::move(level));
  }

  Node& AddNode(NodeKind kind, llvm::StringRef title, std::vector<const Value*> reads) {
    Node& node = result_.nodes.emplace_back();
    node.kind = kind;
    node.title = title.str();
    for (const Value* value : reads)
      (IsVariable(*value) ? node.variables : node.reads).push_back(value);
    return node;
  }

  void AddInputs(const Job& job) {
    const std::vector<const Value*> values =
        job.is_block ? std::vector<const Value*>(graph_.block(job.block).inputs.begin(),
                                                 graph_.block(job.block).inputs.end())
                     : result_.nodes[job.owner].reads;
    for (const Value* value : values)
      AddNode(NodeKind::kInput, ShortName(*value), {}).results.push_back(value);
  }

  /// Adds the updates of states to the value. They are in the level that computes it, not in the
  /// network's, which would have one for each normalization.
  void AddUpdates(const Value* value) {
    for (const Value* state : updates_.lookup(value))
      AddNode(NodeKind::kUpdate, state->name(), {value}).variables = {state};
  }

  void AddBlockOutputs(const Job& job) {
    for (const Value* value : graph_.block(job.block).outputs)
      AddNode(NodeKind::kOutput, ShortName(*value), {value});
    if (job.owner != kNone) return;
    for (const GraphOutput& output : graph_.outputs())
      AddNode(NodeKind::kOutput, output.name, {output.value});
    for (const GraphUpdate& update : graph_.updates())
      if (update.value->producer() == nullptr || IsInlined(*update.value->producer()))
        AddUpdates(update.value);
    for (const GraphTraining& training : graph_.trainings())
      AddNode(NodeKind::kTraining, "minimize", {training.loss}).subtitle = training.optimizer;
  }

  /// The calls and layers of a level, divided into parts if there are too many.
  std::vector<Item> ItemsOf(const Job& job) const {
    std::vector<Item> items;
    for (size_t i = 0; i < job.ops.size(); ++i) {
      if (IsInlined(*job.ops[i])) continue;
      const llvm::StringRef layer = NextLayer(*job.ops[i], job.prefix);
      if (!layer.empty() && !items.empty() && items.back().layer == layer) {
        items.back().end = i + 1;
      } else {
        items.push_back({i, i + 1, layer});
      }
    }
    if (items.size() <= kMaxItems) return items;
    const size_t size = std::max(kMinPart, (items.size() + kMaxItems - 1) / kMaxItems);
    std::vector<Item> parts;
    for (size_t i = 0; i < items.size(); i += size) {
      const Item& last = items[std::min(i + size, items.size()) - 1];
      parts.push_back({items[i].begin, last.end, "", /*is_part=*/true});
    }
    return parts;
  }

  void AddItem(const Job& job, const Item& item) {
    const llvm::ArrayRef<Op*> ops = job.ops.slice(item.begin, item.end - item.begin);
    const auto index = static_cast<uint32_t>(result_.nodes.size());
    Node& node = AddNode(NodeKind::kCall, "", {});
    node.ops = ops;
    FindBoundary(node);
    std::string title = item.layer.str();
    size_t prefix = job.prefix;
    if (!item.layer.empty()) prefix = Narrow(ops, prefix + item.layer.size() + 1, &title);
    const size_t calls = llvm::count_if(ops, [](const Op* op) { return !IsInlined(*op); });
    if (item.is_part) {
      node.kind = NodeKind::kPart;
      node.title = std::to_string(calls) + " calls";
    } else if (calls > 1) {
      node.kind = NodeKind::kLayer;
      node.title = std::move(title);
    } else {
      node.subtitle = std::move(title);
      node.ops = ops.take_front();
      node.title = ops.front()->type();
      for (const Value* value : ops.front()->results())
        if (updates_.contains(value) && !llvm::is_contained(node.results, value))
          node.results.push_back(value);
      AddBody(index);
      return;
    }
    jobs_.push_back({index, job.block, ops, prefix, false});
  }

  /// While all calls are in one layer, appends it to the title; returns the length of its path and
  /// the point.
  static size_t Narrow(llvm::ArrayRef<Op*> ops, size_t prefix, std::string* title) {
    while (true) {
      const llvm::StringRef layer = NextLayer(*ops.front(), prefix);
      if (layer.empty() || llvm::any_of(ops, [&](const Op* op) {
            return !IsInlined(*op) && NextLayer(*op, prefix) != layer;
          }))
        return prefix;
      *title += '.';
      *title += layer;
      prefix += layer.size() + 1;
    }
  }

  /// Makes the body of a loop the level of its node.
  void AddBody(uint32_t index) {
    const Op& op = *result_.nodes[index].ops.front();
    for (const AttributeValue& value : op.attribute_values())
      if (const auto* block = std::get_if<BlockId>(&value))
        jobs_.push_back({index, *block, graph_.block(*block).ops, 0, true});
  }

  /// Sets what the node of `ops` reads from others and what others read from it.
  void FindBoundary(Node& node) {
    const size_t begin = position_.lookup(node.ops.front());
    const size_t end = begin + node.ops.size();
    const BlockId block = node.ops.front()->block();
    auto is_inside = [&](const Op* op) {
      if (op == nullptr || op->block() != block) return false;
      const size_t position = position_.lookup(op);
      return begin <= position && position < end;
    };
    llvm::SetVector<const Value*> reads, variables;
    for (const Op* op : node.ops) {
      for (const Value* operand : op->operands()) {
        if (IsVariable(*operand)) {
          variables.insert(operand);
        } else if (!is_inside(operand->producer()) &&
                   !(operand->producer() && IsInlined(*operand->producer()))) {
          reads.insert(operand);
        }
      }
      if (IsInlined(*op)) continue;
      for (const Value* result : op->results())
        if (returned_.contains(result) ||
            llvm::any_of(result->uses(), [&](const Value::Use& use) { return !is_inside(use.op); }))
          node.results.push_back(result);
    }
    node.reads.assign(reads.begin(), reads.end());
    node.variables.assign(variables.begin(), variables.end());
  }

  void AddEdges(Level& level) {
    llvm::DenseMap<const Value*, uint32_t> maker;
    for (uint32_t i = 0; i < level.count; ++i)
      for (const Value* value : result_.nodes[level.first + i].results) maker.try_emplace(value, i);
    for (uint32_t to = 0; to < level.count; ++to) {
      llvm::SmallDenseMap<uint32_t, size_t> by_source;
      for (const Value* value : result_.nodes[level.first + to].reads) {
        const auto found = maker.find(value);
        if (found == maker.end() || found->second == to) continue;
        const auto [slot, is_new] = by_source.try_emplace(found->second, level.edges.size());
        if (is_new) level.edges.push_back({found->second, to, {}});
        level.edges[slot->second].values.push_back(value);
      }
    }
  }

  const Graph& graph_;
  Levels result_;
  std::deque<Job> jobs_;
  llvm::DenseMap<const Op*, size_t> position_;
  llvm::DenseSet<const Value*> returned_;
  llvm::DenseMap<const Value*, std::vector<const Value*>> updates_;
};

}  // namespace

llvm::StringRef ShortName(const Value& value, llvm::StringRef layer) {
  llvm::StringRef name = value.name();
  if (layer.empty() && value.producer()) layer = value.producer()->layer_path();
  if (!layer.empty() && name.starts_with(layer) && name.substr(layer.size()).starts_with("."))
    name = name.drop_front(layer.size() + 1);
  return name;
}

bool IsInlined(const Op& op) {
  const OpProperties& properties = op.def().properties();
  return op.operands().empty() && op.results().size() == 1 && op.result()->type().is_scalar() &&
         !properties.random && !properties.has_side_effect;
}

Levels FindLevels(const Graph& graph) { return LevelMaker(graph).Run(); }

}  // namespace pdl::view
