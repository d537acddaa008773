#include "frontend/repl/repl_values.h"

#include <chrono>

#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

bool IsLeaf(const Value* value) { return value->kind() != ValueKind::kResult; }

/// Values that determine what a Plan runs: it must be able to compute them itself.
llvm::DenseSet<const Value*> FindConditions(const Graph& graph) {
  std::vector<Value*> conditions;
  for (const Op* op : graph.ops())
    if (op->def().properties().is_plan_select) conditions.push_back(op->operands()[0]);
  const std::vector<Value*> slice = BackwardSlice(conditions);
  return {slice.begin(), slice.end()};
}

uint64_t HashOf(const Constant& offsets) {
  const llvm::ArrayRef<int64_t> values = offsets.values<int64_t>();
  return static_cast<size_t>(llvm::hash_combine_range(values.begin(), values.end()));
}

llvm::StringSet<> ToSet(llvm::ArrayRef<std::string> names) {
  llvm::StringSet<> set;
  for (const std::string& name : names) set.insert(name);
  return set;
}

/// Values between the inputs and the output of a gradient: it differentiates their calls, which
/// must not be replaced by known values.
llvm::DenseSet<const Value*> FindDerived(const Graph& graph) {
  llvm::DenseSet<const Value*> derived;
  const llvm::ArrayRef<Op*> ops = graph.ops();
  for (const auto& [index, gradient] : llvm::enumerate(ops)) {
    if (!IsGradient(gradient->def())) continue;
    ValueSet varied(graph);
    varied.InsertAll(gradient->operands().drop_front(2));
    PropagateForward(ops.take_front(index), varied);
    auto next = [&](Value* value, AddValue add) {
      AddOperands(value, [&](Value* operand) {
        if (varied.contains(operand)) add(operand);
      });
    };
    Value* y = gradient->operands()[0];
    if (!varied.contains(y)) continue;
    // One of xs may be computed from another one.
    for (const Value* value : BackwardSlice(y, next))
      if (value->producer() != nullptr && varied.ContainsAny(value->producer()->operands()))
        derived.insert(value);
  }
  return derived;
}

/// The requirements of one value: a backward traversal that stops at known values.
struct Needs {
  /// Known values that are used, and parameters and states that are not yet known.
  llvm::SetVector<Value*> known, variables;
  /// Inputs whose sizes bind a symbol.
  llvm::SetVector<Value*> binders;
  /// Inputs that were not fed.
  llvm::SetVector<Value*> missing;

  void Collect(const Graph& graph, Value* requested,
               llvm::function_ref<bool(const Value*)> is_known) {
    bindable_ = ToSet(graph.Symbols());
    auto symbol = [&](llvm::StringRef name) { NeedSymbol(name); };
    auto next = [&](Value* value, AddValue add) {
      ForEachSymbol(value->type(), symbol);
      if (is_known(value)) {
        known.insert(value);
      } else if (value->kind() == ValueKind::kInput) {
        missing.insert(value);
      } else if (IsLeaf(value)) {
        variables.insert(value);
      } else {
        ForEachSymbol(*value->producer(), symbol);
        AddOperands(value, add);
      }
    };
    BackwardSlice(requested, next, WalkOrder::kDepthFirst);
    Bind(graph, is_known);
  }

 private:
  void NeedSymbol(llvm::StringRef name) {
    // A size that depends on data needs no input.
    if (bindable_.contains(name) && seen_symbols_.insert(name).second) {
      symbols_.push_back(name.str());
    }
  }

  // Finds a fed input for each symbol; such an input may introduce further symbols.
  void Bind(const Graph& graph, llvm::function_ref<bool(const Value*)> is_known) {
    for (size_t next = 0; next < symbols_.size(); ++next) {
      const std::string name = symbols_[next];
      bool is_bound = false;
      Value* unfed = nullptr;
      for (Value* input : graph.inputs()) {
        if (!HasSymbol(input->type(), name)) continue;
        if (!is_known(input)) {
          if (unfed == nullptr) unfed = input;
          continue;
        }
        is_bound = true;
        if (binders.insert(input)) {
          ForEachSymbol(input->type(), [&](llvm::StringRef symbol) { NeedSymbol(symbol); });
        }
      }
      const bool is_requested =
          llvm::any_of(missing, [&](const Value* input) { return HasSymbol(input->type(), name); });
      if (!is_bound && !is_requested && unfed != nullptr) missing.insert(unfed);
    }
  }

  llvm::StringSet<> bindable_, seen_symbols_;
  std::vector<std::string> symbols_;
};

}  // namespace

// ---------------------------------------------------------------------------------------------
// Known values

ReplValues::Sizes ReplValues::FindSizes(const Graph& graph, const Value* except) const {
  std::vector<std::pair<const Value*, const Given*>> fed;
  for (const Value* input : graph.inputs()) {
    const auto given = given_.find(input->name());
    if (given != given_.end() && input != except) fed.emplace_back(input, &given->second);
  }
  // The last feed decides: an earlier value that contradicts it is treated as not fed.
  llvm::sort(fed,
             [](const auto& a, const auto& b) { return a.second->version > b.second->version; });
  Sizes sizes;
  for (const auto& [input, given] : fed) {
    if (!Fits(given->value, input->type(), sizes)) continue;
    const Type& type = input->type();
    for (unsigned axis = 0; axis < type.rank(); ++axis) {
      const Dim& dim = type.dims[axis];
      if (dim.is_ragged()) {
        const Constant& offsets = given->value.offsets[axis - 1];
        sizes[dim.symbol()] = {std::nullopt, offsets, HashOf(offsets)};
        continue;
      }
      // The number of columns of a sparse matrix may be unknown.
      if (!given->value.type.dims[axis].is_constant()) continue;
      const int64_t actual = given->value.type.dims[axis].constant();
      const bool is_alone = !dim.symbol().empty();
      if (is_alone) sizes[dim.symbol()].size = actual;
      dim.ForEachSymbol([&](llvm::StringRef name) {
        uint64_t& fingerprint = sizes[name].fingerprint;
        fingerprint = static_cast<size_t>(is_alone ? llvm::hash_value(actual)
                                                   : llvm::hash_combine(fingerprint, actual));
      });
    }
  }
  return sizes;
}

bool ReplValues::Fits(const PackedConstant& given, const Type& type, const Sizes& sizes) {
  const Type& actual = given.type;
  if (actual.dtype != type.dtype || actual.rank() != type.rank() ||
      actual.is_sparse() != type.is_sparse() || actual.ragged_levels() != type.ragged_levels()) {
    return false;
  }
  for (unsigned axis = 0; axis < type.rank(); ++axis) {
    const Dim& dim = type.dims[axis];
    const auto bound = sizes.find(dim.symbol());
    if (dim.is_ragged()) {
      if (bound != sizes.end() && !(bound->second.offsets == given.offsets[axis - 1])) return false;
      continue;
    }
    if (!actual.dims[axis].is_constant()) continue;
    const int64_t size = actual.dims[axis].constant();
    if (dim.is_constant() && !dim.is_constant(size)) return false;
    if (bound != sizes.end() && bound->second.size.value_or(size) != size) return false;
  }
  return true;
}

llvm::StringMap<int64_t> ReplValues::KnownSizes(const Graph& graph, const Value& except) const {
  llvm::StringMap<int64_t> known;
  for (const auto& [name, size] : FindSizes(graph, &except)) {
    if (size.size) known[name] = *size.size;
  }
  return known;
}

std::string ReplValues::Misfit(llvm::StringRef name, const Type& type,
                               const PackedConstant& given) {
  if (!Fits(given, type, {})) {
    return llvm::formatv("'{0}' is declared {1}, got {2}", name, type.ToString(),
                         given.type.ToString());
  }
  if (!type.index_bound || !type.index_bound->is_constant()) return "";
  const Constant& values = given.values;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const double element = values.ElementAsDouble(i);
    if (element >= 0 && element < static_cast<double>(type.index_bound->constant())) continue;
    return llvm::formatv("'{0}' is declared {1}, got {2} at {3}", name, type.ToString(),
                         static_cast<int64_t>(element), i);
  }
  return "";
}

const ReplValues::Given* ReplValues::FindGiven(const Value* leaf, const Sizes& sizes) const {
  const auto given = given_.find(leaf->name());
  if (given == given_.end()) return nullptr;
  // A state whose sizes do not match the current inputs is initialized again.
  return Fits(given->second.value, leaf->type(), sizes) ? &given->second : nullptr;
}

Fingerprints ReplValues::Describe(const Graph& graph, const Sizes& sizes) const {
  auto leaf = [&](const Value* value) -> std::optional<uint64_t> {
    const Given* given = FindGiven(value, sizes);
    return given == nullptr ? std::nullopt : std::optional(given->version);
  };
  auto size = [&](llvm::StringRef name) {
    const auto known = sizes.find(name);
    return known == sizes.end() ? 0 : known->second.fingerprint;
  };
  return Fingerprints(graph, leaf, size, training_);
}

Fingerprints ReplValues::Describe(const Graph& graph) const {
  return Describe(graph, FindSizes(graph));
}

const PackedConstant* ReplValues::Find(const Value* value, uint64_t fingerprint,
                                       const Sizes& sizes) const {
  if (IsLeaf(value)) {
    if (const Given* given = FindGiven(value, sizes)) return &given->value;
  }
  const auto found = known_.find(fingerprint);
  return found == known_.end() ? nullptr : &found->second;
}

void ReplValues::KeepOnly(const Graph& graph) {
  const Fingerprints prints = Describe(graph);
  std::unordered_map<uint64_t, PackedConstant> kept;
  auto keep = [&](const Value* value) {
    if (auto node = known_.extract(prints[value])) kept.insert(std::move(node));
  };
  for (auto leaves : {graph.inputs(), graph.parameters(), graph.states()}) {
    llvm::for_each(leaves, keep);
  }
  for (const Op* op : graph.ops()) llvm::for_each(op->results(), keep);
  known_ = std::move(kept);
}

void ReplValues::Clear() {
  known_.clear();
  given_.clear();
  training_ = false;
}

// ---------------------------------------------------------------------------------------------
// Given values

void ReplValues::Feed(const Value* value, PackedConstant given) {
  given_[value->name()] = {std::move(given), ++version_};
}

llvm::Error ReplValues::Advance(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphUpdate& update : graph.updates()) names.push_back(update.value->name());
  llvm::Expected<std::vector<Found>> next = Get(graph, names);
  if (!next) return next.takeError();
  for (const auto& [update, found] : llvm::zip(graph.updates(), *next)) {
    if (found.value) Feed(update.state, *found.value);
  }
  return llvm::Error::success();
}

// ---------------------------------------------------------------------------------------------
// Runs

/// The values that a run computes, and its inputs.
struct ReplValues::Requested {
  /// With the index of the name that it is computed for; a parameter has none.
  std::vector<std::pair<Value*, std::optional<size_t>>> values;
  llvm::SetVector<Value*> known, variables, binders;
};

ReplValues::Requested ReplValues::FindRequested(const Graph& graph,
                                                llvm::ArrayRef<std::string> names,
                                                const Fingerprints& prints, const Sizes& sizes,
                                                std::vector<Found>* found) const {
  const llvm::DenseSet<const Value*> conditions = FindConditions(graph);
  const llvm::DenseSet<const Value*> derived = FindDerived(graph);
  auto find = [&](const Value* value) { return Find(value, prints[value], sizes); };
  const llvm::StringSet<> bindable = ToSet(graph.Symbols());
  auto is_known = [&](const Value* value) {
    // Lengths created by a call, and sizes that depend on data, are only known to later calls if it
    // runs together with them.
    const bool has_own_lengths = llvm::any_of(value->type().dims, [&](const Dim& dim) {
      bool is_own = dim.is_ragged() && !bindable.contains(dim.symbol());
      dim.ForEachSymbol([&](llvm::StringRef symbol) { is_own |= graph.IsDataSymbol(symbol); });
      return is_own;
    });
    return !(conditions.contains(value) && IsKnownToPlan(value)) && !has_own_lengths &&
           !derived.contains(value) && find(value) != nullptr;
  };
  Requested requested;
  for (const auto& [index, name] : llvm::enumerate(names)) {
    Value* value = graph.FindValue(name);
    if (const PackedConstant* given = find(value)) {
      (*found)[index].value = *given;
      continue;
    }
    Needs needs;
    needs.Collect(graph, value, is_known);
    if (!needs.missing.empty()) {
      for (const Value* input : needs.missing) (*found)[index].missing.push_back(input->name());
      continue;
    }
    requested.values.emplace_back(value, index);
    requested.known.insert(needs.known.begin(), needs.known.end());
    requested.variables.insert(needs.variables.begin(), needs.variables.end());
    requested.binders.insert(needs.binders.begin(), needs.binders.end());
  }
  if (requested.values.empty()) return requested;
  for (Value* variable : requested.variables) {
    auto is_it = [&](const auto& entry) { return entry.first == variable; };
    if (llvm::none_of(requested.values, is_it))
      requested.values.emplace_back(variable, std::nullopt);
  }
  return requested;
}

llvm::StringMap<PackedConstant> ReplValues::Narrow(
    const Requested& requested, llvm::function_ref<const PackedConstant*(const Value*)> find,
    Graph* graph) {
  graph->ClearOutputs();
  graph->ClearTrainings();
  llvm::StringMap<PackedConstant> inputs;
  std::vector<std::pair<Value*, Value*>> replacements;
  for (Value* value : requested.known) {
    const PackedConstant given = *find(value);
    if (value->kind() == ValueKind::kInput) {
      inputs[value->name()] = given;
      continue;
    }
    Value* input = graph->AddInput(graph->NewName(value->name()), value->type(), value->location());
    inputs[input->name()] = given;
    replacements.emplace_back(value, input);
  }
  for (Value* input : requested.binders) inputs[input->name()] = *find(input);
  graph->ReplaceAllUses(replacements);
  auto add_output = [&](Value* value) {
    graph->AddOutput(std::to_string(graph->outputs().size()), value);
  };
  for (const auto& [value, index] : requested.values) add_output(value);
  // An input that only determines the size of a symbol must be read, too.
  for (Value* input : requested.binders) add_output(input);
  EliminateDeadCode(*graph);
  return inputs;
}

llvm::Expected<std::vector<ReplValues::Found>> ReplValues::Get(const Graph& original,
                                                               llvm::ArrayRef<std::string> names) {
  std::vector<Found> found(names.size());
  Graph graph = original.Clone();
  const Sizes sizes = FindSizes(graph);
  const Fingerprints prints = Describe(graph, sizes);
  const Requested requested = FindRequested(graph, names, prints, sizes, &found);
  if (requested.values.empty()) return found;
  // Before the graph is changed.
  std::vector<uint64_t> keys;
  for (const auto& [value, index] : requested.values) keys.push_back(prints[value]);
  const llvm::StringMap<PackedConstant> inputs = Narrow(
      requested, [&](const Value* value) { return Find(value, prints[value], sizes); }, &graph);
  const size_t num_calls = graph.ops().size();
  const auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::vector<PackedConstant>> results =
      host_.Run(std::move(graph), inputs, training_);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  milliseconds_ += time.count();
  if (!results) return results.takeError();
  num_calls_ += num_calls;
  for (size_t i = 0; i < requested.values.size(); ++i) {
    if (const std::optional<size_t> index = requested.values[i].second)
      found[*index].value = (*results)[i];
    known_.insert_or_assign(keys[i], (*results)[i]);
  }
  return found;
}

}  // namespace pdl
