// Losses: cross_entropy, binary_cross_entropy, mse.
#include <algorithm>
#include <limits>

#include "kernels/all_ops.h"
#include "kernels/elementwise.h"
#include "kernels/inference_helpers.h"
#include "pdl/gradient.h"
#include "pdl/op_proto_maker.h"

namespace pdl {
namespace {

constexpr int64_t kGrainElements = 1 << 14;

// --- cross_entropy ------------------------------------------------------------------------------

template <class T, class Index>
struct CrossEntropyLoop {
  using C = ComputeType<T>;
  static PDL_INLINE C Loss(const T* x, int64_t n, Index label) {
    C largest = -std::numeric_limits<C>::infinity();
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; ++i) {
      const C value = Element<T>::Load(x[i]);
      largest = value > largest ? value : largest;
    }
    if (!(label >= 0 && label < n)) return std::numeric_limits<C>::quiet_NaN();
    // Short sums in the type itself, the sum of them in double; nan stays in them.
    double sum = 0;
    for (int64_t begin = 0; begin < n; begin += 256) {
      const int64_t end = std::min(begin + 256, n);
      C part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = begin; i < end; ++i) part += math::Exp(Element<T>::Load(x[i]) - largest);
      sum += static_cast<double>(part);
    }
    return static_cast<C>(std::log(sum)) + (largest - Element<T>::Load(x[label]));
  }

  static PDL_INLINE void Run(const void* logits, const void* labels, int64_t rows, int64_t n,
                             void* out) {
    const T* x = static_cast<const T*>(logits);
    const Index* label = static_cast<const Index*>(labels);
    for (int64_t row = 0; row < rows; ++row) {
      static_cast<T*>(out)[row] = Element<T>::Store(Loss(x + row * n, n, label[row]));
    }
  }
};

struct CrossEntropyState : CallState {
  void (*loop)(const void* logits, const void* labels, int64_t rows, int64_t n,
               void* out) = nullptr;
  int64_t rows = 1, n = 1, element_size = 1, label_size = 1, grain = 1;
};

using LabelTypes = TypeList<int32_t, int64_t>;

template <class Context>
class CrossEntropyOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& logits = context.inputs()[0];
    const OperandType& label = context.inputs()[1];
    auto state = std::make_shared<CrossEntropyState>();
    state->rows = context.outputs()[0].num_elements();
    state->n = logits.sizes.back();
    state->element_size = DTypeSize(logits.dtype);
    state->label_size = DTypeSize(label.dtype);
    state->grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(state->n, 1));
    VisitDType(FloatTypes(), logits.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      VisitDType(LabelTypes(), label.dtype, [&](auto index) {
        state->loop = ChooseIsa<CrossEntropyLoop<T, typename decltype(index)::type>>();
      });
    });
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const CrossEntropyState& s = *context.template state<CrossEntropyState>();
    const char* logits = static_cast<const char*>(inputs[0]->raw());
    const char* labels = static_cast<const char*>(inputs[1]->raw());
    char* out = static_cast<char*>(outputs[0]->raw());
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      s.loop(logits + begin * s.n * s.element_size, labels + begin * s.label_size, end - begin, s.n,
             out + begin * s.element_size);
    });
    return llvm::Error::success();
  }
};

llvm::Error InferCrossEntropy(InferenceContext& context) {
  const Type& logits = context.input(0);
  const Type& label = context.input(1);
  if (logits.is_scalar()) {
    return context.FailAt({0}, Code::kRank, "'logits' must have at least one dim, got {0}",
                          logits.ToString());
  }
  if (logits.dims.back().is_ragged()) {
    return context.FailAt({0}, Code::kStorage,
                          "the last dim of 'logits' must not be ragged, got {0}",
                          logits.ToString());
  }
  if (label.rank() + 1 != logits.rank()) {
    return context.FailAt({0, 1}, Code::kRank,
                          "'label' must have the dims of 'logits' without the last, got {0} and "
                          "{1}",
                          label.ToString(), logits.ToString());
  }
  for (unsigned d = 0; d < label.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(logits.dims[d], label.dims[d], {0, 1},
                                                 "labels do not match the logits")) {
      return error;
    }
  }
  if (label.index_bound) {
    if (llvm::Error error = context.RequireAtLeast(logits.dims.back(), *label.index_bound, {0, 1},
                                                   "a label may be outside the classes")) {
      return error;
    }
  }
  context.SetOutput(Type(logits.dtype, label.dims));
  return llvm::Error::success();
}

void CrossEntropyGradient(GradientContext& g) {
  Value* logits = g.input(0);
  const Type& type = logits->type();
  Value* wanted =
      g.Call("one_hot", {g.input(1)}, {{"depth", Shape{type.dims.back()}}, {"dtype", type.dtype}});
  Shape dims = g.output()->type().dims;
  dims.push_back(1);
  Value* dy = g.Call("reshape", {g.output_gradient()}, {{"dims", dims}});
  g.SetInputGradient(0, g.Mul(g.Sub(g.Call("softmax", {logits}), wanted), dy));
}

struct CrossEntropyMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "-log(softmax(logits)) at the label, along the last dim, without overflow for large "
        "logits. A label outside the classes gives nan; labels declared `in 0..C` cannot be "
        "outside.");
    AddInput("logits", "[..., C], a number for each class").Accepts(kFloatSet).Ragged();
    AddInput("label", "[...], classes").Accepts(SetOf(LabelTypes())).OwnDType().Ragged();
    AddOutput("loss", "[...], from 0 on; dtype as the logits");
    SetInference(InferCrossEntropy);
    SetGradient(CrossEntropyGradient);
  }
};

// --- binary_cross_entropy -----------------------------------------------------------------------

struct OfProbability {
  // A logarithm, but not below -100.
  template <class T>
  static PDL_INLINE T Bounded(T log) {
    return log < T(-100) ? T(-100) : log;
  }
  template <class T>
  T operator()(T p, T label) const {
    return -(label * Bounded(math::Log(p)) + (T(1) - label) * Bounded(math::Log1p(-p)));
  }
};
struct OfLogit {
  template <class T>
  T operator()(T x, T label) const {
    return (x > T(0) ? x : T(0)) - x * label + math::Log1p(math::Exp(-math::Abs(x)));
  }
};
struct BinaryCrossEntropy {
  OfProbability of_probability;
  OfLogit of_logit;
  bool logits = false;
  void Initialize(const AttributeReader& attributes) { logits = attributes.Bool("logits"); }
};

template <class Context>
class BinaryCrossEntropyOp : public ElementwiseOp<Context, BinaryCrossEntropy, 2> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType) const override {
    Tile tile;
    VisitDType(FloatTypes(), inputs[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      tile = this->functor().logits ? MakeBinaryTile<T, T>(&this->functor().of_logit)
                                    : MakeBinaryTile<T, T>(&this->functor().of_probability);
    });
    return tile;
  }
};

void BinaryCrossEntropyGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* label = g.input(1);
  Value* dy = g.output_gradient();
  if (g.attributes().Bool("logits")) {
    Value* dx = g.Mul(dy, g.Sub(g.Call("sigmoid", {x}), label));
    g.SetInputGradient(0, g.SumTo(dx, x));
    g.SetInputGradient(1, g.SumTo(g.Neg(g.Mul(dy, x)), label));
    return;
  }
  Value* one = g.Scalar(1, x);
  Value* rest = g.Sub(one, x);
  // The loss is bounded where p is 0 or 1, and so is its slope.
  const double least = x->type().dtype == DType::kF16 ? 0x1p-14 : 1e-12;
  Value* variance = g.Call("clip", {g.Mul(x, rest)}, {{"low", least}});
  g.SetInputGradient(0, g.SumTo(g.Mul(dy, g.Div(g.Sub(x, label), variance)), x));
  const auto bounded_log = [&](Value* value) {
    return g.Call("clip", {g.Call("log", {value})}, {{"low", -100.0}});
  };
  Value* slope = g.Sub(bounded_log(rest), bounded_log(x));
  g.SetInputGradient(1, g.SumTo(g.Mul(dy, slope), label));
}

struct BinaryCrossEntropyMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "-(label * log(p) + (1 - label) * log(1 - p)), element by element, with logarithms of at "
        "least -100. Broadcasts as NumPy does, over sizes that are literally 1.");
    AddInput("p", "probabilities, in [0, 1]").Accepts(kFloatSet);
    AddInput("label", "what they should be, in [0, 1]; dtype as p").Accepts(kFloatSet);
    AddOutput("loss", "from 0 on; dtype as p, the dims of both broadcast");
    AddAttr<bool>("logits",
                  "p are any numbers, of which the probabilities are the sigmoid; more exact than "
                  "to take it before")
        .Default(false);
    SetTraits(kElementwise);
    SetInference(InferElementwise);
    SetGradient(BinaryCrossEntropyGradient);
  }
};

// --- mse ----------------------------------------------------------------------------------------

template <class T>
struct SquaredDistanceLoop {
  static PDL_INLINE double Run(const void* left, const void* right, int64_t n) {
    const T* x = static_cast<const T*>(left);
    const T* y = static_cast<const T*>(right);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
      const double distance =
          static_cast<double>(Element<T>::Load(x[i])) - static_cast<double>(Element<T>::Load(y[i]));
      sum += distance * distance;
    }
    return sum;
  }
};

struct MseState : CallState {
  double (*loop)(const void* left, const void* right, int64_t n) = nullptr;
  int64_t n = 0, element_size = 1;
};

template <class Context>
class MseOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<MseState>();
    state->n = x.num_elements();
    state->element_size = DTypeSize(x.dtype);
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      state->loop = ChooseIsa<SquaredDistanceLoop<typename decltype(tag)::type>>();
    });
    Preparation preparation;
    preparation.workspace_bytes = NumPieces(state->n) * static_cast<int64_t>(sizeof(double));
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const MseState& s = *context.template state<MseState>();
    const char* x = static_cast<const char*>(inputs[0]->raw());
    const char* y = static_cast<const char*>(inputs[1]->raw());
    double* sums = static_cast<double*>(context.workspace());
    const int64_t pieces = NumPieces(s.n);
    context.ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t first = piece * kPiece;
        sums[piece] = s.loop(x + first * s.element_size, y + first * s.element_size,
                             std::min(kPiece, s.n - first));
      }
    });
    double sum = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) sum += sums[piece];
    VisitDType(FloatTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(outputs[0]->raw()) =
          Element<T>::Store(static_cast<ComputeType<T>>(sum / static_cast<double>(s.n)));
    });
    return llvm::Error::success();
  }

 private:
  static constexpr int64_t kPiece = 1 << 16;
  static int64_t NumPieces(int64_t n) { return (n + kPiece - 1) / kPiece; }
};

llvm::Error InferMse(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  if (llvm::Error error = RequireSameDims(context, 0, 1, "sizes differ")) return error;
  context.SetOutput(Type(context.input(0).dtype, {}));
  return llvm::Error::success();
}

void MseGradient(GradientContext& g) {
  Value* x = g.input(0);
  const Type& type = x->type();
  Value* count = g.Call("size", {}, {{"dims", type.dims}, {"dtype", type.dtype}});
  Value* factor = g.Div(g.Mul(g.output_gradient(), g.Scalar(2, x)), count);
  Value* dx = g.Mul(g.Sub(x, g.input(1)), factor);
  g.SetInputGradient(0, dx);
  g.SetInputGradient(1, g.Neg(dx));
}

struct MseMaker : OpProtoMaker {
  void Make() override {
    AddComment("The mean of (x - y)**2 over all elements; nan where there are none.");
    AddInput("x", "elements of any rank").Accepts(kFloatSet).Ragged();
    AddInput("y", "type as x").Accepts(kFloatSet).Ragged();
    AddOutput("loss", "a scalar, dtype as x");
    SetInference(InferMse);
    SetGradient(MseGradient);
  }
};

}  // namespace

void RegisterLossOps(OpRegistry& registry) {
  registry.BeginFamily("Losses");
  registry.RegisterOp<CrossEntropyOp, CrossEntropyMaker>("cross_entropy");
  registry.RegisterOp<BinaryCrossEntropyOp, BinaryCrossEntropyMaker>("binary_cross_entropy");
  registry.RegisterOp<MseOp, MseMaker>("mse");
}

}  // namespace pdl
