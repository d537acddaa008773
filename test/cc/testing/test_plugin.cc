// A plugin for plugin_test.cc; with TEST_PLUGIN_VERSION, one of another version.
#ifdef TEST_PLUGIN_VERSION
extern "C" __attribute__((visibility("default"))) const char* pdl_plugin_version() {
  return TEST_PLUGIN_VERSION;
}
#define pdl_plugin_version pdl_unused_plugin_version
#endif

#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

template <typename Context>
class NegateOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i)
      outputs[0]->template data<float>()[i] = -inputs[0]->template data<float>()[i];
    return llvm::Error::success();
  }
};

struct NegateMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("-x, element by element.");
    AddInput("x", "any").Accepts(pdl::DType::kF32);
    AddOutput("y", "-x");
    SetInference(pdl::InferSameAsFirst);
  }
};

REGISTER_OP(NegateOp, NegateMaker, TEST_PLUGIN_OP);

}  // namespace
