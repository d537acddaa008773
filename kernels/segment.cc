// Operators of segments, rows that lie one after another and belong together: segment_ids.
#include <algorithm>

#include "kernels/all_ops.h"
#include "kernels/inference_helpers.h"
#include "pdl/op_proto_maker.h"
#include "pdl/operator.h"

namespace pdl {
namespace {

constexpr int64_t kGrain = 1 << 14;

template <class Context>
class SegmentIdsOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t* ends = inputs[0]->template data<int64_t>() + 1;
    const int64_t segments = inputs[0]->num_elements() - 1;
    int64_t* ids = outputs[0]->template data<int64_t>();
    context.ParallelFor(outputs[0]->num_elements(), kGrain, [&](int64_t begin, int64_t end) {
      int64_t id = std::upper_bound(ends, ends + segments, begin) - ends;
      for (int64_t row = begin; row < end; ++row) {
        while (id < segments && ends[id] <= row) ++id;
        // Rows behind the last segment have none: the nearest, so that no id leads outside.
        ids[row] = std::max<int64_t>(0, std::min(id, segments - 1));
      }
    });
    return llvm::Error::success();
  }
};

llvm::Error InferSegmentIds(InferenceContext& context) {
  if (context.input(0).rank() != 1) {
    return context.FailAt({0}, Code::kRank, "'offsets' must have 1 dim, got {0}",
                          context.input(0).ToString());
  }
  const Shape& dims = context.attributes().Dims("dims");
  if (dims.size() != 1) {
    return context.FailAtAttribute(
        "dims", Code::kRank, "wanted the one size of the result, got {0}", ShapeToString(dims));
  }
  if (llvm::Error error = CheckDims(context, "dims")) return error;
  const Dim segments = context.input(0).dims[0] - 1;
  if (llvm::Error error =
          context.RequireAtLeast(segments, 0, {0}, "offsets are one more than segments")) {
    return error;
  }
  Type type(DType::kI64, dims);
  type.index_bound = segments;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct SegmentIdsMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "For each row the segment that it lies in: i where offsets[i] <= row < offsets[i + 1]. "
        "`gather(x, segment_ids(offsets, rows))` repeats row i of x for every row of segment i. "
        "A row behind the last segment counts to that one.");
    AddInput("offsets",
             "[N + 1], where each segment begins, and where the last one ends, from 0 on")
        .Accepts(DType::kI64)
        .OwnDType();
    AddOutput("ids", "i64, below N");
    AddAttr<Shape>("dims", "how many rows there are: one size").Positional();
    SetInference(InferSegmentIds);
  }
};

}  // namespace

void RegisterSegmentOps(OpRegistry& registry) {
  registry.RegisterOp<SegmentIdsOp, SegmentIdsMaker>("segment_ids");
}

}  // namespace pdl
