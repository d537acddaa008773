// soft_ramp(x, beta): an operator outside of libpdl, built as a plugin.
#include <algorithm>
#include <cmath>

#include "pdl/op/elementwise.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

struct SoftRamp {
  double beta = 1;

  void Initialize(const pdl::AttributeReader& attributes) { beta = attributes.Float("beta"); }

  /// T is float (also for f16 and bf16) or double.
  template <class T>
  T operator()(T x) const {
    // log(1 + exp(scaled)) in the form that does not overflow.
    const T scaled = static_cast<T>(beta) * x;
    return (std::max(scaled, T(0)) + std::log1p(std::exp(-std::abs(scaled)))) /
           static_cast<T>(beta);
  }
};

template <class Context>
using SoftRampOp = pdl::FloatFormulaOp<Context, SoftRamp>;

void SoftRampGradient(pdl::GradientContext& g) {
  pdl::Value* scaled = g.Mul(g.input(0), g.Scalar(g.attributes().Float("beta"), g.input(0)));
  g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Call("sigmoid", {scaled})));
}

struct SoftRampMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("log(1 + exp(beta * x)) / beta, elementwise: a smooth relu.");
    AddInput("x", "a tensor of any shape").Accepts(pdl::kFloats);
    AddOutput("y", "positive; the type of x");
    AddAttr<double>("beta", "the sharpness: the larger, the closer to relu")
        .Default(1)
        .AtLeast(0.01)
        .AtMost(100);
    properties().elementwise = true;
    SetInference(pdl::InferSameAsFirst);
    SetGradient(SoftRampGradient);
  }
};

REGISTER_OP(SoftRampOp, SoftRampMaker, "soft_ramp");

}  // namespace
