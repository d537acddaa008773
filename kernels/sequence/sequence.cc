// Operators on sequences: ragged tensors, in which each row of a ragged dim is a sequence. They
// have no kernels: they are lowered to operators on packed rows (segment_pool, gather and others).
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// The type without its innermost ragged dim: one row for each sequence.
Type OneForEach(const Type& type) {
  Type result(type.dtype, type.dims);
  result.dims.erase(result.dims.begin() + type.ragged_levels());
  return result;
}

// Appends a row filled with `value` to [R, D, …]: the row at index R.
Value* WithRow(LoweringContext& l, Value* rows, double value) {
  Shape dims = rows->type().dims;
  dims[0] = 1;
  const DType dtype = rows->type().dtype;
  Value* row = l.Call(
      "fill", {}, {{"dims", dims}, {"value", Constant::Scalar(dtype, value)}, {"dtype", dtype}});
  return l.Call("concat", {rows, row});
}

Shape RowsOf(const Value* values) { return {values->type().dims[0]}; }

// --- sequence_pool ------------------------------------------------------------------------------

llvm::Error InferPool(InferenceContext& context) {
  context.SetOutput(OneForEach(context.input(0)));
  return llvm::Error::success();
}

llvm::Error LowerPool(LoweringContext& l) {
  l.SetOutput(l.Call(
      "segment_pool", {l.input(0).values, l.input(0).offsets.back()},
      {{"kind", l.attributes().String("kind").str()}, {"empty", l.attributes().Float("empty")}}));
  return l.TakeError();
}

struct SequencePoolMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Reduces each sequence to one row: the sum of its rows, their mean, their sum divided by "
        "the square root of their number, their elementwise maximum or minimum, or the first or "
        "last row. With two ragged dims, the inner sequences are reduced.");
    AddInput("x", "[N, ~T, ...] or [N, ~S, ~T, ...]").Accepts(kFloatSet).RaggedOnly();
    AddOutput("y", "[N, ...] or [N, ~S, ...]; dtype as x").DTypeOf("x");
    AddAttr<std::string>("kind", "the reduction")
        .Default("sum")
        .OneOf({"sum", "mean", "sqrt", "max", "min", "first", "last"});
    AddAttr<double>("empty", "value of the elements of sequences without rows").Default(0);
    SetInference(InferPool);
    SetLowering(LowerPool);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_pool(x, kind=\"mean\")");
  }
};

// --- sequence_softmax ---------------------------------------------------------------------------

llvm::Error LowerSoftmax(LoweringContext& l) {
  l.SetOutput(l.Call("segment_softmax", {l.input(0).values, l.input(0).offsets.back()}));
  return l.TakeError();
}

struct SequenceSoftmaxMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Softmax over the rows of each sequence, separately for each column: attention over "
        "sequences of any length.");
    AddInput("x", "[N, ~T, ...] or [N, ~S, ~T, ...]").Accepts(kFloatSet).RaggedOnly();
    AddOutput("y", "type as x").TypeOf("x");
    SetInference(InferSameAsFirst);
    SetLowering(LowerSoftmax);
    AddExample("input x: f32[N, ~T]\noutput y = sequence_softmax(x)");
  }
};

// --- sequence_length ----------------------------------------------------------------------------

llvm::Error InferLength(InferenceContext& context) {
  Type type = context.input(0);
  type.dims.truncate(type.ragged_levels());
  context.SetOutput(Type(DType::kI64, type.dims));
  return llvm::Error::success();
}

llvm::Error LowerLength(LoweringContext& l) {
  Value* offsets = l.input(0).offsets.back();
  const Dim count = offsets->type().dims[0];
  const auto part = [&](const Dim& start, const Dim& stop) {
    return l.Call(
        "slice", {offsets},
        {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{start}}, {"stops", Shape{stop}}});
  };
  l.SetOutput(l.Call("sub", {part(1, count), part(0, count - 1)}));
  return l.TakeError();
}

struct SequenceLengthMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The number of rows of each sequence. With two ragged dims, the lengths of the inner "
        "sequences.");
    AddInput("x", "[N, ~T, ...] or [N, ~S, ~T, ...]")
        .Accepts(kAnySet)
        .RaggedOnly()
        .NotDifferentiable();
    AddOutput("y", "i64[N] or i64[N, ~S]").HasDType(DType::kI64);
    SetInference(InferLength);
    SetLowering(LowerLength);
    AddExample("input x: f32[N, ~T]\noutput y = sequence_length(x)");
  }
};

// --- sequence_reverse ---------------------------------------------------------------------------

llvm::Error InferReverse(InferenceContext& context) {
  const Type& x = context.input(0);
  const bool has_lengths = context.has_input(1);
  if (x.ragged_levels() > 0 && has_lengths)
    return context.FailAt({1}, Code::kStorage,
                          "'lengths' must be omitted: {0} is ragged and has lengths of its own",
                          x.ToString());
  if (x.rank() < 2)
    return context.FailAt({0}, Code::kRank, "'x' must have rows and steps, got {0}", x.ToString());
  if (has_lengths) {
    const Type& lengths = context.input(1);
    if (lengths.rank() != 1)
      return context.FailAt({1}, Code::kRank, "'lengths' must be i64[N], got {0}",
                            lengths.ToString());
    if (llvm::Error error = context.RequireEqual(lengths.dims[0], x.dims[0], {1, 0},
                                                 "'lengths' must have one entry for each row"))
      return error;
  }
  Type type = x;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// [N, T, …]: reverses the first lengths[n] steps of each row n, or all steps if there are no
// lengths.
llvm::Error LowerPaddedReverse(LoweringContext& l) {
  Value* x = l.input(0).values;
  if (l.num_inputs() == 1) {
    l.SetOutput(l.Call("flip", {x}, {{"axes", std::vector<int64_t>{1}}}));
    return l.TakeError();
  }
  const Shape dims = x->type().dims;
  const Dim& rows = dims[0];
  const Dim& steps = dims[1];
  const auto range = [&](const Dim& stop) {
    return l.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{stop}}});
  };
  Value* most = l.Call("size", {}, {{"dims", Shape{steps}}, {"dtype", DType::kI64}});
  Value* one = l.Call("size", {}, {{"dims", Shape{Dim(1)}}, {"dtype", DType::kI64}});
  Value* lengths = l.Call("minimum", {l.input(1).values, most});
  lengths = l.Call("reshape", {lengths}, {{"dims", Shape{rows, Dim(1)}}});
  Value* step = range(steps);
  Value* row_index = l.Call("sub", {l.Call("sub", {lengths, one}), step});
  row_index = l.Call("where", {l.Call("less", {step, lengths}), row_index, step});
  Value* all = l.Call("reshape", {range(rows * steps)}, {{"dims", Shape{rows, steps}}});
  row_index = l.Call("add", {l.Call("sub", {all, step}), row_index});
  Shape flat(dims.begin() + 1, dims.end());
  flat[0] = rows * steps;
  l.SetOutput(l.Call("gather", {l.Call("reshape", {x}, {{"dims", flat}}), row_index}));
  return l.TakeError();
}

llvm::Error LowerReverse(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  if (x.type.ragged_levels() == 0) return LowerPaddedReverse(l);
  Value* indices = l.Call("segment_reverse", {x.offsets.back()}, {{"dims", RowsOf(x.values)}});
  l.SetOutput(l.Call("gather", {x.values, indices}));
  return l.TakeError();
}

struct SequenceReverseMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Reverses each sequence. In a padded batch, the steps of each row are reversed, or with "
        "`lengths` only that many at its start; the padding stays.");
    AddInput("x", "[N, ~T, ...], [N, ~S, ~T, ...] or [N, T, ...]").Accepts(kAnySet).Ragged();
    AddInput("lengths", "number of steps of each row of a padded batch, i64[N]")
        .Accepts(DTypeSet(DType::kI64))
        .Optional()
        .OwnDType();
    AddOutput("y", "type as x").TypeOf("x");
    SetInference(InferReverse);
    SetLowering(LowerReverse);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_reverse(x)");
    AddExample("y = sequence_reverse([[1, 2, 3], [4, 5, 0]], lengths=[3, 2])");
  }
};

// --- sequence_expand ----------------------------------------------------------------------------

llvm::Error InferExpand(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& like = context.input(1);
  const unsigned levels = like.ragged_levels();
  if (x.ragged_levels() + 1 != levels || x.rank() < levels) {
    return context.FailAt({0, 1}, Code::kStorage,
                          "'x' must have a row for each sequence of {0}, got {1}", like.ToString(),
                          x.ToString());
  }
  if (llvm::Error error =
          context.RequireEqual(x.dims[0], like.dims[0], {0, 1},
                               "the number of rows differs from the number of sequences")) {
    return error;
  }
  if (levels == 2 && x.dims[1] != like.dims[1]) {
    return context.FailAt({0, 1}, Code::kShapeMismatch,
                          "sequences have different lengths: {0} and {1}", x.dims[1].ToString(),
                          like.dims[1].ToString());
  }
  Type type = x;
  type.dims.insert(type.dims.begin() + levels, like.dims[levels]);
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerExpand(LoweringContext& l) {
  const Type& like = l.input(1).type;
  l.SetOutput(l.Call("gather", {l.input(0).values, l.RowOf(like, like.ragged_levels(), 1)}));
  return l.TakeError();
}

struct SequenceExpandMaker : OpProtoMaker {
  void Make() override {
    AddComment("Repeats each row of x once for every row of the corresponding sequence of `like`.");
    AddInput("x", "[N, ...], or [N, ~S, ...] if `like` has two ragged dims")
        .Accepts(kAnySet)
        .Ragged(1);
    AddInput("like", "[N, ~T, ...] or [N, ~S, ~T, ...]; only its lengths are used")
        .Accepts(kAnySet)
        .OwnDType()
        .RaggedOnly()
        .NotDifferentiable();
    AddOutput("y", "[N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x").DTypeOf("x");
    SetInference(InferExpand);
    SetLowering(LowerExpand);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_expand(sequence_pool(x), x)");
  }
};

// --- sequence_window ----------------------------------------------------------------------------

llvm::Error InferWindow(InferenceContext& context) {
  Type type = context.input(0);
  if (type.rank() != type.ragged_levels() + 2) {
    return context.FailAt({0}, Code::kRank, "'x' must have one dim after its ragged ones, got {0}",
                          type.ToString());
  }
  type.index_bound.reset();
  type.dims.back() = type.dims.back() * context.attributes().Int("size");
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerWindow(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  Value* indices = l.Call("segment_window", {x.offsets.back()},
                          {{"dims", RowsOf(x.values)},
                           {"size", l.attributes().Int("size")},
                           {"start", l.attributes().Int("start")}});
  l.SetOutput(l.Call("gather", {WithRow(l, x.values, 0), indices}));
  return l.TakeError();
}

struct SequenceWindowMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Concatenates to each row the rows around it in its sequence, with zeros outside of it. A "
        "matmul with a [size * D, M] matrix then is a convolution over sequences.");
    AddInput("x", "[N, ~T, D] or [N, ~S, ~T, D]").Accepts(kAnySet).RaggedOnly();
    AddOutput("y", "[N, ~T, size * D]; dtype as x").DTypeOf("x");
    AddAttr<int64_t>("size", "rows in a window").Default(3).AtLeast(1).AtMost(1 << 20);
    AddAttr<int64_t>("start", "offset of the first row of the window from the row")
        .Default(-1)
        .AtLeast(-(1 << 30))
        .AtMost(1 << 30);
    SetInference(InferWindow);
    SetLowering(LowerWindow);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_window(x, size=2)");
  }
};

// --- sequence_pad -------------------------------------------------------------------------------

llvm::Error InferPad(InferenceContext& context) {
  const Type& x = context.input(0);
  const Shape& size = context.attributes().Dims("size");
  if (size.size() != 1) {
    return context.FailAtAttribute("size", Code::kRank, "'size' must be one size, got {0}",
                                   ShapeToString(size));
  }
  if (llvm::Error error = CheckDims(context, "size")) return error;
  Type type = x;
  type.index_bound.reset();
  type.dims[1] = size[0];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerPad(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  Value* indices = l.Call("segment_pad", {x.offsets.back()},
                          {{"dims", RowsOf(x.values)}, {"size", l.attributes().Dims("size")}});
  l.SetOutput(l.Call("gather", {WithRow(l, x.values, l.attributes().Float("value")), indices}));
  return l.TakeError();
}

struct SequencePadMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Converts sequences to a dense tensor: each sequence is padded at its end, or truncated, "
        "to `size` rows.");
    AddInput("x", "[N, ~T, ...]").Accepts(kAnySet).RaggedOnly(1);
    AddOutput("y", "[N, size, ...]; dtype as x").DTypeOf("x");
    AddAttr<Shape>("size", "number of rows of each sequence, one size").Positional();
    AddAttr<double>("value", "padding value").Default(0);
    SetInference(InferPad);
    SetLowering(LowerPad);
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_pad(x, [10])");
  }
};

template <class Maker>
void Register(OpRegistry& registry, const char* name) {
  registry.Add(Maker().Build(name));
}

}  // namespace

void RegisterSequenceOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  Register<SequencePoolMaker>(registry, "sequence_pool");
  Register<SequenceSoftmaxMaker>(registry, "sequence_softmax");
  Register<SequenceLengthMaker>(registry, "sequence_length");
  Register<SequenceReverseMaker>(registry, "sequence_reverse");
  Register<SequenceExpandMaker>(registry, "sequence_expand");
  Register<SequenceWindowMaker>(registry, "sequence_window");
  Register<SequencePadMaker>(registry, "sequence_pad");
}

}  // namespace pdl
