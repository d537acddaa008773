#include "kernels/reduction/axes_attributes.h"

#include "kernels/core/wide_gradient.h"

namespace pdl {

llvm::SmallVector<unsigned, 4> ReducedAxes(const AttributeReader& attributes, unsigned rank) {
  llvm::SmallVector<unsigned, 4> result;
  const bool all = !attributes.Has("axes");
  for (unsigned d = 0; d < rank; ++d) {
    const int64_t axis = static_cast<int64_t>(d);
    if (all || llvm::is_contained(attributes.Ints("axes"), axis) ||
        llvm::is_contained(attributes.Ints("axes"), axis - static_cast<int64_t>(rank))) {
      result.push_back(d);
    }
  }
  return result;
}

Shape ReducedDims(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<unsigned> axes, bool keep) {
  Shape result;
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (!llvm::is_contained(axes, d)) {
      result.push_back(dims[d]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

llvm::Error InferReduction(InferenceContext& context, DType dtype, bool needs_element) {
  const Type& x = context.input(0);
  auto axes = context.NormalizeAxes("axes", x.rank());
  if (!axes) return axes.takeError();
  // The rows of all sequences of a ragged tensor are reduced together; reductions of each sequence
  // are separate operators.
  const auto is_of_rows = [levels = x.ragged_levels()](unsigned axis) { return axis <= levels; };
  if (static_cast<size_t>(llvm::count_if(*axes, is_of_rows)) != x.ragged_levels() + 1) {
    for (const unsigned axis : *axes) {
      if (llvm::Error error = context.RequireDenseAxis(0, axis, "axes")) return error;
    }
  }
  if (needs_element) {
    for (const unsigned axis : *axes) {
      if (x.dims[axis].is_ragged()) continue;
      if (llvm::Error error =
              context.RequireAtLeast(x.dims[axis], 1, {0}, "the axis must not be empty")) {
        return error;
      }
    }
  }
  context.SetOutput(Type(dtype, ReducedDims(x.dims, *axes, context.attributes().Bool("keep"))));
  return llvm::Error::success();
}

llvm::SmallVector<unsigned, 4> ReducedAxes(GradientContext& g) {
  return ReducedAxes(g.attributes(), g.input(0)->type().rank());
}

Value* PutBackAxes(GradientContext& g, Value* value) {
  const Shape dims = ReducedDims(g.input(0)->type().dims, ReducedAxes(g), true);
  if (value == nullptr || value->type().dims == dims) return value;
  return g.Call("reshape", {value}, {{"dims", dims}});
}

Value* SpreadToInput(GradientContext& g, Value* value) {
  return g.Call("broadcast_to", {PutBackAxes(g, value)}, {{"dims", g.input(0)->type().dims}});
}

Value* ReducedCount(GradientContext& g) {
  const Type& x = g.input(0)->type();
  Shape reduced;
  for (const unsigned axis : ReducedAxes(g)) reduced.push_back(x.dims[axis]);
  return g.Call("size", {}, {{"dims", reduced}, {"dtype", WideDType(x.dtype)}});
}

OutputBuilder ReductionMaker::Declare(const char* comment, DTypeSet dtypes, const char* result) {
  AddComment(comment);
  AddInput(
      "x",
      "elements of any rank; the ragged dims and the one before them can only be reduced together")
      .Accepts(dtypes)
      .Ragged();
  const OutputBuilder output = AddOutput("y", result);
  AddAttr<std::vector<int64_t>>(
      "axes", "the axes to reduce; negative ones count from the end; default: all")
      .Optional()
      .Axis();
  AddAttr<bool>("keep", "whether to keep the reduced axes, with size 1").Default(false);
  return output;
}

}  // namespace pdl
