#include "ir/passes/plan_select.h"
#include "ir/located_error.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

/// The sides of a plan_select, as bits.
enum Sides : unsigned { kNoSide = 0, kThen = 1, kOtherwise = 2, kBothSides = 3 };
using SidesOf = llvm::function_ref<llvm::Expected<Sides>(const Op& select)>;

/// Returns the values that are computed for some outputs, updates and side effects, if `sides_of`
/// determines the relevant sides of each plan_select. Conditions are not included.
llvm::Expected<ValueSet> FindUseful(const Graph& graph, llvm::ArrayRef<std::string> outputs,
                                    SidesOf sides_of) {
  ValueSet useful(graph);
  for (const GraphOutput& output : graph.outputs())
    if (outputs.empty() || llvm::is_contained(outputs, output.name)) useful.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) useful.insert(update.value);
  llvm::Error error = llvm::Error::success();
  auto has_effect = [](const Op& op) { return op.def().properties().has_side_effect; };
  auto visit = [&](const Op& op) {
    if (error) return;
    if (!op.def().properties().is_plan_select) return useful.InsertAll(op.operands());
    llvm::Expected<Sides> sides = sides_of(op);
    if (!sides) {
      error = sides.takeError();
      return;
    }
    if (*sides & kThen) useful.insert(op.operands()[1]);
    if (*sides & kOtherwise) useful.insert(op.operands()[2]);
  };
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    useful.InsertAll(graph.block({i}).outputs);
    PropagateBackward(graph.block({i}).ops, useful, has_effect, visit);
  }
  if (error) return error;
  return useful;
}

/// The results of plan_selects that only assertions read, possibly through other plan_selects.
llvm::DenseSet<const Value*> FindOnlyAsserted(const Graph& graph) {
  llvm::DenseSet<const Value*> found, kept;
  for (const GraphOutput& output : graph.outputs()) kept.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) kept.insert(update.value);
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Value* output : graph.block({i}).outputs) kept.insert(output);
  const auto is_asserted = [&](const Value::Use& use) {
    const OpProperties& properties = use.op->def().properties();
    const auto is_unused = [](const Value* result) { return result->uses().empty(); };
    return properties.only_checks ? llvm::all_of(use.op->results(), is_unused)
                                  : properties.is_plan_select && found.contains(use.op->result());
  };
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Op* op : llvm::reverse(graph.block({i}).ops))
      if (op->def().properties().is_plan_select && !kept.contains(op->result()) &&
          llvm::all_of(op->result()->uses(), is_asserted))
        found.insert(op->result());
  return found;
}

llvm::Error UnknownSize(const Graph& graph, const Op& select, SymbolLookup sizes) {
  std::string unknown;
  for (const Value* value : BackwardSlice(select.operands()[0]))
    ForEachSymbol(*value->producer(), [&](llvm::StringRef symbol) {
      if (unknown.empty() && !sizes(symbol)) unknown = symbol.str();
    });
  std::string input;
  for (const Value* value : graph.inputs())
    if (input.empty() && HasSymbol(value->type(), unknown)) input = value->name();
  return UserErrorAt(
      graph, select.location(), Code::kMissingInput,
      llvm::formatv("'{0}' depends on the size {1} of input '{2}', which is not given",
                    select.result()->name(), unknown, input));
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
    values_[&value] = Constant::Scalar(DType::kBool, training_);
    return llvm::Error::success();
  }
  llvm::SmallVector<Constant, 2> operands;
  for (const Value* operand : op.operands()) {
    const std::optional<Constant>& known = values_[operand];
    if (!known) return set_unknown(), llvm::Error::success();
    operands.push_back(*known);
  }
  if (!HasSizes(op)) return set_unknown(), llvm::Error::success();
  llvm::Expected<std::vector<Constant>> results = evaluate_(graph_, op, operands, sizes_);
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
    std::optional<Constant> decides = values_[op.operands()[0]];
    if (!decides) {
      values_[value] = std::nullopt;
      continue;
    }
    const Value* given = op.operands()[decides->values<bool>()[0] ? 1 : 2];
    require(given);
    if (open.size() > height) continue;
    std::optional<Constant> taken = values_[given];
    values_[value] = std::move(taken);
  }
  const std::optional<Constant>& known = values_[&condition];
  if (!known) return std::nullopt;
  return known->values<bool>()[0];
}

llvm::Error SelectSides(Graph& graph, llvm::ArrayRef<std::string> outputs, bool training,
                        SymbolLookup sizes, SizedEvaluator evaluate,
                        std::vector<std::string>* choices) {
  Conditions conditions(graph, training, sizes, evaluate);
  std::vector<std::string> chosen;
  std::vector<std::pair<Value*, Value*>> taken;  // in reverse call order
  llvm::DenseSet<const Value*> skipped;
  std::optional<llvm::DenseSet<const Value*>> only_asserted;
  llvm::Expected<ValueSet> useful =
      FindUseful(graph, outputs, [&](const Op& select) -> llvm::Expected<Sides> {
        llvm::Expected<std::optional<bool>> holds = conditions.Decide(*select.operands()[0]);
        if (!holds) return holds.takeError();
        if (!*holds) {
          // A run of some outputs skips assertions on inputs that it does not read.
          if (!only_asserted) only_asserted = FindOnlyAsserted(graph);
          if (outputs.empty() || !only_asserted->contains(select.result()))
            return UnknownSize(graph, select, sizes);
          skipped.insert(select.result());
          return kNoSide;
        }
        taken.push_back({select.result(), select.operands()[**holds ? 1 : 2]});
        std::string place = graph.LocationToString(select.location());
        chosen.push_back(select.result()->name() + (**holds ? " = then" : " = otherwise") +
                         (place.empty() ? "" : "  # " + place));
        return **holds ? kThen : kOtherwise;
      });
  if (!useful) return useful.takeError();
  choices->insert(choices->end(), chosen.rbegin(), chosen.rend());
  // A side may be the result of another plan_select.
  std::reverse(taken.begin(), taken.end());
  llvm::DenseMap<const Value*, Value*> final_of;
  for (auto& [result, given] : taken) {
    if (auto found = final_of.find(given); found != final_of.end()) given = found->second;
    final_of[result] = given;
  }
  graph.ReplaceAllUses(taken);
  if (!skipped.empty())
    graph.EraseOps({}, [&](const Op& op) {
      return op.def().properties().only_checks &&
             llvm::any_of(op.operands(),
                          [&](const Value* operand) { return skipped.contains(operand); });
    });
  return llvm::Error::success();
}

llvm::Expected<SizeConditions> SizeConditions::Find(const Graph& graph,
                                                    llvm::ArrayRef<std::string> outputs,
                                                    bool training, SizedEvaluator evaluate) {
  SizeConditions found;
  auto no_sizes = [](llvm::StringRef) -> std::optional<int64_t> { return std::nullopt; };
  Conditions conditions(graph, training, no_sizes, evaluate);
  // The values that are always needed, and those that may be.
  llvm::DenseSet<const Value*> on_sizes;
  auto sides_of = [&](const Op& select, Sides undecided) -> llvm::Expected<Sides> {
    Value* condition = select.operands()[0];
    llvm::Expected<std::optional<bool>> holds = conditions.Decide(*condition);
    if (!holds) return holds.takeError();
    if (*holds) return **holds ? kThen : kOtherwise;
    if (on_sizes.insert(condition).second) found.conditions_.push_back(condition);
    return undecided;
  };
  llvm::Expected<ValueSet> certain =
      FindUseful(graph, outputs, [&](const Op& op) { return sides_of(op, kNoSide); });
  if (!certain) return certain.takeError();
  llvm::Expected<ValueSet> possible =
      FindUseful(graph, outputs, [&](const Op& op) { return sides_of(op, kBothSides); });
  if (!possible) return possible.takeError();

  llvm::StringSet<> seen_symbols;
  for (const Value* value : BackwardSlice(found.conditions_))
    ForEachSymbol(*value->producer(), [&](llvm::StringRef symbol) {
      if (seen_symbols.insert(symbol).second) found.symbols_.push_back(symbol.str());
    });
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
    for (const Value* input : graph.inputs())
      if (certain->contains(input)) add(input);
    for (const Value* input : graph.inputs())
      if (!certain->contains(input) && possible->contains(input)) add(input);
    for (const Value* input : graph.inputs())
      if (!possible->contains(input)) add(input);
  }
  return found;
}

llvm::Expected<std::vector<uint8_t>> SizeConditions::Decide(const Graph& graph, bool training,
                                                            SymbolLookup sizes,
                                                            SizedEvaluator evaluate) const {
  Conditions conditions(graph, training, sizes, evaluate);
  std::vector<uint8_t> outcomes;
  for (const Value* condition : conditions_) {
    llvm::Expected<std::optional<bool>> holds = conditions.Decide(*condition);
    if (!holds) return holds.takeError();
    outcomes.push_back(!*holds ? 2 : **holds ? 1 : 0);
  }
  return outcomes;
}

}  // namespace pdl
