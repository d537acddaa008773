#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "runtime/fusion.h"

namespace pdl {
namespace {

/// Large enough for the full gain of tiling; bounds the buffers and tables of one group.
constexpr size_t kMaxGroup = 64;
constexpr size_t kMaxInputs = 24;

struct Group {
  llvm::SmallVector<unsigned, 4> calls;
  llvm::SmallSetVector<const Value*, 8> inputs;  // operands from outside the group
  bool open = true;                              // none of its values has been used outside
  bool has_head = false;  // one of the calls is a row producer or a tiled producer
};

}  // namespace

CallGroups FormGroups(llvm::ArrayRef<const Op*> ops, llvm::ArrayRef<CallKind> kinds) {
  constexpr unsigned kNone = UINT32_MAX;
  std::vector<Group> groups;
  std::vector<unsigned> group_of(ops.size(), kNone);
  llvm::DenseMap<const Op*, unsigned> position;
  position.reserve(ops.size());
  auto group_that_makes = [&](const Value* value) {
    auto found = value->producer() ? position.find(value->producer()) : position.end();
    return found == position.end() ? kNone : group_of[found->second];
  };
  /// The inputs of a group of these two groups (the second may be kNone) and a call.
  auto inputs_of = [&](unsigned first, unsigned second, const Op& op) {
    llvm::SmallSetVector<const Value*, 8> inputs;
    auto add = [&](const Value* value) {
      const unsigned maker = group_that_makes(value);
      if (maker == kNone || (maker != first && maker != second)) inputs.insert(value);
    };
    for (const unsigned group : {first, second})
      if (group != kNone) llvm::for_each(groups[group].inputs, add);
    llvm::for_each(op.operands(), add);
    return inputs;
  };

  for (unsigned i = 0; i < ops.size(); ++i) {
    const Op* op = ops[i];
    position[op] = i;
    // The open groups that compute operands of this call, each once.
    llvm::SmallVector<unsigned, 2> feeding;
    for (const Value* operand : op->operands()) {
      const unsigned group = group_that_makes(operand);
      if (group == kNone) continue;
      if (groups[group].open && !llvm::is_contained(feeding, group)) feeding.push_back(group);
    }
    unsigned joined = kNone;
    if (kinds[i] != CallKind::kTile) {
      for (unsigned group : feeding) groups[group].open = false;
      if (kinds[i] == CallKind::kOther) continue;
      feeding.clear();
    }
    for (unsigned group : feeding) {
      Group& candidate = groups[group];
      const Op* member = ops[candidate.calls.back()];
      size_t size = candidate.calls.size() + 1;
      if (joined != kNone) size += groups[joined].calls.size();
      const bool two_heads = joined != kNone && candidate.has_head && groups[joined].has_head;
      bool fits = !two_heads && size <= kMaxGroup &&
                  member->result()->type().dims == op->result()->type().dims &&
                  inputs_of(group, joined, *op).size() <= kMaxInputs;
      if (!fits) {
        candidate.open = false;
        continue;
      }
      if (joined == kNone) {
        joined = group;
        continue;
      }
      // The call merges two groups; the larger one takes the calls of the other.
      unsigned other = group;
      if (groups[joined].calls.size() < groups[other].calls.size()) std::swap(joined, other);
      for (unsigned call : groups[other].calls) group_of[call] = joined;
      groups[joined].calls.append(groups[other].calls);
      groups[joined].has_head |= groups[other].has_head;
      groups[joined].inputs.insert(groups[other].inputs.begin(), groups[other].inputs.end());
      groups[other] = Group{{}, {}, false};
    }
    if (joined == kNone) {
      joined = static_cast<unsigned>(groups.size());
      groups.emplace_back();
      groups.back().has_head = kinds[i] != CallKind::kTile;
    }
    groups[joined].inputs = inputs_of(joined, kNone, *op);
    groups[joined].calls.push_back(i);
    group_of[i] = joined;
  }

  // A group runs at the position of its last call.
  std::vector<unsigned> last(groups.size(), 0);
  for (unsigned g = 0; g < groups.size(); ++g) {
    llvm::sort(groups[g].calls);
    if (!groups[g].calls.empty()) last[g] = groups[g].calls.back();
  }
  CallGroups result;
  for (unsigned i = 0; i < ops.size(); ++i) {
    unsigned group = group_of[i];
    if (group == kNone) {
      result.push_back({i});
    } else if (last[group] == i) {
      result.emplace_back(groups[group].calls.begin(), groups[group].calls.end());
    }
  }
  return result;
}

}  // namespace pdl
