#include "frontend/elaborate/type_reader.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/fold.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_constraints.h"
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

}  // namespace

llvm::StringRef DTypeNamed(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
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
}

namespace {

// A capital letter, possibly with a suffix, as in symbols for dtypes.
bool LooksLikeSymbol(llvm::StringRef name) {
  return llvm::isUpper(name[0]) && !DTypeFromName(name.lower());
}

}  // namespace

std::optional<DType> TypeReader::ReadDType(const ast::TypeTerm& term, bool introduces) {
  const llvm::StringRef name = term.name.text;
  if (std::optional<DType> dtype = DTypeFromName(name)) return dtype;
  auto symbol = at_.frame->symbols.find(name);
  if (symbol != at_.frame->symbols.end()) {
    if (const auto* bound = symbol->second.value.get<DType>()) return *bound;
  } else if (LooksLikeSymbol(name) && term.has_dims &&
             (introduces || at_.frame->caller != nullptr)) {
    // A symbol for a dtype that nothing determines.
    at_.frame->symbols[name] = {Datum(DType::kF32), term.name.range};
    return DType::kF32;
  }
  const llvm::StringRef meant = DTypeNamed(name);
  report_.Error(
      Code::kBadType, term.name.range,
      "no dtype is called '" + name + "'" +
          (meant.empty() ? report_.DidYouMean(name, DTypeNames()) : report_.Suggest(name, meant)));
  return std::nullopt;
}

bool TypeReader::ReadDims(llvm::ArrayRef<ast::Dim> dims, bool introduces, Shape* shape) {
  bool ok = true;
  for (const ast::Dim& dim : dims) {
    if (dim.kind == ast::DimKind::kRagged) {
      const Dim* rows = ReadRaggedDim(dim.symbol, dim.range, introduces);
      if (rows != nullptr) shape->push_back(*rows);
      ok &= rows != nullptr;
    } else if (dim.kind == ast::DimKind::kAny) {
      if (at_.frame->any_dims) {
        shape->append(at_.frame->any_dims->begin(), at_.frame->any_dims->end());
        continue;
      }
      report_.Error(Code::kBadType, dim.range,
                    at_.frame->caller != nullptr
                        ? "no input of this layer determines '...'"
                        : "'...' may only appear in a layer, whose signature determines it");
      ok = false;
    } else if (std::optional<Dim> size = ReadDim(dim.expr, introduces)) {
      shape->push_back(std::move(*size));
    } else {
      ok = false;
    }
  }
  return ok;
}

std::optional<Type> TypeReader::ReadType(const ast::Type* type, bool introduces) {
  const ast::TypeTerm& term = type->terms.front();
  if (type->terms.size() > 1) {
    report_.Error(Code::kBadType, type->terms[1].range, "only a layer's input has alternatives");
    return std::nullopt;
  }
  const std::optional<DType> dtype = ReadDType(term, introduces);
  if (!dtype) return std::nullopt;
  if (term.is_list || term.may_be_none) {
    report_.Error(Code::kBadType, term.range,
                  "a tensor's type is a dtype and its dims, such as f32[N, 3]");
    return std::nullopt;
  }
  if (!term.has_dims) {
    const uint32_t end = term.name.range.end;
    report_
        .Error(Code::kBadType, term.range,
               "the dims are missing; a scalar is " + term.name.text + "[]")
        .Suggest({end, end}, "[]");
    return std::nullopt;
  }
  Type result;
  result.dtype = *dtype;
  if (term.is_sparse) result.storage = Storage::kSparse;
  bool ok = ReadDims(term.dims, introduces, &result.dims);
  if (term.value_range.kind != ast::RangeKind::kNone) {
    std::optional<Dim> bound = ReadIndexBound(term, *dtype, introduces);
    ok &= bound.has_value();
    if (bound) result.index_bound = std::move(*bound);
  }
  if (!ok) return std::nullopt;
  if (const std::string fault = result.Fault(); !fault.empty()) {
    report_.Error(Code::kBadType, term.range, fault);
    return std::nullopt;
  }
  return result;
}

const Dim* TypeReader::ReadRaggedDim(const ast::Identifier& symbol, SourceRange range,
                                     bool introduces) {
  const std::string name = "~" + symbol.text.str();
  auto known = at_.frame->symbols.find(name);
  if (known == at_.frame->symbols.end()) {
    if (!introduces) {
      std::vector<llvm::StringRef> names;
      for (const auto& entry : at_.frame->symbols)
        if (entry.first().starts_with("~")) names.push_back(entry.first());
      report_.Error(Code::kUnknownName, range,
                    "no input has a ragged dim " + name + report_.DidYouMean(name, names));
      return nullptr;
    }
    const Dim rows = Dim::Symbol("~" + at_.frame->FullName(symbol.text));
    if (graph_.IsDataSymbol(rows.symbol())) {
      report_.Error(
          Code::kRedefined, range,
          "'" + rows.ToString() + "' is already a ragged dim that only the data determine");
      return nullptr;
    }
    known = at_.frame->symbols.try_emplace(name, TextFrame::Symbol{Datum(rows), range}).first;
  }
  return known->second.value.get<Dim>();
}

// `in 0..V`
std::optional<Dim> TypeReader::ReadIndexBound(const ast::TypeTerm& term, DType dtype,
                                              bool introduces) {
  const ast::TypeRange& range = term.value_range;
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(range.value);
  const bool is_range =
      range.kind == ast::RangeKind::kIn && chain != nullptr &&
      (chain->operators[0].op == Operator::kRange || chain->operators[0].op == Operator::kRangeTo);
  if (!is_range || !IsInteger(dtype)) {
    report_.Error(Code::kBadType, range.range, "an index is written i64[N] in 0..V");
    return std::nullopt;
  }
  const std::optional<Dim> low = ReadDim(chain->operands[0], false);
  std::optional<Dim> high = ReadDim(chain->operands[1], introduces);
  if (!low || !high) return std::nullopt;
  if (!low->is_constant(0)) {
    report_.Error(Code::kBadType, chain->operands[0]->range, "the range of an index begins at 0");
    return std::nullopt;
  }
  if (high->is_ragged()) {
    report_.Error(Code::kBadType, chain->operands[1]->range,
                  "the range of an index ends at one size");
    return std::nullopt;
  }
  return chain->operators[0].op == Operator::kRangeTo ? *high + 1 : *high;
}

std::optional<Dim> TypeReader::ReadDim(const ast::Expr* expr, bool introduces) {
  if (introduces) {
    // Declares new symbols before the expression is evaluated.
    llvm::SmallVector<const ast::Expr*, 8> pending = {expr};
    while (!pending.empty()) {
      const ast::Expr* next = pending.pop_back_val();
      if (const auto* name = llvm::dyn_cast<ast::NameExpr>(next)) {
        auto found = at_.frame->scope.find(name->name);
        if (found == at_.frame->scope.end() || found->second.tensor() != nullptr) {
          if (!at_.frame->symbols.contains(name->name) &&
              graph_.IsDataSymbol(at_.frame->FullName(name->name))) {
            report_.Error(Code::kRedefined, name->range,
                          "'" + name->name + "' is already a size that only the data determine");
            return std::nullopt;
          }
          at_.frame->symbols.try_emplace(
              name->name,
              TextFrame::Symbol{Datum(Dim::Symbol(at_.frame->FullName(name->name))), name->range});
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
  const Datum datum = expressions_.EvaluateSize(expr);
  std::optional<Dim> size = AsDim(datum, expr->range, "a size");
  if (!size) return std::nullopt;
  if (!size->is_valid() || size->ProvablyAtMost(-1)) {
    report_.Error(
        Code::kDimOverflow, expr->range,
        size->is_valid()
            ? "a size is at least 0, got " + size->ToString() +
                  (introduces && size->is_constant(-1) ? "; any size is a symbol such as N" : "")
            : "this size leaves 64 bits, or divides by zero");
    return std::nullopt;
  }
  return size;
}

std::optional<Dim> TypeReader::AsDim(const Datum& datum, SourceRange range,
                                     const llvm::Twine& what) {
  if (datum.holds_poison()) return std::nullopt;
  std::optional<Dim> dim = datum.dim();
  if (!dim) {
    report_.Error(Code::kUnknownSize, range,
                  what + " is an int or made of symbols, got " + datum.Phrase() +
                      (datum.is<Datum::None>() ? "; any size is a symbol such as N" : ""));
  }
  return dim;
}

bool TypeReader::CheckType(const Type& actual, const Type& declared, SourceRange place,
                           const llvm::Twine& subject) {
  auto fail = [&](Code code, std::string note = "") {
    Diagnostic& diagnostic = report_.Error(
        code, place, subject + " is " + actual.ToString() + ", declared " + declared.ToString());
    if (!note.empty()) diagnostic.Note(std::move(note));
    return false;
  };
  if (actual.dtype != declared.dtype)
    return fail(Code::kDTypeMismatch, ("a declared type is not a conversion: cast(…, to=" +
                                       DTypeName(declared.dtype) + ") is one")
                                          .str());
  if (actual.storage != declared.storage) return fail(Code::kStorage);
  if (actual.rank() != declared.rank()) return fail(Code::kRank);
  if (declared.index_bound) {
    if (!actual.index_bound) return fail(Code::kOperandDType);
    DimCheck check = MakeCheck(Operator::kLessEqual, *actual.index_bound, *declared.index_bound);
    const Truth truth = constraints_.Decide(check);
    if (truth == Truth::kFalse) return fail(Code::kShapeMismatch);
    if (truth == Truth::kUnknown)
      constraints_.Add(std::move(check), at_.AddLocation(graph_, place.begin));
  }
  for (unsigned i = 0; i < actual.rank(); ++i) {
    DimCheck check = MakeCheck(Operator::kEqual, actual.dims[i], declared.dims[i]);
    const Truth truth = constraints_.Decide(check);
    if (truth == Truth::kFalse) return fail(Code::kShapeMismatch);
    if (truth == Truth::kTrue) continue;
    // A size that is written as 0 is meant.
    const std::optional<std::string> note =
        declared.dims[i].is_constant(0) ? std::nullopt : constraints_.NoteIfOnlyEmpty(check);
    if (note) return fail(Code::kShapeMismatch, *note);
    constraints_.Add(std::move(check), at_.AddLocation(graph_, place.begin));
  }
  return true;
}

}  // namespace pdl
