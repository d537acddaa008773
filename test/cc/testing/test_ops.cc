#include "test/cc/testing/test_ops.h"

#include "pdl/op/inference.h"

namespace pdl {
namespace {

llvm::Error Broadcast(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  context.SetOutput(std::move(*type));
  return llvm::Error::success();
}

llvm::Error Compare(InferenceContext& context) {
  llvm::Expected<Type> type = InferBroadcast(context);
  if (!type) return type.takeError();
  type->dtype = DType::kBool;
  context.SetOutput(std::move(*type));
  return llvm::Error::success();
}

llvm::Error Matmul(InferenceContext& context) {
  const Type &x = context.input(0), &y = context.input(1);
  if (x.rank() != 2 || y.rank() != 2) return context.Fail(Code::kRank, "wanted two matrices");
  if (llvm::Error error = context.RequireEqual(x.dims[1], y.dims[0], {0, 1}, "inner dims differ"))
    return error;
  context.SetOutput(Type(x.dtype, {x.dims[0], y.dims[1]}));
  return llvm::Error::success();
}

llvm::Error Concat(InferenceContext& context) {
  llvm::Expected<unsigned> axis =
      context.NormalizeAxis(context.attributes().Int("axis"), context.input(0).rank(), "axis");
  if (!axis) return axis.takeError();
  Type type = context.input(0);
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i).rank() != type.rank())
      return context.FailAt({0, i}, Code::kRank, "ranks differ");
    type.dims[*axis] = type.dims[*axis] + context.input(i).dims[*axis];
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error Slice(InferenceContext& context) {
  Type type = context.input(0);
  const Shape &starts = context.attributes().Dims("starts"),
              &stops = context.attributes().Dims("stops");
  llvm::ArrayRef<int64_t> axes = context.attributes().Ints("axes");
  llvm::ArrayRef<int64_t> steps = context.attributes().Ints("steps");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (llvm::Error error =
            context.RequireAtLeast(type.dims[axes[i]], stops[i], {0}, "slice out of range"))
      return error;
    type.dims[axes[i]] = Dim::FloorDiv(stops[i] - starts[i] + steps[i] - 1, steps[i]);
  }
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error Reshape(InferenceContext& context) {
  const Shape& dims = context.attributes().Dims("dims");
  if (llvm::Error error = context.RequireEqual(NumElements(context.input(0).dims),
                                               NumElements(dims), {0}, "counts of elements differ"))
    return error;
  context.SetOutput(Type(context.input(0).dtype, dims));
  return llvm::Error::success();
}

llvm::Error FromDims(InferenceContext& context) {
  context.SetOutput(Type(context.attributes().Dtype("dtype"), context.attributes().Dims("dims")));
  return llvm::Error::success();
}

llvm::Error FromValue(InferenceContext& context) {
  const Constant& value = context.attributes().Tensor("value");
  context.SetOutput(Type(value.dtype(), Shape(value.sizes().begin(), value.sizes().end())));
  return llvm::Error::success();
}

llvm::Error Moments(InferenceContext& context) {
  Type type(context.input(0).dtype, {});
  context.SetOutput(0, type);
  context.SetOutput(1, type);
  return llvm::Error::success();
}

llvm::Error Cast(InferenceContext& context) {
  Type type = context.input(0);
  type.dtype = context.attributes().Dtype("to");
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error Same(InferenceContext& context) { return InferSameAsFirst(context); }

struct Maker : OpProtoMaker {
  explicit Maker(void (*make)(Maker&)) : make(make) {}
  void Make() override {
    AddComment("An operator of the tests.");
    make(*this);
  }
  using OpProtoMaker::AddAttr;
  using OpProtoMaker::AddInput;
  using OpProtoMaker::AddOutput;
  using OpProtoMaker::SetInference;
  void (*make)(Maker&);
};

void Unary(Maker& m) {
  m.AddInput("x", "input").Accepts(kNumbers);
  m.AddOutput("y", "result");
  m.SetInference(Same);
}
void UnaryReal(Maker& m) {
  m.AddInput("x", "input").Accepts(kFloats);
  m.AddOutput("y", "result");
  m.SetInference(Same);
}
void Binary(Maker& m) {
  m.AddInput("x", "left");
  m.AddInput("y", "right");
  m.AddOutput("z", "result");
  m.SetInference(Broadcast);
}

}  // namespace

void RegisterTestOps(OpRegistry* registry) {
  auto add = [&](const char* name, void (*make)(Maker&)) {
    registry->Add(Maker(make).Build(name));
  };
  add("cos", [](Maker& m) {
    UnaryReal(m);
    m.AddAttr<float>("scale", "factor").Default(1).GreaterThan(0);
  });
  for (const char* name : {"sin", "exp", "softmax"}) add(name, UnaryReal);
  for (const char* name : {"neg", "abs"}) add(name, Unary);
  for (const char* name : {"add", "sub", "mul", "div", "pow", "floor_div", "mod"})
    add(name, Binary);
  for (const char* name : {"equal", "less", "logical_and"}) {
    add(name, [](Maker& m) {
      Binary(m);
      m.SetInference(Compare);
    });
  }
  add("matmul", [](Maker& m) {
    Binary(m);
    m.SetInference(Matmul);
  });
  add("concat", [](Maker& m) {
    m.AddInput("xs", "parts").Repeatable();
    m.AddOutput("y", "result");
    m.AddAttr<int>("axis", "where").Default(0);
    m.SetInference(Concat);
  });
  add("slice", [](Maker& m) {
    m.AddInput("x", "input");
    m.AddOutput("y", "result");
    m.AddAttr<std::vector<int64_t>>("axes", "axes that are cut");
    m.AddAttr<Shape>("starts", "first index of each");
    m.AddAttr<Shape>("stops", "one past the last of each");
    m.AddAttr<std::vector<int64_t>>("steps", "distance of each").AtLeast(1);
    m.SetInference(Slice);
  });
  add("reshape", [](Maker& m) {
    m.AddInput("x", "input");
    m.AddOutput("y", "result");
    m.AddAttr<Shape>("dims", "new dims").Positional();
    m.SetInference(Reshape);
  });
  for (const char* name : {"zeros", "ones"}) {
    add(name, [](Maker& m) {
      m.AddOutput("y", "result");
      m.AddAttr<Shape>("dims", "dims").Positional();
      m.AddAttr<DType>("dtype", "dtype").Default(DType::kF32);
      m.SetInference(FromDims);
    });
  }
  add("normal", [](Maker& m) {
    m.AddOutput("y", "result");
    m.AddAttr<Shape>("dims", "dims").Positional();
    m.AddAttr<float>("std", "spread").Default(1).AtLeast(0);
    m.AddAttr<DType>("dtype", "dtype").Default(DType::kF32);
    m.SetInference(FromDims);
  });
  add("constant", [](Maker& m) {
    m.AddOutput("y", "result");
    m.AddAttr<Constant>("value", "value").Positional().DTypeFrom("dtype");
    m.AddAttr<DType>("dtype", "dtype").Default(DType::kF32);
    m.SetInference(FromValue);
  });
  add("size", [](Maker& m) {
    m.AddOutput("y", "result");
    m.AddAttr<Shape>("dims", "dims").Positional();
    m.AddAttr<DType>("dtype", "dtype").Default(DType::kI64);
    m.SetInference([](InferenceContext& context) -> llvm::Error {
      context.SetOutput(Type(context.attributes().Dtype("dtype"), {}));
      return llvm::Error::success();
    });
  });
  add("moments", [](Maker& m) {
    m.AddInput("x", "input");
    m.AddOutput("mean", "mean");
    m.AddOutput("variance", "variance");
    m.SetInference(Moments);
  });
  add("cast", [](Maker& m) {
    m.AddInput("x", "input");
    m.AddOutput("y", "result");
    m.AddAttr<DType>("to", "dtype");
    m.SetInference(Cast);
  });
  add("blend", [](Maker& m) {
    Binary(m);
    m.AddAttr<std::string>("mode", "how").Default("mean").OneOf({"mean", "sum"});
    m.AddAttr<std::vector<double>>("weights", "weights").Default({});
    m.AddAttr<std::vector<int64_t>>("axes", "axes").Optional();
  });
}

}  // namespace pdl
