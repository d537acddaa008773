#include "frontend/elaborate/name_table.h"

#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

void NameTable::CollectNames(llvm::ArrayRef<const ast::Statement*> statements) {
  auto reserve = [&](const ast::Identifier& name) { graph_.ReserveName(name.text); };
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      llvm::for_each(s->targets, reserve);
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      CollectNames(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) CollectNames(branch.block.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
      reserve(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      reserve(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::OutputStatement>(statement)) {
      for (const ast::Argument& binding : s->bindings) {
        if (binding.is_named()) reserve(binding.name);
      }
    } else if (const auto* s = llvm::dyn_cast<ast::BrokenStatement>(statement)) {
      llvm::for_each(s->names, reserve);
    }
  }
}

size_t NameTable::ReserveVariables(llvm::ArrayRef<const ast::Statement*> statements) {
  size_t count = 0;
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      graph_.ReserveName(at_.frame->FullName(s->name.text));
      ++count;
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      count += ReserveVariables(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches)
        count += ReserveVariables(branch.block.statements);
    }
  }
  return count;
}

void NameTable::Assign(llvm::StringRef name, Datum datum) {
  if (at_.journal != nullptr && at_.journal->frame == at_.frame) {
    auto [entry, is_first] = at_.journal->names.insert({name, std::nullopt});
    auto found = at_.frame->scope.find(name);
    if (is_first && found != at_.frame->scope.end()) entry->second = found->second;
  }
  at_.frame->scope[name] = std::move(datum);
}

std::optional<LayerName> NameTable::FindLayer(llvm::StringRef name) const {
  const auto found = at_.frame->instances.find(name);
  if (found == at_.frame->instances.end()) return std::nullopt;
  LayerName layer{found->second};
  const auto differs = at_.frame->different_layers.find(name);
  if (differs != at_.frame->different_layers.end()) layer.differs = differs->second;
  return layer;
}

void NameTable::SetLayer(llvm::StringRef name, const std::optional<LayerName>& layer) {
  at_.frame->instances.erase(name);
  at_.frame->different_layers.erase(name);
  if (!layer) return;
  at_.frame->instances[name] = layer->layer;
  if (layer->differs) at_.frame->different_layers.try_emplace(name, *layer->differs);
}

void NameTable::AssignLayer(llvm::StringRef name, LayerName layer) {
  if (at_.journal != nullptr && at_.journal->frame == at_.frame)
    at_.journal->layers.insert({name, FindLayer(name)});
  SetLayer(name, layer);
}

bool NameTable::CheckLayer(llvm::StringRef name, SourceRange range) {
  const auto found = at_.frame->different_layers.find(name);
  if (found == at_.frame->different_layers.end()) return true;
  report_
      .Error(Code::kCondition, range,
             found->second.is_in_one_branch
                 ? "'" + name + "' is a layer in only one branch of an 'if'"
                 : "'" + name + "' is not the same layer in both branches of an 'if'")
      .NoteAt(at_.file, found->second.place,
              "whether this holds is only known when the network runs: call the layer in each "
              "branch, and assign the results to one name");
  return false;
}

llvm::SmallVector<std::string, 1> NameTable::FullNames(
    llvm::ArrayRef<ast::Identifier> names) const {
  llvm::SmallVector<std::string, 1> full;
  for (const ast::Identifier& name : names)
    full.push_back(name.text == "_" ? std::string("_") : at_.frame->FullName(name.text));
  return full;
}

void NameTable::Poison(llvm::ArrayRef<ast::Identifier> names) {
  for (const ast::Identifier& name : names) Assign(name.text, Datum());
}

void NameTable::PoisonUndefined(llvm::ArrayRef<ast::Identifier> names) {
  for (const ast::Identifier& name : names) {
    const auto found = at_.frame->scope.find(name.text);
    const bool is_free = found == at_.frame->scope.end() || found->second.is_undefined();
    Assign(name.text, is_free ? Datum::Undefined() : Datum());
  }
}

void NameTable::PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements) {
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      PoisonUndefined(s->targets);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      PoisonUndefined(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
      PoisonUndefined(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      AssignLayer(s->name.text, {});
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      PoisonUndefined(s->names);
      PoisonAssigned(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) PoisonAssigned(branch.block.statements);
    }
  }
}

bool NameTable::Declare(const ast::Identifier& name) {
  auto [entry, is_new] = at_.frame->declared.try_emplace(name.text, name.range);
  auto found = at_.frame->scope.find(name.text);
  const bool is_free = found == at_.frame->scope.end() || found->second.is_undefined();
  if (is_new && is_free) return true;
  // The same statement in another iteration of a loop.
  if (!is_new && entry->second == name.range && !at_.frame->counts.empty()) return true;
  Diagnostic& diagnostic =
      report_.Error(Code::kRedefined, name.range, "'" + name.text + "' is defined already");
  const auto assigned = at_.frame->assigned.find(name.text);
  const SourceRange* first = !is_new                                 ? &entry->second
                             : assigned != at_.frame->assigned.end() ? &assigned->second
                                                                     : nullptr;
  if (first != nullptr)
    diagnostic.Note("first on line " + std::to_string(at_.file->LineOf(first->begin)));
  return false;
}

std::string NameTable::TakePath(llvm::StringRef own, bool is_outermost) {
  const std::string& base = at_.frame->base;
  const bool is_own = base.empty();
  const std::string name = is_own ? own.str() : base;
  const std::string tail = is_own || is_outermost ? "" : "." + own.str();
  std::string path;
  unsigned n = 0;
  do {
    const std::string suffix = ++n == 1 ? "" : "_" + std::to_string(n);
    path =
        tail.empty() ? name + suffix + at_.frame->counts : name + at_.frame->counts + tail + suffix;
  } while (!at_.frame->taken.insert(path).second);
  path = at_.frame->FullName(path);
  at_.frame->call_paths[name].push_back(path);
  return path;
}

Value* NameTable::CurrentState(Value* state) {
  auto found = values_.current.find(state);
  return found == values_.current.end() ? state : found->second;
}

}  // namespace pdl
