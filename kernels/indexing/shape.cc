// Operators that change only the shape or the order of elements: reshape, flatten, squeeze,
// unsqueeze, transpose, broadcast_to.
#include "kernels/core/alias_op.h"
#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/strided_copy.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/gradient.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// The type of `x` with other dims. A bound of indices still holds.
Type WithDims(const Type& x, llvm::ArrayRef<Dim> dims) {
  Type type = x;
  type.dims.assign(dims.begin(), dims.end());
  return type;
}

struct StridedCopyState : CallState {
  StridedCopy copy;
};

template <class Context>
llvm::Error RunStridedCopy(const Tensor& in, Tensor* out, Context& context) {
  context.template state<StridedCopyState>()->copy.Run(in.raw(), out->raw(), context);
  return llvm::Error::success();
}

Preparation PrepareStridedCopy(StridedView view, DType dtype) {
  view.Collapse();
  auto state = std::make_shared<StridedCopyState>();
  state->copy = StridedCopy(std::move(view), DTypeSize(dtype));
  Preparation preparation;
  preparation.state = std::move(state);
  return preparation;
}

// --- reshape ------------------------------------------------------------------------------------

/// The attribute `dims`, with -1 replaced by the inferred size.
llvm::Expected<Shape> CompleteDims(InferenceContext& context) {
  const Type& x = context.input(0);
  Shape dims = context.attributes().Dims("dims");
  auto* rest = llvm::find_if(dims, [](const Dim& dim) { return dim.is_constant(-1); });
  if (rest == dims.end()) return dims;
  if (std::find_if(rest + 1, dims.end(), [](const Dim& dim) { return dim.is_constant(-1); }) !=
      dims.end()) {
    return context.FailAtAttribute("dims", Code::kShapeMismatch,
                                   "only one size may be -1, {0} has two", ShapeToString(dims));
  }
  // Sizes on both sides cancel, even if they are 0 at run time.
  Shape from, to;
  for (const Dim& dim : x.dims)
    if (!dim.is_ragged()) from.push_back(dim);
  for (Dim* dim = dims.begin(); dim != dims.end(); ++dim) {
    if (dim == rest || dim->is_ragged()) continue;
    auto* same = dim->is_constant(0) ? from.end() : llvm::find(from, *dim);
    if (same == from.end()) {
      to.push_back(*dim);
    } else {
      from.erase(same);
    }
  }
  const Dim total = NumElements(from), known = NumElements(to);
  if (known.is_constant(0)) {
    return context.FailAtAttribute(
        "dims", Code::kShapeMismatch,
        "the size for -1 is undefined, because the other sizes of {0} have no elements",
        ShapeToString(dims));
  }
  if (total.is_constant() && known.is_constant() && total.constant() % known.constant() != 0) {
    return context.FailAtAttribute(
        "dims", Code::kShapeMismatch, "{0} cannot be reshaped to {1}: {2} is not a multiple of {3}",
        x.ToString(), ShapeToString(dims), total.constant(), known.constant());
  }
  if (llvm::Error error =
          context.RequireMultiple(total, known, {0}, "the size for -1 is not an integer")) {
    return error;
  }
  *rest = Dim::FloorDiv(total, known);
  return dims;
}

llvm::Error InferReshape(InferenceContext& context) {
  const Type& x = context.input(0);
  llvm::Expected<Shape> complete = CompleteDims(context);
  if (!complete) return complete.takeError();
  const Shape& dims = *complete;
  if (llvm::Error error = CheckSizes(context, "dims", dims)) return error;
  // Only the dims after the ragged ones may change; ragged dims and the rows before them stay.
  const unsigned levels = x.ragged_levels();
  const size_t kept = levels == 0 ? 0 : levels + 1;
  const bool is_ragged = llvm::any_of(dims, [](const Dim& dim) { return dim.is_ragged(); });
  if (is_ragged != (levels > 0) || dims.size() < kept ||
      !std::equal(dims.begin(), dims.begin() + kept, x.dims.begin())) {
    return context.FailAtAttribute("dims", Code::kStorage,
                                   "{0} must keep its ragged dims and those before them, got {1}",
                                   x.ToString(), ShapeToString(dims));
  }
  const Dim before = NumElements(llvm::ArrayRef<Dim>(x.dims).drop_front(kept));
  const Dim after = NumElements(llvm::ArrayRef<Dim>(dims).drop_front(kept));
  context.SetOutput(WithDims(x, dims));
  if (dims != context.attributes().Dims("dims")) return llvm::Error::success();
  const Dim difference = before - after;
  if (difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1)) {
    return context.FailAtAttribute("dims", Code::kShapeMismatch,
                                   "{0} has {1} elements, {2} would have {3}", x.ToString(),
                                   before.ToString(), ShapeToString(dims), after.ToString());
  }
  return context.RequireEqual(before, after, {0}, "the numbers of elements differ");
}

void ReshapeBack(GradientContext& g) {
  g.SetInputGradient(0,
                     g.Call("reshape", {g.output_gradient()}, {{"dims", g.input(0)->type().dims}}));
}

struct ReshapeMaker : OpProtoMaker {
  void Make() override {
    AddComment("Changes the dims of x; the elements and their order stay the same.");
    AddInput("x", "elements of any rank").Accepts(kAnyDType).Ragged();
    AddOutput("y", "dims as given; dtype as x").DTypeOf("x");
    AddAttr<Shape>(
        "dims",
        "new dims, with the same number of elements. One of them may be -1 and is inferred from "
        "the others. Ragged dims of x and those before them must stay the same")
        .Positional()
        .Ragged();
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferReshape);
    SetGradient(ReshapeBack);
    AddExample("y = reshape([1, 2, 3, 4, 5, 6], [2, 3])  # = [[1, 2, 3], [4, 5, 6]]");
  }
};

// For operators that only change the dims after the ragged ones.
llvm::Error LowerReshape(LoweringContext& l) {
  l.SetOutput(l.input(0).values);
  return l.TakeError();
}

// --- flatten ------------------------------------------------------------------------------------

llvm::Error InferFlatten(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  const llvm::ArrayRef<Dim> dims = x.dims;
  Shape result(dims.take_front(*axis));
  result.push_back(NumElements(dims.drop_front(*axis)));
  context.SetOutput(WithDims(x, result));
  return llvm::Error::success();
}

struct FlattenMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Merges an axis and all axes after it into one; the elements and their order stay the "
        "same.");
    AddInput("x", "at least one dim").Accepts(kAnyDType).Ragged();
    AddOutput("y", "dtype as x").DTypeOf("x");
    AddAttr<int64_t>("axis", "first axis to merge; a negative axis counts from the end")
        .Default(1)
        .Axis();
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferFlatten);
    SetLowering(LowerReshape);
    SetGradient(ReshapeBack);
    AddExample(
        "y = flatten([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])  # = [[1, 2, 3, 4], [5, 6, 7, 8]]");
  }
};

// --- squeeze, unsqueeze -------------------------------------------------------------------------

llvm::Error InferSqueeze(InferenceContext& context) {
  const Type& x = context.input(0);
  llvm::SmallVector<bool, 6> dropped(x.rank(), false);
  if (context.attributes().Has("axes")) {
    auto axes = context.NormalizeAxes("axes", x.rank());
    if (!axes) return axes.takeError();
    for (const unsigned axis : *axes) {
      if (llvm::Error error = context.RequireDenseAxis(0, axis, "axes")) return error;
      dropped[axis] = true;
      const Dim& size = x.dims[axis];
      if ((size - 1).ProvablyAtLeast(1) || size.is_constant(0)) {
        return context.FailAtAttribute("axes", Code::kShapeMismatch,
                                       "axis {0} of {1} has size {2}, not 1", axis, x.ToString(),
                                       size.ToString());
      }
      if (llvm::Error error =
              context.RequireEqual(size, 1, {0}, "the size of a removed axis is not 1")) {
        return error;
      }
    }
  } else {
    const unsigned levels = x.ragged_levels();
    for (unsigned d = levels == 0 ? 0 : levels + 1; d < x.rank(); ++d)
      dropped[d] = x.dims[d].is_constant(1);
  }
  Shape dims;
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (!dropped[d]) dims.push_back(x.dims[d]);
  }
  context.SetOutput(WithDims(x, dims));
  return llvm::Error::success();
}

struct SqueezeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Removes axes of size 1. Without `axes`, all axes of constant size 1 are removed; axes of "
        "symbolic size stay.");
    AddInput("x", "elements of any rank").Accepts(kAnyDType).Ragged();
    AddOutput("y", "remaining dims; dtype as x").DTypeOf("x");
    AddAttr<std::vector<int64_t>>(
        "axes", "axes to remove, each at most once; negative axes count from the end")
        .Optional()
        .Positional()
        .Axis();
    AddExample("y = squeeze([[1, 2]])  # = [1, 2]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferSqueeze);
    SetLowering(LowerReshape);
    SetGradient(ReshapeBack);
  }
};

llvm::Error InferUnsqueeze(InferenceContext& context) {
  const Type& x = context.input(0);
  const unsigned rank = x.rank() + static_cast<unsigned>(context.attributes().Ints("axes").size());
  auto axes = context.NormalizeAxes("axes", rank);
  if (!axes) return axes.takeError();
  Shape dims;
  size_t next = 0;
  const unsigned levels = x.ragged_levels();
  for (unsigned d = 0; d < rank; ++d) {
    const bool is_new = llvm::is_contained(*axes, d);
    if (is_new && levels > 0 && d <= levels) {
      return context.FailAtAttribute(
          "axes", Code::kStorage, "a new axis must come after the ragged dims of {0}, not at {1}",
          x.ToString(), d);
    }
    dims.push_back(is_new ? Dim(1) : x.dims[next]);
    if (!is_new) ++next;
  }
  context.SetOutput(WithDims(x, dims));
  return llvm::Error::success();
}

struct UnsqueezeMaker : OpProtoMaker {
  void Make() override {
    AddComment("Inserts axes of size 1.");
    AddInput("x", "elements of any rank").Accepts(kAnyDType).Ragged();
    AddOutput("y", "dtype as x").DTypeOf("x");
    AddAttr<std::vector<int64_t>>("axes",
                                  "indices of the new axes in the result, each at most once; "
                                  "negative ones count from its end")
        .Positional()
        .Axis();
    AddExample("y = unsqueeze([1, 2], [-1])  # = [[1], [2]]");
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferUnsqueeze);
    SetLowering(LowerReshape);
    SetGradient(ReshapeBack);
  }
};

// --- transpose ----------------------------------------------------------------------------------

// The axes of x in the order of the result: as given, or with the last two swapped.
llvm::SmallVector<unsigned, 6> Permutation(const AttributeReader& attributes, unsigned rank) {
  llvm::SmallVector<unsigned, 6> order(rank);
  for (unsigned d = 0; d < rank; ++d) order[d] = d;
  if (!attributes.Has("perm")) {
    std::swap(order[rank - 2], order[rank - 1]);
    return order;
  }
  const auto perm = attributes.Ints("perm");
  for (unsigned d = 0; d < rank; ++d) {
    order[d] = static_cast<unsigned>(perm[d] < 0 ? perm[d] + rank : perm[d]);
  }
  return order;
}

template <class Context>
class TransposeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const auto order = Permutation(this->attributes(), static_cast<unsigned>(input.sizes.size()));
    const auto strides = RowMajorStrides(input.sizes);
    StridedView view;
    int64_t last = -1;
    bool is_in_order = true;
    for (const unsigned d : order) {
      view.sizes.push_back(input.sizes[d]);
      view.strides.push_back(strides[d]);
      if (input.sizes[d] == 1) continue;
      is_in_order &= static_cast<int64_t>(d) > last;
      last = d;
    }
    Preparation preparation = PrepareStridedCopy(std::move(view), input.dtype);
    if (is_in_order) preparation.aliases.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    return RunStridedCopy(*inputs[0], outputs[0], context);
  }
};

llvm::Error InferTranspose(InferenceContext& context) {
  const Type& x = context.input(0);
  const AttributeReader& attributes = context.attributes();
  if (attributes.Has("perm")) {
    const auto perm = attributes.Ints("perm");
    if (perm.size() != x.rank()) {
      return context.FailAtAttribute("perm", Code::kRank,
                                     "'perm' must name each axis of {0}, got {1} axes",
                                     x.ToString(), perm.size());
    }
    // Rejects axes that are out of range or repeated.
    auto axes = context.NormalizeAxes("perm", x.rank());
    if (!axes) return axes.takeError();
  } else if (x.rank() < 2) {
    return context.FailAt({0}, Code::kRank,
                          "'x' must have at least two dims if 'perm' is not given, got {0}",
                          x.ToString());
  }
  Shape dims;
  for (const unsigned d : Permutation(attributes, x.rank())) dims.push_back(x.dims[d]);
  context.SetOutput(WithDims(x, dims));
  return llvm::Error::success();
}

void TransposeGradient(GradientContext& g) {
  const auto order = Permutation(g.attributes(), g.input(0)->type().rank());
  std::vector<int64_t> inverse(order.size());
  for (size_t d = 0; d < order.size(); ++d) inverse[order[d]] = static_cast<int64_t>(d);
  g.SetInputGradient(0, g.Call("transpose", {g.output_gradient()}, {{"perm", inverse}}));
}

struct TransposeMaker : OpProtoMaker {
  void Make() override {
    AddComment("Permutes the axes of x.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "axis i is axis perm[i] of x; dtype as x").DTypeOf("x");
    AddAttr<std::vector<int64_t>>("perm",
                                  "permutation of the axes of x; negative axes count from the end; "
                                  "by default the last two axes are swapped")
        .Optional()
        .Positional();
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferTranspose);
    SetGradient(TransposeGradient);
    AddExample("y = transpose([[1, 2, 3], [4, 5, 6]])  # = [[1, 4], [2, 5], [3, 6]]");
  }
};

// --- broadcast_to -------------------------------------------------------------------------------

template <class Context>
class BroadcastToOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const OperandType& output = context.outputs()[0];
    Preparation preparation =
        PrepareStridedCopy(BroadcastView(input.sizes, output.sizes), input.dtype);
    if (input.num_elements() == output.num_elements()) preparation.aliases.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    return RunStridedCopy(*inputs[0], outputs[0], context);
  }
};

llvm::Error InferBroadcastTo(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "dims")) return error;
  const Type& x = context.input(0);
  const Shape& dims = context.attributes().Dims("dims");
  if (dims.size() < x.rank()) {
    return context.FailAtAttribute("dims", Code::kRank, "{0} has more dims than {1}", x.ToString(),
                                   ShapeToString(dims));
  }
  const size_t added = dims.size() - x.rank();
  for (unsigned d = 0; d < x.rank(); ++d) {
    const Dim& to = dims[added + d];
    if (x.dims[d].is_constant(1)) continue;
    const Dim difference = x.dims[d] - to;
    if (difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1)) {
      return context.FailAtAttribute("dims", Code::kBroadcast,
                                     "size {0} of {1} does not broadcast to {2}",
                                     x.dims[d].ToString(), x.ToString(), to.ToString());
    }
    if (llvm::Error error = context.RequireEqual(x.dims[d], to, {0}, "sizes do not broadcast")) {
      return error;
    }
  }
  context.SetOutput(WithDims(x, dims));
  return llvm::Error::success();
}

struct BroadcastToMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Broadcasts x to other dims: along dims of constant size 1, and along new leading dims.");
    AddInput("x", "elements of any rank").Accepts(kAnySet);
    AddOutput("y", "dims as given; dtype as x").DTypeOf("x").DimsOf("dims");
    AddAttr<Shape>("dims", "the new dims").Positional();
    properties().moves_elements = true;
    properties().reduced_precision = ReducedPrecision::kFollow;
    SetInference(InferBroadcastTo);
    SetGradient([](GradientContext& g) {
      g.SetInputGradient(0, g.SumTo(g.output_gradient(), g.input(0)));
    });
    AddExample("y = broadcast_to([[1], [2]], [2, 3])  # = [[1, 1, 1], [2, 2, 2]]");
  }
};

}  // namespace

void RegisterShapeOps(OpRegistry& registry) {
  registry.BeginFamily("Shapes");
  registry.RegisterOp<AliasOp, ReshapeMaker>("reshape");
  registry.RegisterOp<AliasOp, FlattenMaker>("flatten");
  registry.RegisterOp<AliasOp, SqueezeMaker>("squeeze");
  registry.RegisterOp<AliasOp, UnsqueezeMaker>("unsqueeze");
  registry.RegisterOp<TransposeOp, TransposeMaker>("transpose");
  registry.RegisterOp<BroadcastToOp, BroadcastToMaker>("broadcast_to");
}

}  // namespace pdl
