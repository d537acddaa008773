// Copies of networks, and of blocks as networks.
#include <memory>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "pdl/compiler/graph.h"

namespace pdl {

Value* Graph::CopyValue(const Value& value) {
  Value* copy = NewValue();
  copy->name_ = value.name_;
  copy->type_ = value.type_;
  copy->kind_ = value.kind_;
  copy->result_index_ = value.result_index_;
  copy->known_to_plan_ = value.known_to_plan_;
  copy->location_ = value.location_;
  return copy;
}

Op* Graph::CopyOp(const Op& op, BlockId block, llvm::function_ref<Value*(const Value*)> operand,
                  llvm::function_ref<Value*(const Value*)> result) {
  Op* copy = NewOp();
  copy->def_ = op.def_;
  copy->attributes_ = op.attributes_;
  copy->checks_ = op.checks_;
  copy->layer_path_ = op.layer_path_;
  copy->location_ = op.location_;
  copy->block_ = block;
  copy->recompute_ = op.recompute_;
  Use(copy, llvm::map_to_vector(op.operands_, operand));
  for (const Value* each : op.results_) {
    copy->results_.push_back(result(each));
    copy->results_.back()->producer_ = copy;
  }
  blocks_[block.index].ops.push_back(copy);
  return copy;
}

Graph Graph::Clone() const {
  Graph copy;
  copy.blocks_.resize(blocks_.size());
  std::vector<Value*> clones;  // by number
  clones.reserve(values_.size());
  auto clone_of = [&](const Value* value) { return clones[value->number_]; };
  for (const Value* value : values_) {
    Value* clone = copy.CopyValue(*value);
    clone->comment_ = value->comment_;
    if (value->variable_) clone->variable_ = std::make_unique<VariableInfo>(*value->variable_);
    clones.push_back(clone);
  }
  for (const auto& entry : names_) copy.names_[entry.first()] = clone_of(entry.second);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (const Op* op : blocks_[i].ops) copy.CopyOp(*op, op->block_, clone_of, clone_of);
    for (const Value* value : blocks_[i].inputs) copy.blocks_[i].inputs.push_back(clone_of(value));
    for (const Value* value : blocks_[i].outputs)
      copy.blocks_[i].outputs.push_back(clone_of(value));
  }
  for (const Value* value : parameters_) copy.parameters_.push_back(clone_of(value));
  for (const Value* value : states_) copy.states_.push_back(clone_of(value));
  for (const GraphOutput& output : outputs_)
    copy.outputs_.push_back({output.name, clone_of(output.value), output.comment});
  for (const GraphUpdate& update : updates_)
    copy.AddUpdate(clone_of(update.state), clone_of(update.value));
  for (const GraphTraining& training : trainings_) {
    GraphTraining& clone = copy.trainings_.emplace_back(training);
    clone.loss = clone_of(training.loss);
    for (Value*& parameter : clone.parameters) parameter = clone_of(parameter);
    for (GraphUpdate& update : clone.updates)
      update = {clone_of(update.state), clone_of(update.value)};
  }
  copy.constraints_ = constraints_;
  copy.locations_ = locations_;
  copy.files_ = files_;
  copy.texts_ = texts_;
  copy.next_suffix_ = next_suffix_;
  copy.reserved_names_ = reserved_names_;
  copy.symbols_ = symbols_;
  for (const auto& entry : data_symbols_)
    copy.data_symbols_[entry.first()] =
        entry.second ? clone_of(entry.second->result())->producer_ : nullptr;
  return copy;
}

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
