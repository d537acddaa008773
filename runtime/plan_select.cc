#include "runtime/plan_select.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/error.h"
#include "pdl/symbols.h"

namespace pdl {
namespace {

/// The sides of a plan_select, as bits.
enum Sides : unsigned { kNoSide = 0, kThen = 1, kOtherwise = 2, kBothSides = 3 };
using SidesOf = llvm::function_ref<llvm::Expected<Sides>(const Op& select)>;

/// By number, the values that are computed for some outputs, for updates and for effects, where
/// `sides_of` says which sides of a plan_select count. A condition is not computed.
llvm::Expected<llvm::BitVector> FindNeeded(const Graph& graph, llvm::ArrayRef<std::string> outputs,
                                           SidesOf sides_of) {
  llvm::BitVector needed(graph.num_values());
  auto need = [&](const Value* value) { needed.set(graph.number(value)); };
  for (const GraphOutput& output : graph.outputs())
    if (outputs.empty() || llvm::is_contained(outputs, output.name)) need(output.value);
  for (const GraphUpdate& update : graph.updates()) need(update.value);
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    llvm::for_each(graph.block({i}).outputs, need);
    for (const Op* op : llvm::reverse(graph.block({i}).ops)) {
      bool used = op->def().properties().has_side_effect ||
                  llvm::any_of(op->results(), [&](const Value* result) {
                    return needed.test(graph.number(result));
                  });
      if (!used) continue;
      if (!op->def().properties().is_plan_select) {
        llvm::for_each(op->operands(), need);
        continue;
      }
      llvm::Expected<Sides> sides = sides_of(*op);
      if (!sides) return sides.takeError();
      if (*sides & kThen) need(op->operands()[1]);
      if (*sides & kOtherwise) need(op->operands()[2]);
    }
  }
  return needed;
}

llvm::Error UnknownSize(const Graph& graph, const Op& select, SymbolLookup sizes) {
  // What the condition is made of, however deep.
  std::vector<const Op*> ops = {select.operands()[0]->producer()};
  llvm::DenseSet<const Op*> seen(ops.begin(), ops.end());
  std::string unknown;
  for (size_t i = 0; i < ops.size(); ++i) {
    ForEachSymbol(*ops[i], [&](llvm::StringRef symbol) {
      if (unknown.empty() && !sizes(symbol)) unknown = symbol.str();
    });
    for (const Value* operand : ops[i]->operands())
      if (seen.insert(operand->producer()).second) ops.push_back(operand->producer());
  }
  std::string input;
  for (const Value* value : graph.inputs())
    if (input.empty() && HasSymbol(value->type(), unknown)) input = value->name();
  std::string place = graph.PathToString(select.location());
  return MakeUserError(Code::kMissingInput,
                       "{0}{1}'{2}' depends on the size {3} of input '{4}', which is not given",
                       place, place.empty() ? "" : ": ", select.result()->name(), unknown, input);
}

}  // namespace

bool Conditions::HasSizes(const Op& op) const {
  bool known = true;
  ForEachSymbol(op, [&](llvm::StringRef symbol) { known &= sizes_(symbol).has_value(); });
  return known;
}

llvm::Error Conditions::Compute(const Value& value) {
  const Op& op = *value.producer();
  auto set_unknown = [&] {
    for (const Value* result : op.results()) values_[result] = std::nullopt;
  };
  if (op.def().properties().is_training_flag) {
    values_[&value] = Tensor::FromConstant(Constant::Scalar(DType::kBool, training_));
    return llvm::Error::success();
  }
  llvm::SmallVector<Tensor, 2> operands;
  for (const Value* operand : op.operands()) {
    const std::optional<Tensor>& tensor = values_[operand];
    if (!tensor) return set_unknown(), llvm::Error::success();
    operands.push_back(*tensor);
  }
  if (!HasSizes(op)) return set_unknown(), llvm::Error::success();
  llvm::Expected<std::vector<Tensor>> results =
      EvaluateCall(graph_, op, operands, sizes_, RandomState{0, 0});
  if (!results) return results.takeError();
  for (size_t i = 0; i < results->size(); ++i) values_[op.result(i)] = std::move((*results)[i]);
  return llvm::Error::success();
}

llvm::Expected<std::optional<bool>> Conditions::Decide(const Value& condition) {
  std::vector<const Value*> open = {&condition};
  while (!open.empty()) {
    const Value* value = open.back();
    size_t height = open.size();
    auto require = [&](const Value* operand) {
      if (!values_.contains(operand)) open.push_back(operand);
    };
    if (values_.contains(value)) {
      open.pop_back();
      continue;
    }
    const Op& op = *value->producer();
    if (!op.def().properties().is_plan_select) {
      llvm::for_each(op.operands(), require);
      if (open.size() > height) continue;
      if (llvm::Error error = Compute(*value)) return error;
      continue;
    }
    require(op.operands()[0]);
    if (open.size() > height) continue;
    std::optional<Tensor> decides = values_[op.operands()[0]];
    if (!decides) {
      values_[value] = std::nullopt;
      continue;
    }
    const Value* given = op.operands()[*decides->data<bool>() ? 1 : 2];
    require(given);
    if (open.size() > height) continue;
    std::optional<Tensor> taken = values_[given];
    values_[value] = std::move(taken);
  }
  const std::optional<Tensor>& tensor = values_[&condition];
  if (!tensor) return std::nullopt;
  return *tensor->data<bool>();
}

llvm::Expected<SelectedGraph> SelectSides(const Graph& graph, llvm::ArrayRef<std::string> outputs,
                                          bool training, SymbolLookup sizes) {
  SelectedGraph selected{graph.Clone(), {}};
  Graph& clone = selected.graph;
  Conditions conditions(clone, training, sizes);
  std::vector<std::pair<Value*, Value*>> taken;  // the last call first
  llvm::Expected<llvm::BitVector> needed =
      FindNeeded(clone, outputs, [&](const Op& select) -> llvm::Expected<Sides> {
        llvm::Expected<std::optional<bool>> holds = conditions.Decide(*select.operands()[0]);
        if (!holds) return holds.takeError();
        if (!*holds) return UnknownSize(clone, select, sizes);
        taken.push_back({select.result(), select.operands()[**holds ? 1 : 2]});
        std::string place = clone.LocationToString(select.location());
        selected.choices.push_back(select.result()->name() +
                                   (**holds ? " = then" : " = otherwise") +
                                   (place.empty() ? "" : "  # " + place));
        return **holds ? kThen : kOtherwise;
      });
  if (!needed) return needed.takeError();
  std::reverse(selected.choices.begin(), selected.choices.end());
  // A side may be what another plan_select gives.
  std::reverse(taken.begin(), taken.end());
  llvm::DenseMap<const Value*, Value*> final_of;
  for (auto& [result, given] : taken) {
    if (auto found = final_of.find(given); found != final_of.end()) given = found->second;
    final_of[result] = given;
  }
  clone.ReplaceAllUses(taken);
  return selected;
}

llvm::Expected<SizeConditions> SizeConditions::Find(const Graph& graph,
                                                    llvm::ArrayRef<std::string> outputs,
                                                    bool training) {
  SizeConditions found;
  auto no_sizes = [](llvm::StringRef) -> std::optional<int64_t> { return std::nullopt; };
  Conditions conditions(graph, training, no_sizes);
  // What is needed in any case, and what may be.
  llvm::DenseSet<const Value*> on_sizes;
  auto sides_of = [&](const Op& select, Sides undecided) -> llvm::Expected<Sides> {
    const Value* condition = select.operands()[0];
    llvm::Expected<std::optional<bool>> holds = conditions.Decide(*condition);
    if (!holds) return holds.takeError();
    if (*holds) return **holds ? kThen : kOtherwise;
    if (on_sizes.insert(condition).second) found.conditions_.push_back(condition);
    return undecided;
  };
  llvm::Expected<llvm::BitVector> certain =
      FindNeeded(graph, outputs, [&](const Op& op) { return sides_of(op, kNoSide); });
  if (!certain) return certain.takeError();
  llvm::Expected<llvm::BitVector> possible =
      FindNeeded(graph, outputs, [&](const Op& op) { return sides_of(op, kBothSides); });
  if (!possible) return possible.takeError();

  llvm::StringSet<> seen_symbols;
  std::vector<const Value*> made_of = found.conditions_;
  llvm::DenseSet<const Value*> seen(made_of.begin(), made_of.end());
  for (size_t i = 0; i < made_of.size(); ++i) {
    const Op& op = *made_of[i]->producer();
    ForEachSymbol(op, [&](llvm::StringRef symbol) {
      if (seen_symbols.insert(symbol).second) found.symbols_.push_back(symbol.str());
    });
    for (const Value* operand : op.operands())
      if (seen.insert(operand).second) made_of.push_back(operand);
  }
  for (const std::string& symbol : found.symbols_) {
    auto& sources = found.sources_.emplace_back();
    auto add = [&](const Value* input) {
      for (unsigned axis = 0; axis < input->type().rank(); ++axis) {
        bool has = false;
        input->type().dims[axis].ForEachSymbol(
            [&](llvm::StringRef name) { has |= name == symbol; });
        if (has) sources.push_back({input, axis});
      }
    };
    auto is = [&](const llvm::BitVector& bits, const Value* v) { return bits[graph.number(v)]; };
    for (const Value* input : graph.inputs())
      if (is(*certain, input)) add(input);
    for (const Value* input : graph.inputs())
      if (!is(*certain, input) && is(*possible, input)) add(input);
    for (const Value* input : graph.inputs())
      if (!is(*possible, input)) add(input);
  }
  return found;
}

std::vector<int64_t> SizeConditions::SizesIn(const Scope& scope) const {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    sizes.push_back(-1);
    for (const Source& source : sources_[i]) {
      const Variable* variable = scope.Find(source.input->name());
      const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
      if (!tensor || tensor->rank() != source.input->type().rank()) continue;
      const Dim& dim = source.input->type().dims[source.axis];
      int64_t size = tensor->size(source.axis);
      if (dim.symbol().empty()) {
        llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solved = dim.Solve(size);
        if (!solved) {
          // The run itself will complain about the input.
          llvm::consumeError(solved.takeError());
          continue;
        }
        if (!*solved) continue;
        size = (*solved)->second;
      }
      sizes.back() = size;
      break;
    }
  }
  return sizes;
}

llvm::Expected<std::vector<uint8_t>> SizeConditions::Decide(const Graph& graph, bool training,
                                                            SymbolLookup sizes) const {
  Conditions conditions(graph, training, sizes);
  std::vector<uint8_t> outcomes;
  for (const Value* condition : conditions_) {
    llvm::Expected<std::optional<bool>> holds = conditions.Decide(*condition);
    if (!holds) return holds.takeError();
    outcomes.push_back(!*holds ? 2 : **holds ? 1 : 0);
  }
  return outcomes;
}

}  // namespace pdl
