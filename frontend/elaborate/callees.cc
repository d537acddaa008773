#include "frontend/elaborate/callees.h"

#include "llvm/ADT/SmallVector.h"

namespace pdl {
namespace {

// Appends the direct subexpressions of an expression.
void AddParts(const ast::Expr* expr, llvm::SmallVectorImpl<const ast::Expr*>* parts) {
  auto add = [&](const ast::Expr* part) {
    if (part != nullptr) parts->push_back(part);
  };
  auto add_all = [&](llvm::ArrayRef<ast::Argument> arguments) {
    for (const ast::Argument& argument : arguments) add(argument.value);
  };
  switch (expr->kind) {
    case ast::ExprKind::kNumber:
    case ast::ExprKind::kString:
    case ast::ExprKind::kWord:
    case ast::ExprKind::kName:
    case ast::ExprKind::kRagged:
      return;
    case ast::ExprKind::kParenthesis:
      return add(llvm::cast<ast::ParenthesisExpr>(expr)->inner);
    case ast::ExprKind::kList:
      return add_all(llvm::cast<ast::ListExpr>(expr)->items);
    case ast::ExprKind::kRecord:
      return add_all(llvm::cast<ast::RecordExpr>(expr)->fields);
    case ast::ExprKind::kCall: {
      const auto* call = llvm::cast<ast::CallExpr>(expr);
      add(call->callee);
      return add_all(call->arguments);
    }
    case ast::ExprKind::kIndex: {
      const auto* index = llvm::cast<ast::IndexExpr>(expr);
      add(index->base);
      for (const ast::Subscript& subscript : index->subscripts) {
        add(subscript.start);
        add(subscript.stop);
        add(subscript.step);
      }
      return;
    }
    case ast::ExprKind::kMember:
      return add(llvm::cast<ast::MemberExpr>(expr)->base);
    case ast::ExprKind::kPrefix:
      return add(llvm::cast<ast::PrefixExpr>(expr)->operand);
    case ast::ExprKind::kChain:
      for (const ast::Expr* operand : llvm::cast<ast::ChainExpr>(expr)->operands) add(operand);
      return;
  }
}

}  // namespace

void ForEachCallee(llvm::ArrayRef<const ast::Statement*> statements,
                   llvm::function_ref<void(const ast::NameExpr&)> visit) {
  llvm::SmallVector<const ast::Expr*, 16> pending;
  auto walk = [&](const ast::Expr* root) {
    if (root != nullptr) pending.push_back(root);
    while (!pending.empty()) {
      const ast::Expr* expr = pending.pop_back_val();
      if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
        if (const auto* name = llvm::dyn_cast<ast::NameExpr>(call->callee)) visit(*name);
      }
      AddParts(expr, &pending);
    }
  };
  for (const ast::Statement* statement : statements) {
    if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      walk(assign->value);
    } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      const auto* call = llvm::dyn_cast<ast::CallExpr>(variable->initial);
      const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
      if (name == nullptr || name->name != "load") walk(variable->initial);
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
    AddParts(next, &pending);
    // The callee is the first part.
    if (llvm::isa<ast::CallExpr>(next)) pending.erase(pending.begin() + parts);
  }
  return false;
}

void CollectInstances(llvm::ArrayRef<const ast::Statement*> statements, llvm::StringSet<>* names) {
  for (const ast::Statement* statement : statements) {
    if (const auto* instance = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      names->insert(instance->name.text);
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
