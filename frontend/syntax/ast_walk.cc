#include "frontend/syntax/ast_walk.h"

namespace pdl {

using ast::ExprKind;
using ast::StatementKind;

void AddSubexpressions(const ast::Expr* expr, llvm::SmallVectorImpl<const ast::Expr*>* parts) {
  auto add = [&](const ast::Expr* part) {
    if (part != nullptr) parts->push_back(part);
  };
  auto add_all = [&](llvm::ArrayRef<ast::Argument> arguments) {
    for (const ast::Argument& argument : arguments) add(argument.value);
  };
  switch (expr->kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
    case ExprKind::kWord:
    case ExprKind::kName:
    case ExprKind::kRagged:
      return;
    case ExprKind::kParenthesis:
      return add(llvm::cast<ast::ParenthesisExpr>(expr)->inner);
    case ExprKind::kList:
      return add_all(llvm::cast<ast::ListExpr>(expr)->items);
    case ExprKind::kRecord:
      return add_all(llvm::cast<ast::RecordExpr>(expr)->fields);
    case ExprKind::kCall: {
      const auto* call = llvm::cast<ast::CallExpr>(expr);
      add(call->callee);
      return add_all(call->arguments);
    }
    case ExprKind::kIndex: {
      const auto* index = llvm::cast<ast::IndexExpr>(expr);
      add(index->base);
      for (const ast::Subscript& subscript : index->subscripts) {
        add(subscript.start);
        add(subscript.stop);
        add(subscript.step);
      }
      return;
    }
    case ExprKind::kMember:
      return add(llvm::cast<ast::MemberExpr>(expr)->base);
    case ExprKind::kPrefix:
      return add(llvm::cast<ast::PrefixExpr>(expr)->operand);
    case ExprKind::kChain:
      for (const ast::Expr* operand : llvm::cast<ast::ChainExpr>(expr)->operands) add(operand);
      return;
  }
}

void ForEachSubexpression(const ast::Expr* root, llvm::function_ref<void(const ast::Expr*)> visit) {
  llvm::SmallVector<const ast::Expr*, 16> pending;
  if (root != nullptr) pending.push_back(root);
  while (!pending.empty()) {
    const ast::Expr* expr = pending.pop_back_val();
    visit(expr);
    AddSubexpressions(expr, &pending);
  }
}

static void ForEachExpression(const ast::Type* type,
                              llvm::function_ref<void(const ast::Expr*)> visit) {
  if (type == nullptr) return;
  for (const ast::TypeTerm& term : type->terms) {
    for (const ast::Dim& dim : term.dims)
      if (dim.kind == ast::DimKind::kExpr) visit(dim.expr);
    if (term.value_range.kind != ast::RangeKind::kNone) visit(term.value_range.value);
  }
}

void ForEachExpression(const ast::Statement& statement,
                       llvm::function_ref<void(const ast::Expr*)> visit) {
  auto expressions = [&](std::initializer_list<const ast::Expr*> all) {
    for (const ast::Expr* expr : all)
      if (expr != nullptr) visit(expr);
  };
  if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(&statement)) {
    ForEachExpression(attr->type, visit);
    expressions({attr->default_value});
  } else if (const auto* input = llvm::dyn_cast<ast::InputStatement>(&statement)) {
    ForEachExpression(input->type, visit);
    for (const ast::Expr* condition : input->where) visit(condition);
  } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(&statement)) {
    ForEachExpression(variable->type, visit);
    expressions({variable->initial, variable->with});
  } else if (const auto* update = llvm::dyn_cast<ast::UpdateStatement>(&statement)) {
    expressions({update->value});
  } else if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(&statement)) {
    for (const ast::Argument& binding : output->bindings) visit(binding.value);
  } else if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(&statement)) {
    for (const ast::Parameter& parameter : layer->parameters) {
      ForEachExpression(parameter.type, visit);
      expressions({parameter.default_value});
    }
    for (const ast::Expr* condition : layer->where) visit(condition);
  } else if (const auto* instance = llvm::dyn_cast<ast::LayerInstanceStatement>(&statement)) {
    expressions({instance->value});
  } else if (const auto* minimize = llvm::dyn_cast<ast::MinimizeStatement>(&statement)) {
    expressions({minimize->loss, minimize->over, minimize->with, minimize->every});
  } else if (const auto* assertion = llvm::dyn_cast<ast::AssertStatement>(&statement)) {
    expressions({assertion->condition});
  } else if (const auto* feed = llvm::dyn_cast<ast::FeedStatement>(&statement)) {
    expressions({feed->value});
  } else if (const auto* expect = llvm::dyn_cast<ast::ExpectStatement>(&statement)) {
    expressions({expect->value, expect->near, expect->tolerance});
  } else if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(&statement)) {
    for (const ast::Branch& branch : branches->branches) expressions({branch.condition});
  } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(&statement)) {
    expressions({loop->over});
  } else if (const auto* test = llvm::dyn_cast<ast::TestStatement>(&statement)) {
    expressions({test->with});
  } else if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(&statement)) {
    ForEachExpression(assign->type, visit);
    expressions({assign->value});
  }
}

llvm::SmallVector<const ast::Block*, 2> BlocksOf(const ast::Statement& statement) {
  llvm::SmallVector<const ast::Block*, 2> blocks;
  if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(&statement)) {
    for (const ast::Branch& branch : branches->branches) blocks.push_back(&branch.block);
  } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(&statement)) {
    blocks.push_back(&loop->body);
  } else if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(&statement)) {
    blocks.push_back(&layer->body);
  } else if (const auto* test = llvm::dyn_cast<ast::TestStatement>(&statement)) {
    blocks.push_back(&test->body);
  }
  return blocks;
}

}  // namespace pdl
