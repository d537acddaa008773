#include "onnx/import/simplify.h"

#include <utility>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "onnx/import/composites.h"
#include "onnx/model/pdl_names.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

/// Whether a network can be stored with a tensor of this name.
bool IsTensorName(llvm::StringRef text) {
  return !text.empty() && llvm::json::isUTF8(text) &&
         llvm::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

class Compactor {
 public:
  Compactor(const Graph& from, const llvm::DenseMap<const Value*, std::string>& names,
            llvm::DenseMap<const Value*, const Value*>* copies)
      : from_(from), names_(names), copies_(copies) {}

  llvm::Expected<Graph> Run();

 private:
  std::string NameOf(const Value* value, llvm::StringRef otherwise);
  LocationId CopyLocation(LocationId id);
  llvm::Error CopyOp(const Op& op);
  /// Returns whether the call completes a composite operator, which was added instead.
  llvm::Expected<bool> CopyComposite(const Op& op);
  /// Copies the body of a call, if it has one; `name` is that of the call.
  llvm::Error CopyBody(const Op& op, llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                       std::vector<AttributeValue>& attributes);
  void ReserveSizes();
  void LearnSymbols(const Type& before, const Type& after);

  const Graph& from_;
  const llvm::DenseMap<const Value*, std::string>& names_;
  llvm::DenseMap<const Value*, const Value*>* copies_;
  Graph to_;
  llvm::DenseMap<const Value*, Value*> values_;
  llvm::DenseMap<const Value*, std::string> output_names_;
  llvm::StringMap<Dim> symbols_;  // data-dependent sizes, which are renamed
  llvm::StringSet<> sizes_;       // the names of all data-dependent sizes of `from_`
  llvm::DenseMap<uint32_t, uint32_t> files_;
  BlockId block_;       // the block that calls are copied to
  std::string prefix_;  // prefix of names in a body
};

std::string Compactor::NameOf(const Value* value, llvm::StringRef otherwise) {
  if (auto found = output_names_.find(value); found != output_names_.end()) return found->second;
  auto found = names_.find(value);
  const std::string base = found == names_.end() ? otherwise.str() : ToIdentifier(found->second);
  return to_.NewName(prefix_ + base);
}

LocationId Compactor::CopyLocation(LocationId id) {
  if (id == kUnknownLocation) return id;
  Location location = from_.locations()[id];
  auto [entry, is_new] = files_.try_emplace(location.file);
  if (is_new) entry->second = to_.AddFile(from_.files()[location.file]);
  location.file = entry->second;
  return to_.AddLocation(location);
}

llvm::Error Compactor::CopyOp(const Op& op) {
  llvm::SmallVector<Value*, 4> operands;
  std::string hint = "x";
  for (const Value* operand : op.operands()) operands.push_back(values_.lookup(operand));
  std::vector<AttributeValue> attributes = op.attribute_values().vec();
  for (AttributeValue& attribute : attributes) Substitute(&attribute, symbols_);
  std::vector<std::string> names;
  for (const Value* result : op.results()) {
    // Intermediate values without a name are called c, or v if they have operands.
    std::string near = op.operands().empty() ? "c" : "v";
    names.push_back(NameOf(result, near));
    if (!to_.FindValue(names.back())) to_.ReserveName(names.back());
  }
  CallOptions options;
  options.location = CopyLocation(op.location());
  options.block = block_;
  if (llvm::Error error = CopyBody(op, names.front(), operands, attributes)) return error;
  llvm::Expected<Op*> copy =
      to_.AddOpWithValues(op.def(), operands, std::move(attributes), names, std::move(options));
  if (!copy) return copy.takeError();
  for (size_t i = 0; i < op.results().size(); ++i) {
    const Value* before = op.results()[i];
    Value* after = (*copy)->results()[i];
    values_[before] = after;
    LearnSymbols(before->type(), after->type());
  }
  return llvm::Error::success();
}

void Compactor::LearnSymbols(const Type& before, const Type& after) {
  for (unsigned d = 0; d < before.rank(); ++d) {
    const llvm::StringRef symbol = before.dims[d].symbol();
    if (!symbol.empty() && after.dims[d] != before.dims[d])
      symbols_.try_emplace(symbol, after.dims[d]);
  }
}

llvm::Error Compactor::CopyBody(const Op& op, llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                                std::vector<AttributeValue>& attributes) {
  for (AttributeValue& attribute : attributes) {
    auto* id = std::get_if<BlockId>(&attribute);
    if (id == nullptr) continue;
    const Block& body = from_.block(*id);
    llvm::Expected<std::vector<Type>> types = to_.BodyTypes(op.def(), operands, attributes);
    if (!types) return types.takeError();
    const BlockId outer = std::exchange(block_, to_.AddBlock());
    const std::string way = std::exchange(prefix_, (name + ".body.").str());
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const Value* before = body.inputs[i];
      values_[before] = to_.AddBlockInput(block_, NameOf(before, "x"), (*types)[i]);
      LearnSymbols(before->type(), (*types)[i]);
    }
    for (const Op* inner : body.ops) {
      llvm::Expected<bool> is_done = CopyComposite(*inner);
      if (!is_done) return is_done.takeError();
      if (*is_done) continue;
      if (llvm::Error error = CopyOp(*inner)) return error;
    }
    std::vector<Value*> outputs;
    for (const Value* output : body.outputs) outputs.push_back(values_.lookup(output));
    to_.SetBlockOutputs(block_, std::move(outputs));
    *id = std::exchange(block_, outer);
    prefix_ = way;
  }
  return llvm::Error::success();
}

/// Whether such a call is valid and has a result of that type.
bool Gives(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
           llvm::ArrayRef<NamedAttribute> given, const Type& type) {
  const OpDef& def = *GlobalRegistry().Find(op);
  auto attributes = CompleteAttributes(def.signature, given);
  if (!attributes) {
    llvm::consumeError(attributes.takeError());
    return false;
  }
  llvm::SmallVector<const Type*, 4> types;
  for (const Value* operand : operands) types.push_back(&operand->type());
  InferenceContext context(def, types, *attributes);
  if (llvm::Error error = Infer(context)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return context.outputs()[0] == type;
}

llvm::Expected<bool> Compactor::CopyComposite(const Op& op) {
  const std::optional<Composite> composite = FindComposite(op);
  if (!composite) return false;
  CallOptions options;
  options.location = CopyLocation(op.location());
  options.block = block_;
  auto add = [&](llvm::StringRef type, llvm::ArrayRef<Value*> operands,
                 llvm::ArrayRef<NamedAttribute> attributes,
                 llvm::StringRef name) -> llvm::Expected<Op*> {
    const OpDef& def = *GlobalRegistry().Find(type);
    std::vector<std::string> names = {name.str()};
    while (names.size() < def.signature.outputs.size()) names.push_back(to_.NewName(prefix_ + "v"));
    return to_.AddOp(def, operands, attributes, names, options);
  };
  llvm::SmallVector<Value*, 4> operands;
  for (const Value* operand : composite->operands) {
    if (operand != nullptr) {
      operands.push_back(values_.lookup(operand));
      continue;
    }
    // An omitted operand before one that is present.
    llvm::Expected<Op*> zero =
        add("constant", {}, {{"value", Constant::Scalar(DType::kI64, 0)}, {"dtype", DType::kI64}},
            to_.NewName(prefix_ + "c"));
    if (!zero) return zero.takeError();
    operands.push_back((*zero)->result());
  }
  if (!composite->transpose.empty()) {
    llvm::Expected<Op*> transposed = add(
        "transpose", {operands[1]}, {{"perm", composite->transpose}}, to_.NewName(prefix_ + "k"));
    if (!transposed) return transposed.takeError();
    operands[1] = (*transposed)->result();
  }
  if (!Gives(composite->op, operands, composite->attributes, op.result()->type())) return false;
  const std::string name = NameOf(op.result(), "v");
  if (!to_.FindValue(name)) to_.ReserveName(name);
  llvm::Expected<Op*> made = add(composite->op, operands, composite->attributes, name);
  if (!made) return made.takeError();
  values_[op.result()] = (*made)->result();
  return true;
}

/// No result has the name of a data-dependent size: in the source it would hide the size.
void Compactor::ReserveSizes() {
  for (const Op* op : from_.ops()) {
    for (const Value* result : op->results())
      for (const Dim& dim : result->type().dims)
        dim.ForEachSymbol([&](llvm::StringRef symbol) {
          if (from_.IsDataSymbol(symbol) && sizes_.insert(symbol).second) to_.ReserveName(symbol);
        });
  }
}

llvm::Expected<Graph> Compactor::Run() {
  ReserveSizes();
  // An output may have the name of an input, but its value may not.
  llvm::StringSet<> inputs;
  for (const Value* input : from_.inputs()) inputs.insert(input->name());
  llvm::DenseSet<const Value*> outputs;
  for (const GraphOutput& output : from_.outputs()) {
    outputs.insert(output.value);
    to_.ReserveName(output.name);
    if (output.value->kind() == ValueKind::kResult && !inputs.contains(output.name) &&
        !sizes_.contains(output.name))
      output_names_.try_emplace(output.value, output.name);
  }
  for (Value* input : from_.inputs())
    for (const Dim& dim : input->type().dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { to_.ReserveName(symbol); });
  for (Value* input : from_.inputs()) {
    values_[input] = to_.AddInput(input->name(), input->type(), CopyLocation(input->location()));
  }
  for (const Value* parameter : from_.parameters()) {
    if (parameter->uses().empty() && !outputs.contains(parameter)) continue;
    VariableInfo info;
    info.weight = parameter->variable().weight;
    info.trainable = parameter->variable().trainable;
    const std::string name = NameOf(parameter, "w");
    if (info.weight && !IsTensorName(info.weight->tensor)) info.weight->tensor = name;
    values_[parameter] = to_.AddParameter(name, parameter->type(), std::move(info));
  }
  for (const Op* op : from_.ops()) {
    llvm::Expected<bool> is_done = CopyComposite(*op);
    if (!is_done) return is_done.takeError();
    if (*is_done) continue;
    if (llvm::Error error = CopyOp(*op)) return error;
  }
  for (const GraphOutput& output : from_.outputs())
    to_.AddOutput(output.name, values_.lookup(output.value));
  for (const auto& [before, after] : values_) (*copies_)[before] = after;
  EliminateDeadCode(to_);  // removes the calls that composites replaced
  return std::move(to_);
}

}  // namespace

llvm::Expected<Graph> CompactGraph(const Graph& graph,
                                   const llvm::DenseMap<const Value*, std::string>& names,
                                   llvm::DenseMap<const Value*, const Value*>* copies) {
  return Compactor(graph, names, copies).Run();
}

}  // namespace pdl
