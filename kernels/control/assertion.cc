// Checks at run time: assert_true, check_index.
#include <cstring>

#include "kernels/control/assertion.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/error.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {

llvm::Error AssertionFailure(const AttributeReader& attributes, int64_t element,
                             llvm::ArrayRef<int64_t> sizes) {
  const llvm::StringRef message = attributes.String("message");
  return MakeUserError(Code::kAssertFailed, "{0}{1}",
                       message.empty() ? "the condition does not hold" : message,
                       ElementPlace(element, sizes));
}

llvm::Error IndexFailure(int64_t value, int64_t below, int64_t element,
                         llvm::ArrayRef<int64_t> sizes) {
  return MakeUserError(Code::kIndexRange, "the index {0}{1} is not in 0..{2}", value,
                       ElementPlace(element, sizes), below);
}

namespace {

template <typename Context>
class AssertTrueOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context&) const override {
    *outputs[0]->template data<bool>() = true;
    const int64_t count = inputs[0]->num_elements();
    if (count == 0) return llvm::Error::success();
    const bool* condition = inputs[0]->template data<bool>();
    const void* found = std::memchr(condition, 0, static_cast<size_t>(count));
    if (!found) return llvm::Error::success();
    return AssertionFailure(this->attributes(), static_cast<const bool*>(found) - condition,
                            inputs[0]->sizes());
  }
};

llvm::Error InferAssertTrue(InferenceContext& context) {
  context.SetOutput(Type(DType::kBool, {}));
  return llvm::Error::success();
}

struct AssertTrueMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Ends the run with an error unless all elements of the condition are true; true if there "
        "are none. The statement `assert` calls it for conditions on values of the data. It is "
        "never removed; a run of some outputs only checks it if it reads the inputs that the "
        "condition depends on.");
    AddInput("condition", "what must hold").Accepts(DTypeSet(DType::kBool)).OwnDType().Ragged();
    AddOutput("y", "true: bool[]").OwnDType();
    AddAttr<std::string>("message", "the message of the error").Default("");
    AddExample("y = assert_true(all([1, 2]), message=\"an element is 0\")  # = true");
    properties().has_side_effect = true;
    properties().only_checks = true;
    SetInference(InferAssertTrue);
  }
};

template <typename Context>
class CheckIndexOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    return PrepareIndexCheck(this->attributes(), context);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t below = context.template state<IndexCheckState>()->below;
    return inputs[0]->dtype() == DType::kI64 ? Check<int64_t>(*inputs[0], *outputs[0], below)
                                             : Check<int32_t>(*inputs[0], *outputs[0], below);
  }

 private:
  template <class T>
  static llvm::Error Check(const Tensor& x, Tensor& y, int64_t below) {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (from[i] < 0 || from[i] >= below) return IndexFailure(from[i], below, i, x.sizes());
      to[i] = from[i];
    }
    return llvm::Error::success();
  }
};

llvm::Error InferCheckIndex(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "below")) return error;
  const Shape& below = context.attributes().Dims("below");
  if (below.size() != 1) {
    return context.FailAtAttribute("below", Code::kRank, "'below' must be one size, got {0}",
                                   below.size());
  }
  Type type = context.input(0);
  type.index_bound = below[0];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct CheckIndexMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x, whose elements must be indices from 0 to below - 1: the run ends with an error if one "
        "is not. The result is declared `in 0..below`. A declaration with a range, `pos: i64[] in "
        "0..V = x`, calls it unless x has that range already.");
    AddInput("x", "indices").Accepts(kIndexSet).Ragged();
    AddOutput("y", "x, with the range");
    AddAttr<Shape>("below", "the number that indices are below").Positional();
    AddExample("y = check_index([2, 0], 3)  # = [2, 0]");
    properties().moves_elements = true;
    SetInference(InferCheckIndex);
  }
};

}  // namespace

llvm::Expected<Preparation> PrepareIndexCheck(const AttributeReader& attributes,
                                              const PrepareContext& context) {
  llvm::Expected<int64_t> below = context.Evaluate(attributes.Dims("below")[0]);
  if (!below) return below.takeError();
  Preparation preparation;
  auto state = std::make_shared<IndexCheckState>();
  state->below = *below;
  preparation.state = std::move(state);
  preparation.in_place.push_back({0, 0});
  return preparation;
}

void RegisterAssertionOps(OpRegistry& registry) {
  registry.BeginFamily("Checks at run time");
  registry.RegisterOp<AssertTrueOp, AssertTrueMaker>("assert_true");
  registry.RegisterOp<CheckIndexOp, CheckIndexMaker>("check_index");
}

}  // namespace pdl
