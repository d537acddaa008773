// Conversion between reals and 8-bit integers: quantize, dequantize.
#include <algorithm>
#include <limits>

#include "kernels/core/axis_split.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/vector_math.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

using ByteTypes = TypeList<int8_t, uint8_t>;
using QuantizedTypes = TypeList<int8_t, uint8_t, int32_t>;

template <class T, class Q>
struct QuantizeFormula {
  using In = T;
  using Out = Q;
  using Scale = T;
  using Zero = Q;
  using C = ComputeType<T>;
  static PDL_INLINE Q Apply(T x, C scale, C zero) {
    constexpr C kLeast = std::numeric_limits<Q>::min(), kMost = std::numeric_limits<Q>::max();
    C y = math::Round(Element<T>::Load(x) / scale) + zero;
    // nan also becomes kLeast: it compares false.
    y = y > kLeast ? y : kLeast;
    y = y < kMost ? y : kMost;
    return static_cast<Q>(static_cast<int32_t>(y));
  }
};

template <class T, class Q>
struct DequantizeFormula {
  using In = Q;
  using Out = T;
  using Scale = T;
  using Zero = Q;
  // i32 requires double, in which the difference to the zero point is exact.
  using C = std::conditional_t<sizeof(Q) == 4, double, ComputeType<T>>;
  static PDL_INLINE T Apply(Q x, C scale, C zero) {
    return Element<T>::Store(static_cast<ComputeType<T>>((static_cast<C>(x) - zero) * scale));
  }
};

// Rows of `inner` elements of one channel each; if inner is 1, rows of one element for each of the
// `channels`.
template <class F>
struct QuantizeLoop {
  using In = typename F::In;
  using Out = typename F::Out;
  using C = typename F::C;
  static PDL_INLINE C Load(const typename F::Scale& x) {
    return static_cast<C>(Element<typename F::Scale>::Load(x));
  }
  static PDL_INLINE void Run(const void* const* inputs, int64_t channels, int64_t inner,
                             int64_t begin, int64_t end, void* out) {
    const In* x = static_cast<const In*>(inputs[0]);
    const auto* scale = static_cast<const typename F::Scale*>(inputs[1]);
    const auto* zero = static_cast<const typename F::Zero*>(inputs[2]);
    Out* y = static_cast<Out*>(out);
    const int64_t length = inner == 1 ? channels : inner;
    for (int64_t row = begin; row < end; ++row) {
      const In* from = x + row * length;
      Out* to = y + row * length;
      if (inner != 1) {
        const C s = Load(scale[row % channels]);
        const C z = zero == nullptr ? C(0) : static_cast<C>(zero[row % channels]);
#pragma GCC ivdep
        for (int64_t i = 0; i < length; ++i) to[i] = F::Apply(from[i], s, z);
      } else if (zero == nullptr) {
#pragma GCC ivdep
        for (int64_t i = 0; i < length; ++i) to[i] = F::Apply(from[i], Load(scale[i]), C(0));
      } else {
#pragma GCC ivdep
        for (int64_t i = 0; i < length; ++i) {
          to[i] = F::Apply(from[i], Load(scale[i]), static_cast<C>(zero[i]));
        }
      }
    }
  }
};

struct QuantizeState : CallState {
  void (*loop)(const void* const* inputs, int64_t channels, int64_t inner, int64_t begin,
               int64_t end, void* out) = nullptr;
  bool single = false;  // whether one scale is used for all channels
  int64_t rows = 1, channels = 1, inner = 1, length = 1;
  int64_t input_size = 1, output_size = 1;  // of one element
};

template <class Context, template <class, class> class Formula>
class QuantizationOp : public Operator<Context> {
 public:
  static constexpr bool kQuantizes =
      std::is_same_v<Formula<float, int8_t>, QuantizeFormula<float, int8_t>>;

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<QuantizeState>();
    state->input_size = DTypeSize(x.dtype);
    state->output_size = DTypeSize(context.outputs()[0].dtype);
    state->single = context.inputs()[1].sizes.empty();
    if (!state->single) {
      const AxisSplit split = SplitAtAxis(x.sizes, axis_);
      state->channels = split.length;
      state->inner = split.inner;
      state->rows = split.outer;
    }
    if (state->inner != 1) state->rows *= state->channels;
    state->length = state->inner == 1 ? state->channels : state->inner;
    if (x.num_elements() == 0) state->rows = 0;
    const DType real = context.inputs()[1].dtype;
    const DType quantized = kQuantizes ? context.outputs()[0].dtype : x.dtype;
    VisitDType(FloatTypes(), real, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Types = std::conditional_t<kQuantizes, ByteTypes, QuantizedTypes>;
      VisitDType(Types(), quantized, [&](auto other) {
        state->loop = ChooseIsa<QuantizeLoop<Formula<T, typename decltype(other)::type>>>();
      });
    });
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const QuantizeState& s = *context.template state<QuantizeState>();
    const void* operands[] = {inputs[0]->raw(), inputs[1]->raw(),
                              inputs.size() > 2 ? inputs[2]->raw() : nullptr};
    if (s.single) {
      const int64_t n = inputs[0]->num_elements();
      context.ParallelFor(n, kGrainElements, [&](int64_t begin, int64_t end) {
        const void* from[] = {static_cast<const char*>(operands[0]) + begin * s.input_size,
                              operands[1], operands[2]};
        s.loop(from, 1, end - begin, 0, 1,
               static_cast<char*>(outputs[0]->raw()) + begin * s.output_size);
      });
      return llvm::Error::success();
    }
    const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(s.length, 1));
    context.ParallelFor(s.rows, grain, [&](int64_t begin, int64_t end) {
      s.loop(operands, s.channels, s.inner, begin, end, outputs[0]->raw());
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = 1;
};
template <class Context>
using QuantizeOp = QuantizationOp<Context, QuantizeFormula>;
template <class Context>
using DequantizeOp = QuantizationOp<Context, DequantizeFormula>;

// The scale is a scalar, or has one dim with the size of an axis; the zero point has the same dims.
llvm::Error CheckScale(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& scale = context.input(1);
  if (scale.rank() > 1) {
    return context.FailAt({1}, Code::kRank, "'scale' must have at most one dim, got {0}",
                          scale.ToString());
  }
  if (scale.rank() == 1) {
    auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
    if (!axis) return axis.takeError();
    if (llvm::Error error =
            context.RequireEqual(x.dims[*axis], scale.dims[0], {0, 1},
                                 "the size of 'scale' differs from that of the axis")) {
      return error;
    }
  }
  if (!context.has_input(2)) return llvm::Error::success();
  return RequireSameDims(context, 1, 2, "'zero_point' must have the dims of 'scale'");
}

llvm::Error InferQuantize(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  if (llvm::Error error = CheckScale(context)) return error;
  const bool given = context.attributes().Has("dtype");
  if (given) {
    if (llvm::Error error = CheckDType(context, "dtype", SetOf(ByteTypes()))) return error;
  }
  DType dtype = given ? context.attributes().Dtype("dtype") : DType::kU8;
  if (context.has_input(2)) {
    const DType zero = context.input(2).dtype;
    if (given && zero != dtype) {
      return context.FailAt({2}, Code::kDTypeMismatch, "'zero_point' must be {0}, got {1}",
                            DTypeName(dtype), DTypeName(zero));
    }
    dtype = zero;
  }
  context.SetOutput(Type(dtype, context.input(0).dims));
  return llvm::Error::success();
}

llvm::Error InferDequantize(InferenceContext& context) {
  if (context.has_input(2)) {
    if (llvm::Error error = RequireSameDType(context, 0, 2)) return error;
  }
  if (llvm::Error error = CheckScale(context)) return error;
  context.SetOutput(Type(context.input(1).dtype, context.input(0).dims));
  return llvm::Error::success();
}

// The derivative by the scale is x - zero_point.
void DequantizeGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  Value* scale = g.input(1);
  const NamedAttribute to = {"to", scale->type().dtype};
  Value* distance = g.Call("cast", {g.input(0)}, {to});
  Shape broadcast(x.rank(), Dim(1));
  if (scale->type().rank() == 1) {
    const int64_t given = g.attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + x.rank() : given);
    broadcast[axis] = x.dims[axis];
  }
  if (g.num_inputs() > 2) {
    Value* zero = g.Call("reshape", {g.Call("cast", {g.input(2)}, {to})}, {{"dims", broadcast}});
    distance = g.Sub(distance, zero);
  }
  Value* product = g.Mul(g.output_gradient(), distance);
  std::vector<int64_t> others;
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (broadcast[d] != x.dims[d] || scale->type().rank() == 0) others.push_back(d);
  }
  Value* sum = g.Call("sum", {product}, {{"axes", others}, {"keep", true}});
  g.SetInputGradient(1, g.Call("reshape", {sum}, {{"dims", scale->type().dims}}));
}

struct QuantizeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "round(x / scale) + zero_point, saturated to the range of an 8-bit integer; ties round to "
        "even, as in ONNX. nan becomes the smallest integer.");
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddInput("scale", "quantization step: a scalar, or one for each index of `axis`; dtype as x")
        .Accepts(kFloatSet);
    AddInput("zero_point", "quantized value of 0, with the dims of the scale; by default 0")
        .Accepts(SetOf(ByteTypes()))
        .OwnDType()
        .Optional();
    AddOutput("y", "i8 or u8, dims as x").DimsOf("x");
    AddAttr<int64_t>(
        "axis", "axis of x that a scale with one dim belongs to; negative axes count from the end")
        .Default(1);
    AddAttr<DType>("dtype", "i8 or u8; by default that of the zero point, or u8 without one")
        .Optional();
    AddExample("y = quantize([0.0, 1.0, 2.5, 1000.0], 0.5)  # = [0, 2, 5, 255]");
    SetInference(InferQuantize);
  }
};

struct DequantizeMaker : OpProtoMaker {
  void Make() override {
    AddComment("(x - zero_point) * scale, as real numbers.");
    AddInput("x", "integers").Accepts(SetOf(QuantizedTypes())).OwnDType();
    AddInput("scale", "quantization step: a scalar, or one for each index of `axis`")
        .Accepts(kFloatSet)
        .OwnDType();
    AddInput("zero_point",
             "quantized value of 0, with the dims of the scale and the dtype of x; by default 0")
        .Accepts(SetOf(QuantizedTypes()))
        .OwnDType()
        .Optional();
    AddOutput("y", "dims as x, dtype as the scale").DTypeOf("scale").DimsOf("x");
    AddAttr<int64_t>(
        "axis", "axis of x that a scale with one dim belongs to; negative axes count from the end")
        .Default(1);
    AddExample("y = dequantize(quantize([0.0, 1.0, 2.5], 0.5), 0.5)  # = [0.0, 1.0, 2.5]");
    SetInference(InferDequantize);
    SetGradient(DequantizeGradient);
  }
};

}  // namespace

void RegisterQuantizeOps(OpRegistry& registry) {
  registry.BeginFamily("Casts");
  registry.RegisterOp<QuantizeOp, QuantizeMaker>("quantize");
  registry.RegisterOp<DequantizeOp, DequantizeMaker>("dequantize");
}

}  // namespace pdl
