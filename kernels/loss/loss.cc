// Losses: cross_entropy, nll, mse. Elementwise losses are in pointwise_loss.cc.
#include <algorithm>
#include <limits>

#include "kernels/core/elementwise.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// --- cross_entropy, nll -------------------------------------------------------------------------

struct LabelOptions {
  bool ignores = false;
  int64_t ignore_index = 0;
  double label_smoothing = 0;
};

// The loss of rows of `n` logits at their labels. `weights` may be null.
template <class T, class Index>
struct CrossEntropyLoop {
  using C = ComputeType<T>;
  static PDL_INLINE double Loss(const T* x, int64_t n, Index label, const T* weights,
                                double label_smoothing) {
    C largest = -std::numeric_limits<C>::infinity();
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; ++i) {
      const C value = Element<T>::Load(x[i]);
      largest = value > largest ? value : largest;
    }
    // Accumulates short partial sums in the compute type and their total in double; nan propagates.
    double sum = 0;
    for (int64_t begin = 0; begin < n; begin += 256) {
      const int64_t end = std::min(begin + 256, n);
      C part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = begin; i < end; ++i) part += math::Exp(Element<T>::Load(x[i]) - largest);
      sum += static_cast<double>(part);
    }
    const C log_sum = static_cast<C>(std::log(sum));
    const auto weight = [&](int64_t i) {
      return weights == nullptr ? 1.0 : static_cast<double>(Element<T>::Load(weights[i]));
    };
    const double at_label =
        weight(label) * static_cast<double>(log_sum + (largest - Element<T>::Load(x[label])));
    if (label_smoothing == 0) return at_label;
    double all = 0;
    for (int64_t i = 0; i < n; ++i) {
      all += weight(i) * static_cast<double>(log_sum + (largest - Element<T>::Load(x[i])));
    }
    return (1 - label_smoothing) * at_label + label_smoothing / static_cast<double>(n) * all;
  }

  static PDL_INLINE void Run(const void* const* inputs, int64_t first, int64_t rows, int64_t n,
                             const LabelOptions* options, void* out) {
    const T* x = static_cast<const T*>(inputs[0]) + first * n;
    const Index* label = static_cast<const Index*>(inputs[1]) + first;
    const T* weights = static_cast<const T*>(inputs[2]);
    T* loss = static_cast<T*>(out) + first;
    for (int64_t row = 0; row < rows; ++row) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (options->ignores && label[row] == options->ignore_index) {
        value = 0;
      } else if (label[row] >= 0 && label[row] < n) {
        value = Loss(x + row * n, n, label[row], weights, options->label_smoothing);
      }
      loss[row] = Element<T>::Store(static_cast<C>(value));
    }
  }
};

template <class T, class Index>
struct NllLoop {
  using C = ComputeType<T>;
  static PDL_INLINE void Run(const void* const* inputs, int64_t first, int64_t rows, int64_t n,
                             const LabelOptions* options, void* out) {
    const T* x = static_cast<const T*>(inputs[0]) + first * n;
    const Index* label = static_cast<const Index*>(inputs[1]) + first;
    const T* weights = static_cast<const T*>(inputs[2]);
    T* loss = static_cast<T*>(out) + first;
    for (int64_t row = 0; row < rows; ++row) {
      C value = std::numeric_limits<C>::quiet_NaN();
      if (options->ignores && label[row] == options->ignore_index) {
        value = 0;
      } else if (label[row] >= 0 && label[row] < n) {
        value = -Element<T>::Load(x[row * n + label[row]]);
        if (weights != nullptr) value *= Element<T>::Load(weights[label[row]]);
      }
      loss[row] = Element<T>::Store(value);
    }
  }
};

struct LabelLossState : CallState {
  void (*loop)(const void* const* inputs, int64_t first, int64_t rows, int64_t n,
               const LabelOptions* options, void* out) = nullptr;
  int64_t rows = 1, n = 1, grain = 1;
};

using LabelTypes = TypeList<int32_t, int64_t>;

template <class Context, template <class, class> class Loop>
class LabelLossOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<LabelLossState>();
    state->rows = context.outputs()[0].num_elements();
    state->n = x.sizes.back();
    state->grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(state->n, 1));
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      VisitDType(LabelTypes(), context.inputs()[1].dtype, [&](auto index) {
        state->loop = ChooseIsa<Loop<T, typename decltype(index)::type>>();
      });
    });
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const LabelLossState& s = *context.template state<LabelLossState>();
    const void* operands[] = {inputs[0]->raw(), inputs[1]->raw(),
                              inputs.size() > 2 ? inputs[2]->raw() : nullptr};
    void* out = outputs[0]->raw();
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      s.loop(operands, begin, end - begin, s.n, &options_, out);
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    options_.ignores = attributes.Has("ignore_index");
    if (options_.ignores) options_.ignore_index = attributes.Int("ignore_index");
    if (attributes.Has("label_smoothing")) {
      options_.label_smoothing = attributes.Float("label_smoothing");
    }
    return llvm::Error::success();
  }

 private:
  LabelOptions options_;
};
template <class Context>
using CrossEntropyOp = LabelLossOp<Context, CrossEntropyLoop>;
template <class Context>
using NllOp = LabelLossOp<Context, NllLoop>;

llvm::Error InferLabelLoss(InferenceContext& context) {
  const std::string name = context.def().signature.inputs[0].name;
  const Type& logits = context.input(0);
  const Type& label = context.input(1);
  if (logits.is_scalar()) {
    return context.FailAt({0}, Code::kRank, "'{0}' must have at least one dim, got {1}", name,
                          logits.ToString());
  }
  if (logits.dims.back().is_ragged()) {
    return context.FailAt({0}, Code::kStorage, "the last dim of '{0}' must not be ragged, got {1}",
                          name, logits.ToString());
  }
  if (label.rank() + 1 != logits.rank()) {
    return context.FailAt({0, 1}, Code::kRank,
                          "'label' must have the dims of '{0}' without the last, got {1} and {2}",
                          name, label.ToString(), logits.ToString());
  }
  for (unsigned d = 0; d < label.rank(); ++d) {
    if (llvm::Error error = context.RequireEqual(logits.dims[d], label.dims[d], {0, 1},
                                                 "labels and logits have different dims")) {
      return error;
    }
  }
  if (label.index_bound) {
    if (llvm::Error error = context.RequireAtLeast(logits.dims.back(), *label.index_bound, {0, 1},
                                                   "a label may be outside the classes")) {
      return error;
    }
  }
  if (context.has_input(2)) {
    const Type& weight = context.input(2);
    if (llvm::Error error = RequireSameDType(context, 0, 2)) return error;
    if (weight.rank() != 1) {
      return context.FailAt({2}, Code::kRank, "'weight' must have one dim, got {0}",
                            weight.ToString());
    }
    if (llvm::Error error =
            context.RequireEqual(logits.dims.back(), weight.dims[0], {0, 2},
                                 "the number of weights must be the number of classes")) {
      return error;
    }
  }
  context.SetOutput(Type(logits.dtype, label.dims));
  return llvm::Error::success();
}

// The weight of each class in the loss, without and with `weight`; dy, which is 0 for ignored rows;
// and the mask of ignored rows, which is null without ignore_index.
struct LabelCotangent {
  Value* share;
  Value* weight;
  Value* dy;
  Value* ignored = nullptr;
};
LabelCotangent CotangentOfLabels(GradientContext& g, double label_smoothing) {
  const Type& type = g.input(0)->type();
  Value* share =
      g.Call("one_hot", {g.input(1)}, {{"depth", Shape{type.dims.back()}}, {"dtype", type.dtype}});
  if (label_smoothing != 0) {
    Value* count =
        g.Call("size", {}, {{"dims", Shape{type.dims.back()}}, {"dtype", WideDType(type.dtype)}});
    Value* rest = CastTo(g, g.Div(g.Scalar(label_smoothing, count), count), type.dtype);
    share = g.Add(g.Mul(share, g.Scalar(1 - label_smoothing, g.input(0))), rest);
  }
  Value* weight = g.num_inputs() > 2 ? g.Mul(share, g.input(2)) : share;
  Value* dy = g.output_gradient();
  Value* ignored = nullptr;
  if (g.attributes().Has("ignore_index")) {
    Value* label = g.Scalar(static_cast<double>(g.attributes().Int("ignore_index")), g.input(1));
    ignored = g.Call("equal", {g.input(1), label});
    dy = g.Call("where", {ignored, g.Scalar(0, dy), dy});
  }
  Shape dims = g.output()->type().dims;
  dims.push_back(1);
  const auto column = [&](Value* v) { return g.Call("reshape", {v}, {{"dims", dims}}); };
  return {share, weight, column(dy), column(ignored)};
}

// dy times `factor`, which may be nan in an ignored row.
Value* Flow(GradientContext& g, const LabelCotangent& cotangent, Value* factor) {
  Value* product = g.Mul(factor, cotangent.dy);
  if (cotangent.ignored == nullptr) return product;
  return g.Call("where", {cotangent.ignored, g.Scalar(0, product), product});
}

// The gradient of a class's weight is the loss of its labels with weight 1.
void SetWeightGradient(GradientContext& g, const LabelCotangent& cotangent, Value* log_prob) {
  Value* zero = g.Scalar(0, log_prob);
  Value* asked = g.Call("not_equal", {cotangent.share, zero});
  Value* loss = g.Call("where", {asked, g.Mul(cotangent.share, log_prob), zero});
  g.SetInputGradient(2, g.SumTo(g.Neg(Flow(g, cotangent, loss)), g.input(2)));
}

void CrossEntropyGradient(GradientContext& g) {
  const LabelCotangent cotangent = CotangentOfLabels(g, g.attributes().Float("label_smoothing"));
  Value* part = g.Call("softmax", {g.input(0)});
  if (g.num_inputs() > 2) {
    SetWeightGradient(g, cotangent, g.Call("log_softmax", {g.input(0)}));
    Value* total =
        g.Call("sum", {cotangent.weight}, {{"axes", std::vector<int64_t>{-1}}, {"keep", true}});
    part = g.Mul(part, total);
  }
  g.SetInputGradient(0, Flow(g, cotangent, g.Sub(part, cotangent.weight)));
}

void NllGradient(GradientContext& g) {
  const LabelCotangent cotangent = CotangentOfLabels(g, 0);
  if (g.num_inputs() > 2) SetWeightGradient(g, cotangent, g.input(0));
  g.SetInputGradient(0, g.Neg(g.Mul(cotangent.weight, cotangent.dy)));
}

// Labels must be classes, or ignore_index. Negative labels do not count from the end.
llvm::Error CheckLabels(const AttributeReader& attributes, llvm::ArrayRef<const Tensor*> operands,
                        llvm::ArrayRef<const Tensor*>) {
  const Tensor& scores = *operands[0];
  const Tensor& label = *operands[1];
  const int64_t classes = scores.sizes().back();
  const bool ignores = attributes.Has("ignore_index");
  const int64_t ignored = ignores ? attributes.Int("ignore_index") : 0;
  for (int64_t i = 0; i < label.num_elements(); ++i) {
    const int64_t at =
        label.dtype() == DType::kI64 ? label.data<int64_t>()[i] : label.data<int32_t>()[i];
    if ((at >= 0 && at < classes) || (ignores && at == ignored)) continue;
    return IndexOutOfRange(label, i, scores, scores.rank() - 1);
  }
  return llvm::Error::success();
}

struct LabelLossMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, const char* name, const char* input) {
    AddComment(comment);
    AddInput(name, input).Accepts(kFloatSet).Ragged();
    AddInput("label", "[...], classes").Accepts(SetOf(LabelTypes())).OwnDType().Ragged();
    AddInput("weight", "[C], the factor of the loss at a label of each class; default: 1")
        .Accepts(kFloatSet)
        .Optional();
    AddAttr<int64_t>("ignore_index",
                     "rows with this label have loss 0; for a mean over the other rows, divide the "
                     "sum by their number. Default: no row is ignored")
        .Optional();
    SetInference(InferLabelLoss);
    SetIndexCheck(CheckLabels);
  }
};

struct CrossEntropyMaker : LabelLossMaker {
  void Make() override {
    Declare(
        "-log(softmax(logits)) at the label, along the last dim, without overflow for large "
        "logits. A label outside the classes gives nan; labels declared `in 0..C` cannot be "
        "outside.",
        "logits", "[..., C], the unnormalized scores of the classes");
    AddOutput("loss", "[...], at least 0; dtype as the logits").DTypeOf("logits");
    AddAttr<double>("label_smoothing",
                    "the part of the target distribution that is distributed evenly over all "
                    "classes (Szegedy et al., arXiv:1512.00567)")
        .Default(0)
        .AtLeast(0)
        .AtMost(1);
    SetGradient(CrossEntropyGradient);
    AddExample("loss = cross_entropy([[0.0, 0.0], [5.0, 0.0]], [1, 0])  # = [0.693147, 0.006715]");
  }
};

struct NllMaker : LabelLossMaker {
  void Make() override {
    Declare(
        "The negative log-likelihood: -log_prob at the label, along the last dim, for the result "
        "of log_softmax. A label outside the classes gives nan.",
        "log_prob", "[..., C], the log-probability of each class");
    AddOutput("loss", "[...]; dtype as log_prob").DTypeOf("log_prob");
    AddExample("y = nll([[-0.5, -2.0], [-0.25, -1.0]], [1, 0])  # = [2.0, 0.25]");
    SetGradient(NllGradient);
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
    AddComment(
        "The mean squared error: the mean of (x - y)**2 over all elements; nan if there are none.");
    AddInput("x", "the predictions, of any rank").Accepts(kFloatSet).Ragged();
    AddInput("y", "the targets; type as x").Accepts(kFloatSet).Ragged();
    AddOutput("loss", "a scalar, dtype as x").DTypeOf("x").Rank(0);
    SetInference(InferMse);
    SetGradient(InWideDType<MseGradient>);
    AddExample("loss = mse([1.0, 2.0], [1.0, 4.0])  # = 2.0");
  }
};

}  // namespace

void RegisterLossOps(OpRegistry& registry) {
  registry.BeginFamily("Losses");
  registry.RegisterOp<CrossEntropyOp, CrossEntropyMaker>("cross_entropy");
  registry.RegisterOp<NllOp, NllMaker>("nll");
  registry.RegisterOp<MseOp, MseMaker>("mse");
}

}  // namespace pdl
