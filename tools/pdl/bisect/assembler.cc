#include "tools/pdl/bisect/assembler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"

namespace pdl {

Assembler::Assembler(FedNetwork& to, const FedNetwork& from)
    : to_(to), from_(from), copier_(to.graph, from.graph) {
  // Sizes such as 2*N are solved by the run; here a symbol is known by its own dim.
  for (const Value* input : from.graph.inputs()) {
    const auto tensor = from.inputs.find(input->name());
    if (tensor == from.inputs.end() || tensor->second.rank() != input->type().rank()) continue;
    for (auto [dim, size] : llvm::zip_equal(input->type().dims, tensor->second.sizes())) {
      llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solved = dim.Solve(size);
      if (!solved) {
        llvm::consumeError(solved.takeError());
      } else if (*solved) {
        copier_.MapSymbol((*solved)->first, (*solved)->second);
      }
    }
  }
}

Type Assembler::SizedType(const Type& type, llvm::ArrayRef<int64_t> sizes) const {
  Type sized = type;
  sized.dims.assign(sizes.begin(), sizes.end());
  if (sized.index_bound) sized.index_bound = copier_.Substitute(*sized.index_bound);
  return sized;
}

llvm::Error Assembler::AddVariable(const Value* value, llvm::StringRef name) {
  const LocationId location = copier_.CopyLocation(value->location());
  Graph& graph = to_.graph;
  if (value->kind() == ValueKind::kInput) {
    const auto found = from_.inputs.find(value->name());
    if (found == from_.inputs.end()) return llvm::Error::success();
    to_.inputs[name] = found->second;
    copier_.Map(value,
                graph.AddInput(name, SizedType(value->type(), found->second.sizes()), location));
    return llvm::Error::success();
  }
  Type type = value->type();
  for (Dim& dim : type.dims) dim = copier_.Substitute(dim);
  VariableInfo info;
  const auto found = from_.variables.find(value->name());
  if (found != from_.variables.end()) to_.variables[name] = found->second;
  if (value->variable().initializer) {
    llvm::Expected<BlockId> block = copier_.CopyInitializer(*value->variable().initializer);
    if (!block) return block.takeError();
    info.initializer = *block;
  }
  copier_.Map(value, value->kind() == ValueKind::kParameter
                         ? graph.AddParameter(name, type, std::move(info), location)
                         : graph.AddState(name, type, std::move(info), location));
  return llvm::Error::success();
}

void Assembler::AddLeaf(const Value* value, const Tensor& tensor, llvm::StringRef name) {
  const LocationId location = copier_.CopyLocation(value->location());
  Type type = SizedType(value->type(), tensor.sizes());
  const bool is_variable =
      value->kind() == ValueKind::kParameter || value->kind() == ValueKind::kState;
  if (is_variable || tensor.dtype() == DType::kBF16) {
    to_.variables[name] = tensor.ToConstant();
    copier_.Map(value, to_.graph.AddParameter(name, std::move(type), {}, location));
  } else {
    to_.inputs[name] = tensor;
    copier_.Map(value, to_.graph.AddInput(name, std::move(type), location));
  }
}

llvm::Error Assembler::AddCall(const Op& op) {
  for (const Value* operand : op.operands())
    if (copier_.Find(operand) == nullptr)
      return MakeUserError(Code::kMissingInput, "'{0}' has no value", operand->name());
  return copier_.CopyOp(op, {});
}

/// The calls that compute `roots`; `for_each_other` calls its argument with calls that a call
/// depends on besides its operands.
static std::vector<const Op*> CallsBefore(
    llvm::ArrayRef<const Value*> roots, llvm::function_ref<bool(const Value*)> is_leaf,
    llvm::function_ref<void(const Op&, llvm::function_ref<void(const Op*)>)> for_each_other) {
  std::vector<const Op*> calls;
  llvm::DenseSet<const Op*> seen;
  struct Item {
    const Op* op;
    bool is_complete;  // whether its operands are in `calls`
  };
  std::vector<Item> stack;
  const auto visit = [&](const Op* op) {
    if (!seen.contains(op)) stack.push_back({op, false});
  };
  const auto visit_value = [&](const Value* value) {
    if (!is_leaf(value) && value->producer() != nullptr) visit(value->producer());
  };
  for (const Value* root : roots) visit_value(root);
  while (!stack.empty()) {
    const auto [op, is_complete] = stack.back();
    stack.pop_back();
    if (is_complete) {
      calls.push_back(op);
    } else if (seen.insert(op).second) {
      stack.push_back({op, true});
      for (const Value* operand : llvm::reverse(op->operands())) visit_value(operand);
      for_each_other(*op, visit);
    }
  }
  return calls;
}

std::vector<const Op*> CallsFromLeaves(const Graph& graph, llvm::ArrayRef<const Value*> roots,
                                       llvm::function_ref<bool(const Value*)> is_leaf) {
  const auto none = [](const Op&, llvm::function_ref<void(const Op*)>) {};
  const std::vector<const Op*> calls = CallsBefore(roots, is_leaf, none);
  llvm::StringSet<> known;
  for (const Op* op : calls)
    for (const Value* operand : op->operands())
      if (is_leaf(operand))
        for (const Dim& dim : operand->type().dims) known.insert(dim.symbol());
  const auto defines_known = [&](const Op* definer) {
    return llvm::any_of(definer->attribute_values(), [&](const AttributeValue& value) {
      const auto* shape = std::get_if<Shape>(&value);
      return shape != nullptr && !shape->empty() && known.contains(shape->front().symbol());
    });
  };
  return CallsBefore(roots, is_leaf, [&](const Op& op, llvm::function_ref<void(const Op*)> visit) {
    graph.ForEachDefiner(op, [&](Op* definer) {
      if (!defines_known(definer)) visit(definer);
    });
  });
}

static llvm::Error AddKeepingNames(Assembler& assembler, llvm::ArrayRef<const Op*> calls) {
  for (const Op* op : calls) {
    for (const Value* result : op->results()) assembler.copier().Name(result, result->name());
    if (llvm::Error error = assembler.AddCall(*op)) return error;
  }
  return llvm::Error::success();
}

llvm::Expected<FedNetwork> WithSizes(const FedNetwork& from) {
  FedNetwork made;
  made.precision = from.precision;
  Assembler assembler(made, from);
  for (const Value* input : from.graph.inputs())
    if (llvm::Error error = assembler.AddVariable(input, input->name())) return error;
  for (const Value* variable : Variables(from.graph))
    if (llvm::Error error = assembler.AddVariable(variable, variable->name())) return error;
  std::vector<const Value*> outputs;
  for (const GraphOutput& output : from.graph.outputs()) outputs.push_back(output.value);
  const auto is_leaf = [](const Value* value) { return value->producer() == nullptr; };
  if (llvm::Error error = AddKeepingNames(assembler, CallsFromLeaves(from.graph, outputs, is_leaf)))
    return error;
  for (const GraphOutput& output : from.graph.outputs())
    made.graph.AddOutput(output.name, assembler.copier().Find(output.value));
  return made;
}

llvm::Expected<FedNetwork> ExtractCalls(const FedNetwork& from,
                                        const llvm::DenseSet<const Op*>& calls, const Value* target,
                                        const llvm::StringMap<Tensor>& recorded) {
  const auto is_leaf = [&](const Value* value) {
    return !calls.contains(value->producer()) && recorded.count(value->name()) != 0;
  };
  FedNetwork made;
  made.precision = from.precision;
  Assembler assembler(made, from);
  const std::vector<const Op*> kept = CallsFromLeaves(from.graph, target, is_leaf);
  for (const Op* op : kept)
    for (const Value* operand : op->operands())
      if (is_leaf(operand) && assembler.copier().Find(operand) == nullptr)
        assembler.AddLeaf(operand, recorded.find(operand->name())->second, operand->name());
  if (llvm::Error error = AddKeepingNames(assembler, kept)) return error;
  made.graph.AddOutput(target->name(), assembler.copier().Find(target));
  return made;
}

}  // namespace pdl
