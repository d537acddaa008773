// im2col and col2im, which convert windows to columns and back.
#include "kernels/convolution/columns.h"
#include "kernels/convolution/window_attributes.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

struct UnfoldState : CallState {
  SlidingWindow window;
  int64_t planes = 0;
};

// `image` is the operand that the windows slide over.
llvm::Expected<std::shared_ptr<UnfoldState>> PrepareUnfold(const PrepareContext& context,
                                                           const AttributeReader& attributes,
                                                           const OperandType& image) {
  const auto in = llvm::ArrayRef<int64_t>(image.sizes).drop_front(2);
  auto kernel = EvaluateSpatialAttribute(context, attributes, "kernel", in.size());
  if (!kernel) return kernel.takeError();
  auto window = EvaluateWindow(context, attributes, *kernel, in, {});
  if (!window) return window.takeError();
  auto state = std::make_shared<UnfoldState>();
  state->window = *window;
  state->planes = image.sizes[0] * image.sizes[1];
  return state;
}

template <class Context>
class Im2ColOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = PrepareUnfold(context, this->attributes(), context.inputs()[0]);
    if (!state) return state.takeError();
    Preparation preparation;
    preparation.state = std::move(*state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const UnfoldState& state = *context.template state<UnfoldState>();
    const SlidingWindow& window = state.window;
    const int64_t columns = window.kernel() * window.out();
    VisitDType(AnyTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      context.ParallelFor(state.planes, 1 + kGrainMoves / columns, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          ToColumns(window, x + p * window.in(), y + p * columns);
        }
      });
    });
    return llvm::Error::success();
  }
};

template <class Context>
class Col2ImOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = PrepareUnfold(context, this->attributes(), context.outputs()[0]);
    if (!state) return state.takeError();
    Preparation preparation;
    const DType dtype = context.outputs()[0].dtype;
    if (dtype == DType::kF16 || dtype == DType::kBF16) {
      preparation.workspace_bytes = context.outputs()[0].num_elements() * 4;
    }
    preparation.state = std::move(*state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const UnfoldState& state = *context.template state<UnfoldState>();
    const SlidingWindow& window = state.window;
    const int64_t columns = window.kernel() * window.out();
    VisitDType(NumberTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Sum = ComputeType<T>;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      // f16/bf16 accumulate in f32.
      Sum* sums = std::is_same_v<T, Sum> ? static_cast<Sum*>(outputs[0]->raw())
                                         : static_cast<Sum*>(context.workspace());
      const int64_t plane = window.in();
      const int64_t grain = 1 + kGrainMoves / std::max(plane, columns);
      context.ParallelFor(state.planes, grain, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          std::fill_n(sums + p * plane, plane, Sum{});
          if (columns > 0) AddColumns(window, x + p * columns, sums + p * plane);
          if constexpr (!std::is_same_v<T, Sum>) {
            for (int64_t i = p * plane; i < (p + 1) * plane; ++i) {
              y[i] = Element<T>::Store(sums[i]);
            }
          }
        }
      });
    });
    return llvm::Error::success();
  }
};

// --- declarations -------------------------------------------------------------------------------

llvm::Error InferIm2Col(InferenceContext& context) {
  if (llvm::Error error = RequireSpatialRank(context, 0)) return error;
  const Type& x = context.input(0);
  auto kernel = ReadSpatialAttribute(context, "kernel", x.rank() - 2, 1);
  if (!kernel) return kernel.takeError();
  auto window = ReadWindow(context, *kernel, SpatialDims(x));
  if (!window) return window.takeError();
  auto out = CountWindows(context, *window, SpatialDims(x), 0);
  if (!out) return out.takeError();
  context.SetOutput(
      Type(x.dtype, {x.dims[0], x.dims[1] * NumElements(*kernel), NumElements(*out)}));
  return llvm::Error::success();
}

llvm::Error InferCol2Im(InferenceContext& context) {
  const Type& columns = context.input(0);
  if (columns.rank() != 3) {
    return context.FailAt({0}, Code::kRank, "'columns' must be [N, C * kernel, L], got {0}",
                          columns.ToString());
  }
  const Shape& size = context.attributes().Dims("size");
  if (size.empty() || size.size() > 3) {
    return context.FailAtAttribute("size", Code::kRank, "'size' must have 1 to 3 entries, got {0}",
                                   size.size());
  }
  for (const Dim& entry : size) {
    if (llvm::Error error = RequireEntryAtLeast(context, "size", entry, 0)) return error;
  }
  auto kernel = ReadSpatialAttribute(context, "kernel", static_cast<unsigned>(size.size()), 1);
  if (!kernel) return kernel.takeError();
  auto window = ReadWindow(context, *kernel, size);
  if (!window) return window.takeError();
  auto out = CountWindows(context, *window, size, 0);
  if (!out) return out.takeError();
  const Dim rows = NumElements(*kernel);
  if (llvm::Error error =
          context.RequireEqual(columns.dims[2], NumElements(*out), {0},
                               "the number of columns must be the number of windows")) {
    return error;
  }
  if (llvm::Error error = context.RequireMultiple(
          columns.dims[1], rows, {0},
          "the number of rows must be a multiple of the kernel's elements")) {
    return error;
  }
  Shape dims = {columns.dims[0], Dim::FloorDiv(columns.dims[1], rows)};
  dims.append(size.begin(), size.end());
  context.SetOutput(Type(columns.dtype, dims));
  return llvm::Error::success();
}

std::vector<NamedAttribute> WindowOf(GradientContext& g) {
  std::vector<NamedAttribute> attributes;
  for (const char* name : {"kernel", "stride", "dilation", "pad"}) {
    attributes.push_back({name, *g.attributes().Find(name)});
  }
  return attributes;
}

struct Im2ColMaker : WindowMaker {
  void Make() override {
    AddComment(
        "The elements of each window of x as a column (PyTorch's unfold). The row index is the "
        "channel, then the position in the kernel; columns are the windows in row-major order. "
        "Padding is 0.");
    AddInput("x", "[N, C, ...] with 1 to 3 spatial dims").Accepts(kAnySet);
    AddOutput("columns", "[N, C * kernel, L] for L windows; dtype as x").DTypeOf("x").Rank(3);
    AddKernel();
    AddStride();
    AddPadAndDilation();
    AddExample("y = im2col([[[1.0, 2.0, 3.0]]], kernel=2)  # = [[[1.0, 2.0], [2.0, 3.0]]]");
    SetInference(InferIm2Col);
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      std::vector<NamedAttribute> attributes = WindowOf(g);
      const llvm::ArrayRef<Dim> size = SpatialDims(g.input(0)->type());
      attributes.push_back({"size", Shape(size.begin(), size.end())});
      g.SetInputGradient(0, g.Call("col2im", {g.output_gradient()}, attributes));
    });
  }
};

struct Col2ImMaker : WindowMaker {
  void Make() override {
    AddComment(
        "Accumulates columns into windows of the result: the transpose of im2col (PyTorch's fold). "
        "f16 and bf16 accumulate in f32; integers wrap around.");
    AddInput("columns", "[N, C * kernel, L], as im2col returns them").Accepts(kNumberSet);
    AddOutput("y", "[N, C, size...]; dtype as the columns").DTypeOf("columns");
    AddAttr<Shape>("size", "the spatial sizes of the result, 1 to 3").Positional();
    AddKernel();
    AddStride();
    AddPadAndDilation();
    AddExample("y = col2im([[[1.0, 2.0], [2.0, 3.0]]], 3, kernel=2)  # = [[[1.0, 4.0, 3.0]]]");
    SetInference(InferCol2Im);
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      g.SetInputGradient(0, g.Call("im2col", {g.output_gradient()}, WindowOf(g)));
    });
  }
};

}  // namespace

void RegisterUnfoldOps(OpRegistry& registry) {
  registry.BeginFamily("Convolution");
  registry.RegisterOp<Im2ColOp, Im2ColMaker>("im2col");
  registry.RegisterOp<Col2ImOp, Col2ImMaker>("col2im");
}

}  // namespace pdl
