#include "onnx/export/branches.h"

#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

/// Protobuf reads at most 100 nested messages, of which an If takes three. A chain of `if`s, each
/// of which keeps the result of the one before on one side, is nested as deep as it is long.
constexpr unsigned kMaxDepth = 10;

/// Whether the data decide a size of a result: a call may need the size, but not the value.
bool DecidesSize(const Graph& graph, const Op& op) {
  bool decides = false;
  for (const Value* result : op.results())
    for (const Dim& dim : result->type().dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { decides |= graph.IsDataSymbol(symbol); });
  return decides;
}

}  // namespace

BranchTable::BranchTable(const Graph& graph, llvm::ArrayRef<Op*> ops,
                         llvm::function_ref<bool(const Value*)> is_result) {
  FindIfs(ops);
  // Uses come later, so that their regions are known. The selects of an `if` have one region.
  for (size_t end = ops.size(); end > 0;) {
    const Branches* branches = ifs_.lookup(ops[end - 1]);
    const size_t begin = end - (branches == nullptr ? 1 : branches->selects.size());
    std::optional<unsigned> region;
    const auto add = [&](unsigned other) { region = region ? Common(*region, other) : other; };
    for (const Op* op : ops.slice(begin, end - begin)) {
      if (DecidesSize(graph, *op)) add(0);
      for (const Value* result : op->results()) {
        if (is_result(result)) add(0);
        for (const Value::Use& use : result->uses()) add(RegionOf(use));
      }
    }
    if (branches != nullptr && region && regions_[*region].depth >= kMaxDepth) region = 0;
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
