#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/graph.h"

namespace pdl {

Graph Graph::ExtractBlock(BlockId block) const {
  Graph copy;
  copy.files_ = files_;
  copy.texts_ = texts_;
  copy.locations_ = locations_;
  // The reachable blocks, in the order in which they are found, and their copies.
  std::vector<BlockId> reached = {block};
  llvm::DenseMap<uint32_t, BlockId> copies;
  copies[block.index] = BlockId{0};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Op* op : blocks_[reached[i].index].ops)
      for (const AttributeValue& value : op->attributes_)
        if (const auto* id = std::get_if<BlockId>(&value);
            id && copies.try_emplace(id->index, BlockId{}).second) {
          copies[id->index] = copy.AddBlock();
          reached.push_back(*id);
        }
  }
  llvm::DenseMap<const Value*, Value*> clones;
  auto clone_of = [&](const Value* value) { return clones.lookup(value); };
  auto clone_value = [&](const Value* value) {
    Value* clone = copy.CopyValue(*value);
    copy.names_[clone->name_] = clone;
    clones[value] = clone;
    return clone;
  };
  for (BlockId from : reached) {
    const BlockId to = copies[from.index];
    for (const Value* input : blocks_[from.index].inputs) {
      copy.blocks_[to.index].inputs.push_back(clone_value(input));
      for (const Dim& dim : input->type_.dims)
        dim.ForEachSymbol([&](llvm::StringRef name) { copy.symbols_.try_emplace(name, 2); });
    }
    for (const Op* op : blocks_[from.index].ops) {
      Op* clone = copy.CopyOp(*op, to, clone_of, clone_value);
      for (AttributeValue& value : clone->attributes_)
        if (auto* id = std::get_if<BlockId>(&value)) *id = copies[id->index];
    }
    for (const Value* output : blocks_[from.index].outputs) {
      Value* clone = clones[output];
      if (to.index == 0) {
        copy.outputs_.push_back({std::to_string(copy.outputs_.size()), clone, ""});
      } else {
        copy.blocks_[to.index].outputs.push_back(clone);
      }
    }
  }
  return copy;
}

}  // namespace pdl
