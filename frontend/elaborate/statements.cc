#include "frontend/elaborate/statements.h"

#include "frontend/elaborate/assignments.h"
#include "frontend/elaborate/attrs.h"
#include "frontend/elaborate/branches.h"
#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expectations.h"
#include "frontend/elaborate/for_loops.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/inputs.h"
#include "frontend/elaborate/minimize.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/outputs.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/unused_names.h"
#include "frontend/elaborate/variables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

using ast::StatementKind;

namespace {

/// The keyword of a statement.
llvm::StringRef KeywordOf(const ast::Statement* statement, const SourceFile& file) {
  return file.Text(statement->range).take_while(llvm::isAlpha);
}

bool MayStandInTest(StatementKind kind) {
  switch (kind) {
    case StatementKind::kAssign:
    case StatementKind::kAssert:
    case StatementKind::kIf:
    case StatementKind::kFor:
    case StatementKind::kFeed:
    case StatementKind::kExpect:
    case StatementKind::kLayerInstance:
    case StatementKind::kBroken:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string Statements::Misplacement(const ast::Statement* statement) const {
  const TextFrame& frame = *at_.frame;
  const bool is_layer = frame.caller != nullptr && frame.arguments == nullptr;
  const bool is_top = !is_layer && frame.loops.empty() && !frame.in_block;
  auto word = [&] { return "'" + KeywordOf(statement, *at_.file).str() + "'"; };
  if (IsInTest() && !MayStandInTest(statement->kind)) return word() + " is not allowed in a test";
  switch (statement->kind) {
    case StatementKind::kAttr:
    case StatementKind::kInput:
    case StatementKind::kOutput:
      if (is_layer) return word() + " belongs in a file, not in a layer";
      return frame.in_block ? word() + " belongs outside of blocks" : "";
    case StatementKind::kLoad:
    case StatementKind::kMinimize:
      if (is_layer) return word() + " belongs in a file, not in a layer";
      return at_.journal != nullptr && at_.journal->frame == &frame
                 ? word() + " belongs outside of an 'if' that is decided when the network runs"
                 : "";
    case StatementKind::kLayer:
      return is_top ? "" : "a layer is defined at the top of a file";
    case StatementKind::kImport:
      return is_top ? "" : "an import belongs at the top of a file";
    case StatementKind::kTest:
      return is_top ? "" : "a test belongs at the top of a file";
    case StatementKind::kFeed:
      return IsInTest() ? "'feed' belongs directly in a test, not in a block"
                        : "'feed' belongs in a test";
    case StatementKind::kExpect:
      return IsInTest() ? "" : "'expect' belongs in a test";
    case StatementKind::kReturn:
      return is_layer ? "" : "'return' belongs in a layer; a file uses 'output'";
    default:
      return "";
  }
}

llvm::StringRef Statements::KeywordInstead(const ast::Statement* statement) const {
  const auto* results = llvm::dyn_cast<ast::OutputStatement>(statement);
  const TextFrame& frame = *at_.frame;
  if (results == nullptr || frame.in_test || frame.in_block) return "";
  if (statement->kind == StatementKind::kOutput) return "return";
  const bool have_names = llvm::all_of(results->bindings, [](const ast::Argument& binding) {
    return binding.is_named() || binding.value->kind == ast::ExprKind::kName;
  });
  return have_names ? "output" : "";
}

bool Statements::CheckPlace(const ast::Statement* statement) {
  const std::string problem = Misplacement(statement);
  if (problem.empty()) return true;
  const uint32_t begin = statement->range.begin;
  const auto length = static_cast<uint32_t>(KeywordOf(statement, *at_.file).size());
  Diagnostic& diagnostic = report_.Error(Code::kMisplaced, {begin, begin + length}, problem);
  if (const llvm::StringRef keyword = KeywordInstead(statement); !keyword.empty())
    diagnostic.Suggest({begin, begin + length}, keyword.str());
  const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
  if (layer != nullptr && !IsInTest())
    at_.frame->module->broken_names.try_emplace(layer->name.text, layer->name.range);
  names_.PoisonAssigned(statement);
  return false;
}

void Statements::Elaborate(const ast::Statement* statement) {
  const SourceRange head{statement->range.begin, statement->range.begin};
  const Budget::Nesting nesting(budget_);
  if (budget_.IsCancelled() || !nesting.Fits(head) || !budget_.SpendStep(head)) return;
  at_.frame->base.clear();
  last_.value.clear();
  last_.results.clear();
  unused_.AddElaborated(statement);
  if (CheckPlace(statement)) Dispatch(statement);
}

void Statements::Dispatch(const ast::Statement* statement) {
  switch (statement->kind) {
    case StatementKind::kAttr:
      return attrs_.ElaborateAttr(llvm::cast<ast::AttrStatement>(statement));
    case StatementKind::kInput:
      return inputs_.ElaborateInput(llvm::cast<ast::InputStatement>(statement));
    case StatementKind::kParam:
    case StatementKind::kState:
      return variables_.ElaborateVariable(llvm::cast<ast::VariableStatement>(statement));
    case StatementKind::kUpdate:
      return assignments_.ElaborateUpdate(llvm::cast<ast::UpdateStatement>(statement));
    case StatementKind::kOutput:
      return outputs_.ElaborateOutput(llvm::cast<ast::OutputStatement>(statement));
    case StatementKind::kReturn:
      return outputs_.ElaborateReturn(llvm::cast<ast::OutputStatement>(statement));
    case StatementKind::kAssign:
      return assignments_.ElaborateAssign(llvm::cast<ast::AssignStatement>(statement));
    case StatementKind::kAssert:
      return assignments_.ElaborateAssert(llvm::cast<ast::AssertStatement>(statement));
    case StatementKind::kLayerInstance:
      return functions_.ElaborateInstance(llvm::cast<ast::LayerInstanceStatement>(statement));
    case StatementKind::kLoad:
      pending_loads_.push_back(
          {llvm::cast<ast::LoadStatement>(statement), at_.frame->module, at_.frame->path});
      return;
    case StatementKind::kMinimize:
      // A called file is not trained on its own.
      if (at_.frame->caller == nullptr)
        minimize_.ElaborateMinimize(llvm::cast<ast::MinimizeStatement>(statement));
      return;
    case StatementKind::kIf:
      return branches_.ElaborateBranches(llvm::cast<ast::IfStatement>(statement)->branches);
    case StatementKind::kFor:
      return loops_.ElaborateFor(llvm::cast<ast::ForStatement>(statement));
    case StatementKind::kExpect:
      return expectations_.ElaborateExpect(llvm::cast<ast::ExpectStatement>(statement));
    case StatementKind::kBroken:
      for (const ast::Identifier& name : llvm::cast<ast::BrokenStatement>(statement)->names) {
        names_.PoisonUndefined(name);
        at_.frame->module->broken_names.try_emplace(name.text, name.range);
      }
      return;
    // Layers and imports are collected before the first statement; a test is elaborated separately,
    // and the feeds of a run before its other statements.
    case StatementKind::kLayer:
    case StatementKind::kImport:
    case StatementKind::kTest:
    case StatementKind::kFeed:
      return;
  }
}

void Statements::ElaborateBlock(const ast::Block& block) {
  const bool outer = std::exchange(at_.frame->in_block, true);
  for (const ast::Statement* statement : block.statements) {
    if (at_.frame->returned) break;
    Elaborate(statement);
  }
  at_.frame->in_block = outer;
}

}  // namespace pdl
