#include "frontend/elaborator.h"
#include "frontend/fold.h"
#include "frontend/packed_literal.h"
#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {

using ast::ExprKind;
using ast::Operator;

Datum Elaborator::EvaluateSize(const ast::Expr* expr) {
  const bool before = std::exchange(frame_->dims_first, true);
  Datum datum = Evaluate(expr);
  frame_->dims_first = before;
  return datum;
}

// Recursion is bounded by the nesting of the text: long sums and pipes are flat.
Datum Elaborator::Evaluate(const ast::Expr* expr, Targets targets) {
  const Nesting nesting(this);
  if (!nesting.Fits(expr->range) || !SpendStep(expr->range)) return Datum();
  switch (expr->kind) {
    case ExprKind::kNumber: {
      const auto* number = llvm::cast<ast::NumberExpr>(expr);
      if (number->is_int) return Datum(number->int_value);
      return Datum(Datum::Real{number->float_value, number});
    }
    case ExprKind::kString:
      return Datum(llvm::cast<ast::StringExpr>(expr)->value);
    case ExprKind::kWord: {
      const ast::Word word = llvm::cast<ast::WordExpr>(expr)->word;
      return word == ast::Word::kNone ? Datum::NoneValue() : Datum(word == ast::Word::kTrue);
    }
    case ExprKind::kName:
      return EvaluateName(llvm::cast<ast::NameExpr>(expr));
    case ExprKind::kRagged:
      return EvaluateRagged(llvm::cast<ast::RaggedExpr>(expr));
    case ExprKind::kParenthesis:
      return Evaluate(llvm::cast<ast::ParenthesisExpr>(expr)->inner, targets);
    case ExprKind::kList:
      return EvaluateList(llvm::cast<ast::ListExpr>(expr));
    case ExprKind::kRecord:
      return ReadRecord(expr);
    case ExprKind::kCall:
      return UseFirst(EvaluateCall(llvm::cast<ast::CallExpr>(expr), nullptr, targets), expr->range);
    case ExprKind::kIndex:
      return EvaluateIndex(llvm::cast<ast::IndexExpr>(expr), targets);
    case ExprKind::kMember:
      return EvaluateMember(llvm::cast<ast::MemberExpr>(expr), targets);
    case ExprKind::kPrefix:
      return EvaluatePrefix(llvm::cast<ast::PrefixExpr>(expr), targets);
    case ExprKind::kChain:
      return EvaluateChain(llvm::cast<ast::ChainExpr>(expr), targets);
  }
  return Datum();
}

Elaborator::Results Elaborator::EvaluateResults(const ast::Expr* expr, Targets targets) {
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr)) {
    expr = parenthesis->inner;
  }
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    return EvaluateCall(call, nullptr, targets);
  }
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(expr);
  if (chain != nullptr && chain->operators[0].op == Operator::kPipe) {
    return EvaluatePipe(chain, targets);
  }
  Results results;
  results.all.push_back({"", Evaluate(expr, targets), expr->range});
  return results;
}

Datum Elaborator::EvaluateName(const ast::NameExpr* name) {
  auto found = frame_->scope.find(name->name);
  const bool is_symbol_first =
      frame_->dims_first && (found == frame_->scope.end() || found->second.tensor() != nullptr);
  auto symbol = frame_->symbols.find(name->name);
  const bool is_symbol = symbol != frame_->symbols.end();
  if (is_symbol && (is_symbol_first || found == frame_->scope.end())) return symbol->second.value;
  if (found != frame_->scope.end()) {
    if (in_minimize_ && frame_->caller == nullptr) NoteOptimizerName(name->range, found->second);
    return found->second;
  }
  if (std::optional<DType> dtype = DTypeFromName(name->name)) return Datum(*dtype);
  if (name->name == "training") return EvaluateTraining(name->range);
  if (name->name == "step") return EvaluateStep();
  if (frame_->dims_first && graph_.IsDataSymbol(name->name)) return Datum(Dim::Symbol(name->name));
  ReportUnknownName(name);
  // One message for each name.
  Assign(name->name, Datum::Undefined());
  return Datum();
}

// `~T` among dims: of a type that is known, or of sizes that the data decide.
Datum Elaborator::EvaluateRagged(const ast::RaggedExpr* ragged) {
  const std::string name = "~" + ragged->symbol.text.str();
  if (!frame_->dims_first) {
    Error(Code::kUnknownSize, ragged->range,
          "'" + name + "' stands among dims only, as in [N, " + name + ", 4]");
    return Datum();
  }
  if (!frame_->symbols.contains(name) && graph_.IsDataSymbol(name)) return Datum(Dim::Symbol(name));
  const Dim* rows = ReadRaggedDim(ragged->symbol, ragged->range, /*introduces=*/false);
  return rows == nullptr ? Datum() : Datum(*rows);
}

void Elaborator::ReportUnknownName(const ast::NameExpr* name) {
  if (frame_->module->broken_names.contains(name->name)) return;
  if (auto found = frame_->one_sided.find(name->name); found != frame_->one_sided.end()) {
    Error(Code::kCondition, name->range, "'" + name->name + "' is set on one side of an 'if' only")
        .NoteAt(file_, found->second,
                "whether this holds is known when the network runs, so a name is set before it "
                "or on both sides");
    return;
  }
  if (const std::optional<uint32_t> line = LineThatDefines(name->name)) {
    const bool is_here = *line == file_->LineOf(name->range.begin);
    Error(Code::kUnknownName, name->range,
          "'" + name->name + "' is used before it is defined" +
              (is_here ? "" : ", on line " + std::to_string(*line)));
    return;
  }
  if (frame_->symbols.contains(("~" + name->name).str())) {
    Error(Code::kUnknownName, name->range,
          "'~" + name->name + "' is no one size: each row has its own; sequence_length gives them");
    return;
  }
  const Callee callee = FindCallee(name->name);
  const bool is_called = callee.op != nullptr || callee.is_network() || callee.function != nullptr;
  std::string hint;
  if (is_called && !frame_->dims_first) {
    hint = std::string("; it is ") + (callee.op != nullptr ? "an operator: " : "a layer: ") +
           name->name.str() + "(...)";
  } else if (frame_->scope.size() + frame_->symbols.size() <= suggestion_budget_) {
    std::vector<llvm::StringRef> known;
    for (const auto& entry : frame_->scope) known.push_back(entry.first());
    for (const auto& entry : frame_->symbols) known.push_back(entry.first());
    llvm::sort(known);  // a StringMap has no order of its own
    hint = DidYouMean(name->name, known);
  }
  if (frame_->dims_first) {
    Error(Code::kUnknownName, name->range,
          "no symbol or constant is called '" + name->name + "'" + hint);
  } else {
    Error(Code::kUnknownName, name->range, "no value is called '" + name->name + "'" + hint);
  }
}

Datum Elaborator::EvaluateList(const ast::ListExpr* list) {
  std::vector<Datum> items;
  items.reserve(list->items.size());
  bool is_copied = false;
  for (const ast::Argument& item : list->items) {
    Datum datum = Evaluate(item.value);
    if (!item.is_spread) {
      items.push_back(std::move(datum));
    } else if (const auto* spread = datum.list()) {
      if (!MayGrow(items.size(), spread->size(), item.value->range)) return Datum();
      is_copied = true;
      items.insert(items.end(), spread->begin(), spread->end());
    } else {
      if (!datum.is_poison()) {
        Error(Code::kOperandKind, item.value->range, "'...' spreads a list, got " + datum.Phrase());
      }
      items.push_back(Datum());
    }
  }
  if (IsRepeated() && !MayGrow(items.size(), 0, list->range)) return Datum();
  return MakeList(std::move(items), list->range, is_copied);
}

Datum Elaborator::EvaluatePrefix(const ast::PrefixExpr* prefix, Targets targets) {
  const Datum operand = Evaluate(prefix->operand);
  if (operand.holds_poison()) return Datum();
  if (operand.tensor() == nullptr) {
    llvm::Expected<Datum> result = FoldPrefix(prefix->op, operand);
    if (result) return *result;
    Error(Code::kArithmetic, prefix->range, llvm::toString(result.takeError()));
    return Datum();
  }
  Call call;
  call.def = FindOperator(sugar::OperatorFor(prefix->op));
  call.place = {prefix->range.begin, prefix->operand->range.begin};
  call.operands.push_back({operand, prefix->operand->range});
  Op* op = Emit(call, targets);
  return op == nullptr ? Datum() : Datum(op->result());
}

Datum Elaborator::EvaluateInfix(ast::OperatorUse use, Operand left, Operand right,
                                Targets targets) {
  if (left.datum.holds_poison() || right.datum.holds_poison()) return Datum();
  // Whether an input was left out is known: a tensor is not `none`.
  const bool asks_for_none = (use.op == Operator::kEqual || use.op == Operator::kNotEqual) &&
                             (left.datum.is<Datum::None>() || right.datum.is<Datum::None>());
  if (asks_for_none || (!left.datum.holds_tensor() && !right.datum.holds_tensor())) {
    if (!SpendSizes(left.datum, right.datum, use.range)) return Datum();
    llvm::Expected<Datum> result = FoldInfix(use.op, left.datum, right.datum);
    if (result) return *result;
    Diagnostic& diagnostic =
        Error(Code::kArithmetic, use.range, llvm::toString(result.takeError()));
    diagnostic.Underline(left.range).Underline(right.range);
    return Datum();
  }
  const llvm::StringRef name = sugar::OperatorFor(use.op);
  if (name.empty()) {
    Error(Code::kOperandKind, use.range, "'" + ast::Spelling(use.op) + "' does not take tensors");
    return Datum();
  }
  Call call;
  call.def = FindOperator(name);
  call.place = use.range;
  // To '@' an index is the one-hot row: it takes rows of the table.
  const Value* index = left.datum.tensor();
  const bool is_index =
      use.op == Operator::kMatmul && index != nullptr && index->type().index_bound;
  if (is_index && right.datum.is_literal() && right.datum.list() != nullptr) {
    // A table has a dtype of its own.
    right.datum = Datum(AsTensor(right.datum, right.range, NaturalDType(right.datum), {}));
    if (right.datum.tensor() == nullptr) return Datum();
  }
  const bool takes_rows =
      is_index && right.datum.tensor() != nullptr && right.datum.tensor()->type().rank() == 2;
  if (takes_rows) {
    const Operand& table = right;
    if (!MatchRows(*index, *table.datum.tensor(), use.range)) return Datum();
    call.def = FindOperator(sugar::kTakeRows);
    std::swap(left, right);
  }
  call.operands.push_back(std::move(left));
  call.operands.push_back(std::move(right));
  Op* op = Emit(call, targets);
  return op == nullptr ? Datum() : Datum(op->result());
}

// An index below V takes rows of a table of V.
bool Elaborator::MatchRows(const Value& index, const Value& table, SourceRange place) {
  DimCheck check = MakeCheck(Operator::kEqual, table.type().dims[0], *index.type().index_bound);
  const Truth truth = known_.Decide(check);
  if (truth == Truth::kUnknown) AddConstraint(std::move(check), LocationAt(place.begin));
  if (truth != Truth::kFalse) return true;
  Error(Code::kShapeMismatch, place,
        "an index below " + index.type().index_bound->ToString() + " takes rows of a table of " +
            table.type().dims[0].ToString());
  return false;
}

Datum Elaborator::EvaluateIn(const ast::ChainExpr* chain) {
  const Datum left = Evaluate(chain->operands[0]);
  const auto* range = llvm::dyn_cast<ast::ChainExpr>(chain->operands[1]);
  const bool is_range = range != nullptr && (range->operators[0].op == Operator::kRange ||
                                             range->operators[0].op == Operator::kRangeTo);
  if (is_range) {
    const bool takes_end = range->operators[0].op == Operator::kRangeTo;
    const Operand item{left, chain->operands[0]->range};
    const Operand low{Evaluate(range->operands[0]), range->operands[0]->range};
    const Operand high{Evaluate(range->operands[1]), range->operands[1]->range};
    const SourceRange sign = chain->operators[0].range;
    const Datum above = EvaluateInfix({Operator::kGreaterEqual, sign}, item, low, {});
    const Datum below =
        EvaluateInfix({takes_end ? Operator::kLessEqual : Operator::kLess, sign}, item, high, {});
    if (above.holds_poison() || below.holds_poison()) return Datum();
    if (above.get<bool>() != nullptr && below.get<bool>() != nullptr) {
      return Datum(*above.get<bool>() && *below.get<bool>());
    }
    Error(Code::kOperandKind, sign, "'in' does not take tensors");
    return Datum();
  }
  const Datum right = Evaluate(chain->operands[1]);
  if (left.holds_poison() || right.holds_poison()) return Datum();
  const auto* items = right.list();
  if (items == nullptr || left.holds_tensor() || right.holds_tensor()) {
    Error(Code::kOperandKind, chain->operands[1]->range,
          "'in' takes a range or a list of constants, got " + right.Phrase());
    return Datum();
  }
  if (!Spend(items->size(), chain->range)) return Datum();
  for (const Datum& item : *items) {
    llvm::Expected<Datum> is_equal = FoldInfix(Operator::kEqual, left, item);
    if (!is_equal) {
      llvm::consumeError(is_equal.takeError());
    } else if (const auto* truth = is_equal->get<bool>(); truth != nullptr && *truth) {
      return Datum(true);
    }
  }
  return Datum(false);
}

Elaborator::Results Elaborator::EvaluatePipe(const ast::ChainExpr* chain, Targets targets) {
  Operand piped{Evaluate(chain->operands[0]), chain->operands[0]->range};
  Results results;
  for (size_t i = 1; i < chain->operands.size(); ++i) {
    if (i > 1) piped.datum = UseFirst(results, piped.range);
    const auto* stage = llvm::cast<ast::CallExpr>(chain->operands[i]);
    const bool is_last = i + 1 == chain->operands.size();
    results = EvaluateCall(stage, &piped, is_last ? targets : Targets());
    piped.range = Span(chain->operands[0]->range, stage->range);
  }
  return results;
}

Datum Elaborator::EvaluateChain(const ast::ChainExpr* chain, Targets targets) {
  switch (chain->operators[0].op) {
    case Operator::kPipe:
      return UseFirst(EvaluatePipe(chain, targets), chain->range);
    case Operator::kIn:
      return EvaluateIn(chain);
    case Operator::kRange:
    case Operator::kRangeTo:
      Error(Code::kOperandKind, chain->range, "a range stands after 'in' only");
      return Datum();
    case Operator::kPower: {
      // Groups from the right.
      const size_t count = chain->operands.size();
      std::vector<Datum> values;
      for (const ast::Expr* operand : chain->operands) values.push_back(Evaluate(operand));
      Operand right{values.back(), chain->operands.back()->range};
      for (size_t i = count - 1; i-- > 0;) {
        const SourceRange range = chain->operands[i]->range;
        Datum result = EvaluateInfix(chain->operators[i], {values[i], range}, right,
                                     i == 0 ? targets : Targets());
        right = {std::move(result), Span(range, chain->operands.back()->range)};
      }
      return right.datum;
    }
    default: {
      Operand left{Evaluate(chain->operands[0]), chain->operands[0]->range};
      for (size_t i = 1; i < chain->operands.size(); ++i) {
        const bool is_last = i + 1 == chain->operands.size();
        Operand right{Evaluate(chain->operands[i]), chain->operands[i]->range};
        const SourceRange range = Span(left.range, right.range);
        left.datum = EvaluateInfix(chain->operators[i - 1], left, std::move(right),
                                   is_last ? targets : Targets());
        left.range = range;
      }
      return left.datum;
    }
  }
}

std::optional<Datum> Elaborator::FindByWay(const ast::MemberExpr* member) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  const ast::Expr* expr = member;
  while (const auto* inner = llvm::dyn_cast<ast::MemberExpr>(expr)) {
    parts.push_back(inner->member.text);
    expr = inner->base;
  }
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (name == nullptr) return std::nullopt;
  std::string way = name->name.str();
  for (llvm::StringRef part : llvm::reverse(parts)) way += "." + part.str();
  auto found = frame_->scope.find(way);  // what a flat text assigned
  if (found != frame_->scope.end()) return found->second;
  Value* value = graph_.FindValue(FullName(way));
  if (value == nullptr) return std::nullopt;
  return Datum(value->kind() == ValueKind::kState ? CurrentState(value) : value);
}

Datum Elaborator::Use(const TextFrame::Result& result, SourceRange place) {
  if (!result.missing.empty()) {
    Error(Code::kOperandCount, place, "this needs " + result.missing + ", which is not given");
  }
  return result.datum;
}

// `lstm(x).last`: one result of a call by its name; `hidden.w`: a parameter by the way to it.
Datum Elaborator::EvaluateMember(const ast::MemberExpr* member, Targets targets) {
  if (std::optional<Datum> found = FindByWay(member)) return *found;
  const ast::Expr* base = member->base;
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(base)) {
    base = parenthesis->inner;
  }
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(base);
  const bool is_pipe = chain != nullptr && chain->operators[0].op == Operator::kPipe;
  const auto* call = llvm::dyn_cast<ast::CallExpr>(is_pipe ? chain->operands.back() : base);
  const llvm::StringRef wanted = member->member.text;
  if (call == nullptr) {
    const auto* name = llvm::dyn_cast<ast::NameExpr>(base);
    const bool is_way = name != nullptr && (frame_->ways.contains(name->name) ||
                                            frame_->instances.contains(name->name));
    const Datum datum = is_way ? Datum() : Evaluate(base);
    if (is_way || !datum.holds_poison()) {
      const llvm::StringRef text = file_->Text(base->range);
      std::vector<std::string> names;
      for (Value* parameter : ParametersBelow(text)) {
        llvm::StringRef rest = parameter->name();
        if (rest.consume_front(FullName(text)) && rest.consume_front(".")) {
          names.push_back(rest.str());
        }
      }
      const std::vector<llvm::StringRef> known(names.begin(), names.end());
      if (is_way || !known.empty()) {
        Error(Code::kUnknownName, member->member.range,
              "'" + text + "' has no parameter '" + wanted + "'" + DidYouMean(wanted, known));
      } else {
        Diagnostic& diagnostic = Error(
            Code::kOperandKind, member->member.range,
            "a name after '.' is a result of a call, and '" + text + "' is " + datum.Phrase());
        NoteResults(datum, &diagnostic);
      }
    }
    return Datum();
  }
  // The name being assigned is that of the wanted result.
  const Callee callee = FindCallee(file_->Text(call->callee->range));
  const int index = callee.op == nullptr ? -1 : callee.op->signature.FindOutput(wanted);
  llvm::SmallVector<std::string, 4> names;
  if (targets.size() == 1) {
    if (index > 0) names.append(static_cast<size_t>(index), "_");
    names.push_back(targets[0]);
  }
  const Results results = EvaluateResults(base, names);
  if (results.is_poison()) return Datum();
  std::vector<llvm::StringRef> known;
  for (const TextFrame::Result& result : results.all) {
    if (result.name == wanted) return Use(result, member->member.range);
    known.push_back(result.name);
  }
  Error(Code::kUnknownName, member->member.range,
        "'" + file_->Text(call->callee->range) + "' has no result '" + wanted + "'" +
            DidYouMean(wanted, known));
  return Datum();
}

// That a name holds the first of several results of its call, and how the others are had.
void Elaborator::NoteResults(const Datum& datum, Diagnostic* diagnostic) {
  const Value* tensor = datum.tensor();
  const Op* call = tensor == nullptr ? nullptr : tensor->producer();
  if (call == nullptr || call->results().size() < 2) return;
  const OpSignature& signature = call->def().signature;
  std::vector<std::string> names;
  for (size_t i = 0; i < call->results().size(); ++i)
    names.push_back(signature.output(static_cast<unsigned>(i)).name);
  diagnostic->Note("its call gives more than one result: " + llvm::join(names, ", ") + " = " +
                   signature.name + "(...), or " + signature.name + "(...)." + names[1]);
}

Value* Elaborator::AsTensor(const Datum& datum, SourceRange range, std::optional<DType> dtype,
                            Targets targets) {
  if (datum.holds_poison()) return nullptr;
  if (Value* tensor = datum.tensor()) return tensor;
  if (const auto* size = datum.get<Dim>()) {
    return EmitSize(*size, range, dtype ? *dtype : DType::kI64, targets);
  }
  if (!datum.is_literal()) {
    Diagnostic& diagnostic =
        Error(Code::kOperandKind, range, "wanted a tensor, got " + datum.Phrase());
    const auto* items = datum.list();
    if (items != nullptr && !items->empty() &&
        llvm::all_of(*items, [](const Datum& item) { return item.tensor() != nullptr; })) {
      diagnostic.Note("the tensors of a list are given one by one: " + file_->Text(range).str() +
                      "...");
    }
    return nullptr;
  }
  if (!SpendExtent(datum, range)) return nullptr;
  const DType natural = dtype ? *dtype : NaturalDType(datum);
  if (RaggedLevels(datum) > 0 && FindOperator(sugar::kRagged) != nullptr)
    return EmitRagged(datum, natural, range, targets);
  llvm::Expected<Constant> constant = ToConstant(datum, natural);
  if (!constant) {
    Error(Code::kLiteral, range, llvm::toString(constant.takeError()));
    return nullptr;
  }
  return EmitConstant(std::move(*constant), range, targets);
}

}  // namespace pdl
