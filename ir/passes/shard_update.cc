#include "pdl/compiler/shard_update.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// All ranks, as the reader of a value.
constexpr int kAllRanks = -1;

/// Whether a call stays in the network of every rank, although nothing uses its results.
bool IsAlwaysLive(const Op& op) {
  return op.def().properties().only_checks || op.def().properties().has_side_effect;
}

/// Groups updates that must have one owner. An update is called by its index.
class UpdateGroups {
 public:
  UpdateGroups(const Graph& update, llvm::ArrayRef<UpdateKind> kinds)
      : update_(update), kinds_(kinds), classes_(static_cast<unsigned>(kinds.size())) {
    for (const auto& [i, each] : llvm::enumerate(update.updates())) {
      // States with one element are sharded if they depend on others.
      if (kinds[i] == UpdateKind::kSharded && NumElements(each.state->type().dims).constant() > 1)
        groups_[each.state] = static_cast<unsigned>(i);
    }
    while (Propagate()) {
    }
    classes_.compress();
  }

  /// The groups that are not updated by all ranks: the indices of their updates, in order.
  std::vector<std::vector<unsigned>> Sharded() const {
    std::vector<std::vector<unsigned>> sharded(classes_.getNumClasses());
    std::vector<bool> is_common(sharded.size());
    for (const unsigned i : common_) is_common[classes_[i]] = true;
    for (unsigned i = 0; i < kinds_.size(); ++i) {
      const bool is_sharded = kinds_[i] == UpdateKind::kParameter ||
                              (kinds_[i] == UpdateKind::kSharded && groups_.contains(state(i)));
      if (is_sharded && !is_common[classes_[i]]) sharded[classes_[i]].push_back(i);
    }
    // Without a state there is nothing to divide.
    llvm::erase_if(sharded, [&](const auto& group) {
      return llvm::none_of(group, [&](unsigned i) { return kinds_[i] == UpdateKind::kSharded; });
    });
    return sharded;
  }

 private:
  const Value* state(unsigned i) const { return update_.updates()[i].state; }

  /// Finds for each value the group of the states that it depends on, and joins groups. Returns
  /// whether more states turned out to be sharded.
  bool Propagate() {
    for (const Op* op : update_.ops()) {
      const Value* first = nullptr;
      for (const Value* operand : op->operands()) {
        if (!groups_.contains(operand)) continue;
        if (first) classes_.join(groups_.lookup(first), groups_.lookup(operand));
        first = operand;
      }
      if (!first) continue;
      const unsigned group = groups_.lookup(first);
      for (const Value* result : op->results()) groups_[result] = group;
      if (IsAlwaysLive(*op)) common_.push_back(group);
    }
    bool has_changed = false;
    for (const auto& [i, each] : llvm::enumerate(update_.updates())) {
      const auto index = static_cast<unsigned>(i);
      const auto found = groups_.find(each.value);
      if (found == groups_.end()) continue;
      const unsigned group = found->second;
      classes_.join(index, group);
      if (kinds_[i] == UpdateKind::kCommon) common_.push_back(group);
      if (kinds_[i] == UpdateKind::kSharded)
        has_changed |= groups_.try_emplace(each.state, index).second;
    }
    return has_changed;
  }

  const Graph& update_;
  const llvm::ArrayRef<UpdateKind> kinds_;
  llvm::IntEqClasses classes_;
  /// For values that depend on a sharded state: an update of its group.
  llvm::DenseMap<const Value*, unsigned> groups_;
  /// Updates of groups that all ranks need.
  std::vector<unsigned> common_;
};

/// Finds the ranks whose updates read a value.
class Readers {
 public:
  Readers(const Graph& update, const UpdateOwners& owners) {
    for (const GraphUpdate& each : update.updates()) {
      const auto owner = owners.find(each.state->name());
      Add(each.value, owner == owners.end() ? kAllRanks : owner->second.rank);
    }
    for (const Op* op : llvm::reverse(update.ops())) {
      if (IsAlwaysLive(*op))
        for (const Value* operand : op->operands()) Add(operand, kAllRanks);
      for (const Value* result : op->results()) {
        const auto reader = ranks_.find(result);
        if (reader == ranks_.end()) continue;
        const int rank = reader->second;
        for (const Value* operand : op->operands()) Add(operand, rank);
      }
    }
  }

  /// A rank, or kAllRanks if there are several.
  int Of(const Value* value) const {
    const auto found = ranks_.find(value);
    return found == ranks_.end() ? kAllRanks : found->second;
  }
  bool Has(const Value* value) const { return ranks_.contains(value); }

 private:
  void Add(const Value* value, int rank) {
    const auto [found, is_new] = ranks_.try_emplace(value, rank);
    if (!is_new && found->second != rank) found->second = kAllRanks;
  }

  llvm::DenseMap<const Value*, int> ranks_;
};

}  // namespace

UpdateOwners ShareUpdates(const Graph& update, int ranks,
                          llvm::function_ref<UpdateKind(const Value&)> kind_of) {
  std::vector<UpdateKind> kinds;
  for (const GraphUpdate& each : update.updates()) kinds.push_back(kind_of(*each.state));
  const std::vector<std::vector<unsigned>> groups = UpdateGroups(update, kinds).Sharded();
  std::vector<int64_t> sizes;
  for (const std::vector<unsigned>& group : groups) {
    int64_t size = 0;
    for (const unsigned i : group)
      size += NumElements(update.updates()[i].state->type().dims).constant();
    sizes.push_back(size);
  }
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  UpdateOwners owners;
  std::vector<int64_t> loads(static_cast<size_t>(ranks));
  for (const size_t group : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += sizes[group];
    for (const unsigned i : groups[group])
      owners[update.updates()[i].state->name()] = {static_cast<int>(least - loads.begin()),
                                                   kinds[i] == UpdateKind::kParameter};
  }
  return owners;
}

llvm::Expected<UpdateShard> ShardUpdate(const Graph& update, const UpdateOwners& owners, int rank) {
  const Readers readers(update, owners);
  for (const GraphUpdate& each : update.updates()) {
    const auto owner = owners.find(each.state->name());
    if (owner != owners.end() && !owner->second.is_parameter && readers.Has(each.state) &&
        readers.Of(each.state) != owner->second.rank)
      return MakeUserError(Code::kBadMinimize,
                           "the states of the optimizers cannot be sharded: other updates read "
                           "'{0}' in some steps only",
                           each.state->name());
  }
  UpdateShard shard;
  for (const Value* input : update.inputs())
    if (const int reader = readers.Of(input); reader != kAllRanks)
      shard.readers[input->name()] = reader;
  shard.update = update.Clone();
  const std::vector<GraphUpdate> updates = shard.update.updates().vec();
  shard.update.ClearOutputs();
  for (const GraphUpdate& each : updates) {
    const auto owner = owners.find(each.state->name());
    if (owner == owners.end() || owner->second.rank == rank)
      shard.update.AddUpdate(each.state, each.value);
  }
  EliminateDeadCode(shard.update);
  std::vector<Value*> inputs;
  for (Value* input : shard.update.inputs()) {
    const auto reader = shard.readers.find(input->name());
    if (reader == shard.readers.end() || reader->second == rank) inputs.push_back(input);
  }
  shard.update.SetBlockInputs({}, inputs);
  return shard;
}

}  // namespace pdl
