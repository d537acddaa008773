#include "frontend/elaborate/type_matcher.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/fold.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/type_reader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

namespace {

// Collects the names in an expression of dims.
void NamesIn(const ast::Expr* expr, llvm::SmallVectorImpl<const ast::NameExpr*>* names) {
  llvm::SmallVector<const ast::Expr*, 8> pending = {expr};
  while (!pending.empty()) {
    const ast::Expr* next = pending.pop_back_val();
    if (const auto* name = llvm::dyn_cast<ast::NameExpr>(next)) {
      names->push_back(name);
    } else if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(next)) {
      for (const ast::Expr* operand : llvm::reverse(chain->operands)) pending.push_back(operand);
    } else if (const auto* inner = llvm::dyn_cast<ast::ParenthesisExpr>(next)) {
      pending.push_back(inner->inner);
    } else if (const auto* call = llvm::dyn_cast<ast::CallExpr>(next)) {
      const auto* callee = llvm::dyn_cast<ast::NameExpr>(call->callee);
      if (callee == nullptr || (callee->name != "min" && callee->name != "max")) continue;
      for (const ast::Argument& argument : call->arguments) pending.push_back(argument.value);
    } else if (const auto* prefix = llvm::dyn_cast<ast::PrefixExpr>(next)) {
      pending.push_back(prefix->operand);
    }
  }
}

}  // namespace

const DType* TypeMatcher::DTypeOf(llvm::StringRef symbol) const {
  auto found = at_.frame->symbols.find(symbol);
  return found == at_.frame->symbols.end() ? nullptr : found->second.value.get<DType>();
}

bool TypeMatcher::TakesDType(const ast::TypeTerm& term, bool is_only, const Type& actual) const {
  if (term.is_sparse != (actual.storage == Storage::kSparse)) return false;
  if (std::optional<DType> expected = DTypeFromName(term.name.text)) {
    return *expected == actual.dtype &&
           (is_only ||
            (term.value_range.kind != ast::RangeKind::kNone) == actual.index_bound.has_value());
  }
  if (const DType* dtype = DTypeOf(term.name.text)) return *dtype == actual.dtype;
  return IsFloat(actual.dtype);
}

namespace {

const ast::Dim* FindOpenDim(const ast::TypeTerm& term) {
  return llvm::find_if(term.dims, [](const ast::Dim& d) { return d.kind == ast::DimKind::kAny; });
}

bool TakesRank(const ast::TypeTerm& term, const Type& actual) {
  const bool is_open = FindOpenDim(term) != term.dims.end();
  return is_open ? actual.rank() + 1 >= term.dims.size() : actual.rank() == term.dims.size();
}

/// Whether the ragged dims are at the same positions as in the term.
bool TakesRagged(const ast::TypeTerm& term, const Type& actual) {
  const ast::Dim* open = FindOpenDim(term);
  for (const ast::Dim& dim : term.dims) {
    if (&dim == open) continue;
    const auto i = static_cast<size_t>(&dim - term.dims.begin());
    const size_t place = &dim < open ? i : actual.rank() - (term.dims.size() - i);
    if ((dim.kind == ast::DimKind::kRagged) != actual.dims[place].is_ragged()) return false;
  }
  return true;
}

}  // namespace

bool TypeMatcher::Match(const ast::Type* type, const Type& actual, llvm::StringRef name,
                        SourceRange place, ItemSymbols* item_symbols) {
  mismatch_note_.reset();
  auto mismatch = [&](Code code) {
    ReportMismatch(code, type, actual, name, place);
    return false;
  };
  auto takes_dtype = [&](const ast::TypeTerm& term) {
    return TakesDType(term, type->terms.size() == 1, actual);
  };
  // The first alternative that fits in dtype, rank and ragged dims.
  const auto* term = llvm::find_if(type->terms, [&](const ast::TypeTerm& candidate) {
    return takes_dtype(candidate) && TakesRank(candidate, actual) && TakesRagged(candidate, actual);
  });
  if (term == type->terms.end()) {
    // Otherwise the first alternative with this dtype explains the mismatch.
    term = llvm::find_if(type->terms, takes_dtype);
    const bool is_storage =
        term == type->terms.end() && llvm::none_of(type->terms, [&](const ast::TypeTerm& other) {
          return other.is_sparse == actual.is_sparse();
        });
    if (is_storage) return mismatch(Code::kStorage);
    if (term == type->terms.end()) return mismatch(Code::kOperandDType);
    return mismatch(TakesRank(*term, actual) ? Code::kStorage : Code::kRank);
  }
  if (term->value_range.kind != ast::RangeKind::kNone && !actual.index_bound)
    return mismatch(Code::kOperandDType);
  const size_t before = report_.diagnostics().num_errors();
  if (MatchTerm(*term, actual, name, item_symbols)) return true;
  return report_.diagnostics().num_errors() == before ? mismatch(Code::kShapeMismatch) : false;
}

void TypeMatcher::ReportMismatch(Code code, const ast::Type* type, const Type& actual,
                                 llvm::StringRef name, SourceRange place) {
  Diagnostic& diagnostic =
      report_.CallerError(code, place,
                          "input '" + name + "' of '" + at_.frame->callee + "' must be " +
                              at_.file->Text(type->range) + ", got " + actual.ToString());
  const bool takes_range = llvm::any_of(type->terms, [](const ast::TypeTerm& term) {
    return term.value_range.kind != ast::RangeKind::kNone;
  });
  if (takes_range && actual.dtype == DType::kI64 && !actual.index_bound)
    diagnostic.Note("the declaration of an input states its range: i64[N] in 0..1000");
  // The current values of the symbols in it.
  std::vector<std::string> facts;
  llvm::StringSet<> seen;
  auto add = [&](llvm::StringRef symbol) {
    auto found = at_.frame->symbols.find(symbol);
    if (found == at_.frame->symbols.end() || !seen.insert(symbol).second) return;
    const Datum& datum = found->second.value;
    facts.push_back(symbol.str() + " is " +
                    (datum.dim()         ? datum.dim()->ToString()
                     : datum.is<DType>() ? DTypeName(*datum.get<DType>()).str()
                                         : datum.Phrase()));
  };
  for (const ast::TypeTerm& term : type->terms) {
    add(term.name.text);
    for (const ast::Dim& dim : term.dims) {
      if (dim.kind == ast::DimKind::kRagged) add(names_.Save("~" + dim.symbol.text));
      if (dim.kind != ast::DimKind::kExpr) continue;
      llvm::SmallVector<const ast::NameExpr*, 4> names;
      NamesIn(dim.expr, &names);
      for (const ast::NameExpr* symbol : names) add(symbol->name);
    }
  }
  if (!facts.empty()) diagnostic.Note(llvm::join(facts, ", "));
  if (mismatch_note_) diagnostic.Note(*std::exchange(mismatch_note_, std::nullopt));
}

bool TypeMatcher::MatchTerm(const ast::TypeTerm& term, const Type& actual, llvm::StringRef subject,
                            ItemSymbols* item_symbols) {
  if (!DTypeFromName(term.name.text)) {
    BindSymbol(term.name.text, term.name.range, Datum(actual.dtype), nullptr);
  }
  const size_t count = term.dims.size();
  const ast::Dim* open = FindOpenDim(term);
  const auto leading = static_cast<size_t>(open - term.dims.begin());
  if (open != term.dims.end()) {
    const size_t any = actual.rank() - (count - 1);
    Shape dims(actual.dims.begin() + leading, actual.dims.begin() + leading + any);
    if (!MatchAnyDims(std::move(dims), subject)) return false;
  }
  // First the dims that are a single name: the others may depend on these symbols.
  for (const bool are_names : {true, false}) {
    for (size_t i = 0; i < count; ++i) {
      const ast::Dim& dim = term.dims[i];
      if (&dim == open) continue;  // may stand for no dim at all
      const Dim& size = i < leading ? actual.dims[i] : actual.dims[actual.rank() - (count - i)];
      if (dim.kind == ast::DimKind::kRagged && are_names) {
        if (!MatchRaggedDim(dim, size, item_symbols)) return false;
      }
      if (dim.kind != ast::DimKind::kExpr) continue;
      if (llvm::isa<ast::NameExpr>(dim.expr) != are_names) continue;
      if (!MatchDim(dim.expr, size, subject, item_symbols)) return false;
    }
  }
  return term.value_range.kind == ast::RangeKind::kNone ||
         MatchIndexBound(term.value_range, *actual.index_bound, subject, item_symbols);
}

bool TypeMatcher::MatchAnyDims(Shape dims, llvm::StringRef subject) {
  std::optional<Shape>& known = at_.frame->any_dims;
  if (!known) {
    known = std::move(dims);
    return true;
  }
  if (known->size() != dims.size()) return false;
  for (auto [declared, given] : llvm::zip(*known, dims))
    if (!MatchSize(declared, given, subject)) return false;
  return true;
}

bool TypeMatcher::MatchRaggedDim(const ast::Dim& dim, const Dim& actual,
                                 ItemSymbols* item_symbols) {
  const llvm::StringRef name = names_.Save("~" + dim.symbol.text);
  auto known = at_.frame->symbols.find(name);
  if (known != at_.frame->symbols.end()) return *known->second.value.get<Dim>() == actual;
  BindSymbol(name, dim.range, Datum(actual), item_symbols);
  return true;
}

bool TypeMatcher::MatchIndexBound(const ast::TypeRange& declared, const Dim& actual,
                                  llvm::StringRef subject, ItemSymbols* item_symbols) {
  const auto* range = llvm::dyn_cast<ast::ChainExpr>(declared.value);
  if (range == nullptr || range->operands.size() != 2) {
    report_.Error(Code::kBadType, declared.range, "an index is written i64[N] in 0..V");
    return false;
  }
  const ast::Expr* const end = range->operands[1];
  const auto* name = llvm::dyn_cast<ast::NameExpr>(end);
  const bool is_new = name != nullptr && !at_.frame->symbols.contains(name->name) &&
                      !at_.frame->scope.contains(name->name);
  if (is_new) return MatchDim(end, actual, subject, item_symbols);
  // The value's range must be contained in the declared one.
  const std::optional<Dim> bound =
      types_.AsDim(expressions_.EvaluateSize(end), end->range, "the end of a range");
  if (!bound) return false;
  DimCheck check = MakeCheck(ast::Operator::kLessEqual, actual, *bound);
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kUnknown) constraints_.Add(std::move(check), at_.frame->origin);
  return truth != Truth::kFalse;
}

bool TypeMatcher::MatchDim(const ast::Expr* expr, const Dim& actual, llvm::StringRef subject,
                           ItemSymbols* item_symbols) {
  llvm::SmallVector<const ast::NameExpr*, 4> names;
  NamesIn(expr, &names);
  llvm::SmallVector<const ast::NameExpr*, 2> unknowns;
  for (const ast::NameExpr* name : names) {
    auto found = at_.frame->scope.find(name->name);
    const bool is_constant = found != at_.frame->scope.end() && found->second.tensor() == nullptr;
    if (at_.frame->symbols.contains(name->name) || is_constant) continue;
    if (llvm::none_of(unknowns, [&](const auto* other) { return other->name == name->name; }))
      unknowns.push_back(name);
  }
  auto match = [&] {
    const std::optional<Dim> declared =
        types_.AsDim(expressions_.EvaluateSize(expr), expr->range, "a size");
    return declared && MatchSize(*declared, actual, subject);
  };
  if (unknowns.empty()) return match();
  if (unknowns.size() > 1) {
    if (TakeSymbolsOfFile(unknowns)) return match();
    report_.Error(Code::kUnsolvableSymbol, expr->range,
                  "this contains two symbols that nothing else determines: " + unknowns[0]->name +
                      " and " + unknowns[1]->name);
    return false;
  }
  const ast::NameExpr* const unknown = unknowns.front();
  if (llvm::isa<ast::NameExpr>(expr)) {
    BindSymbol(unknown->name, unknown->range, Datum(actual), item_symbols);
    return true;
  }
  // a*S + b: S is (size - b) // a, without a remainder.
  const std::string stand_in = "#" + unknown->name.str();
  at_.frame->symbols[unknown->name] = {Datum(Dim::Symbol(stand_in)), unknown->range};
  const std::optional<Dim> declared =
      types_.AsDim(expressions_.EvaluateSize(expr), expr->range, "a size");
  at_.frame->symbols.erase(unknown->name);
  if (!declared) return false;
  auto at = [&](int64_t size) {
    return declared->Substitute([&](llvm::StringRef symbol) -> std::optional<Dim> {
      if (symbol == stand_in) return Dim(size);
      return std::nullopt;
    });
  };
  const Dim offset = at(0);
  const Dim factor = at(1) - offset;
  if (declared->is_valid() && (*declared == factor * Dim::Symbol(stand_in) + offset) &&
      !factor.is_constant(0)) {
    const Dim rest = actual - offset;
    BindSymbol(unknown->name, unknown->range, Datum(Dim::FloorDiv(rest, factor)), item_symbols);
    if (rest.ProvablyAtMost(-1)) return false;
    return MatchSize(Dim(0), Dim::Mod(rest, factor), subject);
  }
  if (TakeSymbolsOfFile(unknowns)) return match();
  report_.Error(Code::kUnsolvableSymbol, expr->range,
                "the size does not determine " + unknown->name + "; a dim such as 2*" +
                    unknown->name + " + 1 does");
  return false;
}

bool TypeMatcher::MatchSize(const Dim& declared, const Dim& actual, llvm::StringRef subject) {
  DimCheck check = MakeCheck(ast::Operator::kEqual, actual, declared);
  const Truth truth = constraints_.Decide(check);
  if (truth == Truth::kUnknown) {
    mismatch_note_ = constraints_.NoteIfOnlyEmpty(check);
    if (mismatch_note_) return false;
    check.message =
        "input '" + subject.str() + "' of '" + at_.frame->callee.str() + "': " + check.message;
    constraints_.Add(std::move(check), at_.frame->origin);
  }
  return truth != Truth::kFalse;
}

bool TypeMatcher::TakeSymbolsOfFile(llvm::ArrayRef<const ast::NameExpr*> names) {
  const TextFrame* file = at_.frame->caller;
  while (file->caller != nullptr && file->arguments == nullptr) file = file->caller;
  if (file->module != at_.frame->module) return false;
  auto is_size = [&](const ast::NameExpr* name) {
    const auto found = file->symbols.find(name->name);
    return found != file->symbols.end() && found->second.value.dim();
  };
  if (!llvm::all_of(names, is_size)) return false;
  for (const ast::NameExpr* name : names)
    BindSymbol(name->name, name->range, file->symbols.find(name->name)->second.value, nullptr);
  return true;
}

void TypeMatcher::BindSymbol(llvm::StringRef name, SourceRange range, Datum value,
                             ItemSymbols* item_symbols) {
  if (item_symbols != nullptr && !value.is<DType>()) item_symbols->emplace_back(name, value);
  at_.frame->symbols[name] = {std::move(value), range};
}

}  // namespace pdl
