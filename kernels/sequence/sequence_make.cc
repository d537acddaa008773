// Operators that make sequences from dense rows. They have no kernels: the packed rows are the rows
// themselves, or a gather of them.
#include <numeric>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

Value* Scalar(LoweringContext& l, int64_t value) {
  return l.Call("constant", {},
                {{"value", Constant::Scalar(DType::kI64, value)}, {"dtype", DType::kI64}});
}

// The start of each sequence, followed by the end of the last one.
Value* OffsetsOf(LoweringContext& l, Value* lengths) {
  Value* zero = l.Call("zeros", {}, {{"dims", Shape{Dim(1)}}, {"dtype", DType::kI64}});
  return l.Call("concat", {zero, l.Call("cumsum", {lengths}, {{"axis", int64_t{0}}})});
}

llvm::Error RequireLengths(InferenceContext& context, const Dim& rows) {
  const Type& lengths = context.input(1);
  if (lengths.rank() != 1) {
    return context.FailAt({1}, Code::kRank, "'lengths' must be i64[N], got {0}",
                          lengths.ToString());
  }
  if (rows.is_ragged()) return llvm::Error::success();
  return context.RequireEqual(lengths.dims[0], rows, {1, 0},
                              "'lengths' must have one entry for each row");
}

// --- ragged -------------------------------------------------------------------------------------

llvm::Error InferRagged(InferenceContext& context) {
  const Type& x = context.input(0);
  if (x.rank() == 0)
    return context.FailAt({0}, Code::kRank, "'x' must have rows, got {0}", x.ToString());
  if (x.ragged_levels() > 1) {
    return context.FailAt({0}, Code::kStorage, "'x' must have at most one ragged dim, got {0}",
                          x.ToString());
  }
  const Dim ragged = context.FreshSymbol("~T");
  if (llvm::Error error = RequireLengths(context, ragged)) return error;
  Type type = x;
  type.dims[0] = ragged;
  type.dims.insert(type.dims.begin(), context.input(1).dims[0]);
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

// The sum of lengths that are constants.
std::optional<int64_t> KnownTotal(const Value* lengths) {
  const Op* op = lengths->producer();
  if (op == nullptr || op->type() != "constant") return std::nullopt;
  const Constant& constant = op->attributes().Tensor("value");
  const llvm::ArrayRef<int64_t> values(static_cast<const int64_t*>(constant.data()),
                                       static_cast<size_t>(constant.num_elements()));
  if (llvm::any_of(values, [](int64_t length) { return length < 0; })) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

llvm::Error LowerRagged(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  Value* lengths = l.input(1).values;
  const Dim& ragged = l.result_type().dims[1];
  Dim total = TotalOf(ragged);
  if (const std::optional<int64_t> known = KnownTotal(l.op().operands()[1])) {
    total = Dim(*known);
    const Dim& rows = x.type.dims[0];
    if (rows.is_constant() && rows != total) {
      l.Fail(Code::kShapeMismatch, "the lengths sum to " + total.ToString() + ", but there are " +
                                       rows.ToString() + " rows");
    }
  } else {
    // A negative length makes the total -1, which is not a valid size.
    Value* wrong = l.Call("any", {l.Call("less", {lengths, Scalar(l, 0)})});
    l.DefineSize(total, l.Call("where", {wrong, Scalar(l, -1), l.Call("sum", {lengths})}));
  }
  l.SetOffsets(ragged, OffsetsOf(l, lengths), total);
  if (x.type.ragged_levels() == 0) {
    Shape dims = x.values->type().dims;
    dims[0] = total;
    l.SetOutput(l.Call("reshape", {x.values}, {{"dims", dims}}));
  } else {
    // The sequences of x are the rows here.
    const Dim& inner = x.type.dims[1];
    Value* offsets = l.Call("reshape", {x.offsets[0]}, {{"dims", Shape{total + 1}}});
    l.SetOffsets(inner, offsets, x.values->type().dims[0]);
    l.SetOutput(x.values);
  }
  return l.TakeError();
}

struct RaggedMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Groups rows into sequences of the given lengths: the first lengths[0] rows are the first "
        "sequence, the next lengths[1] rows the second. Applied to sequences, makes sequences of "
        "sequences. The lengths must not be negative, and must sum to the number of rows. A "
        "literal `[[1, 2, 3], [4]]` used as a tensor is ragged([1, 2, 3, 4], [3, 1]).");
    AddInput("x", "[R, ...] or [R, ~T, ...]").Accepts(kAnySet).Ragged(1);
    AddInput("lengths", "number of rows of each sequence, i64[N]")
        .Accepts(DTypeSet(DType::kI64))
        .OwnDType();
    AddOutput("y", "[N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x").DTypeOf("x");
    SetInference(InferRagged);
    SetLowering(LowerRagged);
    AddExample("y = sequence_pool(ragged([1.0, 2.0, 3.0, 4.0], [3, 1]))  # = [6.0, 4.0]");
  }
};

// --- sequence_unpad -----------------------------------------------------------------------------

llvm::Error InferUnpad(InferenceContext& context) {
  const Type& x = context.input(0);
  if (x.rank() < 2)
    return context.FailAt({0}, Code::kRank, "'x' must have rows and steps, got {0}", x.ToString());
  if (llvm::Error error = RequireLengths(context, x.dims[0])) return error;
  Type type = x;
  type.dims[1] = context.FreshSymbol("~T");
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerUnpad(LoweringContext& l) {
  Value* x = l.input(0).values;
  const Shape dims = x->type().dims;
  const Dim& steps = dims[1];
  const Dim& ragged = l.result_type().dims[1];
  const Dim total = TotalOf(ragged);
  // Clamps lengths to between 0 and all steps.
  Value* most = l.Call("size", {}, {{"dims", Shape{steps}}, {"dtype", DType::kI64}});
  Value* lengths = l.Call("maximum", {l.Call("minimum", {l.input(1).values, most}), Scalar(l, 0)});
  Value* offsets = OffsetsOf(l, lengths);
  l.DefineSize(total, l.Call("sum", {lengths}));
  // Step t of row n is row n * steps + t of the flattened rows.
  const auto range = [&](const Dim& stop) {
    return l.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{stop}}});
  };
  Value* begins = l.Call(
      "slice", {offsets},
      {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{Dim(0)}}, {"stops", Shape{dims[0]}}});
  Value* shift = l.Call("sub", {l.Call("mul", {range(dims[0]), most}), begins});
  Value* row = l.Call("segment_ids", {offsets}, {{"dims", Shape{total}}});
  Value* indices = l.Call("add", {range(total), l.Call("gather", {shift, row})});
  Shape flat(dims.begin() + 1, dims.end());
  flat[0] = dims[0] * steps;
  l.SetOffsets(ragged, offsets, total);
  l.SetOutput(l.Call("gather", {l.Call("reshape", {x}, {{"dims", flat}}), indices}));
  return l.TakeError();
}

struct SequenceUnpadMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Makes a sequence of the first steps of each row of a padded batch: the inverse of "
        "`sequence_pad`. A length is clamped to between 0 and the number of steps.");
    AddInput("x", "[N, T, ...]").Accepts(kAnySet);
    AddInput("lengths", "number of steps of each row, i64[N]")
        .Accepts(DTypeSet(DType::kI64))
        .OwnDType();
    AddOutput("y", "[N, ~T, ...]; dtype as x").DTypeOf("x");
    SetInference(InferUnpad);
    SetLowering(LowerUnpad);
    AddExample("y = sequence_unpad([[1, 2, 3], [4, 0, 0]], [3, 1])");
  }
};

}  // namespace

void RegisterSequenceMakeOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  registry.Add(RaggedMaker().Build("ragged"));
  registry.Add(SequenceUnpadMaker().Build("sequence_unpad"));
}

}  // namespace pdl
