// Operators that change the lengths of sequences: sequence_concat, sequence_slice. They have no
// kernels: they are lowered to operators on packed rows and offsets.
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// Elements [from, to) of a vector.
Value* Part(LoweringContext& l, Value* of, const Dim& from, const Dim& to) {
  return l.Call("slice", {of},
                {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{from}}, {"stops", Shape{to}}});
}

Value* Zeros(LoweringContext& l, const Shape& dims) {
  return l.Call("zeros", {}, {{"dims", dims}, {"dtype", DType::kI64}});
}

Value* RangeTo(LoweringContext& l, const Dim& stop) {
  return l.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{stop}}});
}

/// The sequences that are defined by offsets.
struct Sequences {
  Dim count;
  Value *begins, *lengths;
};

Sequences SequencesOf(LoweringContext& l, Value* offsets) {
  const Dim count = offsets->type().dims[0] - 1;
  Value* begins = Part(l, offsets, 0, count);
  return {count, begins, l.Call("sub", {Part(l, offsets, 1, count + 1), begins})};
}

// For each of `rows` rows, which `offsets` divide into sequences, its index plus the element of
// `shifts` for its sequence.
Value* ShiftedRows(LoweringContext& l, Value* offsets, const Dim& rows, Value* shifts) {
  Value* ids = l.Call("segment_ids", {offsets}, {{"dims", Shape{rows}}});
  return l.Call("add", {RangeTo(l, rows), l.Call("gather", {shifts, ids})});
}

// --- sequence_concat ----------------------------------------------------------------------------

llvm::Error InferConcat(InferenceContext& context) {
  const Type& first = context.input(0);
  const unsigned levels = first.ragged_levels();
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    if (llvm::Error error = RequireSameDType(context, 0, i)) return error;
    const Type& other = context.input(i);
    if (other.rank() != first.rank() || other.ragged_levels() != levels) {
      return context.FailAt({0, i}, Code::kRank, "sequences have different dims: {0} and {1}",
                            first.ToString(), other.ToString());
    }
    if (levels == 2 && other.dims[1] != first.dims[1]) {
      return context.FailAt({0, i}, Code::kShapeMismatch,
                            "sequences have different lengths: {0} and {1}",
                            first.dims[1].ToString(), other.dims[1].ToString());
    }
    for (unsigned d = 0; d < first.rank(); ++d) {
      if (d > 0 && d <= levels) continue;
      if (llvm::Error error = context.RequireEqual(
              first.dims[d], other.dims[d], {0, i},
              d == 0 ? "the numbers of sequences differ" : "the sizes of rows differ")) {
        return error;
      }
    }
  }
  Type type(first.dtype, first.dims);
  type.dims[levels] = context.FreshSymbol("~rows");
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerConcat(LoweringContext& l) {
  llvm::SmallVector<Value*, 4> values, indices;
  Value* offsets = nullptr;
  Dim rows = 0;
  for (unsigned i = 0; i < l.num_inputs(); ++i) {
    Value* own = l.input(i).offsets.back();
    offsets = offsets == nullptr ? own : l.Call("add", {offsets, own});
    values.push_back(l.input(i).values);
    rows = rows + values.back()->type().dims[0];
  }
  if (offsets == nullptr) return l.TakeError();
  // The destination of each row: after the rows of previous operands in the same sequence.
  Value* next = SequencesOf(l, offsets).begins;
  for (unsigned i = 0; i < l.num_inputs(); ++i) {
    Value* own = l.input(i).offsets.back();
    const Sequences part = SequencesOf(l, own);
    indices.push_back(
        ShiftedRows(l, own, values[i]->type().dims[0], l.Call("sub", {next, part.begins})));
    next = l.Call("add", {next, part.lengths});
  }
  Value* from = l.Call("scatter", {Zeros(l, {rows}), l.Call("concat", indices), RangeTo(l, rows)});
  l.SetOffsets(l.result_type().dims[l.result_type().ragged_levels()], offsets, rows);
  l.SetOutput(l.Call("gather", {l.Call("concat", values), from}));
  return l.TakeError();
}

struct SequenceConcatMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Concatenates sequences: each sequence of the result consists of the rows of the operands' "
        "corresponding sequences, in the order of the operands. With two ragged dims, the inner "
        "sequences are concatenated.");
    AddInput("xs", "each [N, ~T, ...], or [N, ~S, ~T, ...] with the same ~S; the same dtype")
        .Accepts(kAnySet)
        .Repeatable()
        .RaggedOnly();
    AddOutput("y", "[N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as xs").DTypeOf("xs");
    SetInference(InferConcat);
    SetLowering(LowerConcat);
    AddExample("input a: f32[N, ~A, 8]\ninput b: f32[N, ~B, 8]\noutput y = sequence_concat(a, b)");
  }
};

// --- sequence_slice -----------------------------------------------------------------------------

llvm::Error InferSlice(InferenceContext& context) {
  const Type& x = context.input(0);
  const unsigned levels = x.ragged_levels();
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& numbers = context.input(i);
    if (numbers.rank() == 0) continue;
    if (numbers.rank() != levels || numbers.ragged_levels() + 1 != levels) {
      return context.FailAt(
          {0, i}, Code::kRank,
          "'{0}' must be a scalar, or have one entry for each sequence of {1}, got {2}",
          context.def().signature.inputs[i].name, x.ToString(), numbers.ToString());
    }
    if (llvm::Error error = context.RequireEqual(x.dims[0], numbers.dims[0], {0, i},
                                                 "there must be one entry for each sequence")) {
      return error;
    }
    if (levels == 2 && x.dims[1] != numbers.dims[1]) {
      return context.FailAt({0, i}, Code::kShapeMismatch,
                            "sequences have different lengths: {0} and {1}", x.dims[1].ToString(),
                            numbers.dims[1].ToString());
    }
  }
  Type type = x;
  type.dims[levels] = context.FreshSymbol("~rows");
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerSlice(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  const Sequences all = SequencesOf(l, x.offsets.back());
  Value* zero = Zeros(l, {});
  const auto numbers = [&](unsigned input) {
    return l.Call("cast", {l.input(input).values}, {{"to", DType::kI64}});
  };
  const auto clamp = [&](Value* number, Value* most) {
    return l.Call("minimum", {l.Call("maximum", {number, zero}), most});
  };
  Value* start = numbers(1);
  start =
      l.Call("where", {l.Call("less", {start, zero}), l.Call("add", {start, all.lengths}), start});
  start = clamp(start, all.lengths);
  Value* lengths = l.Call("sub", {all.lengths, start});
  if (l.num_inputs() > 2) lengths = clamp(numbers(2), lengths);
  Value* offsets =
      l.Call("concat", {Zeros(l, {Dim(1)}), l.Call("cumsum", {lengths}, {{"axis", int64_t{0}}})});
  const Dim& ragged = l.result_type().dims[l.result_type().ragged_levels()];
  const Dim rows = TotalOf(ragged);
  l.DefineSize(rows, l.Call("sum", {lengths}));
  l.SetOffsets(ragged, offsets, rows);
  Value* shift =
      l.Call("sub", {l.Call("add", {all.begins, start}), Part(l, offsets, 0, all.count)});
  l.SetOutput(l.Call("gather", {x.values, ShiftedRows(l, offsets, rows, shift)}));
  return l.TakeError();
}

struct SequenceSliceMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Selects a range of rows from each sequence: at most `lengths` rows, from row `starts` on. "
        "With two ragged dims, the inner sequences are sliced. The number of rows of the result "
        "depends on the data, so a network runs in two parts: up to the count, and from there.");
    AddInput("x", "[N, ~T, ...] or [N, ~S, ~T, ...]").Accepts(kAnySet).RaggedOnly();
    AddInput("starts",
             "first row of each range, a negative number counts from the end: a scalar, [N], or "
             "[N, ~S]; no gradient")
        .Accepts(kIndexSet)
        .OwnDType()
        .Ragged(1);
    AddInput(
        "lengths",
        "number of rows of each range, with dims like `starts`; by default all rows that follow")
        .Accepts(kIndexSet)
        .OwnDType()
        .Ragged(1)
        .Optional();
    AddOutput("y", "[N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as x").DTypeOf("x");
    SetInference(InferSlice);
    SetLowering(LowerSlice);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_slice(x, 1, 2)");
  }
};

}  // namespace

void RegisterSequenceRowsOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  registry.Add(SequenceConcatMaker().Build("sequence_concat"));
  registry.Add(SequenceSliceMaker().Build("sequence_slice"));
}

}  // namespace pdl
