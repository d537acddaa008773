#include "frontend/elaborate/layer_argument_reader.h"

#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

namespace {

/// Visits the attrs and inputs of a file used as a layer, in their order.
void ForEachDeclaration(const Ast& ast,
                        llvm::function_ref<void(llvm::StringRef, const ast::Type*)> visit) {
  for (const ast::Statement* statement : ast.statements) {
    if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement))
      visit(attr->name.text, attr->type);
    if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement))
      visit(input->name.text, input->type);
  }
}

}  // namespace

const ast::Type* DeclaredType(const Callee& callee, llvm::StringRef name) {
  if (const ast::Parameter* parameter = callee.FindParameter(name)) return parameter->type;
  const ast::Type* found = nullptr;
  if (callee.layer != nullptr) return found;
  ForEachDeclaration(*callee.module->ast, [&](llvm::StringRef declared, const ast::Type* type) {
    if (found == nullptr && declared == name) found = type;
  });
  return found;
}

void LayerArgumentReader::ReadLayerArguments(const Callee& callee, const ast::CallExpr* expr,
                                             const Operand* piped, LayerArguments* arguments) {
  arguments->file = at_.file;
  arguments->place = expr->callee->range;
  if (piped != nullptr) arguments->operands.push_back(*piped);
  for (const ast::Argument& argument : expr->arguments) {
    if (!argument.is_named()) {
      if (!ReadPositional(argument, arguments)) return;
      continue;
    }
    const llvm::StringRef name = argument.name.text;
    for (const LayerArgument& given : arguments->named) {
      if (given.name.text != name) continue;
      report_.Error(Code::kRedefined, argument.name.range, "'" + name + "' is given twice");
      arguments->is_poison = true;
    }
    if (const ast::Type* type = DeclaredType(callee, name)) {
      arguments->named.push_back(
          {argument.name, functions_.EvaluateFor(type, argument.value), argument.value->range});
      arguments->is_poison |= arguments->named.back().datum.holds_poison();
    } else if (at_.optimizer != nullptr && (name == "clip_norm" || name == "lazy")) {
      ReadOptimizerOption(argument, arguments);
    } else if (name == "training" || name == "recompute") {
      ReadMode(argument, arguments);
    } else if (name == "params") {
      given_parameters_.Read(argument, arguments);
    } else {
      ReportUnknown(callee, argument);
      arguments->is_poison = true;
    }
  }
  for (const Operand& operand : arguments->operands)
    arguments->is_poison |= operand.datum.holds_poison();
}

bool LayerArgumentReader::ReadPositional(const ast::Argument& argument, LayerArguments* arguments) {
  const Datum datum = expressions_.Evaluate(argument.value);
  const auto* items = datum.list();
  if (argument.is_spread && items != nullptr) {
    if (!budget_.SpendItems(items->size(), argument.value->range)) return false;
    for (const Datum& item : *items) arguments->operands.push_back({item, argument.value->range});
    return true;
  }
  if (argument.is_spread && !datum.is_poison()) {
    report_.Error(Code::kOperandKind, argument.value->range,
                  "'...' spreads a list, got " + datum.Phrase());
    arguments->is_poison = true;
  }
  arguments->operands.push_back({datum, argument.value->range});
  return true;
}

void LayerArgumentReader::ReadOptimizerOption(const ast::Argument& argument,
                                              LayerArguments* arguments) {
  const bool is_clip_norm = argument.name.text == "clip_norm";
  AttributeDecl decl;
  decl.name = argument.name.text.str();
  decl.kind = is_clip_norm ? AttributeKind::kFloat : AttributeKind::kBool;
  if (is_clip_norm) decl.lower = Bound{0, true};
  const std::optional<Datum> value = attributes_.CheckAttribute(
      decl, expressions_.Evaluate(argument.value), argument.value->range, "minimize");
  arguments->is_poison |= !value;
  if (!value) return;
  if (is_clip_norm) {
    arguments->clip_norm = value->number();
  } else {
    arguments->lazy = *value->get<bool>();
  }
}

void LayerArgumentReader::ReadMode(const ast::Argument& argument, LayerArguments* arguments) {
  const bool is_training = argument.name.text == "training";
  const Datum datum = expressions_.Evaluate(argument.value);
  const auto* value = datum.get<bool>();
  if (value == nullptr || (is_training && *value)) {
    if (!datum.is_poison()) {
      report_.Error(Code::kAttributeType, argument.value->range,
                    is_training ? "a layer is held in inference mode by training=false"
                                : "recompute is true or false");
    }
    arguments->is_poison = true;
  } else if (is_training) {
    arguments->training_off = true;
  } else {
    arguments->recompute = *value;
  }
}

void LayerArgumentReader::ReportUnknown(const Callee& callee, const ast::Argument& argument) {
  const llvm::StringRef name = argument.name.text;
  std::vector<llvm::StringRef> known;
  if (at_.optimizer != nullptr) known.insert(known.end(), {"clip_norm", "lazy"});
  if (callee.layer != nullptr) {
    for (const ast::Parameter& parameter : callee.layer->parameters)
      known.push_back(parameter.name.text);
  } else {
    ForEachDeclaration(*callee.module->ast, [&](llvm::StringRef declared, const ast::Type*) {
      known.push_back(declared);
    });
  }
  known.insert(known.end(), {"training", "recompute", "params"});
  report_.Error(Code::kUnknownAttribute, argument.name.range,
                "'" + callee.name + "' has no attribute or input '" + name + "'" +
                    report_.DidYouMeanOrTakes(name, known));
  expressions_.Evaluate(argument.value);
}

}  // namespace pdl
