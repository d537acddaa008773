#include "frontend/elaborator.h"
#include "frontend/sugar.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

using ast::SubscriptKind;

namespace {

bool IsNewAxis(const ast::Subscript& subscript) {
  const auto* word = subscript.kind == SubscriptKind::kIndex
                         ? llvm::dyn_cast<ast::WordExpr>(subscript.start)
                         : nullptr;
  return word != nullptr && word->word == ast::Word::kNone;
}

/// What `slice` is given: an entry for each axis that is cut.
struct Cut {
  std::vector<int64_t> axes, steps;
  Shape starts, stops;
  std::vector<SourceRange> ranges;

  void Add(int64_t axis, const Dim& start, const Dim& stop, int64_t step, SourceRange range) {
    axes.push_back(axis);
    starts.push_back(start);
    stops.push_back(stop);
    steps.push_back(step);
    ranges.push_back(range);
  }
};

/// `x[n, ...]` of sequences.
bool IsSequenceTaken(const Type& type, const ast::IndexExpr* index) {
  const ast::Subscript& first = index->subscripts.front();
  return type.ragged_levels() == 1 && first.kind == SubscriptKind::kIndex && !IsNewAxis(first);
}

}  // namespace

Datum Elaborator::EvaluateIndex(const ast::IndexExpr* index, Targets targets) {
  const Datum base = Evaluate(index->base);
  if (base.is_poison()) return Datum();
  if (const auto* items = base.list()) return IndexList(*items, index);
  if (Value* tensor = base.tensor()) return SubscriptTensor(tensor, index, targets);
  Error(Code::kOperandKind, index->base->range,
        "only a tensor or a list has subscripts, got " + base.Phrase());
  return Datum();
}

Datum Elaborator::IndexList(const std::vector<Datum>& items, const ast::IndexExpr* index) {
  const ast::Subscript& subscript = index->subscripts.front();
  if (index->subscripts.size() > 1 || subscript.kind != SubscriptKind::kIndex) {
    Error(Code::kSubscript, subscript.range, "a list takes one index");
    return Datum();
  }
  const Datum datum = Evaluate(subscript.start);
  if (datum.is_poison()) return Datum();
  const auto* position = datum.get<int64_t>();
  const auto size = static_cast<int64_t>(items.size());
  if (position == nullptr) {
    Error(Code::kSubscript, subscript.range, "an index is an int, got " + datum.Phrase());
    return Datum();
  }
  if (*position < -size || *position >= size) {
    Error(Code::kSubscript, subscript.range,
          "index " + llvm::Twine(*position) + " is outside a list of " + llvm::Twine(size));
    return Datum();
  }
  return items[static_cast<size_t>(*position < 0 ? *position + size : *position)];
}

// Of a ragged value the rows and the ragged dims are taken whole: which rows a part of them has,
// only the data tell.
bool Elaborator::CheckPackedSubscripts(const Type& type, const ast::IndexExpr* index) {
  if (type.is_plain()) return true;
  if (type.is_sparse()) {
    Error(Code::kStorage, {index->base->range.end, index->range.end},
          "a subscript does not take a sparse matrix, got " + type.ToString() +
              "; `@` takes one on its left");
    return false;
  }
  const unsigned levels = type.ragged_levels();
  const auto is_skip = [](const ast::Subscript& s) { return s.kind == SubscriptKind::kSkipAxes; };
  size_t taken = 0;
  for (const ast::Subscript& s : index->subscripts) taken += !is_skip(s) && !IsNewAxis(s);
  size_t axis = 0;
  for (const ast::Subscript& subscript : index->subscripts) {
    if (is_skip(subscript)) {
      axis += type.rank() - taken;
      continue;
    }
    if (axis > levels) return true;
    if (IsNewAxis(subscript)) {
      Error(Code::kStorage, subscript.range,
            "a new axis stands behind the ragged dims of " + type.ToString());
      return false;
    }
    const bool is_whole = subscript.kind == SubscriptKind::kSlice && subscript.start == nullptr &&
                          subscript.stop == nullptr && subscript.step == nullptr;
    if (!is_whole) {
      const std::string base = file_->Text(index->base->range).str();
      std::string help;
      if (axis == levels && subscript.kind == SubscriptKind::kIndex) {
        const bool is_last = file_->Text(subscript.range).starts_with("-");
        help = "; sequence_pool(" + base + ", kind=\"" + (is_last ? "last" : "first") +
               "\") gives one row of each";
      } else if (levels == 1) {
        help = "; sequence_pad(" + base + ", [8]) makes it dense, 8 rows of each";
      }
      Error(Code::kStorage, subscript.range,
            "axis " + llvm::Twine(axis) + " of " + type.ToString() +
                " is taken whole, `:`, since its sequences have lengths of their own" + help);
      return false;
    }
    ++axis;
  }
  return true;
}

// `x[n]` of sequences is one of them, as long as it is; what follows takes that apart.
Value* Elaborator::TakeSequence(Value* tensor, const ast::IndexExpr* index, Targets targets) {
  const ast::Subscript& subscript = index->subscripts.front();
  const std::optional<Dim> given =
      AsDim(EvaluateSize(subscript.start), subscript.start->range, "the number of a sequence");
  if (!given) return nullptr;
  const Dim& size = tensor->type().dims[0];
  const Dim at = given->ProvablyAtMost(-1) ? size + *given : *given;
  const SourceRange place{index->base->range.end, subscript.range.end};
  if (at.ProvablyAtMost(-1) || (at - size).ProvablyAtLeast(0)) {
    Error(
        Code::kSubscript, subscript.start->range,
        "index " + file_->Text(subscript.start->range) + " is outside a dim of " + size.ToString())
        .Note(NoteOnOperand({Datum(tensor), index->base->range}));
    return nullptr;
  }
  Call call;
  call.def = FindOperator(sugar::kSequenceAt);
  if (call.def == nullptr) return nullptr;
  call.place = place;
  call.operands.push_back({Datum(tensor), index->base->range});
  call.attributes.push_back({sugar::kSequenceAtPlace.str(), Shape{at}});
  call.places.push_back({{}, place, nullptr, {subscript.range}});
  Op* op = Emit(call, targets);
  return op == nullptr ? nullptr : op->result();
}

// A slice of the axes that are cut, then a reshape where the rank changes.
Datum Elaborator::SubscriptTensor(Value* tensor, const ast::IndexExpr* index, Targets targets) {
  llvm::ArrayRef<ast::Subscript> subscripts = index->subscripts;
  if (IsSequenceTaken(tensor->type(), index)) {
    tensor = TakeSequence(tensor, index, subscripts.size() == 1 ? targets : Targets());
    subscripts = subscripts.drop_front();
    if (tensor == nullptr || subscripts.empty()) return tensor == nullptr ? Datum() : Datum(tensor);
  }
  const llvm::ArrayRef<Dim> dims = tensor->type().dims;
  const auto is_skip = [](const ast::Subscript& s) { return s.kind == SubscriptKind::kSkipAxes; };
  const auto takes_axis = [&](const ast::Subscript& s) { return !is_skip(s) && !IsNewAxis(s); };
  const auto taken = static_cast<size_t>(llvm::count_if(subscripts, takes_axis));
  if (llvm::count_if(subscripts, is_skip) > 1) {
    Error(Code::kSubscript, llvm::find_if(llvm::reverse(subscripts), is_skip)->range,
          "'...' stands once in a subscript");
    return Datum();
  }
  if (taken > dims.size()) {
    Error(Code::kSubscript, subscripts.back().range,
          llvm::Twine(taken) + " subscripts for " + llvm::Twine(dims.size()) + " dims")
        .Note(NoteOnOperand({Datum(tensor), index->base->range}));
    return Datum();
  }

  if (!CheckPackedSubscripts(tensor->type(), index)) return Datum();
  const unsigned levels = tensor->type().ragged_levels();

  Cut cut, strided;              // before axes are turned round, and behind
  std::vector<int64_t> flipped;  // those with a negative step
  Shape result;                  // after all of them and the reshape
  bool reshapes = false;
  bool ok = true;
  size_t axis = 0;
  for (const ast::Subscript& subscript : subscripts) {
    if (is_skip(subscript)) {
      for (size_t n = dims.size() - taken; n > 0; --n) result.push_back(dims[axis++]);
      continue;
    }
    if (IsNewAxis(subscript)) {
      result.push_back(Dim(1));
      reshapes = true;
      continue;
    }
    const Dim& size = dims[axis];
    if (levels > 0 && axis <= levels) {  // taken whole
      result.push_back(size);
      ++axis;
      continue;
    }
    // A bound; a negative one counts from the end.
    auto bound = [&](const ast::Expr* expr, Dim fallback) -> Dim {
      if (expr == nullptr) return fallback;
      const Datum datum = EvaluateSize(expr);
      const bool is_index = subscript.kind == SubscriptKind::kIndex;
      const char* what = is_index ? "an index" : "the bound of a slice";
      if (is_index && datum.holds_tensor()) {
        Error(Code::kUnknownSize, expr->range,
              "an index is an int or made of symbols, got a tensor")
            .Note(
                "gather takes what stands at places that are computed; nonzero finds where a "
                "condition holds");
        ok = false;
        return Dim();
      }
      const std::optional<Dim> value = AsDim(datum, expr->range, what);
      if (!value) {
        ok = false;
        return Dim();
      }
      return value->ProvablyAtMost(-1) ? size + *value : *value;
    };
    auto outside = [&](const ast::Expr* expr, const llvm::Twine& what) {
      Error(Code::kSubscript, expr->range, what + " is outside a dim of " + size.ToString())
          .Note(NoteOnOperand({Datum(tensor), index->base->range}));
      ok = false;
    };
    if (subscript.kind == SubscriptKind::kIndex) {
      const Dim start = bound(subscript.start, Dim(0));
      if (ok && (start.ProvablyAtMost(-1) || (start - size).ProvablyAtLeast(0))) {
        outside(subscript.start, "index " + file_->Text(subscript.start->range));
      }
      cut.Add(static_cast<int64_t>(axis), start, start + 1, 1, subscript.range);
      reshapes = true;
    } else {
      int64_t step = 1;
      if (subscript.step != nullptr) {
        const Datum datum = Evaluate(subscript.step);
        const auto* value = datum.get<int64_t>();
        const bool is_step = value != nullptr && *value != 0 && *value != INT64_MIN;
        if (!datum.is_poison() && !is_step)
          Error(Code::kSubscript, subscript.step->range, "a step is an int, and not 0");
        ok &= is_step;
        if (ok) step = *value;
      }
      if (step < 0) {
        // From `start` down to what lies before `stop`: that part, turned round.
        const Dim first = subscript.start == nullptr ? size - 1 : bound(subscript.start, Dim(0));
        const Dim before = subscript.stop == nullptr ? Dim(-1) : bound(subscript.stop, Dim(0));
        if (ok && subscript.start != nullptr &&
            (first.ProvablyAtMost(-1) || (first - size).ProvablyAtLeast(0))) {
          outside(subscript.start, "slice from " + file_->Text(subscript.start->range));
        } else if (ok && subscript.stop != nullptr &&
                   (before.ProvablyAtMost(-1) || (before - size).ProvablyAtLeast(0))) {
          outside(subscript.stop, "slice to " + file_->Text(subscript.stop->range));
        } else if (ok && (before - first).ProvablyAtLeast(1)) {
          Error(Code::kSubscript, subscript.range, "the slice ends before it begins");
          ok = false;
        }
        const Dim length = first - before;
        const auto at = static_cast<int64_t>(axis);
        if (length != size) cut.Add(at, before + 1, first + 1, 1, subscript.range);
        flipped.push_back(at);
        if (step < -1) strided.Add(at, 0, length, -step, subscript.range);
        result.push_back(step == -1 ? length : Dim::FloorDiv(length - (step + 1), Dim(-step)));
        ++axis;
        continue;
      }
      const Dim start = bound(subscript.start, Dim(0));
      const Dim stop = bound(subscript.stop, size);
      if (ok && (start.ProvablyAtMost(-1) || (start - size).ProvablyAtLeast(1))) {
        outside(subscript.start, "slice from " + file_->Text(subscript.start->range));
      } else if (ok && (stop.ProvablyAtMost(-1) || (stop - size).ProvablyAtLeast(1))) {
        outside(subscript.stop, "slice to " + file_->Text(subscript.stop->range));
      } else if (ok && (start - stop).ProvablyAtLeast(1)) {
        Error(Code::kSubscript, subscript.range, "the slice ends before it begins");
        ok = false;
      }
      const bool is_whole = start.is_constant(0) && stop == size && step == 1;
      if (!is_whole) cut.Add(static_cast<int64_t>(axis), start, stop, step, subscript.range);
      const Dim length = stop - start;
      result.push_back(step == 1 ? length : Dim::FloorDiv(length + (step - 1), Dim(step)));
    }
    ++axis;
  }
  for (; axis < dims.size(); ++axis) result.push_back(dims[axis]);
  if (!ok) return Datum();

  Operand operand{Datum(tensor), index->base->range};
  const SourceRange place{index->base->range.end, index->range.end};
  // The last call has the name that is assigned.
  const auto emit = [&](Call& call, bool is_last) {
    call.place = place;
    call.operands.push_back(operand);
    Op* op = Emit(call, is_last && !reshapes ? targets : Targets());
    if (op != nullptr) operand.datum = Datum(op->result());
    return op != nullptr;
  };
  const auto slice = [&](Cut& cut, bool is_last) {
    if (cut.axes.empty()) return true;
    Call call;
    call.def = FindOperator(sugar::kSlice);
    auto give = [&](llvm::StringRef name, AttributeValue value) {
      call.attributes.push_back({name.str(), std::move(value)});
      call.places.push_back({{}, place, nullptr, cut.ranges});
    };
    give(sugar::kSliceAxes, std::move(cut.axes));
    give(sugar::kSliceStarts, std::move(cut.starts));
    give(sugar::kSliceStops, std::move(cut.stops));
    give(sugar::kSliceSteps, std::move(cut.steps));
    return emit(call, is_last);
  };
  const auto flip = [&](bool is_last) {
    if (flipped.empty()) return true;
    Call call;
    call.def = FindOperator(sugar::kFlip);
    call.attributes.push_back({sugar::kFlipAxes.str(), std::move(flipped)});
    call.places.push_back({{}, place, nullptr, {}});
    return emit(call, is_last);
  };
  const bool strides = !strided.axes.empty();
  if (!slice(cut, flipped.empty()) || !flip(!strides) || !slice(strided, true)) return Datum();
  if (!reshapes) return operand.datum;
  Call call;
  call.def = FindOperator(sugar::kReshape);
  if (call.def == nullptr) return Datum();
  call.place = place;
  call.operands.push_back(operand);
  const int dims_index = call.def->signature.PositionalAttribute();
  call.attributes.push_back({call.def->signature.attributes[dims_index].name, std::move(result)});
  call.places.push_back({{}, place, nullptr, {}});
  Op* op = Emit(call, targets);
  return op == nullptr ? Datum() : Datum(op->result());
}

}  // namespace pdl
