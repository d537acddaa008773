#include "frontend/elaborate/test_blocks.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/statements.h"
#include "frontend/elaborate/test_outputs.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::StatementKind;

std::vector<std::vector<const ast::Statement*>> RunsOf(const ast::TestStatement& test) {
  std::vector<std::vector<const ast::Statement*>> runs(1);
  bool has_expect = false;
  for (const ast::Statement* statement : test.body.statements) {
    if (statement->kind == StatementKind::kFeed && has_expect) {
      runs.emplace_back();
      has_expect = false;
    }
    has_expect |= statement->kind == StatementKind::kExpect;
    runs.back().push_back(statement);
  }
  return runs;
}

void TestBlocks::ElaborateRuns(const ast::TestStatement& test, unsigned run,
                               llvm::ArrayRef<TestValue> earlier) {
  at_.frame->in_test = true;
  const auto runs = RunsOf(test);
  for (unsigned i = 0; i <= run && i < runs.size(); ++i) {
    for (const ast::Statement* statement : runs[i]) {
      if (i == run) {
        ElaborateNow(statement, run);
      } else {
        ElaborateEarlier(statement, earlier);
      }
    }
  }
}

void TestBlocks::ElaborateNow(const ast::Statement* statement, unsigned run) {
  if (const auto* feed = llvm::dyn_cast<ast::FeedStatement>(statement)) return ElaborateFeed(feed);
  statements_.Elaborate(statement);
  if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement))
    KeepForLaterRuns(*assign, run);
}

void TestBlocks::ElaborateEarlier(const ast::Statement* statement,
                                  llvm::ArrayRef<TestValue> earlier) {
  if (statement->kind == StatementKind::kFeed || statement->kind == StatementKind::kExpect) return;
  bool is_known = false;
  if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    for (const ast::Identifier& target : assign->targets) {
      for (const TestValue& value : earlier) {
        if (value.name != target.text) continue;
        is_known = true;
        if (graph_.FindValue(value.output) != nullptr) continue;
        Value* input =
            graph_.AddInput(value.output, value.type, at_.AddLocation(graph_, target.range.begin));
        of_earlier_runs_.insert(input);
        names_.Assign(target.text, Datum(input));
      }
    }
  }
  if (is_known) return;
  statements_.Elaborate(statement);
  if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    for (const ast::Identifier& target : assign->targets)
      if (const auto found = at_.frame->scope.find(target.text); found != at_.frame->scope.end())
        of_earlier_runs_.insert(found->second.tensor());
  }
}

void TestBlocks::KeepForLaterRuns(const ast::AssignStatement& assign, unsigned run) {
  for (const ast::Identifier& target : assign.targets) {
    auto found = at_.frame->scope.find(target.text);
    Value* value = found == at_.frame->scope.end() ? nullptr : found->second.tensor();
    if (value == nullptr) continue;
    TestValue kept;
    kept.name = target.text.str();
    kept.output = test_outputs_.TestOutput(value);
    kept.type = value->type();
    // The lengths in this run are not those of a later one.
    for (Dim& dim : kept.type.dims) {
      if (!dim.is_ragged() || dim.symbol().contains('#')) continue;
      dim = Dim::Symbol((dim.symbol() + "#" + llvm::Twine(run + 1)).str());
    }
    test_.values.push_back(std::move(kept));
  }
}

void TestBlocks::FeedTraining(const ast::Expr* value) {
  const Datum datum = expressions_.Evaluate(value);
  if (const auto* training = datum.get<bool>()) {
    test_.training = *training;
  } else if (!datum.holds_poison()) {
    report_.Error(Code::kOperandKind, value->range,
                  "'training' is fed true or false, got " + datum.Phrase());
  }
}

Value* TestBlocks::FindFed(const std::string& name, SourceRange place) {
  for (const TestFeed& feed : test_.feeds) {
    if (feed.name != name) continue;
    report_.Error(Code::kRedefined, place, "'" + name + "' is fed twice in this run");
    return nullptr;
  }
  Value* variable = graph_.FindValue(name);
  if (variable != nullptr && variable->kind() != ValueKind::kResult) return variable;
  if (auto found = at_.frame->scope.find(name);
      found != at_.frame->scope.end() && found->second.is_poison()) {
    return nullptr;
  }
  std::vector<llvm::StringRef> known = {"training"};
  for (llvm::ArrayRef<Value*> all : {graph_.inputs(), graph_.parameters(), graph_.states()}) {
    for (const Value* value : all) known.push_back(value->name());
  }
  report_.Error(Code::kUnknownName, place,
                "there is no input, parameter or state '" + name + "' to feed" +
                    report_.DidYouMean(name, known));
  return nullptr;
}

void TestBlocks::ElaborateFeed(const ast::FeedStatement* statement) {
  std::string name;
  for (const ast::Identifier& part : statement->path)
    name += (name.empty() ? "" : ".") + part.text.str();
  const SourceRange place{statement->path.front().range.begin, statement->path.back().range.end};
  at_.frame->base = "feed";
  if (name == "training") return FeedTraining(statement->value);
  const Value* variable = FindFed(name, place);
  if (variable == nullptr) return;
  const Type& type = variable->type();
  const Datum datum = expressions_.Evaluate(statement->value);
  if (const Value* input = FindInput(datum)) {
    report_.Error(Code::kMissingInput, statement->value->range,
                  "this depends on the input '" + input->name() +
                      "', but the values of all feeds are computed before the run");
    return;
  }
  TestFeed feed;
  feed.name = name;
  feed.kind = variable->kind();
  feed.type = feed.given = type;
  feed.output = type.is_plain()
                    ? FeedDense(*variable, datum, statement->value->range)
                    : FeedPacked(*variable, datum, statement->value->range, &feed.given);
  if (!feed.output.empty()) test_.feeds.push_back(std::move(feed));
}

const Value* TestBlocks::FindInput(const Datum& datum) const {
  llvm::SmallVector<const Value*, 16> pending;
  if (datum.tensor() != nullptr) pending.push_back(datum.tensor());
  if (const std::vector<Datum>* items = datum.list())
    for (const Datum& item : *items)
      if (item.tensor() != nullptr) pending.push_back(item.tensor());
  llvm::DenseSet<const Value*> seen;
  while (!pending.empty()) {
    const Value* value = pending.pop_back_val();
    if (of_earlier_runs_.contains(value) || !seen.insert(value).second) continue;
    if (value->kind() == ValueKind::kInput) return value;
    if (value->producer() == nullptr) continue;
    llvm::append_range(pending, value->producer()->operands());
  }
  return nullptr;
}

std::string TestBlocks::FeedDense(const Value& fed, const Datum& datum, SourceRange range) {
  const Type& type = fed.type();
  Value* value = literals_.AsTensor(datum, range, type.dtype, {});
  if (value == nullptr) return "";
  bool fits = value->type().dtype == type.dtype && value->type().rank() == type.rank();
  for (unsigned i = 0; fits && i < type.rank(); ++i) {
    const Dim& expected = type.dims[i];
    const Dim& given = value->type().dims[i];
    if (expected.is_constant() && given.is_constant()) fits = expected == given;
  }
  if (fits) return test_outputs_.TestOutput(value);
  report_.Error(value->type().dtype != type.dtype     ? Code::kDTypeMismatch
                : value->type().rank() != type.rank() ? Code::kRank
                                                      : Code::kShapeMismatch,
                range,
                "'" + fed.name() + "' is " + type.ToString() + ", fed " + value->type().ToString());
  return "";
}

std::string TestBlocks::FeedPacked(const Value& input, const Datum& datum, SourceRange range,
                                   Type* given) {
  const Type& type = input.type();
  *given = type;
  Value* tensor = datum.tensor();
  if (tensor == nullptr) return test_outputs_.EmitParts(datum, type, range);
  *given = tensor->type();
  const bool is_packed =
      given->is_sparse() == type.is_sparse() && given->ragged_levels() == type.ragged_levels();
  if (given->dtype != type.dtype || given->rank() != type.rank() ||
      !(is_packed || given->is_plain())) {
    report_.Error(given->dtype != type.dtype ? Code::kDTypeMismatch : Code::kRank, range,
                  "'" + input.name() + "' is " + type.ToString() + ", fed " + given->ToString());
    return "";
  }
  return test_outputs_.TestOutput(tensor);
}

}  // namespace pdl
