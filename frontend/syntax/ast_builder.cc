// Expressions and types; ast_builder_statements.cc has the statements.
#include "frontend/syntax/ast_builder.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "frontend/syntax/lexer.h"

namespace pdl {

using ast::Expr;
using ast::ExprKind;
using ast::Operator;

namespace {

// How tightly an operator binds.
enum Level : uint8_t {
  kOutermost = 0,
  kPipeLevel,
  kOrLevel,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kRangeLevel,
  kAddLevel,
  kMultiplyLevel,
  kNegateLevel,
  kPowerLevel,
};

std::pair<Operator, Level> InfixOf(size_t token) {
  switch (token) {
    case PdlParser::PIPE:
      return {Operator::kPipe, kPipeLevel};
    case PdlParser::OR:
      return {Operator::kOr, kOrLevel};
    case PdlParser::AND:
      return {Operator::kAnd, kAndLevel};
    case PdlParser::IN:
      return {Operator::kIn, kCompareLevel};
    case PdlParser::EQ:
      return {Operator::kEqual, kCompareLevel};
    case PdlParser::NE:
      return {Operator::kNotEqual, kCompareLevel};
    case PdlParser::LT_:
      return {Operator::kLess, kCompareLevel};
    case PdlParser::LE:
      return {Operator::kLessEqual, kCompareLevel};
    case PdlParser::GT:
      return {Operator::kGreater, kCompareLevel};
    case PdlParser::GE:
      return {Operator::kGreaterEqual, kCompareLevel};
    case PdlParser::RANGE:
      return {Operator::kRange, kRangeLevel};
    case PdlParser::RANGE_TO:
      return {Operator::kRangeTo, kRangeLevel};
    case PdlParser::PLUS:
      return {Operator::kAdd, kAddLevel};
    case PdlParser::MINUS:
      return {Operator::kSubtract, kAddLevel};
    case PdlParser::STAR:
      return {Operator::kMultiply, kMultiplyLevel};
    case PdlParser::SLASH:
      return {Operator::kDivide, kMultiplyLevel};
    case PdlParser::FLOOR_DIV:
      return {Operator::kFloorDivide, kMultiplyLevel};
    case PdlParser::PERCENT:
      return {Operator::kRemainder, kMultiplyLevel};
    case PdlParser::AT:
      return {Operator::kMatmul, kMultiplyLevel};
    default:
      return {Operator::kPower, kPowerLevel};
  }
}

}  // namespace

namespace ast {

llvm::StringRef Spelling(Operator op) {
  static constexpr llvm::StringLiteral kSpellings[] = {
      "|>", "or",  "and", "not", "==", "!=", "<",  "<=", ">", ">=", "in",
      "..", "..=", "+",   "-",   "*",  "/",  "//", "%",  "@", "-",  "**"};
  return kSpellings[static_cast<size_t>(op)];
}

}  // namespace ast

AstBuilder::AstBuilder(Ast* ast, const UnitStream* stream, Diagnostics* diagnostics)
    : ast_(ast), stream_(stream), diagnostics_(diagnostics), source_(ast->file->text()) {}

Diagnostic* AstBuilder::Fail(Code code, SourceRange range, const llvm::Twine& message) {
  if (failed_) return nullptr;
  failed_ = true;
  return &diagnostics_->Error(code, ast_->file, range, message.str());
}

void AstBuilder::FailReserved(const Token& token, const llvm::Twine& what) {
  const llvm::StringRef word = Spelling(token);
  if (reserved_.insert(word).second) {
    Fail(Code::kReservedName, token.range(), "'" + word + "' is a reserved word" + what);
  }
  failed_ = true;
}

const Expr* AstBuilder::Pop() {
  const Expr* value = values_.back();
  values_.pop_back();
  return value;
}

void AstBuilder::Push(Expr* expr, ExprKind kind, SourceRange range, uint32_t depth) {
  expr->kind = kind;
  expr->range = range;
  expr->depth = depth;
  if (depth > ast::kMaxNesting) {
    Fail(Code::kNestingTooDeep, {range.begin, range.begin + 1}, "nesting deeper than 256");
  }
  values_.push_back(expr);
}

void AstBuilder::OpenExpression() {
  operators_.push_back({Operator::kPipe, kOutermost, false, {}});
}

void AstBuilder::CloseExpression() {
  while (operators_.back().level != kOutermost) ReduceTop();
  operators_.pop_back();
}

void AstBuilder::Prefix() {
  if (last().type() == PdlParser::MINUS) {
    operators_.push_back({Operator::kNegate, kNegateLevel, true, last().range()});
  } else {
    operators_.push_back({Operator::kNot, kNotLevel, true, last().range()});
  }
}

void AstBuilder::Infix() {
  const auto [op, level] = InfixOf(last().type());
  while (operators_.back().level > level) ReduceTop();
  const PendingOperator& top = operators_.back();
  if (top.level == level && (level == kCompareLevel || level == kRangeLevel)) {
    Diagnostic* diagnostic = level == kCompareLevel
                                 ? Fail(Code::kBadChain, last().range(),
                                        "comparisons do not chain; write a < b and b < c")
                                 : Fail(Code::kBadChain, last().range(), "a range has two ends");
    if (diagnostic != nullptr) diagnostic->Underline(top.range);
    // The operand in the middle is compared twice; below 'not' it would be negated once.
    if (diagnostic != nullptr && level == kCompareLevel &&
        operators_[operators_.size() - 2].level <= kAndLevel) {
      const SourceRange middle = values_.back()->range;
      const llvm::StringRef written = ast_->file->Text(middle);
      diagnostic->Suggest({middle.end, last().range().begin}, (" and " + written + " ").str());
    }
  }
  operators_.push_back({op, level, false, last().range()});
}

// A name is called without arguments; a pipe that is an operand of another operator gets
// parentheses, which a note shows if they fit on a line.
static void SuggestCall(const ast::ChainExpr& pipe, const Expr& stage, Diagnostic* diagnostic) {
  if (stage.kind == ExprKind::kName) {
    diagnostic->Suggest({stage.range.end, stage.range.end}, "()");
    return;
  }
  const auto* operation = llvm::dyn_cast<ast::ChainExpr>(&stage);
  if (operation == nullptr || operation->operands.front()->kind != ExprKind::kCall) return;
  const SourceRange inner = Span(pipe.operands.front()->range, operation->operands.front()->range);
  const std::string operand = ("(" + diagnostic->file->Text(inner) + ")").str();
  if (operand.size() < 60 && operand.find('\n') == std::string::npos)
    diagnostic->Note("a pipe that is an operand is in parentheses: " + operand);
  diagnostic->Suggest(inner, operand);
}

// Combines the topmost operators of equal level and their operands into one node.
void AstBuilder::ReduceTop() {
  const PendingOperator top = operators_.back();
  if (top.is_prefix) {
    operators_.pop_back();
    const Expr* operand = Pop();
    const auto* number = llvm::dyn_cast<ast::NumberExpr>(operand);
    const bool is_literal = number != nullptr && source_[number->range.begin] != '-';
    if (top.op == Operator::kNegate && is_literal) {
      auto* negated = New<ast::NumberExpr>();
      negated->is_int = number->is_int;
      negated->int_value = static_cast<int64_t>(-static_cast<uint64_t>(number->int_value));
      negated->float_value = -number->float_value;
      negated->float32_value = -number->float32_value;
      Push(negated, ExprKind::kNumber, Span(top.range, number->range));
      return;
    }
    auto* prefix = New<ast::PrefixExpr>();
    prefix->op = top.op;
    prefix->operand = operand;
    Push(prefix, ExprKind::kPrefix, Span(top.range, operand->range), operand->depth + 1);
    return;
  }
  size_t first = operators_.size() - 1;
  while (operators_[first - 1].level == top.level && !operators_[first - 1].is_prefix) --first;
  const size_t count = operators_.size() - first;
  auto* chain = New<ast::ChainExpr>();
  ast::OperatorUse* uses = ast_->arena.Allocate<ast::OperatorUse>(count);
  for (size_t i = 0; i < count; ++i) {
    uses[i] = {operators_[first + i].op, operators_[first + i].range};
  }
  operators_.resize(first);
  chain->operators = {uses, count};
  chain->operands = Take(&values_, values_.size() - count - 1);
  uint32_t depth = 0;
  for (const Expr* operand : chain->operands) depth = std::max(depth, operand->depth);
  // Powers are right-associative: each is nested in the one before.
  depth += top.level == kPowerLevel ? static_cast<uint32_t>(count) : 1;
  if (top.op == Operator::kPipe) {
    for (const Expr* stage : chain->operands.drop_front()) {
      if (stage->kind != ExprKind::kCall) {
        const std::string call = stage->kind == ExprKind::kName
                                     ? (ast_->file->Text(stage->range) + "()").str()
                                     : "f(a=1)";
        if (Diagnostic* diagnostic = Fail(Code::kPipeNeedsCall, stage->range,
                                          "'|>' must be followed by a call, such as " + call)) {
          SuggestCall(*chain, *stage, diagnostic);
        }
        break;
      }
    }
  }
  Push(chain, ExprKind::kChain, Span(chain->operands.front()->range, chain->operands.back()->range),
       depth);
}

void AstBuilder::Name() {
  auto* name = New<ast::NameExpr>();
  name->name = Spelling(last());
  Push(name, ExprKind::kName, last().range());
}

void AstBuilder::RaggedSize() {
  auto* ragged = New<ast::RaggedExpr>();
  ragged->symbol = LastIdentifier();
  const Token& sign = stream_->tokens()[stream_->position() - 2];
  Push(ragged, ExprKind::kRagged, Span(sign.range(), last().range()));
}

void AstBuilder::Number() {
  auto* number = New<ast::NumberExpr>();
  const SourceRange range = last().range();
  llvm::StringRef spelled = Spelling(last());
  if (spelled.contains('_')) {
    scratch_.clear();
    for (char c : spelled) {
      if (c != '_') scratch_.push_back(c);
    }
    spelled = scratch_;
  }
  number->is_int = spelled.find_first_of(".eEn") == llvm::StringRef::npos;
  if (number->is_int) {
    uint64_t value = 0;
    const auto result = std::from_chars(spelled.begin(), spelled.end(), value);
    // 2^63 is only valid after a minus sign.
    const bool is_negated =
        operators_.back().op == Operator::kNegate && operators_.back().is_prefix;
    const uint64_t limit = uint64_t{std::numeric_limits<int64_t>::max()} + (is_negated ? 1 : 0);
    if (result.ec != std::errc() || value > limit) {
      Fail(Code::kBadNumber, range,
           "the integer " + Spelling(last()).take_front(60) + " does not fit in 64 bits");
    }
    number->int_value = static_cast<int64_t>(value);
  } else if (spelled == "inf") {
    number->float_value = std::numeric_limits<double>::infinity();
    number->float32_value = std::numeric_limits<float>::infinity();
  } else if (spelled == "nan") {
    number->float_value = std::numeric_limits<double>::quiet_NaN();
    number->float32_value = std::numeric_limits<float>::quiet_NaN();
  } else {
    const auto result = std::from_chars(spelled.begin(), spelled.end(), number->float_value);
    if (result.ec != std::errc()) {
      Fail(Code::kBadNumber, range,
           "the number " + Spelling(last()).take_front(60) + " is out of the range of f64");
    }
    const auto narrow = std::from_chars(spelled.begin(), spelled.end(), number->float32_value);
    if (narrow.ec != std::errc()) number->float32_value = static_cast<float>(number->float_value);
  }
  Push(number, ExprKind::kNumber, range);
}

llvm::StringRef AstBuilder::LastString() {
  llvm::StringRef value = UnescapeString(Spelling(last()), &scratch_);
  return value.data() == scratch_.data() ? Keep(value) : value;
}

void AstBuilder::String() {
  auto* string = New<ast::StringExpr>();
  string->value = LastString();
  Push(string, ExprKind::kString, last().range());
}

void AstBuilder::Word() {
  auto* word = New<ast::WordExpr>();
  word->word = last().type() == PdlParser::TRUE    ? ast::Word::kTrue
               : last().type() == PdlParser::FALSE ? ast::Word::kFalse
                                                   : ast::Word::kNone;
  Push(word, ExprKind::kWord, last().range());
}

void AstBuilder::OpenBracket() {
  brackets_.push_back({last().range().begin, arguments_.size(), subscripts_.size()});
}

void AstBuilder::Parenthesis() {
  auto* parenthesis = New<ast::ParenthesisExpr>();
  parenthesis->inner = Pop();
  const SourceRange range{brackets_.back().begin, last().range().end};
  brackets_.pop_back();
  Push(parenthesis, ExprKind::kParenthesis, range, parenthesis->inner->depth + 1);
}

namespace {

uint32_t DepthOf(llvm::ArrayRef<ast::Argument> arguments) {
  uint32_t depth = 0;
  for (const ast::Argument& argument : arguments) depth = std::max(depth, argument.value->depth);
  return depth;
}

}  // namespace

void AstBuilder::List() {
  auto* list = New<ast::ListExpr>();
  list->items = Take(&arguments_, brackets_.back().arguments);
  const SourceRange range{brackets_.back().begin, last().range().end};
  brackets_.pop_back();
  for (const ast::Argument& item : list->items) {
    if (item.is_named()) {
      Fail(Code::kSyntax, item.name.range, "the items of a list have no names");
    }
  }
  Push(list, ExprKind::kList, range, DepthOf(list->items) + 1);
}

void AstBuilder::Record() {
  auto* record = New<ast::RecordExpr>();
  record->fields = Take(&arguments_, brackets_.back().arguments);
  const SourceRange range{brackets_.back().begin, last().range().end};
  brackets_.pop_back();
  for (const ast::Argument& field : record->fields) {
    if ((!field.is_named() && field.text == nullptr) || field.is_spread) {
      Fail(Code::kSyntax, field.value->range, "the fields of a record are written name=value");
    } else if ((field.text != nullptr) != (record->fields.front().text != nullptr)) {
      Fail(Code::kSyntax, field.range(),
           "a record has fields name=value, or pairs \"text\": value, not both");
    }
  }
  Push(record, ExprKind::kRecord, range, DepthOf(record->fields) + 1);
}

void AstBuilder::Call() {
  auto* call = New<ast::CallExpr>();
  call->arguments = Take(&arguments_, brackets_.back().arguments);
  brackets_.pop_back();
  call->callee = Pop();
  Push(call, ExprKind::kCall, Span(call->callee->range, last().range()),
       std::max(call->callee->depth, DepthOf(call->arguments)) + 1);
}

void AstBuilder::Index() {
  auto* index = New<ast::IndexExpr>();
  index->subscripts = Take(&subscripts_, brackets_.back().subscripts);
  brackets_.pop_back();
  index->base = Pop();
  uint32_t depth = index->base->depth;
  for (const ast::Subscript& subscript : index->subscripts) {
    for (const Expr* bound : {subscript.start, subscript.stop, subscript.step}) {
      if (bound != nullptr) depth = std::max(depth, bound->depth);
    }
  }
  Push(index, ExprKind::kIndex, Span(index->base->range, last().range()), depth + 1);
}

void AstBuilder::Member() {
  auto* member = New<ast::MemberExpr>();
  member->member = LastIdentifier();
  member->base = Pop();
  Push(member, ExprKind::kMember, Span(member->base->range, last().range()),
       member->base->depth + 1);
}

void AstBuilder::Argument() { arguments_.push_back({{}, Pop(), false, nullptr}); }

void AstBuilder::Spread() { arguments_.back().is_spread = true; }

void AstBuilder::NamedArgument() {
  ast::Argument& argument = arguments_.back();
  // Only an output of a file may have a name with dots; Bindings rejects it in a layer.
  std::optional<ast::Identifier> name;
  if (const auto* plain = llvm::dyn_cast<ast::NameExpr>(argument.value))
    name = {plain->name, plain->range};
  else if (brackets_.empty())
    name = AsPath(argument.value);
  if (!name || argument.is_spread) {
    Fail(Code::kSyntax, argument.value->range, "only a name can appear before '=' here");
    argument.value = Pop();
    return;
  }
  argument.name = *name;
  argument.value = Pop();
}

void AstBuilder::TextArgument() {
  ast::Argument& argument = arguments_.back();
  const auto* text = llvm::dyn_cast<ast::StringExpr>(argument.value);
  if (text == nullptr || argument.is_named() || argument.is_spread) {
    Fail(Code::kSyntax, argument.range(),
         "only a string can appear before ':' here; the fields of a record are written name=value");
    Pop();
    return;
  }
  argument.text = text;
  argument.value = Pop();
}

void AstBuilder::OpenSubscript() {
  colons_.push_back(0);
  ast::Subscript subscript{};
  subscript.range = stream_->next().range();
  subscripts_.push_back(subscript);
}

void AstBuilder::CloseSubscript() {
  ast::Subscript& subscript = subscripts_.back();
  if (colons_.back() > 0) subscript.kind = ast::SubscriptKind::kSlice;
  colons_.pop_back();
  subscript.range.end = last().range().end;
}

void AstBuilder::SkipAxes() { subscripts_.back().kind = ast::SubscriptKind::kSkipAxes; }

void AstBuilder::Colon() { ++colons_.back(); }

void AstBuilder::Bound() {
  ast::Subscript& subscript = subscripts_.back();
  (colons_.back() == 0   ? subscript.start
   : colons_.back() == 1 ? subscript.stop
                         : subscript.step) = Pop();
}

void AstBuilder::OpenType() {
  terms_.clear();
  type_begin_ = stream_->next().range().begin;
}

void AstBuilder::CloseType() {
  auto* type = New<ast::Type>();
  type->terms = Copy(llvm::ArrayRef<ast::TypeTerm>(terms_));
  type->range = {type_begin_, last().range().end};
  type_ = type;
}

void AstBuilder::OpenTypeTerm() {
  term_ = {};
  term_.range.begin = stream_->next().range().begin;
}

void AstBuilder::CloseTypeTerm() {
  term_.range.end = last().range().end;
  terms_.push_back(term_);
}

void AstBuilder::Sparse() { term_.is_sparse = true; }

void AstBuilder::TypeName() { term_.name = LastIdentifier(); }

void AstBuilder::ListTypeName() {
  term_.name = LastIdentifier();
  term_.is_list = true;
}

void AstBuilder::MaybeNone() { term_.may_be_none = true; }

void AstBuilder::OpenDims() {
  dims_.clear();
  term_.has_dims = true;
}

void AstBuilder::CloseDims() { term_.dims = Copy(llvm::ArrayRef<ast::Dim>(dims_)); }

void AstBuilder::AnyDims() { dims_.push_back({ast::DimKind::kAny, nullptr, {}, last().range()}); }

void AstBuilder::Dim() {
  const Expr* expr = Pop();
  if (const auto* ragged = llvm::dyn_cast<ast::RaggedExpr>(expr)) {
    dims_.push_back({ast::DimKind::kRagged, nullptr, ragged->symbol, expr->range});
  } else {
    const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
    if (name != nullptr && name->name == "None")
      Fail(Code::kBadType, expr->range, "'None' is not a size; any size is a symbol such as N");
    dims_.push_back({ast::DimKind::kExpr, expr, {}, expr->range});
  }
}

void AstBuilder::RangeIn() {
  const Expr* value = Pop();
  term_.value_range = {ast::RangeKind::kIn, value, value->range};
}

void AstBuilder::OpenRangeBound() {
  const size_t token = last().type();
  term_.value_range.kind = token == PdlParser::GT    ? ast::RangeKind::kGreater
                           : token == PdlParser::GE  ? ast::RangeKind::kGreaterEqual
                           : token == PdlParser::LT_ ? ast::RangeKind::kLess
                                                     : ast::RangeKind::kLessEqual;
  term_.value_range.range = last().range();
  bound_is_negative_ = false;
}

void AstBuilder::NegativeBound() { bound_is_negative_ = true; }

void AstBuilder::RangeBound() {
  if (bound_is_negative_) {
    const uint32_t begin = values_.back()->range.begin - 1;
    operators_.push_back({Operator::kNegate, kNegateLevel, true, {begin, begin + 1}});
    ReduceTop();
  }
  term_.value_range.value = Pop();
  term_.value_range.range.end = last().range().end;
}

}  // namespace pdl
