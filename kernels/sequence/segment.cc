// Operators that compute row indices from segments, which are runs of consecutive rows:
// segment_ids, segment_reverse, segment_window, segment_pad.
#include <algorithm>

#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/sequence/segment.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// Calls f(row, segment, begin, end) for the rows from `first` to `last`. Rows after the last
// segment belong to it, so that every row has a segment.
template <class F>
void ForEachRow(const RowSegments& segments, int64_t first, int64_t last, F f) {
  if (segments.count == 0) {
    for (int64_t row = first; row < last; ++row) f(row, int64_t{0}, int64_t{0}, int64_t{0});
    return;
  }
  const int64_t* ends = segments.offsets + 1;
  int64_t segment = std::upper_bound(ends, ends + segments.count, first) - ends;
  for (int64_t row = first; row < last; ++row) {
    while (segment < segments.count && ends[segment] <= row) ++segment;
    const int64_t at = std::min(segment, segments.count - 1);
    const auto [begin, end] = segments[at];
    f(row, at, begin, end);
  }
}

template <class Context>
class SegmentIdsOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t rows = outputs[0]->num_elements();
    const RowSegments segments(*inputs[0], rows);
    int64_t* ids = outputs[0]->template data<int64_t>();
    context.ParallelFor(rows, kGrainElements, [&](int64_t first, int64_t last) {
      ForEachRow(segments, first, last,
                 [&](int64_t row, int64_t segment, int64_t, int64_t) { ids[row] = segment; });
    });
    return llvm::Error::success();
  }
};

template <class Context>
class SegmentReverseOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t rows = outputs[0]->num_elements();
    const RowSegments segments(*inputs[0], rows);
    int64_t* indices = outputs[0]->template data<int64_t>();
    context.ParallelFor(rows, kGrainElements, [&](int64_t first, int64_t last) {
      ForEachRow(segments, first, last, [&](int64_t row, int64_t, int64_t begin, int64_t end) {
        indices[row] = row >= begin && row < end ? begin + (end - 1 - row) : row;
      });
    });
    return llvm::Error::success();
  }
};

template <class Context>
class SegmentWindowOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t rows = outputs[0]->size(0), size = outputs[0]->size(1);
    const RowSegments segments(*inputs[0], rows);
    int64_t* indices = outputs[0]->template data<int64_t>();
    context.ParallelFor(
        rows, std::max<int64_t>(1, kGrainElements / size), [&](int64_t first, int64_t last) {
          ForEachRow(segments, first, last, [&](int64_t row, int64_t, int64_t begin, int64_t end) {
            for (int64_t i = 0; i < size; ++i) {
              const int64_t position = row + start_ + i;
              indices[row * size + i] = position >= begin && position < end ? position : rows;
            }
          });
        });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    start_ = attributes.Int("start");
    return llvm::Error::success();
  }

 private:
  int64_t start_ = 0;
};

template <class Context>
class SegmentPadOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<State>();
    llvm::Expected<int64_t> rows = context.Evaluate(this->attributes().Dims("dims")[0]);
    if (!rows) return rows.takeError();
    state->rows = *rows;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t rows = context.template state<State>()->rows;
    const int64_t size = outputs[0]->size(1);
    const RowSegments segments(*inputs[0], rows);
    int64_t* indices = outputs[0]->template data<int64_t>();
    const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(size, 1));
    context.ParallelFor(segments.count, grain, [&](int64_t first, int64_t last) {
      for (int64_t segment = first; segment < last; ++segment) {
        const auto [begin, end] = segments[segment];
        for (int64_t i = 0; i < size; ++i)
          indices[segment * size + i] = i < end - begin ? begin + i : rows;
      }
    });
    return llvm::Error::success();
  }

 private:
  struct State : CallState {
    int64_t rows = 0;
  };
};

llvm::Error InferSegmentIds(InferenceContext& context) {
  auto segments = InferSegments(context, 0);
  if (!segments) return segments.takeError();
  auto rows = OneSize(context, "dims");
  if (!rows) return rows.takeError();
  Type type(DType::kI64, {*rows});
  type.index_bound = *segments;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error InferSegmentReverse(InferenceContext& context) {
  auto segments = InferSegments(context, 0);
  if (!segments) return segments.takeError();
  auto rows = OneSize(context, "dims");
  if (!rows) return rows.takeError();
  Type type(DType::kI64, {*rows});
  type.index_bound = *rows;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error InferSegmentWindow(InferenceContext& context) {
  auto segments = InferSegments(context, 0);
  if (!segments) return segments.takeError();
  auto rows = OneSize(context, "dims");
  if (!rows) return rows.takeError();
  Type type(DType::kI64, {*rows, context.attributes().Int("size")});
  type.index_bound = *rows + 1;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error InferSegmentPad(InferenceContext& context) {
  auto segments = InferSegments(context, 0);
  if (!segments) return segments.takeError();
  auto rows = OneSize(context, "dims");
  if (!rows) return rows.takeError();
  auto size = OneSize(context, "size");
  if (!size) return size.takeError();
  Type type(DType::kI64, {*segments, *size});
  type.index_bound = *rows + 1;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct SegmentMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, const char* result, InferFunction infer) {
    AddComment(comment);
    AddInput("offsets",
             "[N + 1], the start of each segment, then the end of the last one; from 0 on")
        .Accepts(DType::kI64)
        .OwnDType();
    AddOutput("places", result).HasDType(DType::kI64);
    AddAttr<Shape>("dims", "total number of rows, one size").Positional();
    SetInference(infer);
  }
};

struct SegmentIdsMaker : SegmentMaker {
  void Make() override {
    Declare(
        "The segment of each row: i where offsets[i] <= row < offsets[i + 1]. `gather(x, "
        "segment_ids(offsets, rows))` repeats row i of x for every row of segment i. Rows after "
        "the last segment belong to it.",
        "[R], i64 below N", InferSegmentIds);
    AddExample("y = segment_ids([0, 2, 2, 5], [5])  # = [0, 0, 2, 2, 2]");
  }
};

struct SegmentReverseMaker : SegmentMaker {
  void Make() override {
    Declare("Row indices that reverse each segment; rows after the last segment stay.",
            "[R], i64 below R", InferSegmentReverse);
    AddExample("y = segment_reverse([0, 2, 2, 5], [5])  # = [1, 0, 4, 3, 2]");
  }
};

struct SegmentWindowMaker : SegmentMaker {
  void Make() override {
    Declare(
        "Row indices of a window around each row: `size` of them, the first one `start` rows from "
        "it. Rows outside its segment are R, the total number of rows.",
        "[R, size], i64 up to R", InferSegmentWindow);
    AddAttr<int64_t>("size", "rows in a window").Default(3).AtLeast(1).AtMost(1 << 20);
    AddAttr<int64_t>("start", "offset of the first row of the window from the row")
        .Default(-1)
        .AtLeast(-(1 << 30))
        .AtMost(1 << 30);
    AddExample(
        "y = segment_window([0, 3, 4], [4])  # = [[4, 0, 1], [0, 1, 2], [1, 2, 4], [4, 3, 4]]");
  }
};

struct SegmentPadMaker : SegmentMaker {
  void Make() override {
    Declare(
        "Row indices that pad segments: row i of the result has the first `size` rows of segment "
        "i. Shorter segments are padded with R, the total number of rows; longer ones are "
        "truncated.",
        "[N, size], i64 up to R", InferSegmentPad);
    AddAttr<Shape>("size", "number of rows of each segment, one size").Positional();
    AddExample("y = segment_pad([0, 2, 2, 5], [5], [2])  # = [[0, 1], [5, 5], [2, 3]]");
  }
};

}  // namespace

Value* InSegments(GradientContext& g, Value* offsets, const Dim& rows) {
  const auto offset_at = [&](const Dim& index) {
    return g.Call("slice", {offsets},
                  {{"axes", std::vector<int64_t>{0}},
                   {"starts", Shape{index}},
                   {"stops", Shape{index + 1}},
                   {"steps", std::vector<int64_t>{1}}});
  };
  Value* row = g.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{rows}}});
  Value* begins = g.Call("greater_equal", {row, offset_at(0)});
  Value* ends = g.Call("less", {row, offset_at(offsets->type().dims[0] - 1)});
  return g.Call("logical_and", {begins, ends});
}

llvm::Expected<Dim> InferSegments(InferenceContext& context, unsigned input) {
  const Type& offsets = context.input(input);
  if (offsets.rank() != 1) {
    return context.FailAt({input}, Code::kRank, "'offsets' must have 1 dim, got {0}",
                          offsets.ToString());
  }
  const Dim segments = offsets.dims[0] - 1;
  if (llvm::Error error = context.RequireAtLeast(segments, 0, {input},
                                                 "'offsets' must have at least one element")) {
    return error;
  }
  return segments;
}

void RegisterSegmentOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  registry.RegisterOp<SegmentIdsOp, SegmentIdsMaker>("segment_ids");
  registry.RegisterOp<SegmentReverseOp, SegmentReverseMaker>("segment_reverse");
  registry.RegisterOp<SegmentWindowOp, SegmentWindowMaker>("segment_window");
  registry.RegisterOp<SegmentPadOp, SegmentPadMaker>("segment_pad");
}

}  // namespace pdl
