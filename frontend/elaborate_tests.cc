// `test` blocks: one run of one, as a graph with further outputs.
#include "frontend/elaborator.h"
#include "frontend/parser.h"
#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::StatementKind;

namespace {

std::vector<const ast::TestStatement*> TestsOf(const Ast& ast) {
  std::vector<const ast::TestStatement*> tests;
  for (const ast::Statement* statement : ast.statements) {
    if (const auto* test = llvm::dyn_cast<ast::TestStatement>(statement)) tests.push_back(test);
  }
  return tests;
}

// Statements of each run: a `feed` behind an `expect` begins the next.
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

}  // namespace

TestSuite::TestSuite(CompileRequest request, Diagnostics* diagnostics)
    : request_(std::move(request)), ast_(Parse(request_.file, diagnostics)) {
  for (const ast::TestStatement* test : TestsOf(*ast_)) {
    tests_.push_back(
        {test->name.value.str(), test->range, static_cast<unsigned>(RunsOf(*test).size())});
  }
}
TestSuite::~TestSuite() = default;

TestResult TestSuite::Compile(unsigned test, unsigned run,
                              llvm::ArrayRef<TestValue> earlier) const {
  assert(test < tests_.size() && "no such test");
  TestResult result;
  Elaborator elaborator(request_, *ast_, &result.diagnostics);
  TestRun made = elaborator.RunTest(*TestsOf(*ast_)[test], run, earlier);
  if (result.diagnostics.has_errors()) {
    result.diagnostics.Sort();
  } else {
    result.run = std::move(made);
  }
  return result;
}

TestRun Elaborator::RunTest(const ast::TestStatement& test, unsigned run,
                            llvm::ArrayRef<TestValue> earlier) {
  TestRun result;
  test_ = &result;
  Module* main = AddModule(ast_, "", /*is_standard=*/false);
  TextFrame frame;
  frame.module = main;
  frame_ = &frame;
  main->file_index = graph_.AddFile(main->file->name());
  CollectNames(ast_.statements);
  AddStandardLayers();
  EnterModule(main);
  if (test.with != nullptr) {
    if (const auto* record = llvm::dyn_cast<ast::RecordExpr>(test.with)) {
      test_settings_ = record->fields;
    } else {
      Error(Code::kOperandKind, test.with->range,
            "wanted a record of attrs such as {layers=1, width=8}");
    }
  }
  for (const ast::Statement* statement : ast_.statements) {
    if (statement->kind != StatementKind::kTest) Elaborate(statement);
  }
  ElaborateLoads();
  CheckSymbolsSolvable();
  CheckSettingsUsed();

  in_test_ = true;
  const auto runs = RunsOf(test);
  for (unsigned i = 0; i <= run && i < runs.size(); ++i) {
    const bool is_now = i == run;
    for (const ast::Statement* statement : runs[i]) {
      if (const auto* feed = llvm::dyn_cast<ast::FeedStatement>(statement)) {
        if (is_now) ElaborateFeed(feed);
        continue;
      }
      if (!is_now && statement->kind == StatementKind::kExpect) continue;
      const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement);
      if (assign == nullptr || is_now) {
        Elaborate(statement);
        if (assign != nullptr) KeepForLaterRuns(*assign, run);
        continue;
      }
      // A tensor of an earlier run is what it was then.
      bool is_known = false;
      for (const ast::Identifier& target : assign->targets) {
        for (const TestValue& value : earlier) {
          if (value.name != target.text) continue;
          is_known = true;
          if (graph_.FindValue(value.output) != nullptr) continue;
          Assign(target.text,
                 Datum(graph_.AddInput(value.output, value.type, LocationAt(target.range.begin))));
        }
      }
      if (!is_known) Elaborate(statement);
    }
  }
  frame_ = nullptr;
  test_ = nullptr;
  result.graph = std::move(graph_);
  return result;
}

std::string Elaborator::TestOutput(Value* value) {
  const std::string name = "#" + std::to_string(graph_.outputs().size());
  graph_.AddOutput(name, value);
  return name;
}

void Elaborator::KeepForLaterRuns(const ast::AssignStatement& assign, unsigned run) {
  for (const ast::Identifier& target : assign.targets) {
    auto found = frame_->scope.find(target.text);
    Value* value = found == frame_->scope.end() ? nullptr : found->second.tensor();
    if (value == nullptr) continue;
    TestValue kept;
    kept.name = target.text.str();
    kept.output = TestOutput(value);
    kept.type = value->type();
    // The lengths of this run are not those of a later one.
    for (Dim& dim : kept.type.dims) {
      if (!dim.is_ragged() || dim.symbol().contains('#')) continue;
      dim = Dim::Symbol((dim.symbol() + "#" + llvm::Twine(run + 1)).str());
    }
    test_->values.push_back(std::move(kept));
  }
}

void Elaborator::ElaborateFeed(const ast::FeedStatement* statement) {
  std::string name;
  for (const ast::Identifier& part : statement->path)
    name += (name.empty() ? "" : ".") + part.text.str();
  const SourceRange place{statement->path.front().range.begin, statement->path.back().range.end};
  frame_->base = "feed";
  if (name == "training") {
    const Datum datum = Evaluate(statement->value);
    if (const auto* training = datum.get<bool>()) {
      test_->training = *training;
    } else if (!datum.holds_poison()) {
      Error(Code::kOperandKind, statement->value->range,
            "'training' is fed true or false, got " + datum.Phrase());
    }
    return;
  }
  for (const TestFeed& feed : test_->feeds) {
    if (feed.name != name) continue;
    Error(Code::kRedefined, place, "'" + name + "' is fed twice in this run");
    return;
  }
  Value* variable = graph_.FindValue(name);
  if (variable == nullptr || variable->kind() == ValueKind::kResult) {
    if (auto found = frame_->scope.find(name);
        found != frame_->scope.end() && found->second.is_poison()) {
      return;
    }
    std::vector<llvm::StringRef> known = {"training"};
    for (llvm::ArrayRef<Value*> all : {graph_.inputs(), graph_.parameters(), graph_.states()}) {
      for (const Value* value : all) known.push_back(value->name());
    }
    Error(Code::kUnknownName, place,
          "there is no input, parameter or state '" + name + "' to feed" + DidYouMean(name, known));
    return;
  }
  const Type& type = variable->type();
  const Datum datum = Evaluate(statement->value);
  TestFeed feed;
  feed.name = name;
  feed.kind = variable->kind();
  feed.type = feed.given = type;
  if (!type.is_plain()) {
    feed.output = FeedPacked(*variable, datum, statement->value->range, &feed.given);
    if (!feed.output.empty()) test_->feeds.push_back(std::move(feed));
    return;
  }
  Value* value = AsTensor(datum, statement->value->range, type.dtype, {});
  if (value == nullptr) return;
  bool fits = value->type().dtype == type.dtype && value->type().rank() == type.rank();
  for (unsigned i = 0; fits && i < type.rank(); ++i) {
    const Dim& wanted = type.dims[i];
    const Dim& given = value->type().dims[i];
    if (wanted.is_constant() && given.is_constant()) fits = wanted == given;
  }
  if (!fits) {
    Error(value->type().dtype != type.dtype     ? Code::kDTypeMismatch
          : value->type().rank() != type.rank() ? Code::kRank
                                                : Code::kShapeMismatch,
          statement->value->range,
          "'" + name + "' is " + type.ToString() + ", fed " + value->type().ToString());
    return;
  }
  feed.output = TestOutput(value);
  test_->feeds.push_back(std::move(feed));
}

void Elaborator::ElaborateExpect(const ast::ExpectStatement* statement) {
  TestExpect expect;
  expect.range = statement->range;
  frame_->base = "expect";
  if (statement->expect == ast::ExpectKind::kError) {
    expect.kind = TestExpect::Kind::kError;
    expect.message = statement->message.value.str();
    // Mistakes of the call are what is wanted.
    Diagnostics mistakes;
    Diagnostics* const outer = std::exchange(diagnostics_, &mistakes);
    const Datum datum = Evaluate(statement->value);
    diagnostics_ = outer;
    stopped_ = false;
    if (mistakes.has_errors()) {
      const bool is_it = llvm::any_of(mistakes.all(), [&](const Diagnostic& mistake) {
        return llvm::StringRef(mistake.message).contains(expect.message);
      });
      expect.decided = is_it ? "" : "the mistake is another one: " + mistakes.all().front().message;
    } else if (datum.holds_poison()) {
      return;  // a mistake that was reported before
    } else if (datum.tensor() == nullptr) {
      expect.decided = "there is no mistake";
    } else {
      expect.left = TestOutput(datum.tensor());
    }
    test_->expects.push_back(std::move(expect));
    return;
  }
  if (statement->expect == ast::ExpectKind::kTrue) {
    const ast::Expr* value = statement->value;
    while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(value)) {
      value = parenthesis->inner;
    }
    const Datum datum = Evaluate(value);
    if (datum.holds_poison()) return;
    if (const auto* truth = datum.get<bool>()) {
      expect.decided = *truth ? "" : "this is false";
      test_->expects.push_back(std::move(expect));
      return;
    }
    Value* tensor = datum.tensor();
    if (tensor == nullptr || tensor->type().dtype != DType::kBool) {
      Error(Code::kCondition, value->range,
            "what is expected is true or false, got " +
                (tensor == nullptr ? datum.Phrase() : tensor->type().ToString()));
      return;
    }
    expect.left = TestOutput(tensor);
    expect.type = tensor->type();
    const auto* chain = llvm::dyn_cast<ast::ChainExpr>(value);
    const bool compares = chain != nullptr && chain->operators[0].op >= ast::Operator::kEqual &&
                          chain->operators[0].op < ast::Operator::kIn;
    if (compares && tensor->producer() != nullptr && tensor->producer()->operands().size() == 2) {
      for (unsigned i = 0; i < 2; ++i)
        expect.compared[i] = TestOutput(tensor->producer()->operands()[i]);
    }
    test_->expects.push_back(std::move(expect));
    return;
  }
  expect.kind = TestExpect::Kind::kNear;
  // `expect a[0] ~= b[0]` compares one sequence with one: how long they are, the run will know.
  auto evaluate = [&](const ast::Expr* side, std::optional<int64_t>* row) -> Datum {
    const auto* index = llvm::dyn_cast<ast::IndexExpr>(side);
    const auto* name = index == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(index->base);
    if (name == nullptr || index->subscripts.size() != 1) return Evaluate(side);
    const ast::Subscript& subscript = index->subscripts.front();
    auto found = frame_->scope.find(name->name);
    Value* tensor = found == frame_->scope.end() ? nullptr : found->second.tensor();
    if (tensor == nullptr || tensor->type().ragged_levels() != 1 ||
        subscript.kind != ast::SubscriptKind::kIndex) {
      return Evaluate(side);
    }
    const Datum number = Evaluate(subscript.start);
    if (number.get<int64_t>() == nullptr) return Evaluate(side);
    *row = *number.get<int64_t>();
    return Datum(tensor);
  };
  std::optional<int64_t> left_row, right_row;
  const bool are_rows =
      llvm::isa<ast::IndexExpr>(statement->value) && llvm::isa<ast::IndexExpr>(statement->near);
  const Datum left = are_rows ? evaluate(statement->value, &left_row) : Evaluate(statement->value);
  const Datum right = are_rows ? evaluate(statement->near, &right_row) : Evaluate(statement->near);
  if (left_row.has_value() != right_row.has_value()) {
    Error(Code::kStorage, left_row ? statement->value->range : statement->near->range,
          "a sequence of a ragged tensor is compared with one of another");
    return;
  }
  expect.left_row = left_row;
  expect.right_row = right_row;
  if (statement->tolerance != nullptr) {
    const Datum tolerance = Evaluate(statement->tolerance);
    const std::optional<double> number = tolerance.number();
    if (!number || !(*number >= 0)) {
      if (!tolerance.holds_poison()) {
        Error(Code::kOperandKind, statement->tolerance->range,
              "a tolerance is a number of at least 0, got " + tolerance.Phrase());
      }
      return;
    }
    expect.tolerance = *number;
  }
  if (left.holds_poison() || right.holds_poison()) return;
  auto is_packed = [](const Datum& datum) {
    return datum.tensor() != nullptr && !datum.tensor()->type().is_plain();
  };
  if (is_packed(left) || is_packed(right)) {
    return ExpectParts(std::move(expect), left, right, statement);
  }
  std::optional<DType> dtype;
  if (left.tensor() != nullptr) dtype = left.tensor()->type().dtype;
  if (!dtype && right.tensor() != nullptr) dtype = right.tensor()->type().dtype;
  if (!dtype && left.is_literal() && right.is_literal()) {
    dtype = NaturalDType(left) == DType::kI64 ? NaturalDType(right) : NaturalDType(left);
  }
  Value* a = AsTensor(left, statement->value->range, dtype, {});
  Value* b = AsTensor(right, statement->near->range, dtype, {});
  if (a == nullptr || b == nullptr) return;
  if (a->type().dtype != b->type().dtype) {
    Error(Code::kDTypeMismatch, statement->near->range,
          "the two sides are " + a->type().ToString() + " and " + b->type().ToString());
    return;
  }
  const bool may_fit = b->type().rank() == 0 || a->type().rank() == b->type().rank();
  if (!may_fit) {
    Error(Code::kRank, statement->near->range,
          "the two sides are " + a->type().ToString() + " and " + b->type().ToString());
    return;
  }
  expect.left = TestOutput(a);
  expect.right = TestOutput(b);
  expect.type = a->type();
  expect.right_is_scalar = b->type().is_scalar();
  test_->expects.push_back(std::move(expect));
}

}  // namespace pdl
