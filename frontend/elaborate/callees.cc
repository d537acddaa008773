#include "frontend/elaborate/callees.h"

#include "frontend/syntax/ast_walk.h"
#include "llvm/ADT/SmallVector.h"

namespace pdl {

void ForEachCallee(llvm::ArrayRef<const ast::Statement*> statements,
                   llvm::function_ref<void(const ast::NameExpr&)> visit) {
  auto walk = [&](const ast::Expr* root) {
    ForEachSubexpression(root, [&](const ast::Expr* expr) {
      if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
        if (const auto* name = llvm::dyn_cast<ast::NameExpr>(call->callee)) visit(*name);
      }
    });
  };
  for (const ast::Statement* statement : statements) {
    if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      walk(assign->value);
    } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      const auto* call = llvm::dyn_cast<ast::CallExpr>(variable->initial);
      const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
      if (name == nullptr || (name->name != "load" && name->name != "copy"))
        walk(variable->initial);
      walk(variable->with);
    } else if (const auto* update = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
      walk(update->value);
    } else if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement)) {
      for (const ast::Argument& binding : output->bindings) walk(binding.value);
    } else if (const auto* instance = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      walk(instance->value);
    } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statement)) {
      walk(loop->over);
      ForEachCallee(loop->body.statements, visit);
    } else if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : branches->branches) {
        walk(branch.condition);
        ForEachCallee(branch.block.statements, visit);
      }
    }
  }
}

bool MentionsNames(const ast::Expr* expr) {
  llvm::SmallVector<const ast::Expr*, 8> pending = {expr};
  while (!pending.empty()) {
    const ast::Expr* next = pending.pop_back_val();
    if (llvm::isa<ast::NameExpr, ast::RaggedExpr>(next)) return true;
    const size_t parts = pending.size();
    AddSubexpressions(next, &pending);
    // The callee is the first part.
    if (llvm::isa<ast::CallExpr>(next)) pending.erase(pending.begin() + parts);
  }
  return false;
}

void CollectInstances(llvm::ArrayRef<const ast::Statement*> statements, llvm::StringSet<>* names) {
  for (const ast::Statement* statement : statements) {
    if (const auto* instance = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      names->insert(instance->name.text);
    } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      if (variable->type == nullptr) names->insert(variable->name.text);  // a copied layer
    } else if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      for (const ast::Identifier& target : assign->targets) names->insert(target.text);
    } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statement)) {
      for (const ast::Identifier& name : loop->names) names->insert(name.text);
      CollectInstances(loop->body.statements, names);
    } else if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : branches->branches)
        CollectInstances(branch.block.statements, names);
    } else if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement)) {
      names->insert(layer->name.text);
    } else if (const auto* broken = llvm::dyn_cast<ast::BrokenStatement>(statement)) {
      for (const ast::Identifier& name : broken->names) names->insert(name.text);
    }
  }
}

}  // namespace pdl
