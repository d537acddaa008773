#include "frontend/elaborate/subscripts.h"

#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "frontend/elaborate/type_reader.h"
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

bool IsSkip(const ast::Subscript& subscript) { return subscript.kind == SubscriptKind::kSkipAxes; }

bool TakesAxis(const ast::Subscript& subscript) {
  return !IsSkip(subscript) && !IsNewAxis(subscript);
}

/// Whether this is `x[n, ...]` of sequences.
bool IsSequenceTaken(const Type& type, const ast::IndexExpr* index) {
  const ast::Subscript& first = index->subscripts.front();
  return type.ragged_levels() == 1 && first.kind == SubscriptKind::kIndex && !IsNewAxis(first);
}

}  // namespace

/// The arguments of `slice`: an entry for each axis that is sliced.
struct Subscripts::Cut {
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

Datum Subscripts::EvaluateIndex(const ast::IndexExpr* index, Targets targets) {
  const Datum base = expressions_.Evaluate(index->base);
  if (base.is_poison()) return Datum();
  if (const auto* items = base.list()) return IndexList(*items, index);
  if (Value* tensor = base.tensor()) return SubscriptTensor(tensor, index, targets);
  report_.Error(Code::kOperandKind, index->base->range,
                "only a tensor or a list has subscripts, got " + base.Phrase());
  return Datum();
}

Datum Subscripts::IndexList(const std::vector<Datum>& items, const ast::IndexExpr* index) {
  const ast::Subscript& subscript = index->subscripts.front();
  if (index->subscripts.size() > 1 || subscript.kind != SubscriptKind::kIndex) {
    report_.Error(Code::kSubscript, subscript.range, "a list takes one index");
    return Datum();
  }
  const Datum datum = expressions_.Evaluate(subscript.start);
  if (datum.is_poison()) return Datum();
  const auto* position = datum.get<int64_t>();
  const auto size = static_cast<int64_t>(items.size());
  if (position == nullptr) {
    report_.Error(Code::kSubscript, subscript.range, "an index is an int, got " + datum.Phrase());
    return Datum();
  }
  if (*position < -size || *position >= size) {
    report_.Error(Code::kSubscript, subscript.range,
                  "index " + llvm::Twine(*position) + " is outside a list of " + llvm::Twine(size));
    return Datum();
  }
  return items[static_cast<size_t>(*position < 0 ? *position + size : *position)];
}

bool Subscripts::CheckPackedSubscripts(const Type& type, const ast::IndexExpr* index) {
  if (type.is_plain()) return true;
  if (type.is_sparse()) {
    report_.Error(Code::kStorage, {index->base->range.end, index->range.end},
                  "a subscript does not take a sparse matrix, got " + type.ToString() +
                      "; `@` takes one on its left");
    return false;
  }
  const unsigned levels = type.ragged_levels();
  size_t taken = 0;
  for (const ast::Subscript& s : index->subscripts) taken += TakesAxis(s);
  size_t axis = 0;
  for (const ast::Subscript& subscript : index->subscripts) {
    if (IsSkip(subscript)) {
      axis += type.rank() - taken;
      continue;
    }
    if (axis > levels) return true;
    if (IsNewAxis(subscript)) {
      report_.Error(Code::kStorage, subscript.range,
                    "a new axis must come after the ragged dims of " + type.ToString());
      return false;
    }
    const bool is_whole = subscript.kind == SubscriptKind::kSlice && subscript.start == nullptr &&
                          subscript.stop == nullptr && subscript.step == nullptr;
    if (!is_whole) {
      const std::string base = at_.file->Text(index->base->range).str();
      std::string help;
      if (axis == levels && subscript.kind == SubscriptKind::kIndex) {
        const bool is_last = at_.file->Text(subscript.range).starts_with("-");
        help = "; sequence_pool(" + base + ", kind=\"" + (is_last ? "last" : "first") +
               "\") gives one row of each";
      } else if (levels == 1) {
        help = "; sequence_pad(" + base + ", [8]) makes it dense, 8 rows of each";
      }
      report_.Error(
          Code::kStorage, subscript.range,
          "axis " + llvm::Twine(axis) + " of " + type.ToString() +
              " can only be taken completely, `:`, since its sequences have lengths of their own" +
              help);
      return false;
    }
    ++axis;
  }
  return true;
}

Value* Subscripts::TakeSequence(Value* tensor, const ast::IndexExpr* index, Targets targets) {
  const ast::Subscript& subscript = index->subscripts.front();
  const std::optional<Dim> given = types_.AsDim(expressions_.EvaluateSize(subscript.start),
                                                subscript.start->range, "the number of a sequence");
  if (!given) return nullptr;
  const Dim& size = tensor->type().dims[0];
  const Dim at = given->ProvablyAtMost(-1) ? size + *given : *given;
  const SourceRange place{index->base->range.end, subscript.range.end};
  if (at.ProvablyAtMost(-1) || (at - size).ProvablyAtLeast(0)) {
    report_
        .Error(Code::kSubscript, subscript.start->range,
               "index " + at_.file->Text(subscript.start->range) + " is outside a dim of " +
                   size.ToString())
        .Note(report_.NoteOnOperand({Datum(tensor), index->base->range}));
    return nullptr;
  }
  Call call;
  call.def = callees_.FindOperator(sugar::kSequenceAt);
  if (call.def == nullptr) return nullptr;
  call.place = place;
  call.operands.push_back({Datum(tensor), index->base->range});
  call.attributes.push_back({sugar::kSequenceAtPlace.str(), Shape{at}});
  call.places.push_back({{}, place, nullptr, {subscript.range}});
  Op* op = emitter_.Emit(call, targets);
  return op == nullptr ? nullptr : op->result();
}

/// The steps of a selection: contiguous parts of axes, by `slice`; some of them reversed, by
/// `flip`; every n-th element, by a second `slice`; new dims, by `reshape`.
struct Subscripts::Selection {
  Value* const tensor;
  const ast::IndexExpr* const index;
  Cut cut = {}, strided = {};  // before axes are reversed, and after
  std::vector<int64_t> flipped = {};
  Shape dims = {};  // after all of them
  bool reshapes = false;
  bool ok = true;   // false if an error was reported
  size_t axis = 0;  // of the tensor: that of the next subscript

  const Dim& size() const { return tensor->type().dims[axis]; }
};

bool Subscripts::CheckCount(Value* tensor, const ast::IndexExpr* index,
                            llvm::ArrayRef<ast::Subscript> subscripts, size_t taken) {
  if (llvm::count_if(subscripts, IsSkip) > 1) {
    report_.Error(Code::kSubscript, llvm::find_if(llvm::reverse(subscripts), IsSkip)->range,
                  "'...' may only appear once in a subscript");
    return false;
  }
  const unsigned rank = tensor->type().rank();
  if (taken <= rank) return true;
  report_
      .Error(Code::kSubscript, subscripts.back().range,
             llvm::Twine(taken) + " subscripts for " + llvm::Twine(rank) + " dims")
      .Note(report_.NoteOnOperand({Datum(tensor), index->base->range}));
  return false;
}

Datum Subscripts::SubscriptTensor(Value* tensor, const ast::IndexExpr* index, Targets targets) {
  llvm::ArrayRef<ast::Subscript> subscripts = index->subscripts;
  if (IsSequenceTaken(tensor->type(), index)) {
    tensor = TakeSequence(tensor, index, subscripts.size() == 1 ? targets : Targets());
    subscripts = subscripts.drop_front();
    if (tensor == nullptr || subscripts.empty()) return tensor == nullptr ? Datum() : Datum(tensor);
  }
  const Type& type = tensor->type();
  const auto taken = static_cast<size_t>(llvm::count_if(subscripts, TakesAxis));
  if (!CheckCount(tensor, index, subscripts, taken) || !CheckPackedSubscripts(type, index))
    return Datum();
  Selection selection{tensor, index};
  const unsigned levels = type.ragged_levels();
  for (const ast::Subscript& subscript : subscripts) {
    if (IsSkip(subscript)) {
      for (size_t n = type.rank() - taken; n > 0; --n)
        selection.dims.push_back(type.dims[selection.axis++]);
    } else if (IsNewAxis(subscript)) {
      selection.dims.push_back(Dim(1));
      selection.reshapes = true;
    } else {
      const bool is_whole = levels > 0 && selection.axis <= levels;
      if (is_whole) {
        selection.dims.push_back(selection.size());
      } else if (subscript.kind == SubscriptKind::kIndex) {
        SelectIndex(subscript, &selection);
      } else {
        SelectSlice(subscript, &selection);
      }
      ++selection.axis;
    }
  }
  for (; selection.axis < type.rank(); ++selection.axis) selection.dims.push_back(selection.size());
  return selection.ok ? EmitSelection(&selection, targets) : Datum();
}

Dim Subscripts::ReadBound(const ast::Expr* expr, Dim fallback, bool is_index,
                          Selection* selection) {
  if (expr == nullptr) return fallback;
  const Datum datum = expressions_.EvaluateSize(expr);
  if (is_index && datum.holds_tensor()) {
    report_
        .Error(Code::kUnknownSize, expr->range,
               "an index is an int or made of symbols, got a tensor")
        .Note(
            "gather takes elements at computed indices; nonzero finds where a "
            "condition holds");
    selection->ok = false;
    return Dim();
  }
  const std::optional<Dim> value =
      types_.AsDim(datum, expr->range, is_index ? "an index" : "the bound of a slice");
  if (!value) {
    selection->ok = false;
    return Dim();
  }
  return value->ProvablyAtMost(-1) ? selection->size() + *value : *value;
}

bool Subscripts::CheckInside(const Dim& at, int64_t beyond, const ast::Expr* expr,
                             llvm::StringRef what, Selection* selection) {
  const Dim& size = selection->size();
  if (!at.ProvablyAtMost(-1) && !(at - size).ProvablyAtLeast(beyond)) return true;
  report_
      .Error(Code::kSubscript, expr->range,
             what + " " + at_.file->Text(expr->range) + " is outside a dim of " + size.ToString())
      .Note(report_.NoteOnOperand({Datum(selection->tensor), selection->index->base->range}));
  selection->ok = false;
  return false;
}

void Subscripts::SelectIndex(const ast::Subscript& subscript, Selection* selection) {
  const Dim start = ReadBound(subscript.start, Dim(0), /*is_index=*/true, selection);
  if (selection->ok) CheckInside(start, 0, subscript.start, "index", selection);
  selection->cut.Add(static_cast<int64_t>(selection->axis), start, start + 1, 1, subscript.range);
  selection->reshapes = true;
}

int64_t Subscripts::ReadStep(const ast::Expr* expr, Selection* selection) {
  if (expr == nullptr) return 1;
  const Datum datum = expressions_.Evaluate(expr);
  const auto* value = datum.get<int64_t>();
  const bool is_step = value != nullptr && *value != 0 && *value != INT64_MIN;
  if (!datum.is_poison() && !is_step)
    report_.Error(Code::kSubscript, expr->range, "a step is an int, and not 0");
  selection->ok &= is_step;
  return selection->ok ? *value : 1;
}

void Subscripts::CheckSlice(const ast::Subscript& subscript, const Dim& start, const Dim& stop,
                            bool is_reversed, Selection* selection) {
  if (!selection->ok) return;
  // The bounds of a slice may be just after the last element; a reversed slice begins at an
  // element.
  const int64_t beyond = is_reversed ? 0 : 1;
  if (subscript.start != nullptr &&
      !CheckInside(start, beyond, subscript.start, "slice from", selection))
    return;
  if (subscript.stop != nullptr &&
      !CheckInside(stop, beyond, subscript.stop, "slice to", selection))
    return;
  const Dim missing = is_reversed ? stop - start : start - stop;
  if (!missing.ProvablyAtLeast(1)) return;
  report_.Error(Code::kSubscript, subscript.range, "the slice ends before it begins");
  selection->ok = false;
}

void Subscripts::SelectSlice(const ast::Subscript& subscript, Selection* selection) {
  const Dim& size = selection->size();
  const auto axis = static_cast<int64_t>(selection->axis);
  const int64_t step = ReadStep(subscript.step, selection);
  const bool is_reversed = step < 0;
  const Dim start =
      ReadBound(subscript.start, is_reversed ? size - 1 : Dim(0), /*is_index=*/false, selection);
  const Dim stop =
      ReadBound(subscript.stop, is_reversed ? Dim(-1) : size, /*is_index=*/false, selection);
  CheckSlice(subscript, start, stop, is_reversed, selection);
  if (!is_reversed) {
    const bool is_whole = start.is_constant(0) && stop == size && step == 1;
    if (!is_whole) selection->cut.Add(axis, start, stop, step, subscript.range);
    const Dim length = stop - start;
    selection->dims.push_back(step == 1 ? length : Dim::FloorDiv(length + (step - 1), Dim(step)));
    return;
  }
  // The part from after `stop` up to and including `start`, reversed.
  const Dim length = start - stop;
  if (length != size) selection->cut.Add(axis, stop + 1, start + 1, 1, subscript.range);
  selection->flipped.push_back(axis);
  if (step < -1) selection->strided.Add(axis, 0, length, -step, subscript.range);
  selection->dims.push_back(step == -1 ? length : Dim::FloorDiv(length - (step + 1), Dim(-step)));
}

Datum Subscripts::EmitSelection(Selection* selection, Targets targets) {
  Operand operand{Datum(selection->tensor), selection->index->base->range};
  const SourceRange place{selection->index->base->range.end, selection->index->range.end};
  const bool flips = !selection->flipped.empty(), strides = !selection->strided.axes.empty();
  // The last call gets the name being assigned.
  auto targets_of = [&](bool is_last) { return is_last ? targets : Targets(); };
  const bool reshapes = selection->reshapes;
  if (!EmitSlice(&selection->cut, place, targets_of(!reshapes && !flips), &operand)) return Datum();
  if (flips) {
    Call call;
    call.def = callees_.FindOperator(sugar::kFlip);
    call.attributes.push_back({sugar::kFlipAxes.str(), std::move(selection->flipped)});
    call.places.push_back({{}, place, nullptr, {}});
    if (!EmitOn(&operand, call, place, targets_of(!reshapes && !strides))) return Datum();
  }
  if (!EmitSlice(&selection->strided, place, targets_of(!reshapes), &operand)) return Datum();
  if (!reshapes) return operand.datum;
  Call call;
  call.def = callees_.FindOperator(sugar::kReshape);
  if (call.def == nullptr) return Datum();
  const OpSignature& signature = call.def->signature;
  const AttributeDecl& dims = signature.attributes[signature.PositionalAttribute()];
  call.attributes.push_back({dims.name, std::move(selection->dims)});
  call.places.push_back({{}, place, nullptr, {}});
  return EmitOn(&operand, call, place, targets) ? operand.datum : Datum();
}

bool Subscripts::EmitSlice(Cut* cut, SourceRange place, Targets targets, Operand* operand) {
  if (cut->axes.empty()) return true;
  Call call;
  call.def = callees_.FindOperator(sugar::kSlice);
  auto give = [&](llvm::StringRef name, AttributeValue value) {
    call.attributes.push_back({name.str(), std::move(value)});
    call.places.push_back({{}, place, nullptr, cut->ranges});
  };
  give(sugar::kSliceAxes, std::move(cut->axes));
  give(sugar::kSliceStarts, std::move(cut->starts));
  give(sugar::kSliceStops, std::move(cut->stops));
  give(sugar::kSliceSteps, std::move(cut->steps));
  return EmitOn(operand, call, place, targets);
}

bool Subscripts::EmitOn(Operand* operand, Call& call, SourceRange place, Targets targets) {
  call.place = place;
  call.operands.push_back(*operand);
  Op* op = emitter_.Emit(call, targets);
  if (op != nullptr) operand->datum = Datum(op->result());
  return op != nullptr;
}

}  // namespace pdl
