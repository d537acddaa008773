#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "runtime/fusion.h"

namespace pdl {
namespace {

/// Large enough for the full gain of tiling; bounds the buffers and tables of one group.
constexpr size_t kMaxGroup = 64;
constexpr size_t kMaxGroupInputs = 24;

constexpr unsigned kNone = UINT32_MAX;

struct Group {
  llvm::SmallVector<unsigned, 4> calls;
  llvm::SmallSetVector<const Value*, 8> inputs;  // operands from outside the group
  bool open = true;                              // none of its values has been used outside
  bool has_head = false;  // one of the calls is a row producer or a tiled producer
};

/// Forms the groups in one pass over the calls, in their order.
class GroupBuilder {
 public:
  GroupBuilder(llvm::ArrayRef<const Op*> ops, llvm::ArrayRef<CallKind> kinds)
      : ops_(ops), kinds_(kinds), group_of_(ops.size(), kNone) {
    position_.reserve(ops.size());
  }

  CallGroups Build();

 private:
  /// Adds call `i` to a group of calls that compute its operands, or to a new group.
  void Add(unsigned i);
  /// The open groups that compute operands of a call, each once.
  llvm::SmallVector<unsigned, 2> OpenGroupsFeeding(const Op& op) const;
  /// Whether a group, `joined` (or kNone) and a call may become one group.
  bool Fits(unsigned group, unsigned joined, const Op& op) const;
  /// Merges two groups; returns the one that remains, which is the larger one.
  unsigned Merge(unsigned a, unsigned b);
  /// The groups, and each other call on its own, in the order of their last calls.
  CallGroups Take();

  unsigned GroupThatMakes(const Value* value) const {
    auto found = value->producer() ? position_.find(value->producer()) : position_.end();
    return found == position_.end() ? kNone : group_of_[found->second];
  }
  /// The inputs of a group of these two groups (the second may be kNone) and a call.
  llvm::SmallSetVector<const Value*, 8> InputsOf(unsigned first, unsigned second,
                                                 const Op& op) const;

  llvm::ArrayRef<const Op*> ops_;
  llvm::ArrayRef<CallKind> kinds_;
  std::vector<Group> groups_;
  std::vector<unsigned> group_of_;
  llvm::DenseMap<const Op*, unsigned> position_;
};

llvm::SmallSetVector<const Value*, 8> GroupBuilder::InputsOf(unsigned first, unsigned second,
                                                             const Op& op) const {
  llvm::SmallSetVector<const Value*, 8> inputs;
  auto add = [&](const Value* value) {
    const unsigned maker = GroupThatMakes(value);
    if (maker == kNone || (maker != first && maker != second)) inputs.insert(value);
  };
  for (const unsigned group : {first, second})
    if (group != kNone) llvm::for_each(groups_[group].inputs, add);
  llvm::for_each(op.operands(), add);
  return inputs;
}

llvm::SmallVector<unsigned, 2> GroupBuilder::OpenGroupsFeeding(const Op& op) const {
  llvm::SmallVector<unsigned, 2> feeding;
  for (const Value* operand : op.operands()) {
    const unsigned group = GroupThatMakes(operand);
    if (group == kNone) continue;
    if (groups_[group].open && !llvm::is_contained(feeding, group)) feeding.push_back(group);
  }
  return feeding;
}

bool GroupBuilder::Fits(unsigned group, unsigned joined, const Op& op) const {
  const Group& candidate = groups_[group];
  size_t size = candidate.calls.size() + 1;
  if (joined != kNone) size += groups_[joined].calls.size();
  const bool two_heads = joined != kNone && candidate.has_head && groups_[joined].has_head;
  const Op* member = ops_[candidate.calls.back()];
  return !two_heads && size <= kMaxGroup &&
         member->result()->type().dims == op.result()->type().dims &&
         InputsOf(group, joined, op).size() <= kMaxGroupInputs;
}

unsigned GroupBuilder::Merge(unsigned a, unsigned b) {
  if (groups_[a].calls.size() < groups_[b].calls.size()) std::swap(a, b);
  for (unsigned call : groups_[b].calls) group_of_[call] = a;
  groups_[a].calls.append(groups_[b].calls);
  groups_[a].has_head |= groups_[b].has_head;
  groups_[a].inputs.insert(groups_[b].inputs.begin(), groups_[b].inputs.end());
  groups_[b] = Group{{}, {}, false};
  return a;
}

void GroupBuilder::Add(unsigned i) {
  const Op* op = ops_[i];
  position_[op] = i;
  llvm::SmallVector<unsigned, 2> feeding = OpenGroupsFeeding(*op);
  if (kinds_[i] != CallKind::kTile) {
    for (unsigned group : feeding) groups_[group].open = false;
    if (kinds_[i] == CallKind::kOther) return;
    feeding.clear();
  }
  unsigned joined = kNone;
  for (unsigned group : feeding) {
    if (!Fits(group, joined, *op)) {
      groups_[group].open = false;
    } else {
      joined = joined == kNone ? group : Merge(joined, group);
    }
  }
  if (joined == kNone) {
    joined = static_cast<unsigned>(groups_.size());
    groups_.emplace_back();
    groups_.back().has_head = kinds_[i] != CallKind::kTile;
  }
  groups_[joined].inputs = InputsOf(joined, kNone, *op);
  groups_[joined].calls.push_back(i);
  group_of_[i] = joined;
}

CallGroups GroupBuilder::Take() {
  std::vector<unsigned> last(groups_.size(), 0);
  for (unsigned g = 0; g < groups_.size(); ++g) {
    llvm::sort(groups_[g].calls);
    if (!groups_[g].calls.empty()) last[g] = groups_[g].calls.back();
  }
  CallGroups result;
  for (unsigned i = 0; i < ops_.size(); ++i) {
    const unsigned group = group_of_[i];
    if (group == kNone) {
      result.push_back({i});
    } else if (last[group] == i) {
      result.emplace_back(groups_[group].calls.begin(), groups_[group].calls.end());
    }
  }
  return result;
}

CallGroups GroupBuilder::Build() {
  for (unsigned i = 0; i < ops_.size(); ++i) Add(i);
  return Take();
}

}  // namespace

CallGroups FormGroups(llvm::ArrayRef<const Op*> ops, llvm::ArrayRef<CallKind> kinds) {
  return GroupBuilder(ops, kinds).Build();
}

}  // namespace pdl
