// Operators that are wrong, for test/tool/plugin_mistakes.test.
#include <stdexcept>

#include "pdl/op/elementwise.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

using pdl::InferenceContext;
using pdl::Type;

/// Copies the first element of x to each output.
template <typename Context>
class FirstOp : public pdl::Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context&) const override {
    for (pdl::Tensor* output : outputs)
      for (int64_t i = 0; i < output->num_elements(); ++i)
        output->template data<float>()[i] = inputs[0]->template data<float>()[0];
    return llvm::Error::success();
  }
};

struct Maker : pdl::OpProtoMaker {
 protected:
  void Declare(pdl::InferFunction infer) {
    AddComment("x.");
    AddInput("x", "any").Accepts(pdl::DType::kF32);
    AddOutput("y", "x");
    SetInference(infer);
  }
};

// --- Types --------------------------------------------------------------------------------------

struct NoTypeMaker : Maker {
  void Make() override {
    Declare([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(c.input(0));
      return llvm::Error::success();
    });
    AddOutput("z", "x");
  }
};
REGISTER_OP(FirstOp, NoTypeMaker, "no_type");

struct ThirdTypeMaker : Maker {
  void Make() override {
    Declare([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(c.input(0));
      c.SetOutput(3, c.input(0));
      return llvm::Error::success();
    });
  }
};
REGISTER_OP(FirstOp, ThirdTypeMaker, "third_type");

struct OtherDTypeMaker : Maker {
  void Make() override {
    AddComment("x.");
    AddInput("x", "any").Accepts(pdl::DType::kF32);
    AddOutput("y", "x").HasDType(pdl::DType::kI64);
    SetInference([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(c.input(0));
      return llvm::Error::success();
    });
  }
};
REGISTER_OP(FirstOp, OtherDTypeMaker, "other_dtype");

struct StrangeSizeMaker : Maker {
  void Make() override {
    Declare([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(Type(pdl::DType::kF32, {pdl::Dim::Symbol("Q")}));
      return llvm::Error::success();
    });
  }
};
REGISTER_OP(FirstOp, StrangeSizeMaker, "strange_size");

struct SecondOperandMaker : Maker {
  void Make() override {
    Declare([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(c.input(1));
      return llvm::Error::success();
    });
  }
};
REGISTER_OP(FirstOp, SecondOperandMaker, "second_operand");

// --- Elementwise --------------------------------------------------------------------------------

struct Sum {
  template <class T>
  T operator()(T x, T y) const {
    return x + y;
  }
};
template <class Context>
using SumOp = pdl::FloatFormulaOp<Context, Sum, 2>;

struct SumMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x + y.");
    AddInput("x", "any").Accepts(pdl::kFloats);
    AddInput("y", "any").Accepts(pdl::kFloats);
    AddOutput("z", "x");
    properties().elementwise = true;
    SetInference([](InferenceContext& c) -> llvm::Error {
      c.SetOutput(c.input(0));
      return llvm::Error::success();
    });
  }
};
REGISTER_OP(SumOp, SumMaker, "unchecked_sum");

struct Successor {
  template <class T>
  T operator()(T x) const {
    return x + 1;
  }
};
template <class Context>
using SuccessorOp = pdl::FloatFormulaOp<Context, Successor>;

struct SuccessorMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("x + 1.");
    AddInput("x", "any").Accepts(pdl::DTypeSet(pdl::DType::kF32) | pdl::DType::kI32);
    AddOutput("y", "x");
    properties().elementwise = true;
    SetInference(pdl::InferSameAsFirst);
  }
};
REGISTER_OP(SuccessorOp, SuccessorMaker, "successor");

// --- Exceptions ---------------------------------------------------------------------------------

enum class Stage { kInference, kAttributes, kPrepare, kRun, kGradient };

template <Stage kStage>
void ThrowIn(Stage stage) {
  if (stage == kStage) throw std::runtime_error("boom");
}

template <typename Context, Stage kStage>
class ThrowingOp : public FirstOp<Context> {
 public:
  llvm::Expected<pdl::Preparation> Prepare(const pdl::PrepareContext&) const override {
    ThrowIn<kStage>(Stage::kPrepare);
    return pdl::Preparation();
  }
  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context& context) const override {
    context.ParallelFor(100'000, 1, [](int64_t, int64_t) { ThrowIn<kStage>(Stage::kRun); });
    return FirstOp<Context>::Run(inputs, outputs, context);
  }

 protected:
  llvm::Error InitializeAttributes(const pdl::AttributeReader&) override {
    ThrowIn<kStage>(Stage::kAttributes);
    return llvm::Error::success();
  }
};

template <Stage kStage>
struct ThrowingMaker : Maker {
  void Make() override {
    Declare([](InferenceContext& c) -> llvm::Error {
      ThrowIn<kStage>(Stage::kInference);
      return pdl::InferSameAsFirst(c);
    });
    AddAttr<int>("n", "any").Default(1);
    SetGradient([](pdl::GradientContext& g) {
      ThrowIn<kStage>(Stage::kGradient);
      g.SetInputGradient(0, g.output_gradient());
    });
  }
};

#define PDL_THROW(stage, name)                         \
  template <typename Context>                          \
  using stage##Op = ThrowingOp<Context, Stage::stage>; \
  REGISTER_OP(stage##Op, ThrowingMaker<Stage::stage>, name)
PDL_THROW(kInference, "throws_in_inference");
PDL_THROW(kAttributes, "throws_in_attributes");
PDL_THROW(kPrepare, "throws_in_prepare");
PDL_THROW(kRun, "throws_in_run");
PDL_THROW(kGradient, "throws_in_gradient");

// --- Attributes, preparations, gradients --------------------------------------------------------

template <typename Context>
class UndeclaredOp : public FirstOp<Context> {
 protected:
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    return attributes.Float("nope") > 0 ? llvm::Error::success() : llvm::Error::success();
  }
};
struct SameMaker : Maker {
  void Make() override {
    Declare(pdl::InferSameAsFirst);
    AddAttr<double>("beta", "any").Default(1);
  }
};
REGISTER_OP(UndeclaredOp, SameMaker, "undeclared_attribute");

template <typename Context>
class AliasOp : public FirstOp<Context> {
 public:
  llvm::Expected<pdl::Preparation> Prepare(const pdl::PrepareContext&) const override {
    pdl::Preparation preparation;
    preparation.aliases.push_back({0, 3});
    return preparation;
  }
};
REGISTER_OP(AliasOp, SameMaker, "wrong_alias");

struct FifthGradientMaker : Maker {
  void Make() override {
    Declare(pdl::InferSameAsFirst);
    SetGradient([](pdl::GradientContext& g) { g.SetInputGradient(5, g.output_gradient()); });
  }
};
REGISTER_OP(FirstOp, FifthGradientMaker, "fifth_gradient");

struct OnlyF32Maker : Maker {
  void Make() override {
    Declare(pdl::InferSameAsFirst);
    SetGradient([](pdl::GradientContext& g) { g.SetInputGradient(0, g.output_gradient()); });
  }
};
REGISTER_OP(FirstOp, OnlyF32Maker, "only_f32");

struct EluMaker : Maker {
  void Make() override {
    Declare(pdl::InferSameAsFirst);
    AddAttr<double>("alpha", "any").Default(1);
    properties().onnx_name = "Elu";
  }
};
REGISTER_OP(FirstOp, EluMaker, "my_elu");

}  // namespace
