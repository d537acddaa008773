// Operators that accumulate along an axis: cumsum, cumprod, linear_recurrence.
#include <algorithm>

#include "kernels/core/axis_split.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/wide_gradient.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

constexpr int64_t kColumns = 64;

// Floats are accumulated in double; integers wrap around.
template <class T>
using ScanAccumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <class T>
PDL_INLINE ScanAccumulator<T> Widen(T x) {
  return static_cast<ScanAccumulator<T>>(Element<T>::Load(x));
}
template <class T>
PDL_INLINE T Narrow(ScanAccumulator<T> x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    return Element<T>::Store(static_cast<ComputeType<T>>(x));
  }
}

template <class T, bool kProduct>
struct ScanLoop {
  using Acc = ScanAccumulator<T>;

  // Accumulates `n` adjacent columns of `axis` rows that are `stride` elements apart (negative to
  // go backwards). `in` and `out` may be the same.
  static PDL_INLINE void Run(const void* const* inputs, int64_t axis, int64_t stride, int64_t n,
                             bool exclusive, void* out_raw) {
    const T* in = static_cast<const T*>(inputs[0]);
    T* out = static_cast<T*>(out_raw);
    Acc acc[kColumns];
    for (int64_t j = 0; j < n; ++j) acc[j] = Acc(kProduct ? 1 : 0);
    for (int64_t a = 0; a < axis; ++a, in += stride, out += stride) {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        const Acc before = acc[j];
        const Acc x = Widen(in[j]);
        acc[j] = kProduct ? before * x : before + x;
        out[j] = Narrow<T>(exclusive ? before : acc[j]);
      }
    }
  }
};

template <class T>
struct RecurrenceLoop {
  static PDL_INLINE void Run(const void* const* inputs, int64_t axis, int64_t stride, int64_t n,
                             bool, void* out_raw) {
    const T* in = static_cast<const T*>(inputs[0]);
    const T* decay = static_cast<const T*>(inputs[1]);
    T* out = static_cast<T*>(out_raw);
    double acc[kColumns];
    for (int64_t j = 0; j < n; ++j) acc[j] = 0;
    for (int64_t a = 0; a < axis; ++a, in += stride, decay += stride, out += stride) {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        // The first element has no predecessor, so its decay is ignored (it may be nan).
        const double kept = a == 0 ? 0.0 : Widen(decay[j]) * acc[j];
        acc[j] = kept + Widen(in[j]);
        out[j] = Narrow<T>(acc[j]);
      }
    }
  }
};

struct ScanState : CallState {
  void (*loop)(const void* const* inputs, int64_t axis, int64_t stride, int64_t n, bool exclusive,
               void* out) = nullptr;
  AxisSplit split;
  int64_t element_size = 1;
};

/// Iterates along an axis of kInputs operands with the same dims. Derived classes choose the loop.
template <class Context, unsigned kInputs>
class ScanOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<ScanState>();
    state->split = SplitAtAxis(x.sizes, axis_);
    state->element_size = DTypeSize(x.dtype);
    ChooseLoop(x.dtype, *state);
    Preparation preparation;
    preparation.state = std::move(state);
    for (unsigned i = 0; i < kInputs; ++i) preparation.in_place.push_back({0, i});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const ScanState& s = *context.template state<ScanState>();
    if (inputs[0]->num_elements() == 0) return llvm::Error::success();
    const auto [outer, length, inner] = s.split;
    char* out = static_cast<char*>(outputs[0]->raw());
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    const int64_t grain =
        std::max<int64_t>(1, kGrainElements / (length * std::min(kColumns, inner)));
    context.ParallelFor(
        outer * blocks, grain, [&, length = length, inner = inner](int64_t begin, int64_t end) {
          for (int64_t task = begin; task < end; ++task) {
            const int64_t column = task % blocks * kColumns;
            const int64_t first = reverse_ ? length - 1 : 0;
            const int64_t at = ((task / blocks * length + first) * inner + column) * s.element_size;
            const void* from[kInputs];
            for (unsigned i = 0; i < kInputs; ++i) {
              from[i] = static_cast<const char*>(inputs[i]->raw()) + at;
            }
            s.loop(from, length, reverse_ ? -inner : inner, std::min(kColumns, inner - column),
                   exclusive_, out + at);
          }
        });
    return llvm::Error::success();
  }

 protected:
  virtual void ChooseLoop(DType dtype, ScanState& state) const = 0;

  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    reverse_ = attributes.Bool("reverse");
    if (attributes.Has("exclusive")) exclusive_ = attributes.Bool("exclusive");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = -1;
  bool exclusive_ = false, reverse_ = false;
};

template <class Context, bool kProduct>
class CumulativeOp : public ScanOp<Context, 1> {
  void ChooseLoop(DType dtype, ScanState& state) const override {
    VisitDType(NumberTypes(), dtype, [&](auto tag) {
      state.loop = ChooseIsa<ScanLoop<typename decltype(tag)::type, kProduct>>();
    });
  }
};
template <class Context>
using CumsumOp = CumulativeOp<Context, false>;
template <class Context>
using CumprodOp = CumulativeOp<Context, true>;

template <class Context>
class LinearRecurrenceOp : public ScanOp<Context, 2> {
  void ChooseLoop(DType dtype, ScanState& state) const override {
    VisitDType(FloatTypes(), dtype, [&](auto tag) {
      state.loop = ChooseIsa<RecurrenceLoop<typename decltype(tag)::type>>();
    });
  }
};

// --- Gradients ----------------------------------------------------------------------------------

// Shifts `value` along the axis by one index, forward or backward, and inserts 0.
Value* Shift(GradientContext& g, Value* value, bool onwards) {
  const Type& type = value->type();
  int64_t axis = g.attributes().Int("axis");
  if (axis < 0) axis += type.rank();
  const Dim& length = type.dims[static_cast<size_t>(axis)];
  Shape one = type.dims;
  one[static_cast<size_t>(axis)] = 1;
  Value* zero = g.Call("zeros", {}, {{"dims", one}, {"dtype", type.dtype}});
  Value* both = onwards ? g.Call("concat", {zero, value}, {{"axis", axis}})
                        : g.Call("concat", {value, zero}, {{"axis", axis}});
  return g.Call("slice", {both},
                {{"axes", std::vector<int64_t>{axis}},
                 {"starts", Shape{onwards ? Dim(0) : Dim(1)}},
                 {"stops", Shape{onwards ? length : length + 1}},
                 {"steps", std::vector<int64_t>{1}}});
}

// y_i = decay_i * y_(i-1) + x_i in the reverse direction of the forward call.
Value* Backwards(GradientContext& g, Value* x, Value* decay) {
  return g.Call(
      "linear_recurrence", {x, decay},
      {{"axis", g.attributes().Int("axis")}, {"reverse", !g.attributes().Bool("reverse")}});
}

// The gradient of x_k is the product of the elements before it, times the sum over the products of
// the elements after it, which is a recurrence. So there is no division by x_k, which may be 0.
void CumprodGradient(GradientContext& g) {
  Value* x = g.input(0);
  if (!IsFloat(x->type().dtype)) return;
  const bool exclusive = g.attributes().Bool("exclusive");
  const bool reverse = g.attributes().Bool("reverse");
  Value* before =
      g.Call("cumprod", {x},
             {{"axis", g.attributes().Int("axis")}, {"exclusive", true}, {"reverse", reverse}});
  Value* dy = g.output_gradient();
  Value* after =
      exclusive ? Shift(g, Backwards(g, dy, x), reverse) : Backwards(g, dy, Shift(g, x, reverse));
  g.SetInputGradient(0, g.Mul(before, after));
}

void LinearRecurrenceGradient(GradientContext& g) {
  const bool reverse = g.attributes().Bool("reverse");
  Value* dx = Backwards(g, g.output_gradient(), Shift(g, g.input(1), reverse));
  g.SetInputGradient(0, dx);
  g.SetInputGradient(1, g.Mul(dx, Shift(g, g.output(), !reverse)));
}

// --- Declarations -------------------------------------------------------------------------------

llvm::Error InferScan(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  return InferSameAsFirst(context);
}

struct ScanMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment) {
    AddComment(comment);
    AddInput("x", "at least one dim").Accepts(kNumberSet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(-1);
    AddAttr<bool>("exclusive", "whether to exclude the element itself from its result")
        .Default(false);
    AddAttr<bool>("reverse", "whether to accumulate from the end of the axis to its start")
        .Default(false);
    SetInference(InferScan);
  }
};

struct CumsumMaker : ScanMaker {
  void Make() override {
    Declare("The cumulative sum along an axis. Integers wrap around.");
    properties().widening = IntegerWidening::kModular;
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.input(0)->type().dtype)) return;
      g.SetInputGradient(0, g.Call("cumsum", {g.output_gradient()},
                                   {{"axis", g.attributes().Int("axis")},
                                    {"exclusive", g.attributes().Bool("exclusive")},
                                    {"reverse", !g.attributes().Bool("reverse")}}));
    });
    AddExample("y = cumsum([1, 2, 3, 4])  # = [1, 3, 6, 10]");
    AddExample("y = cumsum([1, 2, 3, 4], exclusive=true, reverse=true)  # = [9, 7, 4, 0]");
  }
};

struct CumprodMaker : ScanMaker {
  void Make() override {
    Declare("The cumulative product along an axis. Integers wrap around.");
    SetGradient(InWideDType<CumprodGradient>);
    AddExample("y = cumprod([1, 2, 3, 4])  # = [1, 2, 6, 24]");
  }
};

struct LinearRecurrenceMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The linear recurrence y[i] = decay[i] * y[i - 1] + x[i] along an axis, starting with y[0] "
        "= x[0]: a moving average, or the core of a state space model.");
    AddInput("x", "at least one dim").Accepts(kFloatSet);
    AddInput("decay", "the factors of the previous results; type as x").Accepts(kFloatSet);
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(-1);
    AddAttr<bool>("reverse", "whether to go from the end of the axis to its start").Default(false);
    AddExample("y = linear_recurrence([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])  # = [1.0, 1.5, 1.75]");
    SetInference([](InferenceContext& context) -> llvm::Error {
      if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
      if (llvm::Error error = RequireSameDims(context, 0, 1, "sizes differ")) return error;
      return InferScan(context);
    });
    SetGradient(LinearRecurrenceGradient);
  }
};

}  // namespace

void RegisterCumulativeOps(OpRegistry& registry) {
  registry.BeginFamily("Scans");
  registry.RegisterOp<CumsumOp, CumsumMaker>("cumsum");
  registry.RegisterOp<CumprodOp, CumprodMaker>("cumprod");
  registry.RegisterOp<LinearRecurrenceOp, LinearRecurrenceMaker>("linear_recurrence");
}

}  // namespace pdl
