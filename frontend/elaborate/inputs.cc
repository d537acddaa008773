#include "frontend/elaborate/inputs.h"

#include "frontend/elaborate/layer_conditions.h"
#include "frontend/elaborate/layer_inputs.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_conditions.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/type_reader.h"
#include "frontend/elaborate/unused_names.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/symbols.h"

namespace pdl {

void Inputs::BindArgument(const ast::InputStatement* statement) {
  const LayerArguments& arguments = *at_.frame->arguments;
  std::optional<Operand> given;
  if (at_.frame->next_operand < arguments.operands.size())
    given = arguments.operands[at_.frame->next_operand++];
  for (const LayerArgument& argument : arguments.named) {
    if (argument.name.text != statement->name.text) continue;
    if (given) {
      report_.CallerError(
          Code::kOperandCount, argument.name.range,
          "input '" + argument.name.text + "' is given twice: by position and by name");
      return names_.Poison(statement->name);
    }
    given = {argument.datum, argument.range};
  }
  if (!given) {
    // An input that nothing needs may be left out.
    at_.frame->missing_input = statement->name.text.str();
    return names_.Poison(statement->name);
  }
  std::optional<Datum> bound =
      layer_inputs_.BindInput(statement->type, statement->name.text, *given, nullptr);
  if (!bound) return names_.Poison(statement->name);
  at_.Observe(statement->name.range, *bound);
  names_.Assign(statement->name.text, std::move(*bound));
  layer_conditions_.CheckCallerKeeps(statement->where);
}

void Inputs::ElaborateInput(const ast::InputStatement* statement) {
  const bool is_new = names_.Declare(statement->name);
  if (at_.frame->arguments != nullptr) return BindArgument(statement);
  std::optional<Type> type = types_.ReadType(statement->type, /*introduces=*/true);
  if (!type || !is_new) return names_.Poison(statement->name);
  // A value that an `if` has created may have the name, too, even if the source cannot refer to it.
  if (graph_.FindValue(statement->name.text) != nullptr) {
    report_.Error(Code::kRedefined, statement->name.range,
                  "'" + statement->name.text + "' is defined already");
    return names_.Poison(statement->name);
  }
  Value* value = graph_.AddInput(statement->name.text, std::move(*type),
                                 at_.AddLocation(graph_, statement->range.begin));
  graph_.SetComment(value, statement->doc.str());
  names_.Assign(statement->name.text, Datum(value));
  unused_.Define(statement->name, NameKind::kInput, Datum(value));
  at_.Observe(statement->name.range, Datum(value));
  for (const ast::Expr* condition : statement->where) {
    std::vector<DimCheck> checks;
    bool failed = false;
    if (!conditions_.Read(condition, &checks, &failed)) continue;
    std::optional<std::string> note;
    for (const DimCheck& check : checks)
      if (!note) note = constraints_.NoteIfOnlyEmpty(check);
    if (!failed && !note && !checks.empty())
      failed =
          !constraints_.AddAll(std::move(checks), at_.AddLocation(graph_, condition->range.begin));
    if (failed || note) {
      Diagnostic& diagnostic = report_.Error(
          Code::kAssertion, condition->range,
          failed ? "no input can satisfy this" : "only an empty input can satisfy this");
      if (note) diagnostic.Note(*std::move(note));
    }
  }
}

// Rejects symbols that only occur in products such as `N*M`: the sizes of inputs do not determine
// them.
void Inputs::CheckSymbolsSolvable() {
  const llvm::StringSet<> solvable = SymbolsOfInputs(graph_);
  if (report_.diagnostics().has_errors()) return;
  std::vector<std::pair<SourceRange, llvm::StringRef>> unsolvable;
  for (const auto& entry : at_.frame->symbols) {
    if (solvable.contains(entry.first()) || entry.second.value.is<DType>()) continue;
    unsolvable.emplace_back(entry.second.range, entry.first());
  }
  llvm::sort(unsolvable,
             [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  uint32_t last_line = 0;
  for (const auto& [range, symbol] : unsolvable) {
    // Two symbols in one dim are one error.
    const uint32_t line = at_.file->LineOf(range.begin);
    if (std::exchange(last_line, line) == line) continue;
    const bool is_of_columns = llvm::any_of(graph_.inputs(), [&](const Value* input) {
      return input->type().is_sparse() && HasSymbol(input->type(), symbol);
    });
    Diagnostic& diagnostic = report_.Error(
        Code::kUnsolvableSymbol, range,
        "no input determines " + symbol + ": give one a dim such as " + symbol + " or 2*" + symbol);
    if (is_of_columns)
      diagnostic.Note("the value of a sparse input does not state its number of columns");
  }
}

}  // namespace pdl
