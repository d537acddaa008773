#include "pdl/diff.h"

#include <algorithm>
#include <deque>
#include <map>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

std::string Arrow(llvm::StringRef what, llvm::StringRef before, llvm::StringRef after) {
  return (what + ": " + before + " -> " + after).str();
}

// A long tensor would hide the rest.
std::string Short(const AttributeValue& value) {
  constexpr size_t kMaxLength = 80;
  std::string text = AttributeToString(value);
  if (text.size() <= kMaxLength) return text;
  text.resize(kMaxLength - 3);
  return text + "...";
}

std::string TypedName(const Value& value) { return value.name() + ": " + value.type().ToString(); }

std::string CallText(const Op& op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma(", "), argument(", ");
  for (const Value* result : op.results()) os << comma << TypedName(*result);
  os << " = " << op.type() << '(';
  for (const Value* operand : op.operands()) os << argument << operand->name();
  for (size_t i = 0; i < op.attribute_values().size(); ++i) {
    const AttributeValue& value = op.attribute_values()[i];
    const AttributeDecl& decl = op.def().signature.attributes[i];
    if (IsNone(value) || (!decl.required() && Identical(value, decl.default_value))) continue;
    os << argument << decl.name << '=' << Short(value);
  }
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

// A block without the names of its results, to compare it with one of another graph.
void PrintBlock(const Graph& graph, BlockId id, llvm::raw_ostream& os);

void PrintAttribute(const Graph& graph, const AttributeValue& value, llvm::raw_ostream& os) {
  if (const auto* block = std::get_if<BlockId>(&value)) return PrintBlock(graph, *block, os);
  os << AttributeToString(value);
}

void PrintBlock(const Graph& graph, BlockId id, llvm::raw_ostream& os) {
  const Block& block = graph.block(id);
  llvm::DenseMap<const Value*, size_t> numbers;
  auto add = [&](const Value* value) {
    numbers.try_emplace(value, numbers.size());
    os << value->type().ToString() << ' ';
  };
  auto print = [&](const Value* value) {
    auto found = numbers.find(value);
    if (found != numbers.end()) {
      os << '%' << found->second << ' ';
    } else {
      os << value->name() << ' ';
    }
  };
  os << '{';
  for (const Value* input : block.inputs) add(input);
  for (const Op* op : block.ops) {
    os << op->type() << '(';
    for (const Value* operand : op->operands()) print(operand);
    for (const AttributeValue& value : op->attribute_values()) {
      PrintAttribute(graph, value, os);
      os << ' ';
    }
    os << ')';
    for (const Value* result : op->results()) add(result);
  }
  for (const Value* output : block.outputs) print(output);
  os << '}';
}

std::string BlockText(const Graph& graph, BlockId id) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintBlock(graph, id, os);
  return text;
}

// `normal(std=0.02)`: a block that is one call, as the language writes it.
std::string InitializerText(const Graph& graph, BlockId id) {
  const Block& block = graph.block(id);
  if (block.ops.empty()) return "none";
  const std::string call = CallText(*block.ops.back());
  return call.substr(call.find(" = ") + 3);
}

// A name that the compiler made for a value in the middle of an expression: "y_relu", "y_relu_2".
// Another one there may have shifted its number.
bool IsMadeName(llvm::StringRef name, llvm::StringRef type) {
  const llvm::StringRef stem = name.rtrim("0123456789");
  if (stem.size() < name.size() && stem.ends_with("_")) name = stem.drop_back();
  return name == type || (name.consume_back(type) && name.ends_with("_"));
}

class Differ {
 public:
  Differ(const Graph& before, const Graph& after) : before_(before), after_(after) {}

  std::vector<Difference> Run() {
    CompareConstraints();
    CompareValues(DifferenceSubject::kInput, before_.inputs(), after_.inputs());
    CompareValues(DifferenceSubject::kParameter, before_.parameters(), after_.parameters());
    CompareValues(DifferenceSubject::kState, before_.states(), after_.states());
    MatchCalls();
    CompareCalls();
    CompareUpdates();
    CompareOutputs();
    CompareTrainings();
    return std::move(result_);
  }

 private:
  void Add(DifferenceKind kind, DifferenceSubject subject, std::string text,
           std::vector<std::string> changes = {}) {
    result_.push_back({kind, subject, std::move(text), std::move(changes)});
  }
  void MatchValues(const Value* before, const Value* after) {
    after_of_[before] = after;
    before_of_[after] = before;
  }
  bool AreSame(const Value* before, const Value* after) const {
    return after_of_.lookup(before) == after;
  }

  void CompareConstraints();
  void CompareValues(DifferenceSubject subject, llvm::ArrayRef<Value*> before,
                     llvm::ArrayRef<Value*> after);
  std::vector<std::string> VariableChanges(const Value& before, const Value& after) const;

  void MatchCalls();
  void MatchForward();
  void MatchByName(bool same_type);
  void MatchBySequence();
  void Match(const Op* before, const Op* after);
  bool AreAlike(const Op& before, const Op& after) const;
  bool IsMatched(const Op* op) const { return match_.contains(op); }
  bool HaveEqualAttributes(const Op& before, const Op& after) const;
  std::string Key(const Op& op, bool is_after) const;
  void CompareCalls();
  std::vector<std::string> CallChanges(const Op& before, const Op& after) const;
  void CompareUpdates();
  void CompareOutputs();
  void CompareTrainings();
  std::vector<std::string> TrainingChanges(const GraphTraining& before,
                                           const GraphTraining& after) const;
  void CompareOrder(DifferenceSubject subject, llvm::ArrayRef<llvm::StringRef> before,
                    llvm::ArrayRef<llvm::StringRef> after);

  const Graph& before_;
  const Graph& after_;
  std::vector<Difference> result_;
  llvm::DenseMap<const Value*, const Value*> after_of_, before_of_;
  llvm::DenseMap<const Op*, const Op*> match_;  // both ways
};

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

// The names that both have, in another order: it matters to who gives or takes them by position.
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
      Add(DifferenceKind::kRemoved, subject, TypedName(*value));
      continue;
    }
    MatchValues(value, other);
    std::vector<std::string> changes;
    if (value->type() != other->type())
      changes.push_back(Arrow("type", value->type().ToString(), other->type().ToString()));
    if (subject != DifferenceSubject::kInput)
      llvm::append_range(changes, VariableChanges(*value, *other));
    if (!changes.empty())
      Add(DifferenceKind::kChanged, subject, TypedName(*value), std::move(changes));
  }
  for (const Value* value : after) {
    if (!before_of_.contains(value)) Add(DifferenceKind::kAdded, subject, TypedName(*value));
  }
  if (subject == DifferenceSubject::kInput) CompareOrder(subject, old_names, new_names);
}

std::vector<std::string> Differ::VariableChanges(const Value& before, const Value& after) const {
  const VariableInfo& a = before.variable();
  const VariableInfo& b = after.variable();
  std::vector<std::string> changes;
  auto first_value = [](const Graph& graph, const VariableInfo& info) {
    if (info.weight) return "load(\"" + info.weight->file + "\", \"" + info.weight->tensor + "\")";
    return info.initializer ? InitializerText(graph, *info.initializer) : std::string("none");
  };
  const bool both_hashed =
      a.weight && b.weight && !a.weight->sha256.empty() && !b.weight->sha256.empty();
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
      changes.push_back("initial: computed otherwise");
    }
  }
  auto number = [&](llvm::StringRef name, double x, double y) {
    if (x != y) changes.push_back(Arrow(name, FloatToString(x), FloatToString(y)));
  };
  number("weight_decay", a.weight_decay, b.weight_decay);
  number("gradient_clipping", a.gradient_clipping, b.gradient_clipping);
  number("lr_scale", a.lr_scale, b.lr_scale);
  if (a.trainable != b.trainable)
    changes.push_back(
        Arrow("trainable", a.trainable ? "true" : "false", b.trainable ? "true" : "false"));
  return changes;
}

// ---------------------------------------------------------------------------------------------
// Which call is which

void Differ::Match(const Op* before, const Op* after) {
  match_[before] = after;
  match_[after] = before;
  const size_t count = std::min(before->results().size(), after->results().size());
  for (size_t i = 0; i < count; ++i) MatchValues(before->results()[i], after->results()[i]);
}

bool Differ::HaveEqualAttributes(const Op& before, const Op& after) const {
  for (size_t i = 0; i < before.attribute_values().size(); ++i) {
    const AttributeValue& a = before.attribute_values()[i];
    const AttributeValue& b = after.attribute_values()[i];
    const auto* block_a = std::get_if<BlockId>(&a);
    const auto* block_b = std::get_if<BlockId>(&b);
    const bool same = block_a != nullptr && block_b != nullptr
                          ? BlockText(before_, *block_a) == BlockText(after_, *block_b)
                          : Identical(a, b);
    if (!same) return false;
  }
  return true;
}

// The operator and its operands, in the values of the graph before; empty where an operand of the
// graph after is new, or where nothing tells the call from others of its kind.
std::string Differ::Key(const Op& op, bool is_after) const {
  if (op.operands().empty()) return "";
  std::string key = op.type();
  for (const Value* operand : op.operands()) {
    if (is_after) operand = before_of_.lookup(operand);
    if (operand == nullptr) return "";
    key += ' ' + std::to_string(before_.number(operand));
  }
  return key;
}

// Calls of the same operator on the same operands; and, in the order of the calls, calls with the
// same name. Each match makes the operands of later calls known.
void Differ::MatchForward() {
  llvm::StringMap<std::deque<const Op*>> keyed;
  for (const Op* op : before_.ops()) {
    const std::string key = Key(*op, /*is_after=*/false);
    if (!key.empty() && !IsMatched(op)) keyed[key].push_back(op);
  }
  for (const Op* op : after_.ops()) {
    if (IsMatched(op)) continue;
    const Value* named = before_.FindValue(op->result()->name());
    const Op* namesake = named != nullptr ? named->producer() : nullptr;
    if (namesake != nullptr && (IsMatched(namesake) || namesake->type() != op->type()))
      namesake = nullptr;
    const std::string key = Key(*op, /*is_after=*/true);
    if (!key.empty()) {
      if (namesake != nullptr && Key(*namesake, false) == key) {
        Match(namesake, op);
        continue;
      }
      std::deque<const Op*>& queue = keyed[key];
      while (!queue.empty() && IsMatched(queue.front())) queue.pop_front();
      // The first with equal attributes, of those next in line.
      constexpr size_t kMaxTried = 16;
      const Op* found = nullptr;
      for (size_t i = 0; i < std::min(queue.size(), kMaxTried); ++i) {
        const Op* candidate = queue[i];
        const Value* heir = after_.FindValue(candidate->result()->name());
        const bool is_claimed = heir != nullptr && heir->producer() != nullptr &&
                                heir->producer() != op && !IsMatched(heir->producer()) &&
                                heir->producer()->type() == candidate->type();
        if (IsMatched(candidate) || is_claimed) continue;
        if (HaveEqualAttributes(*candidate, *op)) {
          found = candidate;
          break;
        }
        if (found == nullptr) found = candidate;
      }
      if (found != nullptr) {
        Match(found, op);
        continue;
      }
    }
    if (namesake != nullptr && !IsMadeName(op->result()->name(), op->type())) Match(namesake, op);
  }
}

void Differ::MatchByName(bool same_type) {
  for (const Op* op : after_.ops()) {
    if (IsMatched(op)) continue;
    const Value* named = before_.FindValue(op->result()->name());
    const Op* other = named != nullptr ? named->producer() : nullptr;
    if (other == nullptr || IsMatched(other) || (same_type && other->type() != op->type()))
      continue;
    if (same_type || !IsMadeName(op->result()->name(), op->type())) Match(other, op);
  }
}

// One may have become the other: they share an operand or the type of their result.
bool Differ::AreAlike(const Op& before, const Op& after) const {
  if (&before.def() != &after.def()) return false;
  if (before.result()->type() == after.result()->type()) return true;
  const size_t count = std::min(before.operands().size(), after.operands().size());
  for (size_t i = 0; i < count; ++i)
    if (AreSame(before.operands()[i], after.operands()[i])) return true;
  return false;
}

// The longest common subsequence of what is left; an operator with equal attributes weighs more.
void Differ::MatchBySequence() {
  constexpr size_t kMaxCells = 4'000'000;
  std::vector<const Op*> a, b;
  for (const Op* op : before_.ops())
    if (!IsMatched(op)) a.push_back(op);
  for (const Op* op : after_.ops())
    if (!IsMatched(op)) b.push_back(op);
  if (a.empty() || b.empty()) return;
  if (a.size() > kMaxCells / b.size()) return MatchByName(/*same_type=*/true);
  const size_t width = b.size() + 1;
  std::vector<uint32_t> best((a.size() + 1) * width);
  auto weight = [&](size_t i, size_t j) -> uint32_t {
    if (!AreAlike(*a[i], *b[j])) return 0;
    return HaveEqualAttributes(*a[i], *b[j]) ? 3 : 2;
  };
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      const uint32_t both = weight(i, j);
      uint32_t value = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      if (both != 0) value = std::max(value, both + best[(i + 1) * width + j + 1]);
      best[i * width + j] = value;
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint32_t value = best[i * width + j];
    const uint32_t both = weight(i, j);
    if (both != 0 && value == both + best[(i + 1) * width + j + 1]) {
      Match(a[i++], b[j++]);
    } else if (value == best[(i + 1) * width + j]) {
      ++i;
    } else {
      ++j;
    }
  }
}

void Differ::MatchCalls() {
  MatchForward();
  MatchBySequence();
  MatchByName(/*same_type=*/false);
}

// ---------------------------------------------------------------------------------------------

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
          changes.push_back(name + ": computes otherwise");
      } else if (!Identical(a, b)) {
        changes.push_back(
            Arrow(name, IsNone(a) ? "none" : Short(a), IsNone(b) ? "none" : Short(b)));
      }
    }
  }
  auto names = [](const Op& op) {
    return llvm::join(llvm::map_range(op.operands(), [](const Value* v) { return v->name(); }),
                      ", ");
  };
  if (before.recompute() != after.recompute())
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
  // Types that only follow from those of the operands are told where they begin.
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
  // In the order of the graph after; what was removed stands before the call that followed it.
  size_t next = 0;
  auto removed_until = [&](const Op* end) {
    for (; next < before_.ops().size() && before_.ops()[next] != end; ++next) {
      const Op* op = before_.ops()[next];
      if (!IsMatched(op)) Add(DifferenceKind::kRemoved, DifferenceSubject::kCall, CallText(*op));
    }
  };
  llvm::DenseMap<const Op*, size_t> place;
  for (size_t i = 0; i < before_.ops().size(); ++i) place[before_.ops()[i]] = i;
  for (const Op* op : after_.ops()) {
    const Op* other = match_.lookup(op);
    if (other == nullptr) {
      Add(DifferenceKind::kAdded, DifferenceSubject::kCall, CallText(*op));
      continue;
    }
    if (place[other] >= next) removed_until(other);
    std::vector<std::string> changes = CallChanges(*other, *op);
    if (!changes.empty())
      Add(DifferenceKind::kChanged, DifferenceSubject::kCall, CallText(*other), std::move(changes));
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
      Add(DifferenceKind::kRemoved, DifferenceSubject::kUpdate, text(update));
      continue;
    }
    seen[state] = true;
    if (!AreSame(update.value, value))
      Add(DifferenceKind::kChanged, DifferenceSubject::kUpdate, text(update),
          {Arrow("value", update.value->name(), value->name())});
  }
  for (const GraphUpdate& update : after_.updates())
    if (!seen.lookup(update.state))
      Add(DifferenceKind::kAdded, DifferenceSubject::kUpdate, text(update));
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
      Add(DifferenceKind::kRemoved, DifferenceSubject::kOutput, text(output));
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
      Add(DifferenceKind::kChanged, DifferenceSubject::kOutput, text(output), std::move(changes));
  }
  for (const GraphOutput& output : after_.outputs())
    if (!seen.contains(output.name))
      Add(DifferenceKind::kAdded, DifferenceSubject::kOutput, text(output));
  CompareOrder(DifferenceSubject::kOutput, old_names, new_names);
}

std::string TrainingText(const GraphTraining& training) {
  std::string text = training.loss->name() + " with " + training.optimizer;
  if (training.every != 1) text += " every " + std::to_string(training.every);
  return text;
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

// The same statement has the same loss, else the same place among those that are left.
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

}  // namespace

llvm::StringRef DifferenceSubjectName(DifferenceSubject subject) {
  static constexpr llvm::StringLiteral kNames[] = {"constraint", "input",  "param",  "state",
                                                   "call",       "update", "output", "minimize"};
  return kNames[static_cast<size_t>(subject)];
}

std::vector<Difference> DiffGraphs(const Graph& before, const Graph& after) {
  return Differ(before, after).Run();
}

}  // namespace pdl
