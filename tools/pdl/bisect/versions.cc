#include "tools/pdl/bisect/versions.h"

#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "tools/pdl/bisect/assembler.h"

namespace pdl {
namespace {

bool HaveEqualValues(const FedNetwork& a, const FedNetwork& b, llvm::StringRef name) {
  const auto x = a.variables.find(name), y = b.variables.find(name);
  const bool is_known = x != a.variables.end();
  if (is_known != (y != b.variables.end())) return false;
  return !is_known || Identical(AttributeValue(x->second), AttributeValue(y->second));
}

}  // namespace

/// Makes the network with some of the changes.
class VersionMixer {
 public:
  VersionMixer(const Versions& versions, llvm::ArrayRef<size_t> applied)
      : versions_(versions),
        is_applied_(versions.changes_.size()),
        good_(made_, versions.good_),
        bad_(made_, versions.bad_) {
    made_.precision = versions.good_.precision;
    for (const size_t change : applied) is_applied_[change] = true;
    for (const VersionChange& change : versions.changes_)
      if (change.good_op == nullptr)
        changes_by_name_[{change.difference.subject, change.name}] = &change;
  }

  llvm::Expected<FedNetwork> Mix() {
    NameValues();
    if (llvm::Error error = AddVariables()) return error;
    struct Output {
      std::string name;
      Source value;
    };
    std::vector<Output> outputs;
    for (const GraphOutput& output : versions_.good_.graph.outputs()) {
      const GraphOutput* bad = versions_.bad_.graph.FindOutput(output.name);
      if (bad == nullptr) continue;
      const bool is_bad = IsApplied(DifferenceSubject::kOutput, output.name);
      outputs.push_back({output.name, {is_bad ? bad->value : output.value, is_bad}});
    }
    for (const Output& output : outputs)
      if (llvm::Error error = Compute(output.value)) return error;
    for (const Output& output : outputs) made_.graph.AddOutput(output.name, Find(output.value));
    return std::move(made_);
  }

 private:
  /// A value of one of the versions.
  struct Source {
    const Value* value;
    bool is_bad;
  };
  struct Call {
    const Op* op;
    bool is_bad;
  };

  bool IsApplied(DifferenceSubject subject, llvm::StringRef name) const {
    const auto found = changes_by_name_.find({subject, name.str()});
    return found != changes_by_name_.end() &&
           is_applied_[static_cast<size_t>(found->second - versions_.changes_.data())];
  }

  Value* Find(const Source& source) {
    return (source.is_bad ? bad_ : good_).copier().Find(source.value);
  }

  /// The variable of the good version that a variable of the bad one is; null if it is a new one.
  const Value* CounterpartOf(const Value* variable) const {
    const Value* other = versions_.good_.graph.FindValue(variable->name());
    return other != nullptr && other->kind() == variable->kind() ? other : nullptr;
  }

  /// Gives matched calls the names of the good version, and new values names of their own.
  void NameValues() {
    const auto set_name = [&](Assembler& side, const Value* value, std::string name) {
      made_.graph.ReserveName(name);
      side.copier().Name(value, std::move(name));
    };
    const Graph &good = versions_.good_.graph, &bad = versions_.bad_.graph;
    for (const Value* input : good.inputs()) made_.graph.ReserveName(input->name());
    for (const Value* variable : Variables(good)) made_.graph.ReserveName(variable->name());
    for (const Op* op : good.ops())
      for (const Value* result : op->results()) set_name(good_, result, result->name());
    for (const Value* variable : Variables(bad)) {
      if (CounterpartOf(variable) != nullptr) continue;
      std::string name = made_.graph.NewName(variable->name());
      made_.graph.ReserveName(name);
      new_variables_.emplace_back(variable, std::move(name));
    }
    for (const Op* op : bad.ops()) {
      const Op* other = versions_.match_.lookup(op);
      for (size_t i = 0; i < op->results().size(); ++i) {
        const bool is_matched = other != nullptr && i < other->results().size();
        set_name(bad_, op->results()[i],
                 is_matched ? other->results()[i]->name()
                            : made_.graph.NewName(op->results()[i]->name()));
      }
    }
  }

  llvm::Error AddVariables() {
    const Graph &good = versions_.good_.graph, &bad = versions_.bad_.graph;
    for (const Value* input : good.inputs())
      if (llvm::Error error = good_.AddVariable(input, input->name())) return error;
    for (const Value* input : bad.inputs())
      if (Value* made = made_.graph.FindValue(input->name())) bad_.copier().Map(input, made);
    for (const Value* variable : Variables(good)) {
      const Value* other = bad.FindValue(variable->name());
      const bool is_shared = other != nullptr && other->kind() == variable->kind();
      const DifferenceSubject subject = variable->kind() == ValueKind::kParameter
                                            ? DifferenceSubject::kParameter
                                            : DifferenceSubject::kState;
      const bool is_bad = is_shared && IsApplied(subject, variable->name());
      if (llvm::Error error = is_bad ? bad_.AddVariable(other, variable->name())
                                     : good_.AddVariable(variable, variable->name()))
        return error;
      Value* made = made_.graph.FindValue(variable->name());
      if (is_bad) good_.copier().Map(variable, made);
      if (is_shared && !is_bad) bad_.copier().Map(other, made);
    }
    for (const auto& [variable, name] : new_variables_)
      if (llvm::Error error = bad_.AddVariable(variable, name)) return error;
    return llvm::Error::success();
  }

  /// The call that computes a value: of matched calls, the one that the changes select.
  Call CallOf(const Source& source) const {
    const Op* op = source.value->producer();
    const Op* other = versions_.match_.lookup(op);
    if (other == nullptr) return {op, source.is_bad};
    const Op* good = source.is_bad ? other : op;
    const Op* bad = source.is_bad ? op : other;
    const auto change = versions_.change_of_call_.find(bad);
    const bool is_bad = change != versions_.change_of_call_.end() && is_applied_[change->second];
    return is_bad ? Call{bad, true} : Call{good, false};
  }

  llvm::Error Unusable(const Value* value) const {
    return MakeUserError(Code::kMissingInput, "'{0}' has no value", value->name());
  }

  /// Copies the calls that a value is computed by, operands first.
  llvm::Error Compute(const Source& source) {
    std::vector<Source> stack = {source};
    while (!stack.empty()) {
      const Source top = stack.back();
      if (Find(top) != nullptr) {
        stack.pop_back();
        continue;
      }
      if (top.value->producer() == nullptr) return Unusable(top.value);
      const Call call = CallOf(top);
      bool is_ready = true;
      for (const Value* operand : call.op->operands()) {
        if (Find({operand, call.is_bad}) != nullptr) continue;
        is_ready = false;
        stack.push_back({operand, call.is_bad});
      }
      if (is_ready) {
        if (llvm::Error error = Copy(call)) return error;
        // The call that was selected may have fewer results.
        if (Find(top) == nullptr) return Unusable(top.value);
      } else if (!open_.insert(call.op).second) {
        // Its operands were requested before and depend on it.
        return Unusable(top.value);
      }
    }
    return llvm::Error::success();
  }

  llvm::Error Copy(const Call& call) {
    Assembler& side = call.is_bad ? bad_ : good_;
    if (llvm::Error error = side.AddCall(*call.op)) return error;
    const Op* other = versions_.match_.lookup(call.op);
    if (other == nullptr) return llvm::Error::success();
    Assembler& opposite = call.is_bad ? good_ : bad_;
    for (auto [mine, theirs] : llvm::zip_first(call.op->results(), other->results()))
      opposite.copier().Map(theirs, side.copier().Find(mine));
    return llvm::Error::success();
  }

  const Versions& versions_;
  std::vector<bool> is_applied_;
  FedNetwork made_;
  Assembler good_, bad_;
  std::map<std::pair<DifferenceSubject, std::string>, const VersionChange*> changes_by_name_;
  std::vector<std::pair<const Value*, std::string>> new_variables_;
  llvm::DenseSet<const Op*> open_;
};

Versions::Versions(FedNetwork good, FedNetwork bad) : good_(std::move(good)), bad_(std::move(bad)) {
  for (const auto& [before, after] : MatchCalls(good_.graph, bad_.graph)) {
    match_[before] = after;
    match_[after] = before;
  }
  FindChanges();
}

std::vector<const Op*> Versions::CallsBroughtBy(llvm::ArrayRef<const Value*> roots) const {
  return CallsFromLeaves(bad_.graph, roots, [&](const Value* value) {
    return value->producer() != nullptr && match_.contains(value->producer());
  });
}

void Versions::FindChanges() {
  const std::vector<Difference> differences = DiffGraphs(good_.graph, bad_.graph);
  llvm::StringMap<const Difference*> added;
  for (const Difference& difference : differences)
    if (difference.kind == DifferenceKind::kAdded && difference.subject == DifferenceSubject::kCall)
      added[difference.name] = &difference;
  const auto add_calls = [&](llvm::ArrayRef<const Value*> roots, VersionChange& change) {
    for (const Op* op : CallsBroughtBy(roots))
      if (const Difference* difference = added.lookup(op->result()->name()))
        change.added.emplace_back(*difference, bad_.graph.PathToString(op->location()));
  };
  llvm::StringSet<> changed_variables;
  for (const Difference& difference : differences) {
    if (difference.kind != DifferenceKind::kChanged || difference.name.empty()) continue;
    VersionChange change;
    change.difference = difference;
    change.name = difference.name;
    const Value* good = good_.graph.FindValue(difference.name);
    const Value* bad = bad_.graph.FindValue(difference.name);
    if (difference.subject == DifferenceSubject::kCall) {
      change.bad_op = bad->producer();
      change.good_op = match_.lookup(change.bad_op);
      good = change.good_op->result();
      const std::vector<const Value*> roots(change.bad_op->operands().begin(),
                                            change.bad_op->operands().end());
      add_calls(roots, change);
      change_of_call_[change.bad_op] = changes_.size();
    } else if (difference.subject == DifferenceSubject::kOutput) {
      good = good_.graph.FindOutput(difference.name)->value;
      bad = bad_.graph.FindOutput(difference.name)->value;
      add_calls(bad, change);
    } else if (difference.subject == DifferenceSubject::kParameter ||
               difference.subject == DifferenceSubject::kState) {
      if (good->type() == bad->type() && HaveEqualValues(good_, bad_, difference.name)) continue;
      changed_variables.insert(difference.name);
    } else {
      continue;
    }
    change.good_place = good_.graph.PathToString(good->location());
    change.bad_place = bad_.graph.PathToString(bad->location());
    changes_.push_back(std::move(change));
  }
  // Values that differ although the sources do not, such as those of a file that was replaced.
  for (const Value* good : Variables(good_.graph)) {
    const Value* bad = bad_.graph.FindValue(good->name());
    if (bad == nullptr || bad->kind() != good->kind() || changed_variables.contains(good->name()) ||
        HaveEqualValues(good_, bad_, good->name()))
      continue;
    VersionChange change;
    change.name = good->name();
    change.difference = {DifferenceKind::kChanged,
                         good->kind() == ValueKind::kParameter ? DifferenceSubject::kParameter
                                                               : DifferenceSubject::kState,
                         good->name() + ": " + good->type().ToString(),
                         {"initial: other values"},
                         good->name()};
    change.good_place = good_.graph.PathToString(good->location());
    change.bad_place = bad_.graph.PathToString(bad->location());
    changes_.push_back(std::move(change));
  }
}

llvm::Expected<FedNetwork> Versions::Apply(llvm::ArrayRef<size_t> changes) const {
  return VersionMixer(*this, changes).Mix();
}

}  // namespace pdl
