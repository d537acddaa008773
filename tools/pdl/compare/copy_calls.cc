#include "tools/pdl/compare/copy_calls.h"
#include "ir/located_error.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "tools/pdl/support/elements.h"

namespace pdl {

CallCopier::CallCopier(Graph& to, const Graph& from, std::optional<DType> floats)
    : to_(to),
      from_(from),
      floats_(floats),
      first_location_(static_cast<uint32_t>(to.locations().size())) {
  std::vector<uint32_t> files;
  for (const std::string& file : from.files()) files.push_back(to.AddFile(file, from.TextOf(file)));
  for (Location location : from.locations()) {
    location.file = files[location.file];
    location.origin = CopyLocation(location.origin);
    to.AddLocation(location);
  }
}

LocationId CallCopier::CopyLocation(LocationId location) const {
  return location < from_.locations().size() ? location + first_location_ : kUnknownLocation;
}

Dim CallCopier::Substitute(const Dim& dim) const { return pdl::Substitute(dim, symbols_); }

void CallCopier::Map(const Value* from, Value* to) {
  map_[from] = to;
  for (auto [old, now] : llvm::zip_first(from->type().dims, to->type().dims))
    if (!old.symbol().empty() && old != now) symbols_[old.symbol()] = now;
}

llvm::Expected<BlockId> CallCopier::CopyBody(BlockId id, const OpDef& def,
                                             llvm::ArrayRef<Value*> operands,
                                             llvm::ArrayRef<AttributeValue> attributes) {
  const Block& block = from_.block(id);
  const BlockId made = to_.AddBlock();
  llvm::Expected<std::vector<Type>> types = to_.BodyTypes(def, operands, attributes);
  if (!types) return types.takeError();
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const Value* input = block.inputs[i];
    Map(input, to_.AddBlockInput(made, to_.NewName(input->name()), (*types)[i]));
  }
  if (llvm::Error error = CopyInto(made, id)) return error;
  return made;
}

llvm::Expected<BlockId> CallCopier::CopyInitializer(BlockId id) {
  const BlockId made = to_.AddBlock();
  if (llvm::Error error = CopyInto(made, id)) return error;
  return made;
}

llvm::Error CallCopier::CopyInto(BlockId made, BlockId id) {
  const Block& block = from_.block(id);
  for (const Op* op : block.ops)
    if (llvm::Error error = CopyOp(*op, made)) return error;
  std::vector<Value*> outputs;
  for (const Value* output : block.outputs) outputs.push_back(map_.lookup(output));
  // The extracted block becomes the network.
  if (id.index == 0)
    for (const GraphOutput& output : from_.outputs()) outputs.push_back(map_.lookup(output.value));
  to_.SetBlockOutputs(made, std::move(outputs));
  return llvm::Error::success();
}

llvm::Error CallCopier::CopyOp(const Op& op, BlockId block) {
  llvm::SmallVector<Value*, 4> operands;
  for (const Value* operand : op.operands()) operands.push_back(map_.lookup(operand));
  std::vector<AttributeValue> attributes = op.attribute_values().vec();
  for (AttributeValue& value : attributes) {
    if (auto* dtype = std::get_if<DType>(&value); floats_ && dtype && IsFloat(*dtype))
      *dtype = *floats_;
    pdl::Substitute(&value, symbols_);
    if (auto* constant = std::get_if<Constant>(&value);
        floats_ && constant && IsFloat(constant->dtype()))
      *constant = CastFloats(Tensor::FromConstant(*constant), *floats_).ToConstant();
    const auto* body = std::get_if<BlockId>(&value);
    if (!body) continue;
    llvm::Expected<BlockId> inner = CopyBody(*body, op.def(), operands, attributes);
    if (!inner) return inner.takeError();
    value = *inner;
  }
  std::vector<std::string> names;
  for (const Value* result : op.results()) {
    const auto name = names_.find(result);
    names.push_back(name == names_.end() ? to_.NewName(result->name()) : name->second);
  }
  CallOptions options;
  options.block = block;
  options.layer_path = op.layer_path();
  options.location = CopyLocation(op.location());
  llvm::Expected<Op*> copy =
      to_.AddOpWithValues(op.def(), operands, std::move(attributes), names, std::move(options));
  if (!copy) return copy.takeError();
  // A data-dependent size may have another name.
  for (auto [from, to] : llvm::zip_equal(op.results(), (*copy)->results())) Map(from, to);
  return llvm::Error::success();
}

namespace {

Type WithFloats(Type type, DType floats) {
  if (IsFloat(type.dtype)) type.dtype = floats;
  return type;
}

}  // namespace

llvm::Expected<Graph> ConvertFloats(const Graph& network, DType floats) {
  Graph made;
  CallCopier copier(made, network, floats);
  for (const Value* input : network.inputs())
    copier.Map(input,
               made.AddInput(input->name(), WithFloats(input->type(), floats), input->location()));
  for (const Value* parameter : network.parameters())
    copier.Map(parameter,
               made.AddParameter(parameter->name(), WithFloats(parameter->type(), floats), {},
                                 parameter->location()));
  for (const Value* state : network.states()) {
    VariableInfo info;
    info.copy_of = state->variable().copy_of;
    if (state->variable().initializer) {
      llvm::Expected<BlockId> block = copier.CopyInitializer(*state->variable().initializer);
      if (!block) return block.takeError();
      info.initializer = *block;
    }
    copier.Map(state, made.AddState(state->name(), WithFloats(state->type(), floats),
                                    std::move(info), state->location()));
  }
  for (const Op* op : network.ops()) {
    if (llvm::Error error = copier.CopyOp(*op, {})) {
      const std::string message = llvm::toString(std::move(error));
      return WithTexts(network, UserErrorAt(network, op->location(), Code::kInputType,
                                            llvm::formatv("{0} does not take {1}: {2}", op->type(),
                                                          DTypeName(floats), message)));
    }
  }
  for (const GraphOutput& output : network.outputs())
    made.AddOutput(output.name, copier.Find(output.value), output.comment);
  for (const GraphUpdate& update : network.updates())
    made.AddUpdate(copier.Find(update.state), copier.Find(update.value));
  for (const GraphConstraint& constraint : network.constraints()) made.AddConstraint(constraint);
  return made;
}

}  // namespace pdl
