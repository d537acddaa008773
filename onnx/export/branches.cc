#include "onnx/export/branches.h"

#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace pdl {

BranchTable::BranchTable(llvm::ArrayRef<Op*> ops,
                         llvm::function_ref<bool(const Value*)> is_result) {
  FindIfs(ops);
  // Uses come later, so that their regions are known. The selects of an `if` have one region.
  for (size_t end = ops.size(); end > 0;) {
    const Branches* branches = ifs_.lookup(ops[end - 1]);
    const size_t begin = end - (branches == nullptr ? 1 : branches->selects.size());
    std::optional<unsigned> region;
    const auto add = [&](unsigned other) { region = region ? Common(*region, other) : other; };
    for (const Op* op : ops.slice(begin, end - begin)) {
      for (const Value* result : op->results()) {
        if (is_result(result)) add(0);
        for (const Value::Use& use : result->uses()) add(RegionOf(use));
      }
    }
    for (const Op* op : ops.slice(begin, end - begin)) regions_of_[op] = region.value_or(0);
    if (branches != nullptr) {
      const unsigned first = first_region_.at(branches), parent = region.value_or(0);
      for (const unsigned i : {first, first + 1}) {
        regions_[i].parent = parent;
        regions_[i].depth = regions_[parent].depth + 1;
      }
    }
    end = begin;
  }
  for (const Op* op : ops) {
    const Region& region = regions_[regions_of_.at(op)];
    (region.branches == nullptr ? outside_ : region.branches->sides[region.side]).push_back(op);
  }
}

void BranchTable::FindIfs(llvm::ArrayRef<Op*> ops) {
  Branches* current = nullptr;
  for (const Op* op : ops) {
    if (!op->def().properties().is_plan_select) {
      current = nullptr;
      continue;
    }
    const Value* condition = op->operands()[0];
    const auto is_of_current = [&](const Value* operand) {
      return operand->producer() != nullptr && ifs_.lookup(operand->producer()) == current;
    };
    if (current == nullptr || current->condition != condition ||
        llvm::any_of(op->operands(), is_of_current)) {
      current = &all_.emplace_back();
      current->condition = condition;
      first_region_[current] = static_cast<unsigned>(regions_.size());
      for (const unsigned side : {0u, 1u}) regions_.push_back({current, side, 0, 0});
    }
    current->selects.push_back(op);
    ifs_[op] = current;
  }
}

unsigned BranchTable::Common(unsigned a, unsigned b) const {
  while (a != b) {
    if (regions_[a].depth < regions_[b].depth) std::swap(a, b);
    a = regions_[a].parent;
  }
  return a;
}

unsigned BranchTable::RegionOf(const Value::Use& use) const {
  const auto region = regions_of_.find(use.op);
  if (region == regions_of_.end()) return 0;
  const Branches* branches = ifs_.lookup(use.op);
  if (branches == nullptr || use.operand == 0) return region->second;
  return first_region_.at(branches) + use.operand - 1;
}

}  // namespace pdl
