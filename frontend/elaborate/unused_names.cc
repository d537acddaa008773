#include "frontend/elaborate/unused_names.h"

#include <deque>
#include <set>
#include <string>
#include <utility>

#include "frontend/elaborate/reporter.h"
#include "frontend/syntax/ast_walk.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"

namespace pdl {

using Definition = UsageState::Definition;

bool UnusedNames::IsEnabled() const {
  // Calls that compute an optimizer's arguments are removed again.
  return request_.warn_unused && !request_.training_step && at_.frame->module->ast == &ast_ &&
         at_.optimizer == nullptr && !at_.frame->in_test;
}

void UnusedNames::Define(const ast::Identifier& name, NameKind kind, const Datum& datum) {
  if (!IsEnabled()) return;
  Definition& definition = usage_.definitions[name.range.begin];
  definition.name = name.text;
  definition.range = name.range;
  definition.kind = kind;
  definition.group = name.range.begin;
  if (at_.frame->caller != nullptr)
    definition.layer = static_cast<const ast::LayerStatement*>(at_.frame->active.back());
  if (Value* value = datum.tensor()) definition.values.push_back(value);
}

void UnusedNames::DefineAll(llvm::ArrayRef<ast::Identifier> targets) {
  if (!IsEnabled()) return;
  for (const ast::Identifier& target : targets) {
    const auto found = at_.frame->scope.find(target.text);
    if (target.text == "_" || found == at_.frame->scope.end()) continue;
    // A function is a name for a callee.
    if (found->second.get<Datum::FunctionValue>() != nullptr) continue;
    Define(target, NameKind::kValue, found->second);
    usage_.definitions[target.range.begin].group = targets.front().range.begin;
  }
}

void UnusedNames::AddResult(const Datum& datum) {
  if (!IsEnabled()) return;
  if (Value* value = datum.tensor()) usage_.results.push_back(value);
}

void UnusedNames::AddTypeUse(Value* value) {
  if (request_.warn_unused && at_.optimizer == nullptr) usage_.type_uses.push_back(value);
}

void UnusedNames::AddElaborated(const ast::Statement* statement) {
  if (!IsEnabled()) return;
  if (usage_.elaborated.empty()) usage_.elaborated.resize(ast_.file->text().size() + 1);
  usage_.elaborated.set(statement->range.begin);
}

// -------------------------------------------------------------------------------------------------

/// Decides which definitions are used.
class UnusedNames::Analysis {
 public:
  Analysis(const Ast& ast, const Graph& graph, const UsageState& usage)
      : graph_(graph), usage_(usage), used_(graph), used_in_layers_(graph) {
    for (const ast::Statement* statement : ast.statements) Collect(*statement, nullptr);
    for (const auto& entry : usage_.definitions) references_to_.push_back(Classify(entry.second));
    MarkUsed();
  }

  /// The unused definitions, in their order.
  std::vector<const Definition*> FindUnused();
  /// Assignments to the names of states that nothing updates: of each name only the earliest.
  std::vector<const Definition*> FindNamesOfStates();

 private:
  /// How statements refer to a name: a set of these.
  enum Reference : uint8_t {
    kReferred = 1,
    /// Counts as a use, whatever is computed from the name.
    kCertain = 2,
    kUpdated = 4,
    /// In the type of an input, where a name is a symbol unless it is a value.
    kInInputType = 8,
  };
  /// The names that the statements of the file or of one layer refer to.
  using References = llvm::DenseMap<llvm::CachedHashStringRef, uint8_t>;

  uint8_t ReferencesTo(llvm::StringRef name, const ast::LayerStatement* layer) const {
    const auto references = references_.find(layer);
    return references == references_.end()
               ? 0
               : references->second.lookup(llvm::CachedHashStringRef(name));
  }
  bool IsElaborated(const ast::Statement& statement) const {
    return statement.range.begin < usage_.elaborated.size() &&
           usage_.elaborated.test(statement.range.begin);
  }
  void Collect(const ast::Statement& statement, const ast::LayerStatement* layer);
  /// Adds the names in an expression to `references`, as `reference`.
  void CollectNames(const ast::Expr* root, uint8_t reference, References* references);
  /// Marks the values that uses other than names depend on.
  void MarkUsed();
  /// Marks the values and those that they are computed from.
  void Mark(llvm::ArrayRef<Value*> values, ValueSet* used);
  /// The references to a definition; kCertain whenever it is used without regard to its values.
  uint8_t Classify(const Definition& definition) const;
  bool IsUsed(const Definition& definition, uint8_t references) const;
  /// Whether the file refers to a size that only this one of the used inputs determines.
  bool DeterminesSize(const Definition& input, llvm::ArrayRef<const Definition*> unused);

  const Graph& graph_;
  const UsageState& usage_;
  std::deque<std::string> saved_;  // names that the source does not contain as such
  llvm::DenseMap<const ast::LayerStatement*, References> references_;
  std::vector<uint8_t> references_to_;  // the definitions
  ValueSet used_, used_in_layers_;
};

/// The name of an input, parameter or state that has dots: of `a.b.c`. Empty for other expressions.
static std::string NameWithDots(const ast::MemberExpr* member) {
  std::string path;
  for (;;) {
    path = "." + member->member.text.str() + path;
    if (const auto* name = llvm::dyn_cast<ast::NameExpr>(member->base))
      return name->name.str() + path;
    member = llvm::dyn_cast<ast::MemberExpr>(member->base);
    if (member == nullptr) return {};
  }
}

void UnusedNames::Analysis::CollectNames(const ast::Expr* root, uint8_t reference,
                                         References* references) {
  auto add = [&](llvm::StringRef name, uint8_t as) {
    (*references)[llvm::CachedHashStringRef(name)] |= as;
  };
  // `hidden.w` and `params(hidden)` use parameters of the call, if not its value.
  auto add_parameters = [&](const ast::Expr* layer) {
    const auto* name = llvm::dyn_cast<ast::NameExpr>(layer);
    if (name != nullptr && reference != kInInputType) add(name->name, kCertain);
  };
  ForEachSubexpression(root, [&](const ast::Expr* expr) {
    if (const auto* name = llvm::dyn_cast<ast::NameExpr>(expr)) {
      add(name->name, reference);
    } else if (const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr)) {
      add_parameters(member->base);
      if (std::string name = NameWithDots(member); !name.empty())
        add(saved_.emplace_back(std::move(name)), reference);
    } else if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
      const auto* callee = llvm::dyn_cast<ast::NameExpr>(call->callee);
      if (callee != nullptr && callee->name == "params")
        for (const ast::Argument& argument : call->arguments) add_parameters(argument.value);
    } else if (const auto* ragged = llvm::dyn_cast<ast::RaggedExpr>(expr)) {
      add(saved_.emplace_back(("~" + ragged->symbol.text).str()), reference);
    }
  });
}

void UnusedNames::Analysis::Collect(const ast::Statement& statement,
                                    const ast::LayerStatement* layer) {
  using Kind = ast::StatementKind;
  if (const auto* nested = llvm::dyn_cast<ast::LayerStatement>(&statement)) layer = nested;
  References& references = references_[layer];
  const Kind kind = statement.kind;
  const bool computes = kind == Kind::kAssign || kind == Kind::kUpdate || kind == Kind::kOutput ||
                        kind == Kind::kReturn || kind == Kind::kParam || kind == Kind::kState ||
                        kind == Kind::kLayerInstance;
  const auto* input = llvm::dyn_cast<ast::InputStatement>(&statement);
  uint8_t reference = kReferred;
  if (input != nullptr) {
    reference = kInInputType;
  } else if (!computes || !IsElaborated(statement)) {
    reference |= kCertain;
  }
  ForEachExpression(statement,
                    [&](const ast::Expr* expr) { CollectNames(expr, reference, &references); });
  if (input != nullptr)
    for (const ast::Expr* condition : input->where)
      CollectNames(condition, kReferred | kCertain, &references);
  if (const auto* update = llvm::dyn_cast<ast::UpdateStatement>(&statement))
    references[llvm::CachedHashStringRef(update->name.text)] |= kUpdated;
  for (const ast::Block* block : BlocksOf(statement))
    for (const ast::Statement* inner : block->statements) Collect(*inner, layer);
}

void UnusedNames::Analysis::Mark(llvm::ArrayRef<Value*> values, ValueSet* used) {
  llvm::SmallVector<Value*, 16> pending(values.begin(), values.end());
  while (!pending.empty()) {
    Value* value = pending.pop_back_val();
    if (!used->insert(value)) continue;
    AddOperands(value, [&](Value* operand) { pending.push_back(operand); });
  }
}

void UnusedNames::Analysis::MarkUsed() {
  std::vector<Value*> roots = usage_.type_uses;
  for (const GraphOutput& output : graph_.outputs()) roots.push_back(output.value);
  for (const GraphUpdate& update : graph_.updates()) roots.push_back(update.value);
  for (const GraphTraining& training : graph_.trainings()) roots.push_back(training.loss);
  for (const Op* op : graph_.ops())
    if (op->def().properties().has_side_effect) llvm::append_range(roots, op->operands());
  for (const auto& [entry, references] : llvm::zip_equal(usage_.definitions, references_to_))
    if (references & kCertain) llvm::append_range(roots, entry.second.values);
  Mark(roots, &used_);
  llvm::append_range(roots, usage_.results);
  Mark(roots, &used_in_layers_);
}

uint8_t UnusedNames::Analysis::Classify(const Definition& definition) const {
  const uint8_t references = ReferencesTo(definition.name, definition.layer);
  if (definition.name.starts_with("_") ||
      (definition.kind == NameKind::kState && (references & kUpdated) != 0))
    return references | kCertain;
  // A size that the data decide may be referred to by its symbol.
  for (const Value* value : definition.values) {
    bool refers = false;
    for (const Dim& dim : value->type().dims) {
      dim.ForEachSymbol([&](llvm::StringRef symbol) {
        refers |= graph_.IsDataSymbol(symbol) &&
                  (ReferencesTo(symbol, definition.layer) & kReferred) != 0;
      });
    }
    if (refers) return references | kCertain;
  }
  return references;
}

bool UnusedNames::Analysis::IsUsed(const Definition& definition, uint8_t references) const {
  if ((references & kCertain) != 0) return true;
  if (definition.values.empty() && (references & kInInputType) != 0) return true;
  if ((references & kReferred) == 0) return false;
  const ValueSet& used = definition.layer == nullptr ? used_ : used_in_layers_;
  return definition.values.empty() || used.ContainsAny(definition.values);
}

bool UnusedNames::Analysis::DeterminesSize(const Definition& input,
                                           llvm::ArrayRef<const Definition*> unused) {
  auto has = [](const Type& type, llvm::StringRef symbol) {
    bool found = false;
    auto visit = [&](llvm::StringRef name) { found |= name == symbol; };
    for (const Dim& dim : type.dims) dim.ForEachSymbol(visit);
    if (type.index_bound) type.index_bound->ForEachSymbol(visit);
    return found;
  };
  auto is_other = [&](const Value* value) {
    return llvm::none_of(unused, [&](const Definition* definition) {
      return llvm::is_contained(definition->values, value);
    });
  };
  for (const Value* value : input.values) {
    llvm::StringSet<> symbols;
    auto add = [&](llvm::StringRef symbol) { symbols.insert(symbol); };
    for (const Dim& dim : value->type().dims) dim.ForEachSymbol(add);
    if (value->type().index_bound) value->type().index_bound->ForEachSymbol(add);
    for (const auto& entry : symbols) {
      const llvm::StringRef symbol = entry.first();
      if ((ReferencesTo(symbol, input.layer) & kReferred) != 0 &&
          llvm::none_of(graph_.inputs(), [&](const Value* other) {
            return is_other(other) && has(other->type(), symbol);
          }))
        return true;
    }
  }
  return false;
}

std::vector<const Definition*> UnusedNames::Analysis::FindUnused() {
  llvm::DenseSet<uint32_t> used_groups;
  std::vector<const Definition*> candidates;
  for (const auto& [entry, references] : llvm::zip_equal(usage_.definitions, references_to_)) {
    if (IsUsed(entry.second, references)) {
      used_groups.insert(entry.second.group);
    } else {
      candidates.push_back(&entry.second);
    }
  }
  llvm::erase_if(candidates, [&](const Definition* d) { return used_groups.contains(d->group); });
  std::vector<const Definition*> unused;
  for (const Definition* definition : candidates) {
    if (definition->kind != NameKind::kInput || !DeterminesSize(*definition, candidates))
      unused.push_back(definition);
  }
  // The last values of chains first.
  llvm::sort(unused, [](const Definition* a, const Definition* b) {
    return a->range.begin > b->range.begin;
  });
  std::vector<const Definition*> reported;
  for (const Definition* definition : unused) {
    ValueSet& used = definition->layer == nullptr ? used_ : used_in_layers_;
    const bool is_part = !definition->values.empty() && used.ContainsAny(definition->values) &&
                         (ReferencesTo(definition->name, definition->layer) & kReferred) != 0;
    const bool is_same = !reported.empty() && reported.back()->group == definition->group;
    if (is_same) reported.pop_back();  // report the first name of the statement
    if (!is_part) reported.push_back(definition);
    Mark(definition->values, &used);
  }
  std::reverse(reported.begin(), reported.end());
  return reported;
}

std::vector<const Definition*> UnusedNames::Analysis::FindNamesOfStates() {
  std::vector<const Definition*> found;
  std::set<std::pair<const ast::LayerStatement*, llvm::StringRef>> states;
  for (const auto& [entry, references] : llvm::zip_equal(usage_.definitions, references_to_)) {
    const Definition& definition = entry.second;
    const std::pair key(definition.layer, llvm::StringRef(definition.name));
    if (definition.kind == NameKind::kState) {
      if ((references & kUpdated) == 0) states.insert(key);
    } else if (definition.kind == NameKind::kValue && states.erase(key) != 0) {
      found.push_back(&definition);
    }
  }
  return found;
}

static llvm::StringRef NameOf(NameKind kind) {
  switch (kind) {
    case NameKind::kInput:
      return "input";
    case NameKind::kParameter:
      return "parameter";
    case NameKind::kState:
      return "state";
    case NameKind::kValue:
      break;
  }
  return "value";
}

void UnusedNames::Report() {
  if (!request_.warn_unused || request_.training_step || report_.diagnostics().has_errors()) return;
  Analysis analysis(ast_, graph_, usage_);
  const bool computes =
      !graph_.outputs().empty() || !graph_.updates().empty() || !graph_.trainings().empty();
  for (const Definition* definition : analysis.FindUnused()) {
    Diagnostic& warning = report_.diagnostics().Warning(
        Code::kUnusedName, ast_.file, definition->range,
        ("the " + NameOf(definition->kind) + " '" + definition->name + "' is not used").str());
    if (!computes && definition->kind == NameKind::kValue && definition->layer == nullptr)
      warning.Note(
          ("the network has no output, so it computes nothing: output " + definition->name).str());
    else
      warning.Note("a name that begins with '_' may be unused");
  }
  for (const Definition* definition : analysis.FindNamesOfStates()) {
    Diagnostic& warning = report_.diagnostics().Warning(
        Code::kStateName, ast_.file, definition->range,
        ("this defines another value called '" + definition->name + "'; the state keeps its value")
            .str());
    warning.Note(("to change the state: update " + definition->name + " = ...").str());
    const auto is_of_group = [&](const auto& entry) {
      return entry.second.group == definition->group;
    };
    if (llvm::count_if(usage_.definitions, is_of_group) == 1)
      warning.Suggest({definition->range.begin, definition->range.begin}, "update ");
  }
}

}  // namespace pdl
