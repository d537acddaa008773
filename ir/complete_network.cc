#include "ir/complete_network.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"

namespace pdl {
namespace {

/// Visits the calls of all blocks in the order of their results among the variables.
class CallOrder {
 public:
  explicit CallOrder(const NetworkDesc& desc)
      : desc_(desc), visited_(static_cast<size_t>(desc.blocks_size()), false) {}

  std::vector<const OpDesc*> Take() {
    // The blocks that no call refers to are block 0 and initial values.
    for (int block = 0; block < desc_.blocks_size(); ++block)
      for (const OpDesc& call : desc_.blocks(block).ops())
        for (uint32_t body : BodiesOf(call))
          if (body < visited_.size()) is_body_.insert_or_assign(body, true);
    for (int block = 0; block < desc_.blocks_size(); ++block)
      if (!is_body_.count(static_cast<uint32_t>(block))) Visit(static_cast<uint32_t>(block));
    return std::move(calls_);
  }

 private:
  /// The bodies of a call, by the names of their attributes.
  static std::vector<uint32_t> BodiesOf(const OpDesc& call) {
    std::map<std::string, uint32_t> bodies;
    for (const auto& [name, value] : call.attributes())
      if (value.value_case() == Attribute::kBlock) bodies[name] = value.block();
    std::vector<uint32_t> blocks;
    for (const auto& [name, block] : bodies) blocks.push_back(block);
    return blocks;
  }

  /// Depth-first, without recursion: the nesting of untrusted blocks has no limit.
  void Visit(uint32_t root) {
    struct Open {
      uint32_t block;
      int next_call;
      bool has_bodies_visited;
    };
    std::vector<Open> stack;
    auto open = [&](uint32_t block) {
      if (block >= visited_.size() || visited_[block]) return;
      visited_[block] = true;
      stack.push_back({block, 0, false});
    };
    open(root);
    while (!stack.empty()) {
      Open& top = stack.back();
      const BlockDesc& block = desc_.blocks(static_cast<int>(top.block));
      if (top.next_call == block.ops_size()) {
        stack.pop_back();
        continue;
      }
      const OpDesc& call = block.ops(top.next_call);
      if (!std::exchange(top.has_bodies_visited, true)) {
        const std::vector<uint32_t> bodies = BodiesOf(call);
        // The last one that is opened is visited first.
        for (auto body = bodies.rbegin(); body != bodies.rend(); ++body) open(*body);
        continue;
      }
      calls_.push_back(&call);
      ++top.next_call;
      top.has_bodies_visited = false;
    }
  }

  const NetworkDesc& desc_;
  std::vector<bool> visited_;
  std::map<uint32_t, bool> is_body_;
  std::vector<const OpDesc*> calls_;
};

}  // namespace

void AddResultVariables(NetworkDesc* desc) {
  const NetworkDesc given = *desc;
  desc->clear_variables();
  llvm::StringMap<const VarDesc*> results;
  for (const VarDesc& variable : given.variables()) {
    // Of two with one name, the second stays and is reported.
    if (variable.role() == VarDesc::RESULT &&
        results.try_emplace(variable.name(), &variable).second)
      continue;
    *desc->add_variables() = variable;
  }
  for (const OpDesc* call : CallOrder(given).Take()) {
    for (const std::string& name : call->outputs()) {
      VarDesc* variable = desc->add_variables();
      if (const auto known = results.find(name); known != results.end()) {
        *variable = *known->second;
        results.erase(known);
      } else {
        variable->set_name(name);
      }
    }
  }
  // Results of no call.
  for (const VarDesc& variable : given.variables())
    if (variable.role() == VarDesc::RESULT && results.erase(variable.name()))
      *desc->add_variables() = variable;
}

}  // namespace pdl
