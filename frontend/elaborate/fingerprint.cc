#include "frontend/elaborate/fingerprint.h"

#include "llvm/ADT/Hashing.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

template <typename... Parts>
uint64_t Combine(const Parts&... parts) {
  return static_cast<size_t>(llvm::hash_combine(parts...));
}

}  // namespace

Fingerprints::Fingerprints(const Graph& graph, Leaf leaf, Size size, bool training)
    : graph_(graph), leaf_(leaf), size_(size), training_(training), numbers_(graph.num_values()) {
  for (const Value* input : graph.inputs()) {
    const uint64_t type = Combine(input->name(), input->type().ToString());
    numbers_[graph.number(input)] = Combine(type, leaf(input).value_or(0));
  }
  for (auto variables : {graph.parameters(), graph.states()}) {
    for (const Value* variable : variables) {
      numbers_[graph.number(variable)] = OfVariable(variable);
    }
  }
  for (const Op* op : graph.ops()) OfOp(*op);
}

uint64_t Fingerprints::OfVariable(const Value* value) {
  const VariableInfo& info = value->variable();
  uint64_t hash = OfSizes(Combine(value->name(), value->type().ToString()), value->type());
  if (const std::optional<uint64_t> given = leaf_(value)) return Combine(hash, *given, 'g');
  if (info.weight) hash = Combine(hash, info.weight->file, info.weight->tensor);
  if (info.initializer) hash = Combine(hash, OfBlock(*info.initializer));
  if (!info.copy_of.empty()) hash = Combine(hash, 'c', OfVariable(graph_.FindValue(info.copy_of)));
  return hash;
}

uint64_t Fingerprints::OfSizes(uint64_t hash, const Type& type) {
  ForEachSymbol(type, [&](llvm::StringRef name) { hash = Combine(hash, name, size_(name)); });
  return hash;
}

uint64_t Fingerprints::OfBlock(BlockId id) {
  if (auto known = blocks_.find(id.index); known != blocks_.end()) return known->second;
  const Block& block = graph_.block(id);
  uint64_t hash = block.ops.size();
  for (const auto& [index, input] : llvm::enumerate(block.inputs)) {
    numbers_[graph_.number(input)] = Combine(index, input->type().ToString());
  }
  for (const Op* op : block.ops) hash = Combine(hash, OfOp(*op));
  for (const Value* output : block.outputs) {
    hash = Combine(hash, numbers_[graph_.number(output)]);
  }
  return blocks_[id.index] = hash;
}

uint64_t Fingerprints::OfOp(const Op& op) {
  uint64_t hash = Combine(op.type());
  for (const AttributeValue& attribute : op.attribute_values()) {
    const auto* block = std::get_if<BlockId>(&attribute);
    hash = Combine(hash, block ? OfBlock(*block) : uint64_t{HashAttribute(attribute)});
  }
  for (const Value* operand : op.operands()) {
    hash = Combine(hash, numbers_[graph_.number(operand)]);
  }
  ForEachSymbol(op, [&](llvm::StringRef name) { hash = Combine(hash, name, size_(name)); });
  if (op.def().properties().is_training_flag) hash = Combine(hash, training_);
  for (const auto& [index, result] : llvm::enumerate(op.results())) {
    // Random numbers depend on the name, which an index cannot replace.
    hash = op.def().properties().random ? Combine(hash, result->name()) : hash;
    numbers_[graph_.number(result)] = Combine(hash, index);
  }
  return hash;
}

}  // namespace pdl
