#include "frontend/elaborate/layer_checks.h"

#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/callees.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

namespace {

// The first statement after a `return` in the same block, or null.
const ast::Statement* FindUnreachable(llvm::ArrayRef<const ast::Statement*> statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i]->kind == ast::StatementKind::kReturn) {
      return i + 1 < statements.size() ? statements[i + 1] : nullptr;
    }
    if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statements[i])) {
      if (const ast::Statement* found = FindUnreachable(loop->body.statements)) return found;
    } else if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(statements[i])) {
      for (const ast::Branch& branch : branches->branches)
        if (const ast::Statement* found = FindUnreachable(branch.block.statements)) return found;
    }
  }
  return nullptr;
}

}  // namespace

// Checks defaults that depend on earlier attributes neither by their values nor by their ranges.
void LayerChecks::CheckDefaults(const ast::LayerStatement& layer, Module* module) {
  TextFrame frame;
  frame.module = module;
  frame.is_default = true;  // so that calls do not report it again
  const PlaceScope scope(&at_, &frame, at_.file);
  for (const ast::Parameter& parameter : layer.parameters) {
    const ast::TypeTerm& term = parameter.type->terms.front();
    const ast::Expr* const value = parameter.default_value;
    const ast::Expr* const range = term.value_range.value;
    if (parameter.type->is_tensor() || value == nullptr || MentionsNames(value)) continue;
    if (range != nullptr && MentionsNames(range)) continue;
    const Datum datum = functions_.EvaluateFor(parameter.type, value);
    if (datum.holds_poison() || term.name.text == "function" || term.name.text == "parameter")
      continue;
    const std::optional<AttributeDecl> decl =
        attributes_.DeclareAttribute(parameter.name, parameter.doc, parameter.type);
    if (decl) attributes_.CheckAttribute(*decl, datum, value->range, layer.name.text);
  }
}

// Checks of a layer that do not depend on its calls.
void LayerChecks::CheckLayer(const ast::LayerStatement& layer, Module* module) {
  for (size_t i = 0; i < layer.parameters.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (layer.parameters[i].name.text != layer.parameters[j].name.text) continue;
      report_
          .Error(Code::kRedefined, layer.parameters[i].name.range,
                 "'" + layer.parameters[i].name.text + "' appears here twice")
          .Underline(layer.parameters[j].name.range);
    }
  }
  if (const ast::Statement* statement = FindUnreachable(layer.body.statements)) {
    report_.Error(Code::kMisplaced, {statement->range.begin, statement->range.begin + 1},
                  "this is never reached: 'return' ends the layer");
  }
  CheckDefaults(layer, module);
  // Checks the names of callees: one that cannot be resolved is an error, even if the layer is
  // never called.
  if (module->lacks_import) return;
  llvm::StringSet<> own;
  for (const ast::Parameter& parameter : layer.parameters) own.insert(parameter.name.text);
  CollectInstances(layer.body.statements, &own);
  TextFrame frame;
  frame.module = module;
  const PlaceScope scope(&at_, &frame, at_.file);
  ForEachCallee(layer.body.statements, [&](const ast::NameExpr& name) {
    const bool is_builtin = llvm::is_contained(
        llvm::ArrayRef<llvm::StringRef>({"len", "dims", "dtype", "params", "grad", "min", "max"}),
        name.name);
    if (is_builtin || own.contains(name.name) || module->broken_names.contains(name.name)) return;
    const Callee callee = callees_.FindCallee(name.name);
    if (callee.op != nullptr || callee.is_network() || module->named.contains(name.name)) return;
    if (!report_.IsFirst(name.range)) return;
    report_.Error(Code::kUnknownOperator, name.range,
                  "no operator or layer is called '" + name.name + "'" +
                      report_.DidYouMean(name.name, callees_.CalleeNames()));
  });
}

}  // namespace pdl
