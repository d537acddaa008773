#ifndef PDL_TEST_CC_TESTING_TOY_OPS_H_
#define PDL_TEST_CC_TESTING_TOY_OPS_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

// Operators without kernels, for tests that run nothing.

namespace pdl::toy {

struct CosMaker : OpProtoMaker {
  void Make() override {
    AddComment("scale * cos(x), element by element. Stays within [-scale, scale].");
    AddInput("x", "angles in radians").Accepts(kFloats);
    AddOutput("y", "type as x");
    AddAttr<float>("scale", "largest result").Default(1).GreaterThan(0);
    properties().elementwise = true;
    SetInference(InferSameAsFirst);
  }
};

struct AddMaker : OpProtoMaker {
  void Make() override {
    AddComment("x + y.");
    AddInput("x", "one").Accepts(kNumbers);
    AddInput("y", "other").Accepts(kNumbers);
    AddOutput("sum", "the sum");
    properties().elementwise = true;
    properties().commutative = true;
    SetInference([](InferenceContext& context) -> llvm::Error {
      llvm::Expected<Type> type = InferBroadcast(context);
      if (!type) return type.takeError();
      context.SetOutput(std::move(*type));
      return llvm::Error::success();
    });
  }
};

struct SubMaker : AddMaker {
  void Make() override {
    AddMaker::Make();
    properties().commutative = false;
  }
};

inline llvm::Error RequireVector(InferenceContext& context) {
  if (context.input(0).rank() == 1) return llvm::Error::success();
  return context.FailAt({0}, Code::kRank, "no vector");
}

/// The first and the second half of a vector.
struct HalvesMaker : OpProtoMaker {
  void Make() override {
    AddComment("The halves of a vector.");
    AddInput("x", "f32[2*H]");
    AddOutput("low", "the first half");
    AddOutput("high", "the second half");
    SetInference([](InferenceContext& context) -> llvm::Error {
      if (llvm::Error error = RequireVector(context)) return error;
      Dim half = Dim::FloorDiv(context.input(0).dims[0], 2);
      context.SetOutput(0, Type(context.input(0).dtype, {half}));
      context.SetOutput(1, Type(context.input(0).dtype, {half}));
      return llvm::Error::success();
    });
  }
};

inline llvm::Error InferFilled(InferenceContext& context) {
  context.SetOutput(Type(context.attributes().Dtype("dtype"), context.attributes().Dims("shape")));
  return llvm::Error::success();
}

struct ZerosMaker : OpProtoMaker {
  void Make() override {
    AddComment("Zeros.");
    AddOutput("y", "zeros");
    AddAttr<Shape>("shape", "sizes").Positional();
    AddAttr<DType>("dtype", "element type").Default(DType::kF32);
    SetInference(InferFilled);
  }
};

struct UniformMaker : ZerosMaker {
  void Make() override {
    ZerosMaker::Make();
    properties().random = true;
  }
};

struct ConstantMaker : OpProtoMaker {
  void Make() override {
    AddComment("A value known while compiling.");
    AddOutput("y", "the value");
    AddAttr<Constant>("value", "the value").Positional().DTypeFrom("dtype");
    AddAttr<DType>("dtype", "its dtype").Optional();
    SetInference([](InferenceContext& context) -> llvm::Error {
      const Constant& value = context.attributes().Tensor("value");
      context.SetOutput(Type(value.dtype(), Shape(value.sizes().begin(), value.sizes().end())));
      return llvm::Error::success();
    });
  }
};

/// Returns its input, and has a side effect.
struct PrintMaker : OpProtoMaker {
  void Make() override {
    AddComment("Prints.");
    AddInput("x", "anything");
    AddOutput("y", "x");
    properties().has_side_effect = true;
    SetInference(InferSameAsFirst);
  }
};

/// A data-dependent size.
struct NonzeroMaker : OpProtoMaker {
  void Make() override {
    AddComment("Indices of elements that are not zero.");
    AddInput("x", "a vector");
    AddOutput("index", "i64[K]");
    SetInference([](InferenceContext& context) -> llvm::Error {
      if (llvm::Error error = RequireVector(context)) return error;
      Type type(DType::kI64, {context.FreshSymbol("count")});
      type.index_bound = context.input(0).dims[0];
      context.SetOutput(std::move(type));
      return llvm::Error::success();
    });
  }
};

struct EveryKindMaker : OpProtoMaker {
  void Make() override {
    AddComment("An attribute of each kind | with a bar.");
    AddInput("xs", "any").Repeatable();
    AddOutput("y", "as the first");
    AddAttr<int>("i", "an int").Default(-3).AtLeast(-5).LessThan(9);
    AddAttr<double>("f", "a float").Default(0.1);
    AddAttr<std::string>("s", "a text").Default("mean").OneOf({"sum", "mean"});
    AddAttr<bool>("b", "a bool").Default(true);
    AddAttr<DType>("d", "a dtype").Default(DType::kBF16);
    AddAttr<Shape>("shape", "a shape").Default({});
    AddAttr<Constant>("t", "a tensor").Optional();
    AddAttr<int>("o", "an int, or none").Optional().Default(2);
    AddAttr<std::vector<int64_t>>("is", "ints").Default({});
    AddAttr<std::vector<double>>("fs", "floats").Default({});
    AddAttr<std::vector<std::string>>("ss", "texts").Default({});
    AddAttr<std::vector<bool>>("bs", "bools").Default({});
    AddAttr<std::vector<DType>>("ds", "dtypes").Default({});
    AddAttr<std::vector<Shape>>("shapes", "shapes").Default({});
    AddAttr<std::vector<Constant>>("ts", "tensors").Default({});
    SetInference(InferSameAsFirst);
  }
};

struct CallMaker : OpProtoMaker {
  void Make() override {
    AddComment("Calls a block.");
    AddInput("x", "its input");
    AddOutput("y", "its output; type as x");
    AddAttr<BlockId>("body", "the block");
    SetInference(InferSameAsFirst);
  }
};

inline const OpRegistry& Registry() {
  static const OpRegistry& registry = *[] {
    auto* made = new OpRegistry;
    made->Add(CosMaker().Build("cos"));
    made->Add(AddMaker().Build("add"));
    made->Add(SubMaker().Build("sub"));
    made->Add(HalvesMaker().Build("halves"));
    made->Add(ZerosMaker().Build("zeros"));
    made->Add(UniformMaker().Build("uniform"));
    made->Add(ConstantMaker().Build("constant"));
    made->Add(PrintMaker().Build("print"));
    made->Add(NonzeroMaker().Build("nonzero"));
    made->Add(EveryKindMaker().Build("every_kind"));
    made->Add(CallMaker().Build("call"));
    return made;
  }();
  return registry;
}

inline CallOptions In(BlockId block) {
  CallOptions options;
  options.block = block;
  return options;
}

/// Adds a call that must be valid.
inline Op* Call(Graph& graph, llvm::StringRef op, llvm::ArrayRef<Value*> operands,
                std::vector<std::string> results, std::vector<NamedAttribute> attributes = {},
                CallOptions options = {}) {
  llvm::Expected<Op*> added =
      graph.AddOp(*Registry().Find(op), operands, attributes, results, std::move(options));
  if (added) return *added;
  ADD_FAILURE() << llvm::toString(added.takeError());
  std::abort();
}

inline Value* F32(Graph& graph, std::vector<float> values, const std::string& name,
                  BlockId block = {}) {
  Constant constant =
      Constant::Copy(DType::kF32, {static_cast<int64_t>(values.size())}, values.data());
  return Call(graph, "constant", {}, {name}, {{"value", constant}}, In(block))->result();
}

}  // namespace pdl::toy

#endif  // PDL_TEST_CC_TESTING_TOY_OPS_H_
