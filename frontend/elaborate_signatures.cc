// The inputs of a layer: values are matched with the types of its signature, which introduce
// symbols.
#include "frontend/elaborator.h"
#include "frontend/fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

using ItemSymbols = std::vector<std::pair<llvm::StringRef, Datum>>;

namespace {

// Names in an expression of dims.
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

bool Elaborator::BindLayerInputs(const ast::LayerStatement* layer,
                                 const LayerArguments& arguments) {
  size_t next = 0;
  size_t declared = 0;
  for (const ast::Parameter& parameter : layer->parameters) {
    if (!parameter.type->is_tensor()) continue;
    ++declared;
    const llvm::StringRef name = parameter.name.text;
    const LayerArgument* named = nullptr;
    for (const LayerArgument& argument : arguments.named)
      if (argument.name.text == name) named = &argument;
    llvm::SmallVector<Operand, 4> given;
    if (parameter.is_repeatable) {
      for (; next < arguments.operands.size(); ++next) given.push_back(arguments.operands[next]);
    } else if (next < arguments.operands.size()) {
      given.push_back(arguments.operands[next++]);
    }
    if (named != nullptr) {
      if (!given.empty()) {
        CallerError(Code::kOperandCount, named->name.range,
                    "input '" + name + "' is given twice: by position and by name");
        return false;
      }
      const auto* items = named->datum.list();
      if (parameter.is_repeatable && items != nullptr) {
        for (const Datum& item : *items) given.push_back({item, named->range});
      } else {
        given.push_back({named->datum, named->range});
      }
    }
    if (parameter.is_repeatable) {
      if (given.empty()) {
        CallerError(Code::kOperandCount, frame_->place,
                    "'" + frame_->callee + "' takes at least 1 input, got 0");
        return false;
      }
      std::vector<Datum> items;
      TextFrame::Repeat repeat{};
      for (const Operand& operand : given) {
        ItemSymbols own;
        frame_->any_dims.reset();
        std::optional<Datum> bound = BindInput(parameter.type, name, operand, &own);
        if (!bound) return false;
        items.push_back(std::move(*bound));
        for (const auto& entry : own) frame_->symbols.erase(entry.first);
        repeat.symbols.push_back(std::move(own));
        repeat.any_dims.push_back(frame_->any_dims);
      }
      if (given.size() > 1) frame_->any_dims.reset();
      const Datum list(std::move(items));
      repeat.list = list;
      frame_->repeats.push_back(std::move(repeat));
      Assign(name, list);
      continue;
    }
    if (given.empty()) {
      const auto* word = parameter.default_value == nullptr
                             ? nullptr
                             : llvm::dyn_cast<ast::WordExpr>(parameter.default_value);
      if (word != nullptr && word->word == ast::Word::kNone) {
        Assign(name, Datum::NoneValue());
        continue;
      }
      if (parameter.default_value == nullptr) {
        CallerError(Code::kOperandCount, frame_->place,
                    "input '" + name + "' of '" + frame_->callee + "' is missing");
        return false;
      }
      const Datum datum = Evaluate(parameter.default_value);
      if (datum.holds_poison()) return false;
      std::optional<DType> dtype = DTypeFromName(parameter.type->terms.front().name.text);
      Value* value = AsTensor(datum, parameter.default_value->range, dtype, {});
      if (value == nullptr) return false;
      given.push_back({Datum(value), frame_->place});
    } else if (given[0].datum.is<Datum::None>() && parameter.default_value != nullptr) {
      Assign(name, Datum::NoneValue());
      continue;
    }
    std::optional<Datum> bound = BindInput(parameter.type, name, given[0], nullptr);
    if (!bound) return false;
    Assign(name, std::move(*bound));
  }
  if (next < arguments.operands.size()) {
    Diagnostic& diagnostic = CallerError(Code::kOperandCount, arguments.operands[next].range,
                                         "'" + frame_->callee + "' takes " + llvm::Twine(declared) +
                                             (declared == 1 ? " input, got " : " inputs, got ") +
                                             llvm::Twine(arguments.operands.size()));
    for (const ast::Parameter& parameter : layer->parameters) {
      if (parameter.type->is_tensor()) continue;
      diagnostic.Note("attributes are given by name: " + parameter.name.text.str() + "=…");
      break;
    }
    return false;
  }
  return true;
}

void Elaborator::BindSymbol(llvm::StringRef name, SourceRange range, Datum value,
                            ItemSymbols* item_symbols) {
  if (item_symbols != nullptr && !value.is<DType>()) item_symbols->emplace_back(name, value);
  frame_->symbols[name] = {std::move(value), range};
}

std::optional<Datum> Elaborator::BindInput(const ast::Type* type, llvm::StringRef name,
                                           const Operand& operand, ItemSymbols* item_symbols) {
  TextFrame* const here = frame_;
  // A literal becomes a tensor where it is written.
  const ast::TypeTerm& first = type->terms.front();
  std::optional<DType> dtype = DTypeFromName(first.name.text);
  if (!dtype) {
    auto symbol = frame_->symbols.find(first.name.text);
    if (symbol != frame_->symbols.end() && symbol->second.value.is<DType>())
      dtype = *symbol->second.value.get<DType>();
    else if (!operand.datum.holds_tensor() && operand.datum.is_literal() &&
             NaturalDType(operand.datum) == DType::kI64)
      dtype = DType::kF32;
  }
  const std::shared_ptr<const SourceFile> file = file_;
  frame_ = here->caller;
  file_ = here->caller_file;
  Value* value = AsTensor(operand.datum, operand.range, dtype, {});
  frame_ = here;
  file_ = file;
  if (value == nullptr) return std::nullopt;
  const Type& actual = value->type();

  auto mismatch = [&](Code code) {
    Diagnostic& diagnostic =
        CallerError(code, operand.range,
                    "input '" + name + "' of '" + frame_->callee + "' must be " +
                        file_->Text(type->range) + ", got " + actual.ToString());
    // What the symbols in it are already.
    std::vector<std::string> facts;
    llvm::StringSet<> seen;
    for (const ast::TypeTerm& term : type->terms) {
      auto add = [&](llvm::StringRef symbol) {
        auto found = frame_->symbols.find(symbol);
        if (found == frame_->symbols.end() || !seen.insert(symbol).second) return;
        const Datum& datum = found->second.value;
        facts.push_back(symbol.str() + " is " +
                        (datum.dim()         ? datum.dim()->ToString()
                         : datum.is<DType>() ? DTypeName(*datum.get<DType>()).str()
                                             : datum.Phrase()));
      };
      add(term.name.text);
      for (const ast::Dim& dim : term.dims) {
        if (dim.kind == ast::DimKind::kRagged) add(Save("~" + dim.symbol.text));
        if (dim.kind != ast::DimKind::kExpr) continue;
        llvm::SmallVector<const ast::NameExpr*, 4> names;
        NamesIn(dim.expr, &names);
        for (const ast::NameExpr* symbol : names) add(symbol->name);
      }
    }
    if (!facts.empty()) diagnostic.Note(llvm::join(facts, ", "));
    return std::nullopt;
  };

  // The first alternative of this kind of data.
  auto takes_dtype = [&](const ast::TypeTerm& term) {
    if (term.is_sparse != (actual.storage == Storage::kSparse)) return false;
    if (std::optional<DType> wanted = DTypeFromName(term.name.text)) {
      return *wanted == actual.dtype &&
             (type->terms.size() == 1 ||
              (term.value_range.kind != ast::RangeKind::kNone) == actual.index_bound.has_value());
    }
    auto symbol = frame_->symbols.find(term.name.text);
    if (symbol != frame_->symbols.end() && symbol->second.value.is<DType>())
      return *symbol->second.value.get<DType>() == actual.dtype;
    return IsFloat(actual.dtype);
  };
  auto takes_rank = [&](const ast::TypeTerm& term) {
    const bool is_open =
        llvm::any_of(term.dims, [](const ast::Dim& d) { return d.kind == ast::DimKind::kAny; });
    return is_open ? actual.rank() + 1 >= term.dims.size() : actual.rank() == term.dims.size();
  };
  // The dims of the term that have a size, against those that have one.
  auto takes_ragged = [&](const ast::TypeTerm& term) {
    const auto* open =
        llvm::find_if(term.dims, [](const ast::Dim& d) { return d.kind == ast::DimKind::kAny; });
    for (const ast::Dim& dim : term.dims) {
      if (&dim == open) continue;
      const auto i = static_cast<size_t>(&dim - term.dims.begin());
      const size_t place = &dim < open ? i : actual.rank() - (term.dims.size() - i);
      if ((dim.kind == ast::DimKind::kRagged) != actual.dims[place].is_ragged()) return false;
    }
    return true;
  };
  const auto* term = llvm::find_if(type->terms, [&](const ast::TypeTerm& candidate) {
    return takes_dtype(candidate) && takes_rank(candidate) && takes_ragged(candidate);
  });
  if (term == type->terms.end()) {
    // The first one that is near says what is wrong.
    term = llvm::find_if(type->terms, takes_dtype);
    const bool is_storage =
        term == type->terms.end() && llvm::none_of(type->terms, [&](const ast::TypeTerm& other) {
          return other.is_sparse == actual.is_sparse();
        });
    if (is_storage) return mismatch(Code::kStorage);
    if (term == type->terms.end()) return mismatch(Code::kOperandDType);
    return mismatch(takes_rank(*term) ? Code::kStorage : Code::kRank);
  }
  if (term->value_range.kind != ast::RangeKind::kNone && !actual.index_bound)
    return mismatch(Code::kOperandDType);
  const size_t before = diagnostics_->num_errors();
  if (!MatchTerm(*term, actual, name, item_symbols)) {
    if (diagnostics_->num_errors() == before) return mismatch(Code::kShapeMismatch);
    return std::nullopt;
  }
  return Datum(value);
}

bool Elaborator::MatchTerm(const ast::TypeTerm& term, const Type& actual, llvm::StringRef subject,
                           ItemSymbols* item_symbols) {
  if (!DTypeFromName(term.name.text)) {
    BindSymbol(term.name.text, term.name.range, Datum(actual.dtype), nullptr);
  }
  const size_t count = term.dims.size();
  const auto* open =
      llvm::find_if(term.dims, [](const ast::Dim& d) { return d.kind == ast::DimKind::kAny; });
  const auto leading = static_cast<size_t>(open - term.dims.begin());
  if (open != term.dims.end()) {
    const size_t any = actual.rank() - (count - 1);
    Shape dims(actual.dims.begin() + leading, actual.dims.begin() + leading + any);
    if (frame_->any_dims) {
      if (frame_->any_dims->size() != dims.size()) return false;
      for (auto [declared, given] : llvm::zip(*frame_->any_dims, dims))
        if (!MatchSize(declared, given, subject)) return false;
    } else {
      frame_->any_dims = std::move(dims);
    }
  }
  // Dims that are one new symbol first: others may be made of them.
  auto actual_of = [&](size_t i) -> const Dim& {
    return i < leading ? actual.dims[i] : actual.dims[actual.rank() - (count - i)];
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < count; ++i) {
      const ast::Dim& dim = term.dims[i];
      if (dim.kind == ast::DimKind::kRagged && pass == 0) {
        const llvm::StringRef name = Save("~" + dim.symbol.text);
        auto known = frame_->symbols.find(name);
        if (known == frame_->symbols.end()) {
          BindSymbol(name, dim.range, Datum(actual_of(i)), item_symbols);
        } else if (*known->second.value.get<Dim>() != actual_of(i)) {
          return false;
        }
      }
      if (dim.kind != ast::DimKind::kExpr) continue;
      const bool is_name = llvm::isa<ast::NameExpr>(dim.expr);
      if (is_name != (pass == 0)) continue;
      if (!MatchDim(dim.expr, actual_of(i), subject, item_symbols)) return false;
    }
  }
  if (term.value_range.kind == ast::RangeKind::kNone) return true;
  const auto* range = llvm::dyn_cast<ast::ChainExpr>(term.value_range.value);
  if (range == nullptr || range->operands.size() != 2) {
    Error(Code::kBadType, term.value_range.range, "an index is written i64[N] in 0..V");
    return false;
  }
  // A smaller range is inside a larger one that is known.
  const auto* name = llvm::dyn_cast<ast::NameExpr>(range->operands[1]);
  const bool is_new = name != nullptr && !frame_->symbols.contains(name->name) &&
                      !frame_->scope.contains(name->name);
  if (is_new) {
    return MatchDim(range->operands[1], *actual.index_bound, subject, item_symbols);
  }
  const std::optional<Dim> bound =
      AsDim(EvaluateSize(range->operands[1]), range->operands[1]->range, "the end of a range");
  if (!bound) return false;
  DimCheck check = MakeCheck(ast::Operator::kLessEqual, *actual.index_bound, *bound);
  const Truth truth = known_.Decide(check);
  if (truth == Truth::kUnknown) AddConstraint(std::move(check), frame_->origin);
  return truth != Truth::kFalse;
}

// A size such as N * M or N // 2 does not say what its symbols are. A layer of the same file means
// those of the file's inputs, as the bodies of loops do in a flat text.
bool Elaborator::TakeSymbolsOfFile(llvm::ArrayRef<const ast::NameExpr*> names) {
  const TextFrame* file = frame_->caller;
  while (file->caller != nullptr && file->arguments == nullptr) file = file->caller;
  if (file->module != frame_->module) return false;
  auto is_size = [&](const ast::NameExpr* name) {
    const auto found = file->symbols.find(name->name);
    return found != file->symbols.end() && found->second.value.dim();
  };
  if (!llvm::all_of(names, is_size)) return false;
  for (const ast::NameExpr* name : names)
    BindSymbol(name->name, name->range, file->symbols.find(name->name)->second.value, nullptr);
  return true;
}

bool Elaborator::MatchDim(const ast::Expr* expr, const Dim& actual, llvm::StringRef subject,
                          ItemSymbols* item_symbols) {
  llvm::SmallVector<const ast::NameExpr*, 4> names;
  NamesIn(expr, &names);
  llvm::SmallVector<const ast::NameExpr*, 2> unknowns;
  for (const ast::NameExpr* name : names) {
    auto found = frame_->scope.find(name->name);
    const bool is_constant = found != frame_->scope.end() && found->second.tensor() == nullptr;
    if (frame_->symbols.contains(name->name) || is_constant) continue;
    if (llvm::none_of(unknowns, [&](const auto* other) { return other->name == name->name; }))
      unknowns.push_back(name);
  }
  auto match = [&] {
    const std::optional<Dim> declared = AsDim(EvaluateSize(expr), expr->range, "a size");
    return declared && MatchSize(*declared, actual, subject);
  };
  if (unknowns.empty()) return match();
  if (unknowns.size() > 1) {
    if (TakeSymbolsOfFile(unknowns)) return match();
    Error(Code::kUnsolvableSymbol, expr->range,
          "this holds two symbols that nothing else says: " + unknowns[0]->name + " and " +
              unknowns[1]->name);
    return false;
  }
  const ast::NameExpr* const unknown = unknowns.front();
  if (llvm::isa<ast::NameExpr>(expr)) {
    BindSymbol(unknown->name, unknown->range, Datum(actual), item_symbols);
    return true;
  }
  // a*S + b: S is (size - b) // a, without a rest.
  const std::string stand_in = "#" + unknown->name.str();
  frame_->symbols[unknown->name] = {Datum(Dim::Symbol(stand_in)), unknown->range};
  const std::optional<Dim> declared = AsDim(EvaluateSize(expr), expr->range, "a size");
  frame_->symbols.erase(unknown->name);
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
  Error(Code::kUnsolvableSymbol, expr->range,
        "the size does not say what " + unknown->name + " is; a dim such as 2*" + unknown->name +
            " + 1 does");
  return false;
}

bool Elaborator::MatchSize(const Dim& declared, const Dim& actual, llvm::StringRef subject) {
  DimCheck check = MakeCheck(ast::Operator::kEqual, actual, declared);
  const Truth truth = known_.Decide(check);
  if (truth == Truth::kUnknown) {
    check.message =
        "input '" + subject.str() + "' of '" + frame_->callee.str() + "': " + check.message;
    AddConstraint(std::move(check), frame_->origin);
  }
  return truth != Truth::kFalse;
}

}  // namespace pdl
