// Operators whose elements depend on a complete row: softmax, log_softmax, cos_sim.
#include <algorithm>
#include <limits>

#include "kernels/core/axis_split.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/wide_gradient.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/layout_rule.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/stream.h"

namespace pdl {
namespace {

// --- softmax ------------------------------------------------------------------------------------

// Softmax, or its logarithm, along `axis` rows of `inner` columns each.
template <class T, bool kLog>
struct SoftmaxLoop {
  using C = ComputeType<T>;
  static constexpr int64_t kShortSum = 256;
  static constexpr int64_t kLine = 64 / sizeof(C);

  static PDL_INLINE void Row(const T* in, int64_t n, T* out) {
    C largest = -std::numeric_limits<C>::infinity();
    int has_nan = 0;
#pragma omp simd reduction(max : largest) reduction(| : has_nan)
    for (int64_t i = 0; i < n; ++i) {
      const C x = Element<T>::Load(in[i]);
      largest = x > largest ? x : largest;
      has_nan |= x != x ? 1 : 0;
    }
    if (has_nan != 0) largest = std::numeric_limits<C>::quiet_NaN();
    double sum = 0;
    if constexpr (kLog) {
      for (int64_t begin = 0; begin < n; begin += kShortSum) {
        const int64_t end = std::min(begin + kShortSum, n);
        C part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = begin; i < end; ++i) part += math::Exp(Element<T>::Load(in[i]) - largest);
        sum += static_cast<double>(part);
      }
      const C log_sum = static_cast<C>(std::log(sum));
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        out[i] = Element<T>::Store((Element<T>::Load(in[i]) - largest) - log_sum);
      }
    } else if constexpr (std::is_same_v<T, C>) {
      // Accumulates short partial sums in the compute type and their total in double.
      for (int64_t begin = 0; begin < n; begin += kShortSum) {
        const int64_t end = std::min(begin + kShortSum, n);
        // Meanwhile the next row is read from memory.
        for (int64_t i = begin; i < end; i += kLine) __builtin_prefetch(in + n + i);
        C part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = begin; i < end; ++i) {
          const C e = math::Exp(in[i] - largest);
          out[i] = e;
          part += e;
        }
        sum += static_cast<double>(part);
      }
      const C factor = static_cast<C>(1.0 / sum);
      for (int64_t i = 0; i < n; ++i) out[i] *= factor;
    } else {
      // f16/bf16 would round the exponentials before they are divided, so they are recomputed.
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(math::Exp(Element<T>::Load(in[i]) - largest));
      }
      const C factor = static_cast<C>(1.0 / sum);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        out[i] = Element<T>::Store(math::Exp(Element<T>::Load(in[i]) - largest) * factor);
      }
    }
  }

  static constexpr int64_t kColumns = 128;
  static PDL_INLINE void Columns(const T* in, int64_t axis, int64_t inner, int64_t n, T* out) {
    C largest[kColumns], factor[kColumns];
    double sum[kColumns];
    for (int64_t j = 0; j < n; ++j) {
      largest[j] = Element<T>::Load(in[j]);
      sum[j] = 0;
    }
    for (int64_t a = 1; a < axis; ++a) {
      for (int64_t j = 0; j < n; ++j) {
        const C x = Element<T>::Load(in[a * inner + j]);
        largest[j] = (x > largest[j]) | (x != x) ? x : largest[j];
      }
    }
    for (int64_t a = 0; a < axis; ++a) {
      for (int64_t j = 0; j < n; ++j) {
        sum[j] += static_cast<double>(math::Exp(Element<T>::Load(in[a * inner + j]) - largest[j]));
      }
    }
    // The factor of the exponentials, or for kLog the amount to subtract.
    for (int64_t j = 0; j < n; ++j) {
      factor[j] = static_cast<C>(kLog ? std::log(sum[j]) : 1.0 / sum[j]);
    }
    for (int64_t a = 0; a < axis; ++a) {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        const C x = Element<T>::Load(in[a * inner + j]);
        const C distance = x - largest[j];
        out[a * inner + j] =
            Element<T>::Store(kLog ? distance - factor[j] : math::Exp(distance) * factor[j]);
      }
    }
  }

  static PDL_INLINE void Run(const void* in_raw, int64_t axis, int64_t inner, void* out_raw) {
    const T* in = static_cast<const T*>(in_raw);
    T* out = static_cast<T*>(out_raw);
    if (inner == 1) return Row(in, axis, out);
    for (int64_t begin = 0; begin < inner; begin += kColumns) {
      Columns(in + begin, axis, inner, std::min(kColumns, inner - begin), out + begin);
    }
  }
};

struct SoftmaxState : CallState {
  void (*loop)(const void* in, int64_t axis, int64_t inner, void* out) = nullptr;
  AxisSplit split;
  int64_t block_bytes = 0;  // of axis * inner elements
  int64_t grain = 1;
  bool exceeds_cache = false;
};

template <class Context, bool kLog>
class SoftmaxRowsOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    auto state = std::make_shared<SoftmaxState>();
    state->split = SplitAtAxis(input.sizes, axis_);
    VisitDType(FloatTypes(), input.dtype, [&](auto tag) {
      state->loop = ChooseIsa<SoftmaxLoop<typename decltype(tag)::type, kLog>>();
    });
    const int64_t elements = state->split.length * state->split.inner;
    if (elements == 0) state->split.outer = 0;
    state->block_bytes = elements * DTypeSize(input.dtype);
    state->grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(elements, 1));
    state->exceeds_cache =
        ExceedsCache(state->split.outer * state->block_bytes) && state->block_bytes <= kBufferBytes;
    Preparation preparation;
    preparation.rows = state->split.outer;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  bool makes_rows() const override { return true; }
  void RunRows(const CallState* state, llvm::ArrayRef<const Tensor*> inputs, int64_t begin,
               int64_t end, void* to) const override {
    const SoftmaxState& s = *static_cast<const SoftmaxState*>(state);
    const char* in = static_cast<const char*>(inputs[0]->raw());
    char* out = static_cast<char*>(to) - begin * s.block_bytes;
    for (int64_t i = begin; i < end; ++i) {
      s.loop(in + i * s.block_bytes, s.split.length, s.split.inner, out + i * s.block_bytes);
    }
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const SoftmaxState& s = *context.template state<SoftmaxState>();
    const char* in = static_cast<const char*>(inputs[0]->raw());
    char* out = static_cast<char*>(outputs[0]->raw());
    const bool stream = s.exceeds_cache && in != out;
    context.ParallelFor(s.split.outer, s.grain, [&](int64_t begin, int64_t end) {
      alignas(64) char buffer[kBufferBytes];
      for (int64_t i = begin; i < end; ++i) {
        char* result = out + i * s.block_bytes;
        s.loop(in + i * s.block_bytes, s.split.length, s.split.inner, stream ? buffer : result);
        if (stream) StreamCopy(result, buffer, s.block_bytes);
      }
      if (stream) StreamFence();
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    return llvm::Error::success();
  }

 private:
  static constexpr int64_t kBufferBytes = 32 * 1024;
  int64_t axis_ = -1;
};

template <class Context>
using SoftmaxOp = SoftmaxRowsOp<Context, false>;
template <class Context>
using LogSoftmaxOp = SoftmaxRowsOp<Context, true>;

llvm::Error InferSoftmax(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  return InferSameAsFirst(context);
}

void SoftmaxGradient(GradientContext& g) {
  const std::vector<int64_t> axes = {g.attributes().Int("axis")};
  Value* product = g.Mul(g.output_gradient(), g.output());
  Value* sum = g.Call("sum", {product}, {{"axes", axes}, {"keep", true}});
  g.SetInputGradient(0, g.Mul(g.output(), g.Sub(g.output_gradient(), sum)));
}

struct SoftmaxMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "exp(x) / sum(exp(x)) along an axis, without overflow for large x: positive numbers whose "
        "sum is 1.");
    AddInput("x", "at least one dim").Accepts(kFloatSet).Ragged();
    AddOutput("y", "in [0, 1]; type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(-1).Axis();
    properties().channels_last = &kRenumberAxes;
    SetInference(InferSoftmax);
    SetGradient(SoftmaxGradient);
    AddExample("y = softmax([0.0, 0.0, 0.0, 0.0])  # = [0.25, 0.25, 0.25, 0.25]");
  }
};

void LogSoftmaxGradient(GradientContext& g) {
  const std::vector<int64_t> axes = {g.attributes().Int("axis")};
  Value* sum = g.Call("sum", {g.output_gradient()}, {{"axes", axes}, {"keep", true}});
  g.SetInputGradient(0, g.Sub(g.output_gradient(), g.Mul(g.Call("exp", {g.output()}), sum)));
}

struct LogSoftmaxMaker : OpProtoMaker {
  void Make() override {
    AddComment("log(softmax(x)) along an axis, without overflow for large x.");
    AddInput("x", "at least one dim").Accepts(kFloatSet);
    AddOutput("y", "at most 0; type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(-1).Axis();
    properties().channels_last = &kRenumberAxes;
    SetInference(InferSoftmax);
    SetGradient(LogSoftmaxGradient);
    AddExample("y = log_softmax([0.0, 0.0])  # = [-0.693147, -0.693147]");
  }
};

// --- cos_sim ------------------------------------------------------------------------------------

template <class T>
struct CosSimLoop {
  // The cosine of the angle between two rows, in [-1, 1]; 0 if one of them is all zeros.
  static PDL_INLINE double Cosine(const T* x, const T* y, int64_t n, double x_factor,
                                  double y_factor) {
    double dot = 0, xx = 0, yy = 0;
#pragma omp simd reduction(+ : dot, xx, yy)
    for (int64_t i = 0; i < n; ++i) {
      const double a = static_cast<double>(Element<T>::Load(x[i])) * x_factor;
      const double b = static_cast<double>(Element<T>::Load(y[i])) * y_factor;
      dot += a * b;
      xx += a * a;
      yy += b * b;
    }
    if (xx == 0 || yy == 0) return 0 * dot;  // nan if the other row contains one
    const double cosine = dot / (std::sqrt(xx) * std::sqrt(yy));
    return cosine < -1 ? -1 : cosine > 1 ? 1 : cosine;
  }

  // A power of two that scales the largest element to about 1; 1 for zeros, infinities and nan.
  static PDL_INLINE double Factor(const T* x, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(Element<T>::Load(x[i]))));
    }
    if (largest == 0 || !(largest <= std::numeric_limits<double>::max())) return 1;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
  }

  static PDL_INLINE void Run(const void* x_raw, const void* y_raw, int64_t rows, int64_t n,
                             double scale, void* out_raw) {
    const T* x = static_cast<const T*>(x_raw);
    const T* y = static_cast<const T*>(y_raw);
    T* out = static_cast<T*>(out_raw);
    for (int64_t i = 0; i < rows; ++i) {
      // Only squares of doubles can overflow or underflow.
      const bool is_double = std::is_same_v<T, double>;
      const double cosine = Cosine(x + i * n, y + i * n, n, is_double ? Factor(x + i * n, n) : 1.0,
                                   is_double ? Factor(y + i * n, n) : 1.0);
      using C = ComputeType<T>;
      out[i] = Element<T>::Store(static_cast<C>(scale) * static_cast<C>(cosine));
    }
  }
};

struct CosSimState : CallState {
  void (*loop)(const void* x, const void* y, int64_t rows, int64_t n, double scale,
               void* out) = nullptr;
  int64_t rows = 0, n = 0, element_size = 1, grain = 1;
};

template <class Context>
class CosSimOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<CosSimState>();
    state->rows = context.outputs()[0].num_elements();
    state->n = x.sizes.back();
    state->element_size = DTypeSize(x.dtype);
    state->grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(state->n, 1));
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      state->loop = ChooseIsa<CosSimLoop<typename decltype(tag)::type>>();
    });
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const CosSimState& s = *context.template state<CosSimState>();
    const char* x = static_cast<const char*>(inputs[0]->raw());
    const char* y = static_cast<const char*>(inputs[1]->raw());
    char* out = static_cast<char*>(outputs[0]->raw());
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      const int64_t at = begin * s.n * s.element_size;
      s.loop(x + at, y + at, end - begin, s.n, scale_, out + begin * s.element_size);
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    scale_ = attributes.Float("scale");
    return llvm::Error::success();
  }

 private:
  double scale_ = 1;
};

llvm::Error InferCosSim(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& y = context.input(1);
  if (x.dtype != y.dtype) {
    return context.FailAt({0, 1}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                          DTypeName(x.dtype), DTypeName(y.dtype));
  }
  if (x.is_scalar()) {
    return context.FailAt({0}, Code::kRank, "'x' must have at least one dim, got {0}",
                          x.ToString());
  }
  if (x.rank() != y.rank()) {
    return context.FailAt({0, 1}, Code::kRank, "ranks differ: {0} and {1}", x.rank(), y.rank());
  }
  if (x.dims.back().is_ragged()) {
    return context.FailAt({0}, Code::kStorage, "the last dim of 'x' must not be ragged, got {0}",
                          x.ToString());
  }
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(x.dims[d], y.dims[d], {0, 1},
                                                 "the rows must have the same size")) {
      return error;
    }
  }
  context.SetOutput(Type(x.dtype, llvm::ArrayRef<Dim>(x.dims).drop_back()));
  return llvm::Error::success();
}

// |row| with the reduced dim kept as 1. It is infinite for a row of zeros, so that dividing by it
// gives 0.
Value* LengthOf(GradientContext& g, Value* x) {
  const std::vector<int64_t> last = {-1};
  Value* norm = g.Call("norm", {x}, {{"axes", last}, {"keep", true}});
  Value* is_zero = g.Call("equal", {norm, g.Scalar(0, x)});
  return g.Call("where", {is_zero, g.Scalar(std::numeric_limits<double>::infinity(), x), norm});
}

// With the directions u = x / |x| and v = y / |y|: d(u . v) / dx = (v - (u . v) u) / |x|.
void CosSimGradient(GradientContext& g) {
  const double scale = g.attributes().Float("scale");
  Shape dims(g.output()->type().dims);
  dims.push_back(1);
  Value* dz = g.Call("reshape", {g.Mul(g.output_gradient(), g.Scalar(scale, g.output()))},
                     {{"dims", dims}});
  Value* length[2] = {LengthOf(g, g.input(0)), LengthOf(g, g.input(1))};
  Value* direction[2] = {g.Div(g.input(0), length[0]), g.Div(g.input(1), length[1])};
  const std::vector<int64_t> last = {-1};
  Value* cosine =
      g.Call("sum", {g.Mul(direction[0], direction[1])}, {{"axes", last}, {"keep", true}});
  for (const unsigned i : {0u, 1u}) {
    Value* change = g.Sub(direction[1 - i], g.Mul(cosine, direction[i]));
    g.SetInputGradient(i, g.Div(g.Mul(dz, change), length[i]));
  }
}

struct CosSimMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "scale times the cosine of the angle between the rows of x and y, along the last dim. A "
        "row of zeros has no direction: its result and gradients are 0.");
    AddInput("x", "[..., D]").Accepts(kFloatSet).Ragged();
    AddInput("y", "type as x").Accepts(kFloatSet).Ragged();
    AddOutput("z", "[...], in [-scale, scale]; dtype as x").DTypeOf("x");
    AddAttr<double>("scale", "the maximum of the result").Default(1).GreaterThan(0);
    SetInference(InferCosSim);
    SetGradient(InWideDType<CosSimGradient>);
    AddExample("z = cos_sim([[1.0, 0.0], [3.0, 4.0]], [[0.0, 2.0], [6.0, 8.0]])  # = [0.0, 1.0]");
  }
};

}  // namespace

void RegisterSoftmaxOps(OpRegistry& registry) {
  registry.BeginFamily("Softmax");
  registry.RegisterOp<SoftmaxOp, SoftmaxMaker>("softmax");
  registry.RegisterOp<LogSoftmaxOp, LogSoftmaxMaker>("log_softmax");
  registry.RegisterOp<CosSimOp, CosSimMaker>("cos_sim");
}

}  // namespace pdl
