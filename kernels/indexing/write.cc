// write: replaces a slice at a position that is given at run time.
#include <algorithm>
#include <cstring>

#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// x is `outer` blocks of `size` rows, the value as many blocks of `count` rows.
struct WriteState : CallState {
  int64_t outer = 1, size = 0, count = 0, row_bytes = 1;
};

template <class Context>
class WriteOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = this->attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    auto state = std::make_shared<WriteState>();
    state->size = x.sizes[axis];
    state->count = context.inputs()[1].sizes[axis];
    state->row_bytes = DTypeSize(x.dtype);
    for (size_t d = 0; d < x.sizes.size(); ++d) {
      if (d < axis) state->outer *= x.sizes[d];
      if (d > axis) state->row_bytes *= x.sizes[d];
    }
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const WriteState& s = *context.template state<WriteState>();
    if (inputs[0]->raw() != outputs[0]->raw()) {
      if (llvm::Error error =
              context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes())) {
        return error;
      }
    }
    if (inputs[1]->num_elements() == 0) return llvm::Error::success();
    int64_t at = inputs[2]->dtype() == DType::kI64 ? *inputs[2]->template data<int64_t>()
                                                   : *inputs[2]->template data<int32_t>();
    if (at < 0) at += s.size;
    // The rows of the value that are within x.
    if (at <= -s.count || at >= s.size) return llvm::Error::success();
    const int64_t first = std::max<int64_t>(0, -at);
    const int64_t last = std::min(s.count, s.size - at);
    const char* value = static_cast<const char*>(inputs[1]->raw());
    char* y = static_cast<char*>(outputs[0]->raw());
    const int64_t bytes = (last - first) * s.row_bytes;
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / bytes);
    context.ParallelFor(s.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        std::memcpy(y + (block * s.size + at + first) * s.row_bytes,
                    value + (block * s.count + first) * s.row_bytes, static_cast<size_t>(bytes));
      }
    });
    return llvm::Error::success();
  }
};

llvm::Error InferWrite(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  const Type& x = context.input(0);
  const Type& value = context.input(1);
  const Type& at = context.input(2);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (value.rank() != x.rank()) {
    return context.FailAt({0, 1}, Code::kRank, "ranks differ: {0} and {1}", x.rank(), value.rank());
  }
  if (!at.is_scalar()) {
    return context.FailAt({2}, Code::kRank, "'at' must be a scalar, got {0}", at.ToString());
  }
  Type type = x;
  for (unsigned d = 0; d < x.rank(); ++d) {
    llvm::Error error = d == *axis
                            ? context.RequireAtLeast(x.dims[d], value.dims[d], {0, 1},
                                                     "the value is larger than x along the axis")
                            : context.RequireEqual(x.dims[d], value.dims[d], {0, 1},
                                                   "sizes along other axes differ");
    if (error) return error;
  }
  if (!value.index_bound || !type.index_bound) {
    type.index_bound.reset();
  } else {
    type.index_bound = Dim::Max(*type.index_bound, *value.index_bound);
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

void WriteGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  const Type& value = g.input(1)->type();
  if (!IsFloat(x.dtype)) return;
  const int64_t given = g.attributes().Int("axis");
  const int64_t axis = given < 0 ? given + x.rank() : given;
  const Dim& size = x.dims[static_cast<size_t>(axis)];
  const Dim& count = value.dims[static_cast<size_t>(axis)];
  Value* zeros = g.Call("zeros", {}, {{"dims", value.dims}, {"dtype", x.dtype}});
  g.SetInputGradient(0,
                     g.Call("write", {g.output_gradient(), zeros, g.input(2)}, {{"axis", axis}}));
  // Gathers the gradients of the rows that were written; dropped rows have gradient 0.
  Value* at = g.Call("cast", {g.input(2)}, {{"to", DType::kI64}});
  Value* total = g.Call("size", {}, {{"dims", Shape{size}}});
  Value* zero = g.Scalar(0, at);
  at = g.Call("where", {g.Call("less", {at, zero}), g.Add(at, total), at});
  Value* positions = g.Add(at, g.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{count}}}));
  Value* present = g.Call("logical_and", {g.Call("greater_equal", {positions, zero}),
                                          g.Call("less", {positions, total})});
  Shape dims(x.rank() - static_cast<size_t>(axis), Dim(1));
  dims[0] = count;
  present = g.Call("reshape", {present}, {{"dims", dims}});
  Value* rows = g.Call("gather", {g.output_gradient(), positions}, {{"axis", axis}});
  g.SetInputGradient(1, g.Call("where", {present, rows, g.Scalar(0, g.input(1))}));
}

// All rows of the value must be within x.
llvm::Error CheckPosition(const AttributeReader& attributes, llvm::ArrayRef<const Tensor*> operands,
                          llvm::ArrayRef<const Tensor*>) {
  const Tensor& x = *operands[0];
  const int64_t given = attributes.Int("axis");
  const auto axis = static_cast<unsigned>(given < 0 ? given + x.rank() : given);
  const int64_t size = x.size(axis), count = operands[1]->size(axis);
  const int64_t start = operands[2]->dtype() == DType::kI64 ? *operands[2]->data<int64_t>()
                                                            : *operands[2]->data<int32_t>();
  const int64_t at = start < 0 ? start + size : start;
  if (count == 0 || (at >= 0 && at <= size - count)) return llvm::Error::success();
  return MakeUserError(Code::kIndexRange, "{0} rows at index {1} are not within axis {2} of {3}",
                       count, start, axis, x.TypeString());
}

struct WriteMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x with a slice replaced by `value`, at a position that is given at run time: y[at : at + "
        "T] is the value, which has size T along the axis. A negative position counts from the "
        "end; rows outside the axis are dropped. Updates x in place if it has no other uses.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddInput("value",
             "dtype, rank and sizes as x, except that the size along the axis may be smaller")
        .Accepts(kAnySet);
    AddInput("at", "index of the first row that is written, a scalar")
        .Accepts(kIndexSet)
        .OwnDType()
        .Selector();
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(0);
    AddExample("y = write([0, 0, 0, 0], [1, 2], at=1)  # = [0, 1, 2, 0]");
    properties().moves_elements = true;
    properties().widening = IntegerWidening::kModular;
    SetInference(InferWrite);
    SetIndexCheck(CheckPosition);
    SetGradient(WriteGradient);
  }
};

}  // namespace

void RegisterWriteOps(OpRegistry& registry) {
  registry.BeginFamily("Indexing");
  registry.RegisterOp<WriteOp, WriteMaker>("write");
}

}  // namespace pdl
