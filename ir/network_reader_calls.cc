// Reading of calls: a call is read when its first result is reached in the list of variables.
#include "ir/network_reader.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// The message of a UserError, without its code.
std::string TextOf(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(std::move(error), [&](const UserError& e) { text = e.text(); });
  return text;
}

}  // namespace

std::string NetworkReader::Describe(const OpDesc& desc) const {
  std::string text = "call of '" + desc.type() + "'";
  if (desc.outputs_size() > 0) text += " for '" + desc.outputs(0) + "'";
  if (desc.location() > 0 && desc.location() <= graph_.locations().size())
    text += " (" + graph_.LocationToString(desc.location() - 1) + ")";
  return text;
}

llvm::Error NetworkReader::InCall(const OpDesc& desc, llvm::Error error) const {
  return error ? InContext(Describe(desc), std::move(error)) : llvm::Error::success();
}

const OpDesc* NetworkReader::NextCall(uint32_t block) const {
  const BlockDesc& desc = desc_.blocks(static_cast<int>(block));
  int next = calls_made_[block];
  return next < desc.ops_size() ? &desc.ops(next) : nullptr;
}

void NetworkReader::EnterHead(uint32_t block) {
  const OpDesc* call = NextCall(block);
  if (block != 0 && call && call->outputs_size() > 0) heads_.try_emplace(call->outputs(0), block);
}

llvm::Expected<int> NetworkReader::ReadResults(int variable) {
  const std::string& name = desc_.variables(variable).name();
  uint32_t block = 0;
  const OpDesc* next = NextCall(0);
  if (!next || next->outputs_size() == 0 || next->outputs(0) != name) {
    auto head = heads_.find(name);
    if (head == heads_.end())
      return Broken("variable '{0}': no call computes it, or the call is out of order", name);
    block = head->second;
    next = NextCall(block);
    heads_.erase(head);
  }
  const OpDesc& call = *next;
  llvm::Expected<Op*> added = ReadCall(call, block);
  if (!added) return added.takeError();
  Op* op = *added;
  ++calls_made_[block];
  EnterHead(block);

  for (size_t i = 0; i < op->results().size(); ++i) {
    Value* result = op->result(static_cast<unsigned>(i));
    int index = variable + static_cast<int>(i);
    if (index >= desc_.variables_size() || desc_.variables(index).role() != VarDesc::RESULT ||
        desc_.variables(index).name() != result->name())
      return InCall(call, MakeUserError(Code::kBadNetwork,
                                        "its result '{0}' is out of order among the variables",
                                        result->name()));
    // A data-dependent size has a symbol that inference created.
    for (const Dim& dim : result->type().dims)
      if (!dim.is_constant())
        dim.ForEachSymbol([&](llvm::StringRef symbol) { values_.AddSymbol(symbol); });
    const VarDesc& stored = desc_.variables(index);
    if (llvm::Error error = ReadComment(stored, result)) return error;
    if (desc_.incomplete() && !stored.has_type()) continue;
    llvm::Expected<Type> type = values_.ReadType(stored.type());
    if (!type) return InCall(call, type.takeError());
    if (*type != result->type())
      return InCall(
          call, MakeUserError(Code::kBadNetwork, "'{0}' is stored as {1}, but the call returns {2}",
                              result->name(), type->ToString(), result->type().ToString()));
  }
  return static_cast<int>(op->results().size());
}

const OpDef* NetworkReader::FindOp(const std::string& type) {
  if (last_def_ && last_def_->name() == type) return last_def_;
  auto [entry, is_new] = defs_.try_emplace(type, nullptr);
  if (is_new) entry->second = registry_.Find(type);
  return last_def_ = entry->second;
}

llvm::Expected<Op*> NetworkReader::ReadCall(const OpDesc& desc, uint32_t block) {
  const OpDef* def = FindOp(desc.type());
  if (!def)
    return InCall(
        desc, MakeUserError(Code::kUnknownOperator, "no operator is called '{0}'", desc.type()));
  llvm::StringSet<> results;
  for (const std::string& name : desc.outputs()) {
    if (llvm::Error error = CheckName(name)) return error;
    if (!results.insert(name).second) return Broken("two variables have the name '{0}'", name);
  }
  if (!IsPrintable(desc.layer())) return BrokenText("the path of a layer has a control character");
  llvm::Expected<LocationId> location = ReadLocation(desc.location());
  if (!location) return location.takeError();
  llvm::SmallVector<Value*, 4> operands;
  if (llvm::Error error = ReadOperands(desc, block, &operands))
    return InCall(desc, std::move(error));
  llvm::SmallVector<NamedAttribute, 4> attributes;
  if (llvm::Error error = ReadAttributes(desc, *def, block, &attributes))
    return InCall(desc, std::move(error));
  // Inference requires a complete block.
  for (const NamedAttribute& attribute : attributes)
    if (const auto* id = std::get_if<BlockId>(&attribute.value))
      if (id->index != block && !NextCall(id->index))
        if (llvm::Error error = ReadBlockEnd(id->index)) return error;
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(def->signature, attributes);
  if (!values) return InCall(desc, values.takeError());
  const size_t num_results = def->signature.NumResults(*values);
  if (static_cast<size_t>(desc.outputs_size()) != num_results)
    return InCall(desc, MakeUserError(Code::kBadNetwork, "{0} results, but '{1}' has {2}",
                                      desc.outputs_size(), desc.type(), num_results));
  llvm::SmallVector<std::string, 1> names(desc.outputs().begin(), desc.outputs().end());
  llvm::Expected<Op*> op =
      graph_.AddOpWithValues(*def, operands, std::move(*values), names,
                             {*location, {block}, desc.layer(), desc.recompute()});
  if (!op) return InCall(desc, op.takeError());
  return op;
}

llvm::Error NetworkReader::ReadOperands(const OpDesc& desc, uint32_t block,
                                        llvm::SmallVectorImpl<Value*>* operands) {
  for (const std::string& name : desc.inputs()) {
    Value* value = graph_.FindValue(name);
    if (!value)
      return MakeUserError(Code::kBadNetwork, "it reads '{0}', which is not a variable before it",
                           name);
    if (HomeOf(value) != block)
      return MakeUserError(Code::kBadNetwork, "it reads '{0}', which is not in its block", name);
    operands->push_back(value);
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadAttributes(const OpDesc& desc, const OpDef& def, uint32_t block,
                                          llvm::SmallVectorImpl<NamedAttribute>* attributes) {
  const auto& stored = desc.attributes();
  for (const AttributeDecl& decl : def.signature.attributes) {
    auto found = stored.find(decl.name);
    if (found == stored.end()) continue;
    llvm::Expected<AttributeValue> value = values_.ReadAttribute(found->second);
    if (!value)
      return MakeUserError(Code::kBadNetwork, "attribute '{0}': {1}", decl.name,
                           TextOf(value.takeError()));
    if (const BlockId* id = std::get_if<BlockId>(&*value)) {
      // Each call has its own copy of the body in a run: bodies that share one would grow to
      // 2**depth.
      if (!bodies_.insert(id->index).second)
        return MakeUserError(Code::kBadNetwork,
                             "attribute '{0}': block {1} is the body of two calls", decl.name,
                             id->index);
      block_uses_.push_back({block, id->index});
    }
    attributes->push_back({decl.name, std::move(*value)});
  }
  if (attributes->size() == stored.size()) return llvm::Error::success();
  // AddOp reports unknown attributes; sorted, so that the message does not depend on the order of
  // the map.
  const std::string* unknown = nullptr;
  for (const auto& entry : stored)
    if (def.signature.FindAttribute(entry.first) < 0 && (!unknown || entry.first < *unknown))
      unknown = &entry.first;
  attributes->push_back({*unknown, AttributeValue()});
  return llvm::Error::success();
}

}  // namespace pdl
