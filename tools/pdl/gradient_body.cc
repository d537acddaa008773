#include "tools/pdl/gradient_body.h"

#include "llvm/ADT/DenseMap.h"
#include "tools/pdl/elements.h"

namespace pdl {
namespace {

class BodyCopier {
 public:
  BodyCopier(Graph& to, const Graph& from, DType floats) : to_(to), from_(from), floats_(floats) {}

  llvm::Expected<BlockId> Copy(BlockId id, const OpDef& def, llvm::ArrayRef<Value*> operands,
                               llvm::ArrayRef<AttributeValue> attributes) {
    const Block& block = from_.block(id);
    const BlockId made = to_.AddBlock();
    llvm::Expected<std::vector<Type>> types = to_.BodyTypes(def, operands, attributes);
    if (!types) return types.takeError();
    for (size_t i = 0; i < block.inputs.size(); ++i) {
      const Value* input = block.inputs[i];
      map_[input] = to_.AddBlockInput(made, to_.NewName(input->name()), (*types)[i]);
      for (auto [old, now] : llvm::zip_first(input->type().dims, (*types)[i].dims))
        if (!old.symbol().empty()) symbols_[old.symbol()] = now;
    }
    for (const Op* op : block.ops)
      if (llvm::Error error = CopyOp(*op, made)) return error;
    std::vector<Value*> outputs;
    for (const Value* output : block.outputs) outputs.push_back(map_.lookup(output));
    // An extracted block is the network.
    if (id.index == 0)
      for (const GraphOutput& output : from_.outputs()) outputs.push_back(map_.lookup(output.value));
    to_.SetBlockOutputs(made, std::move(outputs));
    return made;
  }

 private:
  llvm::Error CopyOp(const Op& op, BlockId block) {
    llvm::SmallVector<Value*, 4> operands;
    for (const Value* operand : op.operands()) operands.push_back(map_.lookup(operand));
    std::vector<AttributeValue> attributes = op.attribute_values().vec();
    for (AttributeValue& value : attributes) {
      if (auto* dtype = std::get_if<DType>(&value); dtype && IsFloat(*dtype)) *dtype = floats_;
      if (auto* shape = std::get_if<Shape>(&value))
        for (Dim& dim : *shape)
          dim = dim.Substitute([&](llvm::StringRef name) -> std::optional<Dim> {
            const auto found = symbols_.find(name);
            return found == symbols_.end() ? std::nullopt : std::optional(found->second);
          });
      if (auto* constant = std::get_if<Constant>(&value); constant && IsFloat(constant->dtype())) {
        const Tensor tensor = Tensor::FromConstant(*constant);
        *constant = FromReals(floats_, tensor.sizes(), ToReals(tensor)).ToConstant();
      }
      const auto* body = std::get_if<BlockId>(&value);
      if (!body) continue;
      llvm::Expected<BlockId> inner = Copy(*body, op.def(), operands, attributes);
      if (!inner) return inner.takeError();
      value = *inner;
    }
    std::vector<std::string> names;
    for (const Value* result : op.results()) names.push_back(to_.NewName(result->name()));
    CallOptions options;
    options.block = block;
    llvm::Expected<Op*> copy =
        to_.AddOpWithValues(op.def(), operands, std::move(attributes), names, std::move(options));
    if (!copy) return copy.takeError();
    for (auto [from, to] : llvm::zip_equal(op.results(), (*copy)->results())) map_[from] = to;
    return llvm::Error::success();
  }

  Graph& to_;
  const Graph& from_;
  DType floats_;
  llvm::DenseMap<const Value*, Value*> map_;
  llvm::StringMap<Dim> symbols_;
};

}  // namespace

llvm::Expected<BlockId> CopyBody(Graph& to, const Graph& from, BlockId id, const OpDef& def,
                                 llvm::ArrayRef<Value*> operands,
                                 llvm::ArrayRef<AttributeValue> attributes, DType floats) {
  return BodyCopier(to, from, floats).Copy(id, def, operands, attributes);
}

}  // namespace pdl
