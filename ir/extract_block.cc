#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/graph.h"

namespace pdl {

Graph Graph::ExtractBlock(BlockId block) const {
  Graph copy;
  copy.files_ = files_;
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
  auto clone_value = [&](const Value* value) {
    Value* clone = &copy.values_.emplace_back();
    clone->name_ = value->name_;
    clone->type_ = value->type_;
    clone->kind_ = value->kind_;
    clone->result_index_ = value->result_index_;
    clone->known_to_plan_ = value->known_to_plan_;
    clone->location_ = value->location_;
    clone->number_ = static_cast<uint32_t>(copy.values_.size() - 1);
    copy.names_[clone->name_] = clone;
    clones[value] = clone;
    return clone;
  };
  for (BlockId from : reached) {
    const BlockId to = copies[from.index];
    Block& made = copy.blocks_[to.index];
    for (const Value* input : blocks_[from.index].inputs) {
      made.inputs.push_back(clone_value(input));
      for (const Dim& dim : input->type_.dims)
        dim.ForEachSymbol([&](llvm::StringRef name) { copy.symbols_.try_emplace(name, 2); });
    }
    for (const Op* op : blocks_[from.index].ops) {
      Op* clone = &copy.ops_.emplace_back();
      clone->def_ = op->def_;
      clone->attributes_ = op->attributes_;
      for (AttributeValue& value : clone->attributes_)
        if (auto* id = std::get_if<BlockId>(&value)) *id = copies[id->index];
      clone->checks_ = op->checks_;
      clone->layer_path_ = op->layer_path_;
      clone->location_ = op->location_;
      clone->block_ = to;
      clone->recompute_ = op->recompute_;
      llvm::SmallVector<Value*, 4> operands;
      for (const Value* operand : op->operands_) operands.push_back(clones[operand]);
      Use(clone, operands);
      for (const Value* result : op->results_) {
        clone->results_.push_back(clone_value(result));
        clone->results_.back()->producer_ = clone;
      }
      made.ops.push_back(clone);
    }
    for (const Value* output : blocks_[from.index].outputs) {
      Value* clone = clones[output];
      if (to.index == 0) {
        copy.outputs_.push_back({std::to_string(copy.outputs_.size()), clone, ""});
      } else {
        made.outputs.push_back(clone);
      }
    }
  }
  return copy;
}

}  // namespace pdl
