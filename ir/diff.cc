#include "pdl/compiler/diff.h"

#include <algorithm>
#include <map>

#include "ir/differ.h"
#include "ir/emit_text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/weights.h"

namespace pdl {
namespace {

std::string Arrow(llvm::StringRef what, llvm::StringRef before, llvm::StringRef after) {
  return (what + ": " + before + " -> " + after).str();
}

llvm::StringRef NameOf(const Op& op) {
  return op.results().empty() ? llvm::StringRef() : llvm::StringRef(op.result()->name());
}

std::string CallText(const Op& op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma(", "), argument(", ");
  for (const Value* result : op.results()) os << comma << TypedName(*result);
  os << " = " << op.type() << '(';
  for (const Value* operand : op.operands()) os << argument << operand->name();
  for (const std::string& attribute : GivenAttributes(op)) os << argument << attribute;
  os << ')';
  return text;
}

std::string ConstraintText(const GraphConstraint& constraint) {
  const DimCheck& check = constraint.check;
  const llvm::StringRef sign = check.relation == DimCheck::Relation::kEqual      ? " == "
                               : check.relation == DimCheck::Relation::kNotEqual ? " != "
                                                                                 : " >= ";
  return (check.left.ToString() + sign + check.right.ToString()).str();
}

// Formats a block that consists of one call as in the language: `normal(std=0.02)`.
std::string InitializerText(const Graph& graph, BlockId id) {
  const Block& block = graph.block(id);
  if (block.ops.empty()) return "none";
  const std::string call = CallText(*block.ops.back());
  return call.substr(call.find(" = ") + 3);
}

std::string TrainingText(const GraphTraining& training) {
  std::string text = training.loss->name() + " with " + training.optimizer;
  if (training.every != 1) text += " every " + std::to_string(training.every);
  return text;
}

}  // namespace

void Differ::CompareConstraints() {
  std::map<std::string, int> counts;
  for (const GraphConstraint& constraint : before_.constraints())
    --counts[ConstraintText(constraint)];
  for (const GraphConstraint& constraint : after_.constraints())
    ++counts[ConstraintText(constraint)];
  for (const auto& [text, count] : counts) {
    if (count < 0) Add(DifferenceKind::kRemoved, DifferenceSubject::kConstraint, text);
    if (count > 0) Add(DifferenceKind::kAdded, DifferenceSubject::kConstraint, text);
  }
}

// Reports names that both graphs have, in another order, which matters for positional use.
void Differ::CompareOrder(DifferenceSubject subject, llvm::ArrayRef<llvm::StringRef> before,
                          llvm::ArrayRef<llvm::StringRef> after) {
  auto common = [](llvm::ArrayRef<llvm::StringRef> names, llvm::ArrayRef<llvm::StringRef> others) {
    llvm::StringSet<> set;
    for (llvm::StringRef name : others) set.insert(name);
    std::vector<llvm::StringRef> kept;
    for (llvm::StringRef name : names)
      if (set.contains(name)) kept.push_back(name);
    return kept;
  };
  const std::vector<llvm::StringRef> old_order = common(before, after);
  const std::vector<llvm::StringRef> new_order = common(after, before);
  if (old_order == new_order) return;
  Add(DifferenceKind::kChanged, subject, "order",
      {Arrow("order", llvm::join(old_order, ", "), llvm::join(new_order, ", "))});
}

void Differ::CompareValues(DifferenceSubject subject, llvm::ArrayRef<Value*> before,
                           llvm::ArrayRef<Value*> after) {
  llvm::StringMap<const Value*> named;
  std::vector<llvm::StringRef> old_names, new_names;
  for (const Value* value : after) {
    named[value->name()] = value;
    new_names.push_back(value->name());
  }
  for (const Value* value : before) {
    old_names.push_back(value->name());
    const Value* other = named.lookup(value->name());
    if (other == nullptr) {
      Add(DifferenceKind::kRemoved, subject, TypedName(*value), {}, value->name());
      continue;
    }
    MatchValues(value, other);
    std::vector<std::string> changes;
    if (value->type() != other->type())
      changes.push_back(Arrow("type", value->type().ToString(), other->type().ToString()));
    if (subject != DifferenceSubject::kInput)
      llvm::append_range(changes, VariableChanges(*value, *other));
    if (!changes.empty())
      Add(DifferenceKind::kChanged, subject, TypedName(*value), std::move(changes), value->name());
  }
  for (const Value* value : after) {
    if (!before_of_.contains(value))
      Add(DifferenceKind::kAdded, subject, TypedName(*value), {}, value->name());
  }
  if (subject == DifferenceSubject::kInput) CompareOrder(subject, old_names, new_names);
}

std::vector<std::string> Differ::VariableChanges(const Value& before, const Value& after) const {
  const VariableInfo& a = before.variable();
  const VariableInfo& b = after.variable();
  std::vector<std::string> changes;
  auto first_value = [](const Graph& graph, const VariableInfo& info) {
    if (info.weight) return WeightToString(*info.weight);
    if (!info.copy_of.empty()) return "copy(" + info.copy_of + ")";
    return info.initializer ? InitializerText(graph, *info.initializer) : std::string("none");
  };
  const bool both_hashed = a.weight && b.weight && !a.weight->sha256.empty() &&
                           !b.weight->sha256.empty() && a.weight->transpose == b.weight->transpose;
  if (both_hashed) {
    constexpr size_t kDigits = 12;
    const llvm::StringRef old_hash = a.weight->sha256, new_hash = b.weight->sha256;
    if (old_hash != new_hash)
      changes.push_back(
          Arrow("weights (sha256)", old_hash.take_front(kDigits), new_hash.take_front(kDigits)));
  } else {
    const std::string old_value = first_value(before_, a), new_value = first_value(after_, b);
    if (old_value != new_value) {
      changes.push_back(Arrow("initial", old_value, new_value));
    } else if (a.initializer && b.initializer &&
               BlockText(before_, *a.initializer) != BlockText(after_, *b.initializer) &&
               before.type() == after.type()) {
      changes.push_back("initial: computed differently");
    }
  }
  auto number = [&](llvm::StringRef name, double x, double y) {
    if (x != y) changes.push_back(Arrow(name, FloatToString(x), FloatToString(y)));
  };
  number("weight_decay", a.weight_decay, b.weight_decay);
  number("l1", a.l1, b.l1);
  number("gradient_clipping", a.gradient_clipping, b.gradient_clipping);
  number("lr_scale", a.lr_scale, b.lr_scale);
  if (a.trainable != b.trainable)
    changes.push_back(
        Arrow("trainable", a.trainable ? "true" : "false", b.trainable ? "true" : "false"));
  return changes;
}

std::vector<std::string> Differ::CallChanges(const Op& before, const Op& after) const {
  std::vector<std::string> changes;
  if (before.type() != after.type()) {
    changes.push_back(Arrow("operator", before.type(), after.type()));
  } else {
    for (size_t i = 0; i < before.attribute_values().size(); ++i) {
      const AttributeValue& a = before.attribute_values()[i];
      const AttributeValue& b = after.attribute_values()[i];
      const std::string& name = before.def().signature.attributes[i].name;
      const auto* block_a = std::get_if<BlockId>(&a);
      const auto* block_b = std::get_if<BlockId>(&b);
      if (block_a != nullptr && block_b != nullptr) {
        if (BlockText(before_, *block_a) != BlockText(after_, *block_b))
          changes.push_back(name + ": computes something else");
      } else if (!Identical(a, b)) {
        changes.push_back(Arrow(name, IsNone(a) ? "none" : ShortAttribute(a),
                                IsNone(b) ? "none" : ShortAttribute(b)));
      }
    }
  }
  auto names = [](const Op& op) {
    return llvm::join(llvm::map_range(op.operands(), [](const Value* v) { return v->name(); }),
                      ", ");
  };
  if ((before.recompute() != 0) != (after.recompute() != 0))
    changes.push_back(Arrow("recompute", before.recompute() ? "true" : "false",
                            after.recompute() ? "true" : "false"));
  bool same_operands = before.operands().size() == after.operands().size();
  bool same_types = true;
  for (size_t i = 0; same_operands && i < before.operands().size(); ++i) {
    same_operands = AreSame(before.operands()[i], after.operands()[i]);
    same_types &= before.operands()[i]->type() == after.operands()[i]->type();
  }
  if (!same_operands)
    changes.push_back(Arrow("operands", "(" + names(before) + ")", "(" + names(after) + ")"));
  // Type differences that follow from those of the operands are only reported at their origin.
  if (changes.empty() && !same_types) return changes;
  for (size_t i = 0; i < std::min(before.results().size(), after.results().size()); ++i) {
    const Value* a = before.results()[i];
    const Value* b = after.results()[i];
    if (a->type() != b->type())
      changes.push_back(Arrow("type", a->type().ToString(), b->type().ToString()));
  }
  return changes;
}

void Differ::CompareCalls() {
  // In the order of the new graph; a removed call is reported before the call that followed it.
  size_t next = 0;
  auto removed_until = [&](const Op* end) {
    for (; next < before_.ops().size() && before_.ops()[next] != end; ++next) {
      const Op* op = before_.ops()[next];
      if (!IsMatched(op))
        Add(DifferenceKind::kRemoved, DifferenceSubject::kCall, CallText(*op), {}, NameOf(*op));
    }
  };
  llvm::DenseMap<const Op*, size_t> place;
  for (size_t i = 0; i < before_.ops().size(); ++i) place[before_.ops()[i]] = i;
  for (const Op* op : after_.ops()) {
    const Op* other = match_.lookup(op);
    if (other == nullptr) {
      Add(DifferenceKind::kAdded, DifferenceSubject::kCall, CallText(*op), {}, NameOf(*op));
      continue;
    }
    if (place[other] >= next) removed_until(other);
    std::vector<std::string> changes = CallChanges(*other, *op);
    if (!changes.empty())
      Add(DifferenceKind::kChanged, DifferenceSubject::kCall, CallText(*other), std::move(changes),
          NameOf(*op));
  }
  removed_until(nullptr);
}

void Differ::CompareUpdates() {
  llvm::DenseMap<const Value*, const Value*> values;
  for (const GraphUpdate& update : after_.updates()) values[update.state] = update.value;
  auto text = [](const GraphUpdate& update) {
    return update.state->name() + " = " + update.value->name();
  };
  llvm::DenseMap<const Value*, bool> seen;
  for (const GraphUpdate& update : before_.updates()) {
    const Value* state = after_of_.lookup(update.state);
    const Value* value = state != nullptr ? values.lookup(state) : nullptr;
    if (value == nullptr) {
      Add(DifferenceKind::kRemoved, DifferenceSubject::kUpdate, text(update), {},
          update.state->name());
      continue;
    }
    seen[state] = true;
    if (!AreSame(update.value, value))
      Add(DifferenceKind::kChanged, DifferenceSubject::kUpdate, text(update),
          {Arrow("value", update.value->name(), value->name())}, state->name());
  }
  for (const GraphUpdate& update : after_.updates())
    if (!seen.lookup(update.state))
      Add(DifferenceKind::kAdded, DifferenceSubject::kUpdate, text(update), {},
          update.state->name());
}

void Differ::CompareOutputs() {
  llvm::StringMap<const GraphOutput*> named;
  std::vector<llvm::StringRef> old_names, new_names;
  for (const GraphOutput& output : after_.outputs()) {
    named[output.name] = &output;
    new_names.push_back(output.name);
  }
  auto text = [](const GraphOutput& output) {
    return output.name + ": " + output.value->type().ToString();
  };
  llvm::StringSet<> seen;
  for (const GraphOutput& output : before_.outputs()) {
    old_names.push_back(output.name);
    const GraphOutput* other = named.lookup(output.name);
    if (other == nullptr) {
      Add(DifferenceKind::kRemoved, DifferenceSubject::kOutput, text(output), {}, output.name);
      continue;
    }
    seen.insert(output.name);
    std::vector<std::string> changes;
    if (!AreSame(output.value, other->value))
      changes.push_back(Arrow("value", output.value->name(), other->value->name()));
    if (output.value->type() != other->value->type())
      changes.push_back(
          Arrow("type", output.value->type().ToString(), other->value->type().ToString()));
    if (!changes.empty())
      Add(DifferenceKind::kChanged, DifferenceSubject::kOutput, text(output), std::move(changes),
          output.name);
  }
  for (const GraphOutput& output : after_.outputs())
    if (!seen.contains(output.name))
      Add(DifferenceKind::kAdded, DifferenceSubject::kOutput, text(output), {}, output.name);
  CompareOrder(DifferenceSubject::kOutput, old_names, new_names);
}

std::vector<std::string> Differ::TrainingChanges(const GraphTraining& before,
                                                 const GraphTraining& after) const {
  std::vector<std::string> changes;
  if (!AreSame(before.loss, after.loss))
    changes.push_back(Arrow("loss", before.loss->name(), after.loss->name()));
  if (before.optimizer != after.optimizer)
    changes.push_back(Arrow("with", before.optimizer, after.optimizer));
  if (before.every != after.every)
    changes.push_back(Arrow("every", std::to_string(before.every), std::to_string(after.every)));
  auto missing = [](const GraphTraining& from, const GraphTraining& in) {
    llvm::StringSet<> names;
    for (const Value* parameter : in.parameters) names.insert(parameter->name());
    std::vector<llvm::StringRef> result;
    for (const Value* parameter : from.parameters)
      if (!names.contains(parameter->name())) result.push_back(parameter->name());
    return result;
  };
  const std::vector<llvm::StringRef> removed = missing(before, after);
  const std::vector<llvm::StringRef> added = missing(after, before);
  if (!removed.empty()) changes.push_back("no longer over " + llvm::join(removed, ", "));
  if (!added.empty()) changes.push_back("now over " + llvm::join(added, ", "));
  return changes;
}

// Statements are matched by their losses, else by their index among the remaining ones.
void Differ::CompareTrainings() {
  std::vector<const GraphTraining*> left;
  for (const GraphTraining& training : after_.trainings()) left.push_back(&training);
  std::vector<const GraphTraining*> unmatched;
  auto compare = [&](const GraphTraining& before, const GraphTraining& after) {
    std::vector<std::string> changes = TrainingChanges(before, after);
    if (!changes.empty())
      Add(DifferenceKind::kChanged, DifferenceSubject::kTraining, TrainingText(before),
          std::move(changes));
  };
  for (const GraphTraining& training : before_.trainings()) {
    auto same = llvm::find_if(
        left, [&](const GraphTraining* other) { return AreSame(training.loss, other->loss); });
    if (same == left.end()) {
      unmatched.push_back(&training);
      continue;
    }
    compare(training, **same);
    left.erase(same);
  }
  for (size_t i = 0; i < std::max(unmatched.size(), left.size()); ++i) {
    if (i >= left.size()) {
      Add(DifferenceKind::kRemoved, DifferenceSubject::kTraining, TrainingText(*unmatched[i]));
    } else if (i >= unmatched.size()) {
      Add(DifferenceKind::kAdded, DifferenceSubject::kTraining, TrainingText(*left[i]));
    } else {
      compare(*unmatched[i], *left[i]);
    }
  }
}

llvm::StringRef DifferenceSubjectName(DifferenceSubject subject) {
  static constexpr llvm::StringLiteral kNames[] = {"constraint", "input",  "param",  "state",
                                                   "call",       "update", "output", "minimize"};
  return kNames[static_cast<size_t>(subject)];
}

std::vector<Difference> DiffGraphs(const Graph& before, const Graph& after) {
  return Differ(before, after).Run();
}

std::vector<std::pair<const Op*, const Op*>> MatchCalls(const Graph& before, const Graph& after) {
  return Differ(before, after).Pairs();
}

}  // namespace pdl
