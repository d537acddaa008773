// Operators with data-dependent result sizes: nonzero, unique, sequence_at. They have no kernels:
// each is lowered to a computation of the size, a call of data_size that defines it, and calls with
// results of that size.
#include <cstring>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// --- data_size ----------------------------------------------------------------------------------

llvm::Error InferDataSize(InferenceContext& context) {
  const Type& count = context.input(0);
  if (count.rank() != 0) {
    return context.FailAt({0}, Code::kRank, "'count' must be i64[], got {0}", count.ToString());
  }
  const Shape& dims = context.attributes().Dims("dims");
  if (dims.size() != 1 || dims[0].symbol().empty() || dims[0].is_ragged()) {
    return context.FailAtAttribute("dims", Code::kUnknownSize, "'dims' must be one symbol, got {0}",
                                   ShapeToString(dims));
  }
  context.SetOutput(count);
  return llvm::Error::success();
}

struct DataSizeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Defines a new size symbol by a value that is computed at run time. nonzero and similar "
        "operators are lowered to it; calls with the symbol in their dims run once the value is "
        "known.");
    AddInput("count", "i64[], at least 0").Accepts(DTypeSet(DType::kI64));
    AddOutput("y", "count").TypeOf("count");
    AddAttr<Shape>("dims", "the symbol").Positional();
    properties().defines_size = true;
    SetInference(InferDataSize);
  }
};

// --- run_starts ---------------------------------------------------------------------------------

template <class Context>
class RunStartsOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    int64_t* starts = outputs[0]->template data<int64_t>();
    VisitDType(AnyTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      context.ParallelFor(inputs[0]->num_elements(), kGrainElements,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t i = begin; i < end; ++i) {
                              if (i == 0) {
                                starts[i] = 1;
                                continue;
                              }
                              const auto a = Element<T>::Load(x[i - 1]), b = Element<T>::Load(x[i]);
                              const bool both_nan = a != a && b != b;
                              starts[i] = a != b && !both_nan ? 1 : 0;
                            }
                          });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferRunStarts(InferenceContext& context) {
  if (context.input(0).rank() != 1) {
    return context.FailAt({0}, Code::kRank, "'x' must have one dim, got {0}",
                          context.input(0).ToString());
  }
  context.SetOutput(Type(DType::kI64, context.input(0).dims));
  return llvm::Error::success();
}

struct RunStartsMaker : OpProtoMaker {
  void Make() override {
    AddComment("1 where a run of equal elements begins, else 0. Adjacent nan are equal.");
    AddInput("x", "one dim").Accepts(kAnySet);
    AddOutput("starts", "i64, dims as x").HasDType(DType::kI64).DimsOf("x");
    AddExample("starts = run_starts([7, 7, 8, 8, 7])  # = [1, 0, 1, 0, 1]");
    SetInference(InferRunStarts);
  }
};

// --- counted_places -----------------------------------------------------------------------------

template <class Context>
class CountedPlacesOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t* counts = inputs[0]->template data<int64_t>();
    int64_t* positions = outputs[0]->template data<int64_t>();
    const int64_t rows = outputs[0]->size(0);
    const llvm::ArrayRef<int64_t> sizes = inputs[0]->sizes();
    const size_t rank = sizes.size();
    // A count that is no running count has fewer increases than rows.
    std::memset(positions, 0, static_cast<size_t>(outputs[0]->num_bytes()));
    context.ParallelFor(inputs[0]->num_elements(), kGrainElements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t before = i == 0 ? 0 : counts[i - 1];
        if (counts[i] == before || before < 0 || before >= rows) continue;
        int64_t rest = i;
        for (size_t axis = rank; axis-- > 0; rest /= sizes[axis])
          positions[before * static_cast<int64_t>(rank) + static_cast<int64_t>(axis)] =
              rest % sizes[axis];
      }
    });
    return llvm::Error::success();
  }
};

llvm::Error InferCountedPlaces(InferenceContext& context) {
  llvm::Expected<Dim> rows = OneSize(context, "dims");
  if (!rows) return rows.takeError();
  const Type& counts = context.input(0);
  Type type(DType::kI64, {*rows, Dim(static_cast<int64_t>(counts.rank()))});
  if (counts.rank() == 1) type.index_bound = counts.dims[0];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct CountedPlacesMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The indices of the elements at which a running count increases by one, in row-major "
        "order: a row for each increase, with an index for each axis. The count must begin at 0 "
        "or 1. There are `dims` rows, normally the final count: rows beyond the number of "
        "increases are 0, and increases beyond the number of rows are left out.");
    AddInput("counts", "running count: cumsum of zeros and ones; any rank")
        .Accepts(DTypeSet(DType::kI64));
    AddOutput("places", "i64[dims, rank of counts]").HasDType(DType::kI64).Rank(2);
    AddAttr<Shape>("dims", "number of rows").Positional();
    AddExample("indices = counted_places([0, 1, 1, 2], [2])  # = [[1], [3]]");
    SetInference(InferCountedPlaces);
  }
};

// --- nonzero ------------------------------------------------------------------------------------

/// The indices of the ones in a tensor of zeros and ones, which has `rows` of them.
struct Ones {
  Value* counts = nullptr;     // running count, i64[n]
  Value* positions = nullptr;  // i64[rows, rank]
};

Ones FindOnes(LoweringContext& l, Value* flat, const Shape& dims, const Dim& rows) {
  Ones ones;
  ones.counts = l.Call("cumsum", {flat}, {{"axis", int64_t{0}}});
  l.DefineSize(rows, l.Call("sum", {flat}));
  Value* counts = l.Call("reshape", {ones.counts}, {{"dims", dims}});
  ones.positions = l.Call("counted_places", {counts}, {{"dims", Shape{rows}}});
  return ones;
}

llvm::Error InferNonzero(InferenceContext& context) {
  const Type& x = context.input(0);
  Type type(DType::kI64, {context.FreshSymbol("count"), Dim(static_cast<int64_t>(x.rank()))});
  if (x.rank() == 1) type.index_bound = x.dims[0];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerNonzero(LoweringContext& l) {
  Value* x = l.input(0).values;
  const Shape dims = x->type().dims;
  Value* flat = l.Call("reshape", {x}, {{"dims", Shape{NumElements(dims)}}});
  if (x->type().dtype != DType::kBool) flat = l.Call("cast", {flat}, {{"to", DType::kBool}});
  flat = l.Call("cast", {flat}, {{"to", DType::kI64}});
  l.SetOutput(FindOnes(l, flat, dims, l.result_type().dims[0]).positions);
  return l.TakeError();
}

struct NonzeroMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The indices of the elements that are not 0 (nan is not 0), in row-major order: a row for "
        "each element, with an index for each axis, like NumPy's `argwhere`. ONNX's `NonZero` is "
        "transpose(nonzero(x)). The number of rows depends on the data, so a network runs in two "
        "parts: up to the count, and from there.");
    AddInput("x", "elements of any rank").Accepts(kAnySet).NotDifferentiable();
    AddOutput("places", "i64[count, rank of x]").OwnDType().HasDType(DType::kI64).Rank(2);
    AddExample("indices = nonzero([[5, 0], [0, 6]])  # = [[0, 0], [1, 1]]");
    AddExample("input x: f32[N]\noutput y = gather(x, nonzero(x)[:, 0])");
    SetInference(InferNonzero);
    SetLowering(LowerNonzero);
  }
};

// --- unique -------------------------------------------------------------------------------------

llvm::Error InferUnique(InferenceContext& context) {
  const Type& x = context.input(0);
  const Dim count = context.FreshSymbol("count");
  Type values(x.dtype, {count});
  values.index_bound = x.index_bound;
  context.SetOutput(0, std::move(values));
  Type inverse(DType::kI64, {NumElements(x.dims)});
  inverse.index_bound = count;
  context.SetOutput(1, std::move(inverse));
  context.SetOutput(2, Type(DType::kI64, {count}));
  Type first(DType::kI64, {count});
  first.index_bound = NumElements(x.dims);
  context.SetOutput(3, std::move(first));
  return llvm::Error::success();
}

llvm::Error LowerUnique(LoweringContext& l) {
  Value* x = l.input(0).values;
  const Dim n = NumElements(x->type().dims);
  const Dim count = l.result_type(0).dims[0];
  Value* flat = l.Call("reshape", {x}, {{"dims", Shape{n}}});
  Value* order = l.Call("argsort", {flat});
  Value* sorted = l.Call("gather", {flat, order});
  Ones ones = FindOnes(l, l.Call("run_starts", {sorted}), {n}, count);
  Value* starts = l.Call("reshape", {ones.positions}, {{"dims", Shape{count}}});
  Value* values = l.Call("gather", {sorted, starts});
  // A run ends at the start of the next one, the last run at the end.
  const auto part = [&](Value* of, const Dim& from, const Dim& to) {
    return l.Call(
        "slice", {of},
        {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{from}}, {"stops", Shape{to}}});
  };
  Value* end = l.Call("range", {}, {{"start", Shape{n}}, {"stop", Shape{n + 1}}});
  Value* ends = part(l.Call("concat", {starts, end}), 1, count + 1);
  Value* counts = l.Call("sub", {ends, starts});
  Value* one = l.Call("ones", {}, {{"dims", Shape{}}, {"dtype", DType::kI64}});
  Value* runs = l.Call("sub", {ones.counts, one});
  Value* zeros = l.Call("zeros", {}, {{"dims", Shape{n}}, {"dtype", DType::kI64}});
  Value* inverse = l.Call("scatter", {zeros, order, runs});
  // The sort is stable: the first of equal elements comes first.
  Value* first = l.Call("gather", {order, starts});
  if (!l.attributes().Bool("sorted")) {
    Value* by_first = l.Call("argsort", {first});
    first = l.Call("gather", {first, by_first});
    values = l.Call("gather", {values, by_first});
    counts = l.Call("gather", {counts, by_first});
    inverse = l.Call("gather", {l.Call("argsort", {by_first}), inverse});
  }
  l.SetOutput(0, values);
  l.SetOutput(1, inverse);
  l.SetOutput(2, counts);
  l.SetOutput(3, first);
  return l.TakeError();
}

struct UniqueMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The unique elements of x in ascending order; all nan are equal and come last. Also "
        "returns the index of each element of x among the unique ones, the number of occurrences "
        "of each unique element, and the index of its first occurrence. The number of unique "
        "elements depends on the data.");
    AddInput("x", "elements of any rank").Accepts(kAnySet).NotDifferentiable();
    AddOutput("values", "[count]; dtype as x").DTypeOf("x").Rank(1);
    AddOutput("inverse", "i64[elements of x]: gather(values, inverse) is x as one dim")
        .OwnDType()
        .HasDType(DType::kI64)
        .Rank(1);
    AddOutput("counts", "i64[count]").OwnDType().HasDType(DType::kI64).Rank(1);
    AddOutput("first", "i64[count]: index of the first occurrence of each among the elements of x")
        .OwnDType()
        .HasDType(DType::kI64)
        .Rank(1);
    AddAttr<bool>("sorted", "ascending order; else order of first occurrence").Default(true);
    AddExample("values, inverse, counts, first = unique([3, 1, 3])");
    SetInference(InferUnique);
    SetLowering(LowerUnique);
  }
};

// --- sequence_at --------------------------------------------------------------------------------

llvm::Error InferSequenceAt(InferenceContext& context) {
  const Type& x = context.input(0);
  llvm::Expected<Dim> at = OneSize(context, "at");
  if (!at) return at.takeError();
  if (llvm::Error error = CheckDims(context, "at")) return error;
  if (llvm::Error error =
          context.RequireAtLeast(x.dims[0], *at + 1, {0}, "there are not enough sequences"))
    return error;
  Type type(x.dtype, {context.FreshSymbol("rows")});
  type.dims.append(x.dims.begin() + 2, x.dims.end());
  type.index_bound = x.index_bound;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error LowerSequenceAt(LoweringContext& l) {
  const LoweredValue& x = l.input(0);
  const Dim at = l.attributes().Dims("at")[0];
  const Dim rows = l.result_type().dims[0];
  const auto offset = [&](const Dim& row) {
    Value* part = l.Call(
        "slice", {x.offsets[0]},
        {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{row}}, {"stops", Shape{row + 1}}});
    return l.Call("reshape", {part}, {{"dims", Shape{}}});
  };
  Value* begin = offset(at);
  l.DefineSize(rows, l.Call("sub", {offset(at + 1), begin}));
  Value* range = l.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{rows}}});
  l.SetOutput(l.Call("gather", {x.values, l.Call("add", {range, begin})}));
  return l.TakeError();
}

struct SequenceAtMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "A single sequence of a ragged tensor, as a dense tensor: `x[n]` of a ragged x is "
        "sequence_at(x, [n]). The number of rows depends on the data.");
    AddInput("x", "[N, ~T, ...]").Accepts(kAnySet).RaggedOnly(1);
    AddOutput("y", "[rows, ...]; dtype as x").DTypeOf("x");
    AddAttr<Shape>("at", "index of the sequence, one size").Positional();
    AddExample("input x: f32[N, ~T, 8]\noutput y = sequence_at(x, [0])");
    SetInference(InferSequenceAt);
    SetLowering(LowerSequenceAt);
  }
};

}  // namespace

void RegisterDataSizeOps(OpRegistry& registry) {
  registry.BeginFamily("Data-dependent sizes");
  registry.Add(NonzeroMaker().Build("nonzero"));
  registry.Add(UniqueMaker().Build("unique"));
  registry.Add(SequenceAtMaker().Build("sequence_at"));
  registry.Add(DataSizeMaker().Build("data_size"));
  registry.RegisterOp<RunStartsOp, RunStartsMaker>("run_starts");
  registry.RegisterOp<CountedPlacesOp, CountedPlacesMaker>("counted_places");
}

}  // namespace pdl
