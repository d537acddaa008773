// Operators that cannot be registered, for plugin_test.cc.
#include <stdexcept>

#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

template <typename Context>
class NoOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*>, llvm::MutableArrayRef<pdl::Tensor*>,
                  Context&) const override {
    return llvm::Error::success();
  }
};

struct Maker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x.");
    AddInput("x", "any");
    AddOutput("y", "x");
    SetInference(pdl::InferSameAsFirst);
  }
};

struct WrongDefaultMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<float>("scale", "a factor").Default(-1).GreaterThan(0);
  }
};

struct NoCommentMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<int>("n", "");
  }
};

struct AttributeNameMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<int>("a-b", "a number").Default(1);
  }
};

struct RangeMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<int>("k", "a number").AtLeast(5).AtMost(3);
  }
};

struct AxisMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<double>("axis", "a number").Axis();
  }
};

struct OrderMaker : Maker {
  void Make() override {
    Maker::Make();
    SetGradient([](pdl::GradientContext&) {}, 7);
  }
};

struct ResultsMaker : Maker {
  void Make() override {
    Maker::Make();
    AddAttr<int>("n", "the number of copies");
    RepeatLastOutput({"n"});
  }
};

struct CountedMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x.");
    AddInput("xs", "any").Counted("count");
    AddOutput("y", "x");
    AddAttr<int>("count", "the number of xs").Counted().Default(0);
    SetInference(pdl::InferSameAsFirst);
  }
};

struct TwoInputsMaker : Maker {
  void Make() override {
    Maker::Make();
    AddInput("b", "any");
    properties().elementwise = true;
  }
};

struct ThrowingMaker : Maker {
  void Make() override { throw std::runtime_error("boom"); }
};

REGISTER_OP(NoOp, WrongDefaultMaker, "test_wrong_default");
REGISTER_OP(NoOp, NoCommentMaker, "test_no_comment");
REGISTER_OP(NoOp, Maker, "for");
REGISTER_OP(NoOp, AttributeNameMaker, "test_attribute_name");
REGISTER_OP(NoOp, RangeMaker, "test_range");
REGISTER_OP(NoOp, AxisMaker, "test_axis");
REGISTER_OP(NoOp, OrderMaker, "test_order");
REGISTER_OP(NoOp, ResultsMaker, "test_results");
REGISTER_OP(NoOp, CountedMaker, "test_counted");
REGISTER_OP(NoOp, TwoInputsMaker, "test_two_inputs");
REGISTER_OP(NoOp, ThrowingMaker, "test_throws");
REGISTER_OP(NoOp, Maker, "test_twice");
REGISTER_OP(NoOp, Maker, "test_twice");

}  // namespace
