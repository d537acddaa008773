// Operators that cannot be registered, for plugin_test.cc.
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

REGISTER_OP(NoOp, WrongDefaultMaker, "test_wrong_default");
REGISTER_OP(NoOp, NoCommentMaker, "test_no_comment");
REGISTER_OP(NoOp, Maker, "test_twice");
REGISTER_OP(NoOp, Maker, "test_twice");

}  // namespace
