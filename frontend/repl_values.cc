#include "frontend/repl_values.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "pdl/passes.h"

namespace pdl {
namespace {

using VisitSymbol = llvm::function_ref<void(llvm::StringRef)>;

void ForEachSymbol(llvm::ArrayRef<Dim> dims, VisitSymbol visit) {
  for (const Dim& dim : dims) dim.ForEachSymbol(visit);
}

void ForEachSymbol(const Type& type, VisitSymbol visit) {
  ForEachSymbol(type.dims, visit);
  if (type.index_bound) type.index_bound->ForEachSymbol(visit);
}

void ForEachSymbol(const Op& op, VisitSymbol visit) {
  for (const Value* result : op.results()) ForEachSymbol(result->type(), visit);
  for (const AttributeValue& attribute : op.attribute_values()) {
    if (const auto* shape = std::get_if<Shape>(&attribute)) ForEachSymbol(*shape, visit);
    if (const auto* shapes = std::get_if<std::vector<Shape>>(&attribute)) {
      for (const Shape& shape : *shapes) ForEachSymbol(shape, visit);
    }
  }
}

bool IsLeaf(const Value* value) { return value->kind() != ValueKind::kResult; }

/// What one value needs: a walk backwards that stops at what is known.
struct Needs {
  /// Known values that are used, and parameters and states that are not known yet.
  llvm::SetVector<Value*> known, variables;
  /// Inputs whose sizes bind a symbol.
  llvm::SetVector<Value*> binders;
  bool lacks_input = false;

  void Collect(const Graph& graph, Value* wanted, llvm::function_ref<bool(const Value*)> is_known) {
    llvm::SmallVector<Value*, 16> stack{wanted};
    llvm::DenseSet<const Value*> seen{wanted};
    auto symbol = [&](llvm::StringRef name) { NeedSymbol(name); };
    while (!stack.empty()) {
      Value* value = stack.pop_back_val();
      ForEachSymbol(value->type(), symbol);
      if (is_known(value)) {
        known.insert(value);
      } else if (value->kind() == ValueKind::kInput) {
        lacks_input = true;
      } else if (IsLeaf(value)) {
        variables.insert(value);
      } else {
        ForEachSymbol(*value->producer(), symbol);
        for (Value* operand : value->producer()->operands()) {
          if (seen.insert(operand).second) stack.push_back(operand);
        }
      }
    }
    Bind(graph, is_known);
  }

 private:
  void NeedSymbol(llvm::StringRef name) {
    if (seen_symbols_.insert(name).second) symbols_.push_back(name.str());
  }

  // Finds a fed input for each symbol; such an input may have further symbols.
  void Bind(const Graph& graph, llvm::function_ref<bool(const Value*)> is_known) {
    for (; next_symbol_ < symbols_.size(); ++next_symbol_) {
      const std::string name = symbols_[next_symbol_];
      bool is_bound = false;
      for (Value* input : graph.inputs()) {
        if (!is_known(input)) continue;
        bool has_it = false;
        ForEachSymbol(input->type(), [&](llvm::StringRef symbol) { has_it |= symbol == name; });
        if (!has_it) continue;
        is_bound = true;
        if (binders.insert(input)) {
          ForEachSymbol(input->type(), [&](llvm::StringRef symbol) { NeedSymbol(symbol); });
        }
      }
      lacks_input |= !is_bound;
    }
  }

  llvm::StringSet<> seen_symbols_;
  std::vector<std::string> symbols_;
  size_t next_symbol_ = 0;
};

}  // namespace

std::string ReplValues::Key(const Graph& graph, const Value* value) {
  if (IsLeaf(value)) return value->name();
  if (value->location() == kUnknownLocation) return "";
  const Location& location = graph.locations()[value->location()];
  return value->name() + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

const Constant* ReplValues::Find(const Graph& graph, const Value* value) const {
  const std::string key = Key(graph, value);
  auto found = key.empty() ? known_.end() : known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

llvm::Expected<std::vector<std::optional<Constant>>> ReplValues::Get(
    const Graph& original, uint32_t kept_lines, llvm::ArrayRef<std::string> names) {
  std::vector<std::optional<Constant>> values(names.size());
  Graph graph = original.Clone();
  const uint32_t num_values = graph.num_values();
  auto is_known = [&](const Value* value) {
    return graph.number(value) < num_values && Find(graph, value) != nullptr;
  };
  // What is run for, by the place that takes it; a parameter has none.
  std::vector<std::pair<Value*, std::optional<size_t>>> wanted;
  llvm::SetVector<Value*> known, variables, binders;
  for (auto [index, name] : llvm::enumerate(names)) {
    Value* value = graph.FindValue(name);
    if (const Constant* constant = Find(graph, value)) {
      values[index] = *constant;
      continue;
    }
    Needs needs;
    needs.Collect(graph, value, is_known);
    if (needs.lacks_input) continue;
    wanted.emplace_back(value, index);
    known.insert(needs.known.begin(), needs.known.end());
    variables.insert(needs.variables.begin(), needs.variables.end());
    binders.insert(needs.binders.begin(), needs.binders.end());
  }
  if (wanted.empty()) return values;
  for (Value* variable : variables) {
    auto is_it = [&](const auto& entry) { return entry.first == variable; };
    if (llvm::none_of(wanted, is_it)) wanted.emplace_back(variable, std::nullopt);
  }

  // The keys, while places and names are those of the text.
  std::vector<std::string> keys;
  for (const auto& [value, index] : wanted) {
    const bool is_kept = IsLeaf(value) || (value->location() != kUnknownLocation &&
                                           graph.locations()[value->location()].line <= kept_lines);
    keys.push_back(is_kept ? Key(graph, value) : "");
  }
  graph.ClearOutputs();
  llvm::StringMap<Constant> inputs;
  std::vector<std::pair<Value*, Value*>> replacements;
  for (Value* value : known) {
    if (value->kind() == ValueKind::kInput) {
      inputs[value->name()] = *Find(graph, value);
      continue;
    }
    Value* input = graph.AddInput(graph.NewName(value->name()), value->type(), value->location());
    inputs[input->name()] = *Find(graph, value);
    replacements.emplace_back(value, input);
  }
  graph.ReplaceAllUses(replacements);
  auto add_output = [&](Value* value) {
    graph.AddOutput(std::to_string(graph.outputs().size()), value);
  };
  for (const auto& [value, index] : wanted) add_output(value);
  // An input that only gives a symbol its size must be read too.
  for (Value* input : binders) {
    inputs[input->name()] = *Find(graph, input);
    add_output(input);
  }
  EliminateDeadCode(graph);
  llvm::Expected<std::vector<Constant>> results = host_.Run(std::move(graph), inputs);
  if (!results) return results.takeError();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].second) values[*wanted[i].second] = (*results)[i];
    if (!keys[i].empty()) known_[keys[i]] = (*results)[i];
  }
  return values;
}

llvm::StringSet<> ReplValues::Feed(const Graph& graph, const Value* fed, Constant constant) {
  llvm::StringSet<> symbols, names;
  ForEachSymbol(fed->type(), [&](llvm::StringRef symbol) { symbols.insert(symbol); });
  auto forget = [&](const Value* value) {
    names.insert(value->name());
    known_.erase(Key(graph, value));
  };
  forget(fed);
  for (const Value* state : graph.states()) {
    bool depends = false;
    ForEachSymbol(state->type(),
                  [&](llvm::StringRef symbol) { depends |= symbols.contains(symbol); });
    if (depends && state != fed) forget(state);
  }
  for (const Op* op : graph.ops()) {
    bool depends = llvm::any_of(
        op->operands(), [&](const Value* operand) { return names.contains(operand->name()); });
    ForEachSymbol(*op, [&](llvm::StringRef symbol) { depends |= symbols.contains(symbol); });
    if (depends) llvm::for_each(op->results(), forget);
  }
  known_[Key(graph, fed)] = std::move(constant);
  return names;
}

}  // namespace pdl
