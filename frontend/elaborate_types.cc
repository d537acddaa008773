#include "frontend/elaborator.h"
#include "frontend/fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {

using ast::Operator;

namespace {

std::vector<llvm::StringRef> DTypeNames() {
  std::vector<llvm::StringRef> names;
  for (int i = 1; i < kNumDTypes; ++i) names.push_back(DTypeName(static_cast<DType>(i)));
  return names;
}

/// A size that is 1 where a relation holds, else 0.
Dim OneWhereHolds(const DimCheck& check) {
  const Dim difference = check.left - check.right;
  if (check.relation == DimCheck::Relation::kAtLeast)
    return Dim::Min(Dim(1), Dim::Max(Dim(0), difference + 1));
  // The 0 says that this is no less; bounds of a maximum do not.
  const Dim distance = Dim::Max(Dim(0), Dim::Max(difference, Dim(0) - difference));
  const Dim differs = Dim::Min(Dim(1), distance);
  return check.relation == DimCheck::Relation::kNotEqual ? differs : 1 - differs;
}

/// That such a size is 1.
DimCheck TruthCheck(const Dim& truth, llvm::StringRef text) {
  return {truth, DimCheck::Relation::kAtLeast, 1, ("'" + text + "' does not hold").str()};
}

// "; did you mean 'f32'?" for what other languages call it, else `near`.
std::string DTypeHint(llvm::StringRef name, std::string near) {
  const llvm::StringRef meant = llvm::StringSwitch<llvm::StringRef>(name)
                                    .Cases("float", "float32", "single", "f32")
                                    .Cases("double", "float64", "f64")
                                    .Cases("half", "float16", "f16")
                                    .Case("bfloat16", "bf16")
                                    .Cases("int", "long", "int64", "i64")
                                    .Case("int32", "i32")
                                    .Case("int16", "i16")
                                    .Cases("char", "int8", "i8")
                                    .Case("uint64", "u64")
                                    .Case("uint32", "u32")
                                    .Case("uint16", "u16")
                                    .Cases("byte", "uint8", "u8")
                                    .Case("boolean", "bool")
                                    .Default("");
  return meant.empty() ? near : "; did you mean '" + meant.str() + "'?";
}

// A capital letter, perhaps with more behind it: what a symbol for a dtype looks like.
bool LooksLikeSymbol(llvm::StringRef name) {
  return llvm::isUpper(name[0]) && !DTypeFromName(name.lower());
}

}  // namespace

std::optional<Type> Elaborator::ReadType(const ast::Type* type, bool introduces) {
  const ast::TypeTerm& term = type->terms.front();
  if (type->terms.size() > 1) {
    Error(Code::kBadType, type->terms[1].range, "only a layer's input has alternatives");
    return std::nullopt;
  }
  std::optional<DType> dtype = DTypeFromName(term.name.text);
  if (!dtype) {
    auto symbol = frame_->symbols.find(term.name.text);
    if (symbol != frame_->symbols.end()) {
      if (const auto* bound = symbol->second.value.get<DType>()) dtype = *bound;
    } else if (LooksLikeSymbol(term.name.text) && term.has_dims &&
               (introduces || frame_->caller != nullptr)) {
      // A symbol for a dtype that nothing fixes.
      dtype = DType::kF32;
      frame_->symbols[term.name.text] = {Datum(DType::kF32), term.name.range};
    }
  }
  if (!dtype || term.is_list || term.may_be_none) {
    if (!dtype) {
      Error(Code::kBadType, term.name.range,
            "no dtype is called '" + term.name.text + "'" +
                DTypeHint(term.name.text, DidYouMean(term.name.text, DTypeNames())));
    } else {
      Error(Code::kBadType, term.range,
            "a tensor's type is a dtype and its dims, such as f32[N, 3]");
    }
    return std::nullopt;
  }
  if (!term.has_dims) {
    Error(Code::kBadType, term.range, "the dims are missing; a scalar is " + term.name.text + "[]");
    return std::nullopt;
  }
  Type result;
  result.dtype = *dtype;
  if (term.is_sparse) result.storage = Storage::kSparse;
  bool ok = true;
  for (const ast::Dim& dim : term.dims) {
    if (dim.kind == ast::DimKind::kRagged) {
      const Dim* rows = ReadRaggedDim(dim.symbol, dim.range, introduces);
      if (rows != nullptr) result.dims.push_back(*rows);
      ok &= rows != nullptr;
    } else if (dim.kind == ast::DimKind::kAny) {
      if (frame_->any_dims) {
        result.dims.append(frame_->any_dims->begin(), frame_->any_dims->end());
        continue;
      }
      Error(Code::kBadType, dim.range,
            frame_->caller != nullptr ? "no input of this layer says what '...' is"
                                      : "'...' stands in a layer, whose signature says what it is");
      ok = false;
    } else if (std::optional<Dim> size = ReadDim(dim.expr, introduces)) {
      result.dims.push_back(std::move(*size));
    } else {
      ok = false;
    }
  }
  if (term.value_range.kind != ast::RangeKind::kNone) {
    std::optional<Dim> bound = ReadIndexBound(term, *dtype, introduces);
    ok &= bound.has_value();
    if (bound) result.index_bound = std::move(*bound);
  }
  if (!ok) return std::nullopt;
  if (const std::string fault = result.Fault(); !fault.empty()) {
    Error(Code::kBadType, term.range, fault);
    return std::nullopt;
  }
  return result;
}

const Dim* Elaborator::ReadRaggedDim(const ast::Identifier& symbol, SourceRange range,
                                     bool introduces) {
  const std::string name = "~" + symbol.text.str();
  auto known = frame_->symbols.find(name);
  if (known == frame_->symbols.end()) {
    if (!introduces) {
      std::vector<llvm::StringRef> names;
      for (const auto& entry : frame_->symbols)
        if (entry.first().starts_with("~")) names.push_back(entry.first());
      Error(Code::kUnknownName, range,
            "no input has a ragged dim " + name + DidYouMean(name, names));
      return nullptr;
    }
    const Dim rows = Dim::Symbol("~" + FullName(symbol.text));
    if (graph_.IsDataSymbol(rows.symbol())) {
      Error(Code::kRedefined, range,
            "'" + rows.ToString() + "' is a ragged dim already that only the data decide");
      return nullptr;
    }
    known = frame_->symbols.try_emplace(name, TextFrame::Symbol{Datum(rows), range}).first;
  }
  return known->second.value.get<Dim>();
}

// `in 0..V`
std::optional<Dim> Elaborator::ReadIndexBound(const ast::TypeTerm& term, DType dtype,
                                              bool introduces) {
  const ast::TypeRange& range = term.value_range;
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(range.value);
  const bool is_range =
      range.kind == ast::RangeKind::kIn && chain != nullptr &&
      (chain->operators[0].op == Operator::kRange || chain->operators[0].op == Operator::kRangeTo);
  if (!is_range || !IsInteger(dtype)) {
    Error(Code::kBadType, range.range, "an index is written i64[N] in 0..V");
    return std::nullopt;
  }
  const std::optional<Dim> low = ReadDim(chain->operands[0], false);
  std::optional<Dim> high = ReadDim(chain->operands[1], introduces);
  if (!low || !high) return std::nullopt;
  if (!low->is_constant(0)) {
    Error(Code::kBadType, chain->operands[0]->range, "the range of an index begins at 0");
    return std::nullopt;
  }
  if (high->is_ragged()) {
    Error(Code::kBadType, chain->operands[1]->range, "the range of an index ends at one size");
    return std::nullopt;
  }
  return chain->operators[0].op == Operator::kRangeTo ? *high + 1 : *high;
}

std::optional<Dim> Elaborator::ReadDim(const ast::Expr* expr, bool introduces) {
  if (introduces) {
    // New symbols come to be before the expression is computed.
    llvm::SmallVector<const ast::Expr*, 8> pending = {expr};
    while (!pending.empty()) {
      const ast::Expr* next = pending.pop_back_val();
      if (const auto* name = llvm::dyn_cast<ast::NameExpr>(next)) {
        auto found = frame_->scope.find(name->name);
        if (found == frame_->scope.end() || found->second.tensor() != nullptr) {
          if (!frame_->symbols.contains(name->name) && graph_.IsDataSymbol(FullName(name->name))) {
            Error(Code::kRedefined, name->range,
                  "'" + name->name + "' is a size already that only the data decide");
            return std::nullopt;
          }
          frame_->symbols.try_emplace(
              name->name, TextFrame::Symbol{Datum(Dim::Symbol(FullName(name->name))), name->range});
        }
      } else if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(next)) {
        pending.append(chain->operands.begin(), chain->operands.end());
      } else if (const auto* inner = llvm::dyn_cast<ast::ParenthesisExpr>(next)) {
        pending.push_back(inner->inner);
      } else if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(next)) {
        pending.push_back(prefix->operand);
      }
    }
  }
  const Datum datum = EvaluateSize(expr);
  std::optional<Dim> size = AsDim(datum, expr->range, "a size");
  if (!size) return std::nullopt;
  if (!size->is_valid() || size->ProvablyAtMost(-1)) {
    Error(Code::kDimOverflow, expr->range,
          size->is_valid() ? "a size is at least 0, got " + size->ToString()
                           : "this size leaves 64 bits, or divides by zero");
    return std::nullopt;
  }
  return size;
}

std::optional<Dim> Elaborator::AsDim(const Datum& datum, SourceRange range,
                                     const llvm::Twine& what) {
  if (datum.holds_poison()) return std::nullopt;
  std::optional<Dim> dim = datum.dim();
  if (!dim) {
    Error(Code::kUnknownSize, range, what + " is an int or made of symbols, got " + datum.Phrase());
  }
  return dim;
}

bool Elaborator::ReadCondition(const ast::Expr* condition, std::vector<DimCheck>* checks,
                               bool* failed) {
  const Nesting nesting(this);
  if (!nesting.Fits(condition->range) || !SpendStep(condition->range)) return false;
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(condition)) {
    return ReadCondition(parenthesis->inner, checks, failed);
  }
  if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(condition);
      prefix != nullptr && prefix->op == Operator::kNot) {
    return ReadDenied(prefix, checks, failed);
  }
  auto add = [&](DimCheck check) {
    if (!SpendCheck(check, condition->range)) return;
    const Truth truth = known_.Decide(check);
    if (truth == Truth::kFalse) *failed = true;
    if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  };
  if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(condition)) {
    const Operator op = chain->operators[0].op;
    if (op == Operator::kAnd) {
      bool ok = true;
      for (const ast::Expr* operand : chain->operands) ok &= ReadCondition(operand, checks, failed);
      return ok;
    }
    if (op == Operator::kOr) return ReadAlternatives(chain, checks, failed);
    if (op >= Operator::kEqual && op <= Operator::kIn) {
      const Datum left = EvaluateSize(chain->operands[0]);
      const auto* range = llvm::dyn_cast<ast::ChainExpr>(chain->operands[1]);
      if (op == Operator::kIn && left.dim() && range != nullptr &&
          (range->operators[0].op == Operator::kRange ||
           range->operators[0].op == Operator::kRangeTo)) {
        const std::optional<Dim> low = AsDim(EvaluateSize(range->operands[0]),
                                             range->operands[0]->range, "the end of a range");
        const std::optional<Dim> high = AsDim(EvaluateSize(range->operands[1]),
                                              range->operands[1]->range, "the end of a range");
        if (!low || !high) return false;
        for (const Dim& end : {*low, *high}) {
          if (const std::string reason = NotComparable(Operator::kLess, *left.dim(), end);
              !reason.empty()) {
            Error(Code::kArithmetic, chain->operators[0].range, reason);
            return false;
          }
        }
        add(MakeCheck(Operator::kGreaterEqual, *left.dim(), *low));
        add(MakeCheck(
            range->operators[0].op == Operator::kRangeTo ? Operator::kLessEqual : Operator::kLess,
            *left.dim(), *high));
        return true;
      }
      if (op != Operator::kIn) {
        const Datum right = EvaluateSize(chain->operands[1]);
        if (left.holds_poison() || right.holds_poison()) return false;
        if (left.dim() && right.dim()) {
          if (const std::string reason = NotComparable(op, *left.dim(), *right.dim());
              !reason.empty()) {
            Error(Code::kArithmetic, chain->operators[0].range, reason);
            return false;
          }
          add(MakeCheck(op, *left.dim(), *right.dim()));
          return true;
        }
        if (!left.holds_tensor() && !right.holds_tensor()) {
          llvm::Expected<Datum> truth = FoldInfix(op, left, right);
          if (truth) {
            *failed |= !*truth->get<bool>();
            return true;
          }
          Error(Code::kArithmetic, chain->operators[0].range, llvm::toString(truth.takeError()));
          return false;
        }
      }
    }
  }
  const Datum datum = EvaluateSize(condition);
  if (datum.holds_poison()) return false;
  const auto* truth = datum.get<bool>();
  if (truth == nullptr) {
    Error(Code::kUnknownSize, condition->range,
          "wanted a condition on sizes and constants, got " + datum.Phrase());
    return false;
  }
  *failed |= !*truth;
  return true;
}

// `not condition`.
bool Elaborator::ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks,
                            bool* failed) {
  std::vector<DimCheck> open;
  bool is_false = false;
  if (!ReadCondition(denied->operand, &open, &is_false)) return false;
  if (is_false) return true;
  if (open.empty()) *failed = true;
  Dim holds = 1;
  for (const DimCheck& check : open) holds = Dim::Min(holds, OneWhereHolds(check));
  if (open.empty()) return true;
  // What is known to hold already says nothing new.
  DimCheck check = TruthCheck(1 - holds, file_->Text(denied->range));
  if (!SpendCheck(check, denied->range)) return false;
  const Truth truth = known_.Decide(check);
  if (truth == Truth::kFalse) *failed = true;
  if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  return true;
}

// One of the conditions must hold: those that sizes decide become one number that is 1 where one
// does.
bool Elaborator::ReadAlternatives(const ast::ChainExpr* chain, std::vector<DimCheck>* checks,
                                  bool* failed) {
  std::vector<std::vector<DimCheck>> open;
  for (const ast::Expr* operand : chain->operands) {
    std::vector<DimCheck> wanted;
    bool is_false = false;
    if (!ReadCondition(operand, &wanted, &is_false)) return false;
    if (!is_false && wanted.empty()) return true;
    if (!is_false) open.push_back(std::move(wanted));
  }
  if (open.empty()) *failed = true;
  if (open.size() < 2) {
    for (std::vector<DimCheck>& one : open) llvm::move(one, std::back_inserter(*checks));
    return true;
  }
  Dim any = 0;
  for (const std::vector<DimCheck>& all : open) {
    Dim holds = 1;
    for (const DimCheck& check : all) holds = Dim::Min(holds, OneWhereHolds(check));
    any = Dim::Max(any, holds);
  }
  if (!any.is_valid()) {
    Error(Code::kArithmetic, chain->range, "this is too long to be decided");
    return false;
  }
  DimCheck check = TruthCheck(any, file_->Text(chain->range));
  if (!SpendCheck(check, chain->range)) return false;
  const Truth truth = known_.Decide(check);
  if (truth == Truth::kFalse) *failed = true;
  if (truth == Truth::kUnknown) checks->push_back(std::move(check));
  return true;
}

bool Elaborator::CheckType(const Type& actual, const Type& declared, SourceRange place,
                           const llvm::Twine& subject) {
  auto fail = [&](Code code) {
    Error(code, place, subject + " is " + actual.ToString() + ", declared " + declared.ToString());
    return false;
  };
  if (actual.dtype != declared.dtype) return fail(Code::kDTypeMismatch);
  if (actual.storage != declared.storage) return fail(Code::kStorage);
  if (actual.rank() != declared.rank()) return fail(Code::kRank);
  if (declared.index_bound) {
    if (!actual.index_bound) return fail(Code::kOperandDType);
    DimCheck check = MakeCheck(Operator::kLessEqual, *actual.index_bound, *declared.index_bound);
    const Truth truth = known_.Decide(check);
    if (truth == Truth::kFalse) return fail(Code::kShapeMismatch);
    if (truth == Truth::kUnknown) AddConstraint(std::move(check), LocationAt(place.begin));
  }
  for (unsigned i = 0; i < actual.rank(); ++i) {
    DimCheck check = MakeCheck(Operator::kEqual, actual.dims[i], declared.dims[i]);
    const Truth truth = known_.Decide(check);
    if (truth == Truth::kFalse) return fail(Code::kShapeMismatch);
    if (truth == Truth::kUnknown) {
      AddConstraint(std::move(check), LocationAt(place.begin));
    }
  }
  return true;
}

}  // namespace pdl
