#include "frontend/elaborate/layer_conditions.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_conditions.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/format/format_tokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

std::vector<std::string> LayerConditions::FactsOf(const ast::Expr* condition) {
  std::vector<std::string> facts;
  llvm::SmallVector<const ast::Expr*, 8> pending = {condition};
  llvm::StringSet<> seen;
  while (!pending.empty()) {
    const ast::Expr* next = pending.pop_back_val();
    if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(next)) {
      for (const ast::Expr* operand : llvm::reverse(chain->operands)) pending.push_back(operand);
    } else if (const auto* inner = llvm::dyn_cast<ast::ParenthesisExpr>(next)) {
      pending.push_back(inner->inner);
    } else if (const auto* name = llvm::dyn_cast<ast::NameExpr>(next)) {
      const std::optional<Dim> value = expressions_.EvaluateSize(name).dim();
      if (value && seen.insert(name->name).second)
        facts.push_back(name->name.str() + " is " + value->ToString());
    }
  }
  return facts;
}

bool LayerConditions::CheckCallerKeeps(llvm::ArrayRef<const ast::Expr*> where) {
  bool ok = true;
  for (const ast::Expr* condition : where) {
    std::vector<DimCheck> checks;
    bool failed = false;
    if (!conditions_.Read(condition, &checks, &failed)) continue;
    const std::string text = OneLine(at_.file->Text(condition->range));
    auto report_violation = [&](const std::string& note) {
      ok = false;
      Diagnostic& diagnostic = report_.CallerError(Code::kConstraint, at_.frame->place,
                                                   "'" + at_.frame->callee + "' requires " + text);
      if (!note.empty()) diagnostic.Note(note);
      diagnostic.NoteAt(at_.file, condition->range, "declared here");
    };
    if (failed) {
      report_violation(llvm::join(FactsOf(condition), ", "));
      continue;
    }
    // A condition that sizes of the inputs can violate is an error; one that cannot be decided is
    // checked when the sizes are known.
    std::optional<Counterexample> example;
    for (const DimCheck& check : checks) {
      if (std::optional<Counterexample> found = constraints_.Refute(check))
        example = std::move(found);
    }
    if (example) {
      report_violation("for example " + example->ToString());
      continue;
    }
    for (DimCheck& check : checks)
      check.message = "'" + at_.frame->callee.str() + "' requires " + text;
    if (!constraints_.AddAll(std::move(checks), at_.frame->origin))
      report_violation("no sizes satisfy all of it");
  }
  return ok;
}

}  // namespace pdl
