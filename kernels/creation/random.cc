// Operators that sample random numbers: uniform, normal, truncated_normal, and the initializers
// xavier_uniform, xavier_normal, he_uniform, he_normal.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/creation/initial_range.h"
#include "kernels/creation/inverse_normal.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/philox.h"

namespace pdl {
namespace {

enum class Distribution { kUniform, kNormal, kTruncated };

using random::Range;

// Two independent standard normal numbers (Box and Muller 1958).
template <class T>
struct NormalPair {
  T first, second;
};
PDL_INLINE NormalPair<float> Normals(uint32_t a, uint32_t b) {
  // In (0, 1], with more bits near 0, where the logarithm is large.
  const float unit = (static_cast<float>(static_cast<int32_t>(a >> 1)) + 0.5f) * 0x1p-31f;
  const float radius = math::Sqrt(-2.0f * math::Log(unit));
  const float angle = 6.2831853f * random::UnitFloat(b);
  return {radius * math::CosReducible(angle), radius * math::SinReducible(angle)};
}
PDL_INLINE NormalPair<double> Normals(random::Words words) {
  const double unit = random::UnitDouble(words.w0, words.w1) + 0x1p-54;
  const double radius = math::Sqrt(-2.0 * math::Log(unit));
  const double angle = 6.283185307179586 * random::UnitDouble(words.w2, words.w3);
  return {radius * math::Cos(angle), radius * math::Sin(angle)};
}

// The largest representable number below x.
template <class T>
T Below(T x) {
  return std::nextafter(x, -std::numeric_limits<T>::infinity());
}
template <class Half>
Half HalfBelow(Half x) {
  x.bits = static_cast<uint16_t>((x.bits & 0x7fff) == 0   ? 0x8001
                                 : (x.bits & 0x8000) != 0 ? x.bits + 1
                                                          : x.bits - 1);
  return x;
}
template <>
float16 Below(float16 x) {
  return HalfBelow(x);
}
template <>
bfloat16 Below(bfloat16 x) {
  return HalfBelow(x);
}

// The bounds of uniform numbers of type T: rounding must neither reach `high` nor overflow T.
template <class T>
struct Limits {
  ComputeType<T> low, high, largest;

  explicit Limits(Range range)
      : low(static_cast<ComputeType<T>>(range.a)), high(static_cast<ComputeType<T>>(range.b)) {
    T last = Element<T>::Store(high);
    if (!(static_cast<double>(Element<T>::Load(last)) < range.b)) last = Below(last);
    largest = std::max(Element<T>::Load(last), low);
  }
  PDL_INLINE ComputeType<T> Value(ComputeType<T> unit) const {
    ComputeType<T> x = random::Between(low, high, unit);
    x = x < low ? low : x;
    return x > largest ? largest : x;
  }
};

// Elements [begin, begin + n) of the stream; begin is a multiple of a block.
template <class T, Distribution kDistribution>
struct DrawLoop {
  using C = ComputeType<T>;
  static constexpr bool kDouble = sizeof(C) == 8;
  static constexpr int64_t kPerBlock = kDouble ? 2 : 4;
  static constexpr int64_t kBlocks = 64;

  static PDL_INLINE void Block(random::Words words, Range range, const Limits<T>& limits, C* out) {
    if constexpr (kDistribution == Distribution::kUniform) {
      if constexpr (kDouble) {
        out[0] = limits.Value(random::UnitDouble(words.w0, words.w1));
        out[1] = limits.Value(random::UnitDouble(words.w2, words.w3));
      } else {
        out[0] = limits.Value(random::UnitFloat(words.w0));
        out[1] = limits.Value(random::UnitFloat(words.w1));
        out[2] = limits.Value(random::UnitFloat(words.w2));
        out[3] = limits.Value(random::UnitFloat(words.w3));
      }
    } else if constexpr (kDistribution == Distribution::kTruncated) {
      const auto number = [&](double x) { return static_cast<C>(range.a + range.b * x); };
      if constexpr (kDouble) {
        out[0] = number(range.standard.At(words.w0, words.w1));
        out[1] = number(range.standard.At(words.w2, words.w3));
      } else {
        out[0] = number(range.standard.At(words.w0));
        out[1] = number(range.standard.At(words.w1));
        out[2] = number(range.standard.At(words.w2));
        out[3] = number(range.standard.At(words.w3));
      }
    } else {
      const C mean = static_cast<C>(range.a), deviation = static_cast<C>(range.b);
      if constexpr (kDouble) {
        const auto pair = Normals(words);
        out[0] = mean + deviation * pair.first;
        out[1] = mean + deviation * pair.second;
      } else {
        const auto pair = Normals(words.w0, words.w1);
        const auto other = Normals(words.w2, words.w3);
        out[0] = mean + deviation * pair.first;
        out[1] = mean + deviation * pair.second;
        out[2] = mean + deviation * other.first;
        out[3] = mean + deviation * other.second;
      }
    }
  }

  static PDL_INLINE void Run(random::Stream stream, int64_t begin, int64_t n, Range range,
                             void* out_raw) {
    T* out = static_cast<T*>(out_raw);
    const Limits<T> limits(range);
    C values[kBlocks * kPerBlock];
    for (int64_t i = 0; i < n; i += kBlocks * kPerBlock) {
      const uint64_t first = static_cast<uint64_t>((begin + i) / kPerBlock);
      for (int64_t b = 0; b < kBlocks; ++b) {
        Block(random::Philox(stream, first + static_cast<uint64_t>(b)), range, limits,
              values + b * kPerBlock);
      }
      const int64_t count = std::min(kBlocks * kPerBlock, n - i);
      for (int64_t j = 0; j < count; ++j) out[i + j] = Element<T>::Store(values[j]);
    }
  }
};

// `Rule` returns the Range for the sizes of a result; it has `void Initialize(const
// AttributeReader&)`.
template <class Context, Distribution kDistribution, class Rule>
class RandomOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    constexpr int64_t kElements = 1 << 10;  // per task: a multiple of every block size
    const int64_t n = outputs[0]->num_elements();
    const int64_t size = DTypeSize(outputs[0]->dtype());
    char* out = static_cast<char*>(outputs[0]->raw());
    const Range range = rule_.For(outputs[0]->sizes());
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, this->stream_key());
    context.ParallelFor((n + kElements - 1) / kElements, 4, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kElements;
      loop_(stream, first, std::min(n, end * kElements) - first, range, out + first * size);
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    rule_.Initialize(attributes);
    VisitDType(FloatTypes(), attributes.Dtype("dtype"), [&](auto tag) {
      loop_ = ChooseIsa<DrawLoop<typename decltype(tag)::type, kDistribution>>();
    });
    return llvm::Error::success();
  }

 private:
  Rule rule_;
  void (*loop_)(random::Stream stream, int64_t begin, int64_t n, Range range, void* out) = nullptr;
};

template <class Context>
using UniformOp = RandomOp<Context, Distribution::kUniform, random::FixedRange<false>>;
template <class Context>
using NormalOp = RandomOp<Context, Distribution::kNormal, random::FixedRange<true>>;
template <class Context>
using TruncatedNormalOp = RandomOp<Context, Distribution::kTruncated, random::TruncatedRange>;
template <class Context>
using XavierUniformOp = RandomOp<Context, Distribution::kUniform, random::WeightRange<true, false>>;
template <class Context>
using XavierNormalOp = RandomOp<Context, Distribution::kNormal, random::WeightRange<true, true>>;
template <class Context>
using HeUniformOp = RandomOp<Context, Distribution::kUniform, random::WeightRange<false, false>>;
template <class Context>
using HeNormalOp = RandomOp<Context, Distribution::kNormal, random::WeightRange<false, true>>;

llvm::Error InferUniform(InferenceContext& context) {
  for (const char* attribute : {"low", "high"}) {
    if (llvm::Error error = CheckFinite(context, attribute)) return error;
  }
  const double low = context.attributes().Float("low");
  const double high = context.attributes().Float("high");
  if (high < low) {
    return context.FailAtAttribute("high", Code::kAttributeRange,
                                   "'high' must not be smaller than 'low': {0} and {1}",
                                   FloatToString(high), FloatToString(low));
  }
  return InferFromAttributes(context, kFloatSet);
}

llvm::Error InferNormal(InferenceContext& context) {
  for (const char* attribute : {"mean", "std"}) {
    if (llvm::Error error = CheckFinite(context, attribute)) return error;
  }
  return InferFromAttributes(context, kFloatSet);
}

llvm::Error InferTruncatedNormal(InferenceContext& context) {
  for (const char* attribute : {"mean", "std", "low", "high"}) {
    if (llvm::Error error = CheckFinite(context, attribute)) return error;
  }
  const double low = context.attributes().Float("low");
  const double high = context.attributes().Float("high");
  if (high < low || random::Below(high) <= random::Below(low)) {
    return context.FailAtAttribute(
        "high", Code::kAttributeRange,
        "the interval from 'low' to 'high' has almost no probability: {0} and {1}",
        FloatToString(low), FloatToString(high));
  }
  return InferFromAttributes(context, kFloatSet);
}

llvm::Error InferWeight(InferenceContext& context) {
  if (llvm::Error error = CheckFinite(context, "gain")) return error;
  if (context.attributes().Dims("dims").size() < 2 &&
      context.attributes().String("layout") != "auto") {
    return context.FailAtAttribute("layout", Code::kRank,
                                   "'dims' must have two sizes or more for this layout, got {0}",
                                   ShapeToString(context.attributes().Dims("dims")));
  }
  return InferFromAttributes(context, kFloatSet);
}

struct UniformMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Random numbers uniformly distributed in [low, high). The values depend only on the seed, "
        "the number of runs so far, and the name of the result.");
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes").Positional().Ragged();
    AddAttr<double>("low", "lower bound, included").Default(0);
    AddAttr<double>("high", "upper bound, not included; if it equals `low`, all elements are `low`")
        .Default(1);
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    properties().random = true;
    SetInference(InferUniform);
    AddExample("x = uniform([2, 3], low=-1.0, high=1.0)");
  }
};

struct NormalMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Normally distributed random numbers. The values depend only on the seed, the number of "
        "runs so far, and the name of the result.");
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes").Positional().Ragged();
    AddAttr<double>("mean", "the mean").Default(0);
    AddAttr<double>("std", "standard deviation").Default(1).AtLeast(0);
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    properties().random = true;
    SetInference(InferNormal);
    AddExample("noise = normal([2, 3], std=0.1)");
  }
};

struct TruncatedNormalMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Random numbers from a normal distribution truncated to an interval. The values depend "
        "only on the seed, the number of runs so far, and the name of the result.");
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes").Positional().Ragged();
    AddAttr<double>("mean", "mean of the normal distribution before truncation").Default(0);
    AddAttr<double>("std", "standard deviation of the normal distribution before truncation")
        .Default(1)
        .AtLeast(0);
    AddAttr<double>("low", "lower bound, in standard deviations from the mean").Default(-2);
    AddAttr<double>("high", "upper bound, in standard deviations from the mean").Default(2);
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    properties().random = true;
    SetInference(InferTruncatedNormal);
    AddExample("w = truncated_normal([16, 4], std=0.02)");
  }
};

struct WeightMaker : OpProtoMaker {
 protected:
  void Declare(const std::string& comment, double gain) {
    AddComment(comment +
               " The values depend only on the seed, the number of runs so far, and the name of "
               "the result.");
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes").Positional();
    AddAttr<double>("gain", "scaling factor").Default(gain).AtLeast(0);
    AddAttr<std::string>(
        "layout",
        "where a weight has its inputs and outputs: \"in_out\": in the last two dims, with stacked "
        "weights in the dims before; \"out_in\": outputs first, then inputs, then the window, as "
        "in a convolution; \"auto\": \"in_out\" for at most two dims, else \"out_in\"")
        .Default("auto")
        .OneOf({"auto", "in_out", "out_in"});
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    properties().random = true;
    SetInference(InferWeight);
  }
  void DeclareMode() {
    AddAttr<std::string>(
        "mode",
        "the `fan` in the formula: the number of inputs of an output, or of outputs of an input")
        .Default("fan_in")
        .OneOf({"fan_in", "fan_out"});
  }
};

struct XavierUniformMaker : WeightMaker {
  void Make() override {
    Declare(
        "Initial values of a weight (Glorot and Bengio 2010): uniform in [-a, a) with a = gain * "
        "sqrt(6 / (fan_in + fan_out)).",
        1);
    AddExample("w = xavier_uniform([784, 128], gain=1.5)");
  }
};
struct XavierNormalMaker : WeightMaker {
  void Make() override {
    Declare(
        "Initial values of a weight (Glorot and Bengio 2010): normal with the standard deviation "
        "gain * sqrt(2 / (fan_in + fan_out)).",
        1);
    AddExample("w = xavier_normal([784, 128])");
  }
};
struct HeUniformMaker : WeightMaker {
  void Make() override {
    Declare(
        "Initial values of a weight followed by relu (He et al., arXiv:1502.01852): uniform in "
        "[-a, a) with a = gain * sqrt(3 / fan).",
        M_SQRT2);
    DeclareMode();
    AddExample("w = he_uniform([64, 3, 3, 3], mode=\"fan_out\")");
  }
};
struct HeNormalMaker : WeightMaker {
  void Make() override {
    Declare(
        "Initial values of a weight followed by relu (He et al., arXiv:1502.01852): normal with "
        "the standard deviation gain / sqrt(fan).",
        M_SQRT2);
    DeclareMode();
    AddExample("w = he_normal([784, 128])");
  }
};

}  // namespace

void RegisterRandomOps(OpRegistry& registry) {
  registry.BeginFamily("Random numbers");
  registry.RegisterOp<UniformOp, UniformMaker>("uniform");
  registry.RegisterOp<NormalOp, NormalMaker>("normal");
  registry.RegisterOp<TruncatedNormalOp, TruncatedNormalMaker>("truncated_normal");
  registry.RegisterOp<XavierUniformOp, XavierUniformMaker>("xavier_uniform");
  registry.RegisterOp<XavierNormalOp, XavierNormalMaker>("xavier_normal");
  registry.RegisterOp<HeUniformOp, HeUniformMaker>("he_uniform");
  registry.RegisterOp<HeNormalOp, HeNormalMaker>("he_normal");
}

}  // namespace pdl
