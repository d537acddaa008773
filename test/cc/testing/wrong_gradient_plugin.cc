// Operators for test/tool/gradcheck.test: x**2 with the right gradient, with half of it, and with
// one whose own gradient is wrong; an operator with a gradient for an input declared as not
// differentiable; one that can be differentiated only once, and one that only says so.
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

template <typename Context>
class SquareOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    inputs[0]->dtype() == pdl::DType::kF64 ? Square<double>(*inputs[0], outputs[0])
                                           : Square<float>(*inputs[0], outputs[0]);
    return llvm::Error::success();
  }

 private:
  template <typename T>
  static void Square(const pdl::Tensor& x, pdl::Tensor* y) {
    for (int64_t i = 0; i < x.num_elements(); ++i)
      y->data<T>()[i] = x.data<T>()[i] * x.data<T>()[i];
  }
};

struct SquareMaker : pdl::OpProtoMaker {
  void Declare(pdl::GradientFunction gradient, unsigned order = pdl::kMaxGradientOrder) {
    AddComment("x**2, element by element.");
    AddInput("x", "any").Accepts(pdl::DTypeSet(pdl::DType::kF32) | pdl::DType::kF64);
    AddOutput("y", "type as x");
    SetInference(pdl::InferSameAsFirst);
    SetGradient(gradient, order);
  }
};

void RightGradient(pdl::GradientContext& g) {
  pdl::Value* slope = g.Mul(g.Scalar(2, g.input(0)), g.input(0));
  g.SetInputGradient(0, g.Mul(g.output_gradient(), slope));
}
struct RightMaker : SquareMaker {
  void Make() override { Declare(RightGradient); }
};
struct ModestMaker : SquareMaker {
  void Make() override { Declare(RightGradient, 1); }
};
struct HalfMaker : SquareMaker {
  void Make() override {
    Declare([](pdl::GradientContext& g) {
      g.SetInputGradient(0, g.Mul(g.output_gradient(), g.input(0)));
    });
  }
};
// The derivative is right, but it is computed as x * wrong_half(x) / x, whose derivative is wrong.
struct SecondMaker : SquareMaker {
  void Make() override {
    Declare([](pdl::GradientContext& g) {
      pdl::Value* slope = g.Div(g.Call("half_square", {g.input(0)}), g.input(0));
      g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Mul(g.Scalar(2, slope), slope)));
    });
  }
};
// Declares its second input as not differentiable, but assigns it a gradient.
struct ClaimedMaker : SquareMaker {
  void Make() override {
    Declare([](pdl::GradientContext& g) {
      pdl::Value* slope = g.Mul(g.Scalar(2, g.input(0)), g.input(0));
      for (unsigned i : {0u, 1u}) g.SetInputGradient(i, g.Mul(g.output_gradient(), slope));
    });
    AddInput("unread", "type as x").Accepts(pdl::DType::kF64).NotDifferentiable();
  }
};

// Computes its derivative as 2 * plain_square(x) / x, which has no gradient.
struct OnceMaker : SquareMaker {
  void Make() override {
    Declare(
        [](pdl::GradientContext& g) {
          pdl::Value* half = g.Div(g.Call("plain_square", {g.input(0)}), g.input(0));
          g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Mul(g.Scalar(2, half), half)));
        },
        1);
  }
};
struct PlainMaker : SquareMaker {
  void Make() override { Declare(nullptr); }
};

REGISTER_OP(SquareOp, ClaimedMaker, "claimed_square");
REGISTER_OP(SquareOp, OnceMaker, "once_square");
REGISTER_OP(SquareOp, ModestMaker, "modest_square");
REGISTER_OP(SquareOp, PlainMaker, "plain_square");
REGISTER_OP(SquareOp, RightMaker, "right_square");
REGISTER_OP(SquareOp, HalfMaker, "half_square");
REGISTER_OP(SquareOp, SecondMaker, "second_square");

}  // namespace
