// Elementwise losses: binary_cross_entropy, huber, hinge, kl_div.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// --- binary_cross_entropy -----------------------------------------------------------------------

struct OfProbability {
  // The logarithm, clamped to at least -100.
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
    // The factor of |x| in the loss. If the label makes it 0, infinite logits do not contribute
    // either.
    const T magnitude = math::Abs(x);
    const T part = x > T(0) ? T(1) - label : label;
    const T linear = part == T(0) ? T(0) : magnitude * part;
    return linear + math::Log1p(math::Exp(-magnitude));
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
  // The loss is bounded where p is 0 or 1, and so is its derivative.
  const double least = x->type().dtype == DType::kF16 ? 0x1p-14 : 1e-12;
  Value* variance = g.Call("clip", {g.Mul(x, rest)}, {{"low", least}});
  g.SetInputGradient(0, g.SumTo(g.Mul(dy, g.Div(g.Sub(x, label), variance)), x));
  const auto bounded_log = [&](Value* value) {
    return g.Call("clip", {g.Call("log", {value})}, {{"low", -100.0}});
  };
  Value* derivative = g.Sub(bounded_log(rest), bounded_log(x));
  g.SetInputGradient(1, g.SumTo(g.Mul(dy, derivative), label));
}

struct BinaryCrossEntropyMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "-(label * log(p) + (1 - label) * log(1 - p)), elementwise, with logarithms clamped to at "
        "least -100. Broadcasts as in NumPy, over sizes that are literally 1.");
    AddInput("p", "the predicted probabilities, in [0, 1]").Accepts(kFloatSet);
    AddInput("label", "the target probabilities, in [0, 1]; dtype as p").Accepts(kFloatSet);
    AddOutput("loss", "at least 0; dtype as p, with the broadcast dims of both").DTypeOf("p");
    AddAttr<bool>("logits",
                  "p are logits, whose sigmoid gives the probabilities; more precise than applying "
                  "the sigmoid before. Infinite logits are the probabilities 0 and 1")
        .Default(false);
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient(BinaryCrossEntropyGradient);
    AddExample("loss = binary_cross_entropy([0.5, 0.75], [1.0, 0.0])  # = [0.693147, 1.386294]");
    AddExample("loss = binary_cross_entropy([0.0], [1.0], logits=true)  # = [0.693147]");
  }
};

// --- huber, hinge -------------------------------------------------------------------------------

constexpr const char kBroadcasts[] = " Broadcasts as in NumPy, over sizes that are literally 1.";

struct Huber {
  double delta = 1;
  void Initialize(const AttributeReader& attributes) { delta = attributes.Float("delta"); }
  template <class T>
  T operator()(T x, T y) const {
    const T limit = static_cast<T>(delta);
    const T distance = math::Abs(x - y);
    const T square = T(0.5) * distance * distance;
    return distance <= limit ? square : limit * (distance - T(0.5) * limit);
  }
};
template <class Context>
using HuberOp = BinaryOp<Context, Huber, FloatTypes>;

struct HuberMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        std::string("(x - y)**2 / 2 where abs(x - y) is at most delta, else delta * (abs(x - y) - "
                    "delta / 2), elementwise (Huber, 1964). `mean` reduces it to a scalar.") +
        kBroadcasts);
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddInput("y", "the targets; dtype as x").Accepts(kFloatSet);
    AddOutput("loss", "at least 0; dtype as x, with the broadcast dims of both").DTypeOf("x");
    AddAttr<double>("delta", "the abs(x - y) where the loss changes from quadratic to linear")
        .Default(1)
        .GreaterThan(0);
    AddExample("y = huber([0.5, 3.0], [0.0, 0.0])  # = [0.125, 2.5]");
    properties().elementwise = true;
    properties().commutative = true;
    SetInference(InferElementwise);
    SetGradient([](GradientContext& g) {
      const double delta = g.attributes().Float("delta");
      Value* derivative =
          g.Call("clip", {g.Sub(g.input(0), g.input(1))}, {{"low", -delta}, {"high", delta}});
      Value* dx = g.Mul(g.output_gradient(), derivative);
      g.SetInputGradient(0, g.SumTo(dx, g.input(0)));
      g.SetInputGradient(1, g.SumTo(g.Neg(dx), g.input(1)));
    });
  }
};

struct Hinge {
  double margin = 1;
  void Initialize(const AttributeReader& attributes) { margin = attributes.Float("margin"); }
  template <class T>
  T operator()(T x, T label) const {
    const T missing = static_cast<T>(margin) - x * label;
    return missing < T(0) ? T(0) : missing;
  }
};
template <class Context>
using HingeOp = BinaryOp<Context, Hinge, FloatTypes>;

struct HingeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        std::string("max(margin - x * label, 0), elementwise. `mean` reduces it to a scalar.") +
        kBroadcasts);
    AddInput("x", "the scores, whose sign is the decision").Accepts(kFloatSet);
    AddInput("label", "1 or -1; dtype as x").Accepts(kFloatSet);
    AddOutput("loss", "at least 0; dtype as x, with the broadcast dims of both").DTypeOf("x");
    AddAttr<double>("margin", "the smallest x * label without loss").Default(1);
    AddExample("y = hinge([2.0, 0.5, -1.0], [1.0, 1.0, 1.0])  # = [0.0, 0.5, 2.0]");
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient([](GradientContext& g) {
      Value* zero = g.Scalar(0, g.output());
      Value* costs = g.Call("greater", {g.output(), zero});
      Value* derivative = g.Neg(g.output_gradient());
      for (const unsigned i : {0u, 1u}) {
        Value* part = g.Call("where", {costs, g.Mul(derivative, g.input(1 - i)), zero});
        g.SetInputGradient(i, g.SumTo(part, g.input(i)));
      }
    });
  }
};

// --- kl_div -------------------------------------------------------------------------------------

struct OfTarget {
  template <class T>
  T operator()(T log_q, T p) const {
    const T y = p * (math::Log(p) - log_q);
    return p == T(0) ? T(0) : y;
  }
};
struct OfLogTarget {
  template <class T>
  T operator()(T log_q, T log_p) const {
    const T p = math::Exp(log_p);
    const T y = p * (log_p - log_q);
    return p == T(0) ? T(0) : y;
  }
};
struct Divergence {
  OfTarget of_target;
  OfLogTarget of_log;
  bool log_target = false;
  void Initialize(const AttributeReader& attributes) { log_target = attributes.Bool("log_target"); }
};

template <class Context>
class KlDivOp : public ElementwiseOp<Context, Divergence, 2> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType) const override {
    Tile tile;
    VisitDType(FloatTypes(), inputs[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      tile = this->functor().log_target ? MakeBinaryTile<T, T>(&this->functor().of_log)
                                        : MakeBinaryTile<T, T>(&this->functor().of_target);
    });
    return tile;
  }
};

void KlDivGradient(GradientContext& g) {
  Value* log_q = g.input(0);
  Value* target = g.input(1);
  Value* dy = g.output_gradient();
  Value* one = g.Scalar(1, target);
  if (g.attributes().Bool("log_target")) {
    Value* p = g.Call("exp", {target});
    g.SetInputGradient(0, g.SumTo(g.Neg(g.Mul(dy, p)), log_q));
    g.SetInputGradient(1, g.SumTo(g.Mul(dy, g.Add(g.output(), p)), target));
    return;
  }
  g.SetInputGradient(0, g.SumTo(g.Neg(g.Mul(dy, target)), log_q));
  Value* zero = g.Scalar(0, target);
  Value* positive = g.Call("greater", {target, zero});
  Value* log_p = g.Call("log", {g.Call("where", {positive, target, one})});
  Value* derivative = g.Add(g.Sub(log_p, log_q), one);
  g.SetInputGradient(1, g.SumTo(g.Mul(dy, g.Call("where", {positive, derivative, zero})), target));
}

struct KlDivMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        std::string(
            "p * (log(p) - log_q), elementwise; its sum over the classes is the Kullback-Leibler "
            "divergence. Where p is 0, the result and its gradient are 0.") +
        kBroadcasts);
    AddInput("log_q", "log-probabilities, as log_softmax returns them").Accepts(kFloatSet);
    AddInput("p", "the target probabilities; dtype as log_q").Accepts(kFloatSet);
    AddOutput("loss", "dtype as log_q, with the broadcast dims of both").DTypeOf("log_q");
    AddAttr<bool>("log_target", "p are log-probabilities, too").Default(false);
    AddExample("y = kl_div([-1.0, -2.0], [1.0, 0.0])  # = [1.0, 0.0]");
    properties().elementwise = true;
    SetInference(InferElementwise);
    SetGradient(KlDivGradient);
  }
};

}  // namespace

void RegisterPointwiseLossOps(OpRegistry& registry) {
  registry.BeginFamily("Losses");
  registry.RegisterOp<BinaryCrossEntropyOp, BinaryCrossEntropyMaker>("binary_cross_entropy");
  registry.RegisterOp<HuberOp, HuberMaker>("huber");
  registry.RegisterOp<HingeOp, HingeMaker>("hinge");
  registry.RegisterOp<KlDivOp, KlDivMaker>("kl_div");
}

}  // namespace pdl
