#include "frontend/elaborate/for_loops.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/statements.h"

namespace pdl {

void ForLoops::ElaborateFor(const ast::ForStatement* statement) {
  const ast::Expr* over = ast::WithoutParentheses(statement->over);
  const ast::ChainExpr* range = ast::AsRange(over);
  const std::optional<Rounds> rounds =
      range != nullptr ? ReadRange(range, statement->names) : ReadList(over);
  if (!rounds) return names_.PoisonAssigned(statement);
  const auto most = static_cast<int64_t>(std::min<uint64_t>(request_.limits.steps, INT64_MAX));
  if (rounds->count > most) {
    report_.Error(
        Code::kTextTooLong, over->range,
        "a loop is expanded at compile time: at most " + llvm::Twine(most) + " iterations");
    return names_.PoisonAssigned(statement);
  }
  Expand(statement, *rounds, over->range);
}

std::optional<ForLoops::Rounds> ForLoops::ReadRange(const ast::ChainExpr* range,
                                                    llvm::ArrayRef<ast::Identifier> names) {
  std::optional<int64_t> ends[2];
  for (int i = 0; i < 2; ++i) {
    const Datum end = expressions_.EvaluateSize(range->operands[i]);
    if (const auto* number = end.get<int64_t>()) {
      ends[i] = *number;
    } else if (!end.holds_poison()) {
      report_.Error(Code::kUnknownSize, range->operands[i]->range,
                    "a loop is expanded at compile time: its ends are ints, got " + end.Phrase());
    }
  }
  if (!ends[0] || !ends[1]) return std::nullopt;
  if (names.size() == 2) {
    report_.Error(Code::kResultCount, names[1].range, "a range only assigns one name");
    return std::nullopt;
  }
  Rounds rounds;
  rounds.first = *ends[0];
  const bool takes_end = range->operators[0].op == ast::Operator::kRangeTo;
  const Dim count = Dim(*ends[1]) - Dim(rounds.first) + (takes_end ? 1 : 0);
  rounds.count = count.is_valid() ? std::max<int64_t>(count.constant(), 0) : INT64_MAX;
  return rounds;
}

std::optional<ForLoops::Rounds> ForLoops::ReadList(const ast::Expr* over) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(over);
  if (call != nullptr && at_.file->Text(call->callee->range) == "range") {
    report_.Error(Code::kOperandKind, over->range,
                  "'for' iterates over a range such as 0..n or a list; 'range' returns a tensor");
    return std::nullopt;
  }
  Rounds rounds;
  rounds.list = expressions_.Evaluate(over);
  if (rounds.list.list() == nullptr) {
    if (!rounds.list.is_poison()) {
      report_.Error(
          Code::kOperandKind, over->range,
          "'for' iterates over a range such as 0..n or a list, got " + rounds.list.Phrase());
    }
    return std::nullopt;
  }
  rounds.count = static_cast<int64_t>(rounds.list.list()->size());
  return rounds;
}

void ForLoops::Expand(const ast::ForStatement* statement, const Rounds& rounds, SourceRange over) {
  const llvm::ArrayRef<ast::Identifier> names = statement->names;
  const std::vector<Datum>* const items = rounds.list.list();
  const int64_t count = rounds.count;
  const TextFrame::Repeat* repeat = nullptr;
  for (const TextFrame::Repeat& candidate : at_.frame->repeats)
    if (items != nullptr && candidate.list.list() == items) repeat = &candidate;
  const std::string counts = at_.frame->counts;
  at_.frame->loops.push_back({over, 0, count});
  budget_.OpenLoop();
  for (int64_t i = 0; i < count && !at_.frame->returned; ++i) {
    at_.frame->loops.back().round = i;
    if (report_.stopped() || !budget_.Spend(1, over)) break;
    if (count > 1) at_.frame->counts = counts + "." + std::to_string(i);
    if (names.size() == 2) names_.Assign(names[0].text, Datum(i));
    Datum item = items == nullptr ? Datum(rounds.first + i) : (*items)[static_cast<size_t>(i)];
    at_.Observe(names.back().range, item);
    names_.Assign(names.back().text, std::move(item));
    if (repeat != nullptr) {
      for (const auto& [symbol, value] : repeat->symbols[static_cast<size_t>(i)])
        at_.frame->symbols[symbol] = {value, names.back().range};
      at_.frame->any_dims = repeat->any_dims[static_cast<size_t>(i)];
    }
    statements_.ElaborateBlock(statement->body);
  }
  if (repeat != nullptr && count > 0) {
    for (const auto& [symbol, value] : repeat->symbols.back()) at_.frame->symbols.erase(symbol);
    if (count > 1) at_.frame->any_dims.reset();
  }
  at_.frame->loops.pop_back();
  budget_.CloseLoop();
  at_.frame->counts = counts;
}

}  // namespace pdl
