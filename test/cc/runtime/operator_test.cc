#include "pdl/op/operator.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_registry.h"
#include "proto/pdl.pb.h"
#include "test/cc/testing/runtime_testing.h"

namespace pdl {
namespace {

/// A device that does not exist, with memory on the CPU.
class FakeContext : public DeviceContext {
 public:
  static constexpr DeviceKind kKind = DeviceKind::kCUDA;
  explicit FakeContext(Device device = {DeviceKind::kCUDA, 0}) : DeviceContext(device) {}
  std::unique_ptr<DeviceContext> Fork() const override { return std::make_unique<FakeContext>(); }
  llvm::Expected<std::shared_ptr<void>> Allocate(int64_t bytes) override {
    return std::shared_ptr<void>(std::malloc(static_cast<size_t>(bytes) + 1), std::free);
  }
  llvm::Error CopyFromHost(void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return llvm::Error::success();
  }
  llvm::Error CopyToHost(void* to, const void* from, int64_t bytes) override {
    return CopyFromHost(to, from, bytes);
  }
  llvm::Error CopyWithin(void* to, const void* from, int64_t bytes) override {
    return CopyFromHost(to, from, bytes);
  }
  llvm::Error Synchronize() override { return llvm::Error::success(); }
};

/// y = scale * x, where state and workspace must both have the right contents.
template <typename Context>
class ScaleOp : public Operator<Context> {
 public:
  struct State : CallState {
    float scale;
  };
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("scale", &scale_);
  }
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<State>();
    state->scale = scale_;
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.workspace_bytes = context.inputs()[0].num_elements() * 4;
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    auto* scratch = static_cast<float*>(context.workspace());
    for (int64_t i = 0; i < inputs[0]->num_elements(); ++i) {
      scratch[i] = inputs[0]->template data<float>()[i];
      outputs[0]->template data<float>()[i] = scratch[i] * context.template state<State>()->scale;
    }
    return llvm::Error::success();
  }

 private:
  float scale_ = 0;
};

struct ScaleMaker : OpProtoMaker {
  void Make() override {
    AddComment("scale * x.");
    AddInput("x", "any").Accepts(DType::kF32);
    AddOutput("y", "as x");
    AddAttr<float>("scale", "factor").Default(2).GreaterThan(0);
    AddAttr<std::vector<int64_t>>("axes", "not used").Default({});
    SetInference(InferSameAsFirst);
  }
};

/// y shares the memory of x.
template <typename Context>
class FlattenOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext&) const override {
    Preparation preparation;
    preparation.aliases.emplace_back(0, 0);
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*>,
                  Context&) const override {
    return MakeDeviceError("an alias is not computed");
  }
};

struct FlattenMaker : OpProtoMaker {
  void Make() override {
    AddComment("x as one row.");
    AddInput("x", "any");
    AddInput("like", "as many elements as x").Optional();
    AddOutput("y", "x as one row");
    SetInference([](InferenceContext& context) -> llvm::Error {
      Dim count = NumElements(context.input(0).dims);
      if (context.has_input(1)) {
        if (llvm::Error error = context.RequireEqual(count, NumElements(context.input(1).dims),
                                                     {0, 1}, "counts differ"))
          return error;
      }
      context.SetOutput(Type(context.input(0).dtype, {count}));
      return llvm::Error::success();
    });
  }
};

template <typename Context>
class FailOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*>,
                  Context&) const override {
    return MakeDeviceError("the machine is on fire");
  }
};

class OperatorTest : public testing::Test {
 protected:
  OperatorTest() {
    registry_.RegisterOp<ScaleOp, ScaleMaker>("scale");
    registry_.AddKernel("scale", DeviceKind::kCUDA, &CreateKernel<ScaleOp<FakeContext>>);
    registry_.RegisterOp<FlattenOp, FlattenMaker>("flatten");
    registry_.RegisterOp<FailOp, ScaleMaker>("fail");
    scope_.Create("x")->Set(Tensor::FromValues<float>(DType::kF32, {2, 2}, {1, 2, 3, 4}));
  }

  static OpDesc Call(const std::string& type, std::vector<std::string> inputs = {"x"},
                     std::vector<std::string> outputs = {"y"}) {
    OpDesc desc;
    desc.set_type(type);
    for (std::string& name : inputs) desc.add_inputs(std::move(name));
    for (std::string& name : outputs) desc.add_outputs(std::move(name));
    return desc;
  }
  std::unique_ptr<OperatorBase> Create(const OpDesc& desc, DeviceKind device = DeviceKind::kCPU) {
    return Unwrap(CreateOperator(registry_, desc, device));
  }
  std::string Refusal(const OpDesc& desc, DeviceKind device = DeviceKind::kCPU) {
    return Message(CreateOperator(registry_, desc, device));
  }
  std::string RunError(const OpDesc& desc) { return Message(Create(desc)->Run(&scope_, &cpu_)); }
  std::string Printed(const std::string& name) {
    return TensorToString(*scope_.Find(name)->Get<Tensor>());
  }

  OpRegistry registry_;
  Scope scope_;
  CPUContext cpu_{1};
};

TEST_F(OperatorTest, CreateReturnsTheValidationError) {
  OpDesc desc = Call("scale");
  (*desc.mutable_attributes())["scale"].set_float_(-5);
  EXPECT_EQ(Refusal(desc),
            "attribute 'scale' of 'scale' must be larger than 0, got -5.0 [PDL0203]");
  (*desc.mutable_attributes())["scale"].set_float_(std::nan(""));
  EXPECT_EQ(Refusal(desc), "attribute 'scale' of 'scale' must be larger than 0, got nan [PDL0203]");
  (*desc.mutable_attributes())["scale"].set_string("five");
  EXPECT_EQ(Refusal(desc),
            "attribute 'scale' of 'scale' must be a float, got the string \"five\" [PDL0204]");
  desc = Call("scale");
  (*desc.mutable_attributes())["scal"].set_float_(1);
  EXPECT_EQ(Refusal(desc), "'scale' has no attribute 'scal'; did you mean 'scale'? [PDL0201]");
  EXPECT_EQ(Refusal(Call("skale")),
            "no operator is called 'skale'; did you mean 'scale'? [PDL0101]");
  EXPECT_EQ(Refusal(Call("scale", {"x", "x"})), "scale: takes 1 input (x), got 2 [PDL0205]");
  EXPECT_EQ(Refusal(Call("scale", {})), "scale: takes 1 input (x), got 0 [PDL0205]");
  EXPECT_EQ(Refusal(Call("scale", {"x"}, {})), "scale: has 1 outputs, but 0 are named [PDL0205]");
  EXPECT_EQ(Refusal(Call("scale", {"x"}, {""})), "scale: output 0 has no name [PDL0205]");
  EXPECT_EQ(Refusal(Call("flatten"), DeviceKind::kCUDA),
            "flatten: there is no such operator on cuda [PDL0509]");
}

TEST_F(OperatorTest, ReadsAttributesByNameAndType) {
  OpDesc desc = Call("scale");
  (*desc.mutable_attributes())["axes"].mutable_ints()->add_values(7);
  std::unique_ptr<OperatorBase> op = Create(desc);
  AttributeReader attributes = op->attributes();
  float scale = 0;
  EXPECT_EQ(Message(attributes.Get("scale", &scale)), "");
  EXPECT_EQ(scale, 2) << "the default";
  llvm::SmallVector<int64_t> axes;
  EXPECT_EQ(Message(attributes.GetArray("axes", &axes)), "");
  EXPECT_EQ(axes, llvm::SmallVector<int64_t>{7});
  std::vector<int> narrow = {1, 2};
  EXPECT_EQ(Message(attributes.GetArray("axes", &narrow)), "");
  EXPECT_EQ(narrow, std::vector<int>{7});

  int64_t number = 0;
  llvm::SmallVector<std::string> texts;
  EXPECT_NE(Message(attributes.Get("missing", &scale)).find("missing"), std::string::npos);
  EXPECT_NE(Message(attributes.Get("scale", &number)).find("scale"), std::string::npos);
  EXPECT_NE(Message(attributes.Get("axes", &number)).find("axes"), std::string::npos);
  EXPECT_NE(Message(attributes.GetArray("missing", &axes)).find("missing"), std::string::npos);
  EXPECT_NE(Message(attributes.GetArray("axes", &texts)).find("axes"), std::string::npos);
  EXPECT_NE(Message(attributes.GetArray("scale", &axes)).find("scale"), std::string::npos);
}

TEST_F(OperatorTest, RefusesNumbersThatDoNotFit) {
  OpDesc desc = Call("scale");
  (*desc.mutable_attributes())["axes"].mutable_ints()->add_values(5'000'000'000);
  std::vector<int> axes = {1};
  EXPECT_EQ(Message(Create(desc)->attributes().GetArray("axes", &axes)),
            "attribute 'axes' of 'scale' has a number that does not fit in 32 bits [PDL0211]");
  EXPECT_EQ(axes, std::vector<int>{1});
  for (const auto& [scale, text] : {std::pair(1e300, "1e+300"), std::pair(1e-320, "1e-320")}) {
    (*desc.mutable_attributes())["scale"].set_float_(scale);
    EXPECT_EQ(Refusal(desc), std::string("attribute 'scale' of 'scale' is ") + text +
                                 ", which does not fit in f32 [PDL0211]");
  }
  (*desc.mutable_attributes())["scale"].set_float_(INFINITY);
  float scale = 0;
  EXPECT_EQ(Message(Create(desc)->attributes().Get("scale", &scale)), "");
  EXPECT_EQ(scale, INFINITY);
}

TEST_F(OperatorTest, RunsByItself) {
  EXPECT_EQ(RunError(Call("scale")), "");
  EXPECT_EQ(Printed("y"), "[[2.0, 4.0],\n [6.0, 8.0]]");
  EXPECT_EQ(RunError(Call("scale", {"y"}, {"y"})), "") << "a result may take an input's name";
  EXPECT_EQ(Printed("y"), "[[ 4.0,  8.0],\n [12.0, 16.0]]");
}

TEST_F(OperatorTest, FindsInputsInAParentAndWritesLocally) {
  Scope child(&scope_);
  EXPECT_EQ(Message(Create(Call("scale"))->Run(&child, &cpu_)), "");
  EXPECT_NE(child.FindLocal("y"), nullptr);
  EXPECT_EQ(scope_.Find("y"), nullptr);
}

TEST_F(OperatorTest, ChecksItsInputs) {
  EXPECT_EQ(RunError(Call("scale", {"z"})), "scale: the scope has no variable 'z' [PDL0501]");
  scope_.Create("v")->Set(std::vector<int>{1});
  EXPECT_EQ(RunError(Call("scale", {"v"})), "scale: variable 'v' holds no tensor [PDL0507]");
  scope_.Create("i")->Set(Tensor::FromValues<int32_t>(DType::kI32, {2}, {1, 2}));
  EXPECT_EQ(RunError(Call("scale", {"i"})), "scale: 'x' must be f32, got i32[2] [PDL0302]");
  EXPECT_EQ(RunError(Call("flatten", {"x", "i"})), "flatten: counts differ: 4 and 2 [PDL0301]");
  EXPECT_EQ(scope_.Find("y"), nullptr) << "nothing is written by a run that fails";
}

TEST_F(OperatorTest, RefusesAnInputOfAnotherDTypeThanItWasMadeFor) {
  OperatorArguments arguments;
  arguments.def = registry_.Find("flatten");
  arguments.inputs = {"x"};
  arguments.outputs = {"y"};
  arguments.location = "m.pdl:3:5";
  arguments.input_dtypes = {DType::kF64};
  std::unique_ptr<OperatorBase> op = Unwrap(CreateOperator(arguments, DeviceKind::kCPU));
  EXPECT_EQ(Message(op->Run(&scope_, &cpu_)),
            "m.pdl:3:5: flatten: 'x' is f32[2, 2], but the call was created for f64 [PDL0503]");
}

TEST_F(OperatorTest, RefusesAContextOfAnotherDevice) {
  FakeContext fake;
  EXPECT_EQ(Message(Create(Call("scale"), DeviceKind::kCUDA)->Run(&scope_, &cpu_)),
            "scale: created for cuda, but given a context of cpu [PDL0507]");
  EXPECT_EQ(Message(Create(Call("scale"))->Run(&scope_, &fake)),
            "scale: created for cpu, but given a context of cuda:0 [PDL0507]");
  EXPECT_EQ(Message(Create(Call("scale"), DeviceKind::kCUDA)->Run(&scope_, &fake)),
            "scale: 'x' is on cpu, but the call runs on cuda:0 [PDL0507]");
}

/// A device of pdl's kind for CPUs that has no threads.
class ForeignContext final : public FakeContext {
 public:
  ForeignContext() : FakeContext({DeviceKind::kCPU, 0}) {}
  std::unique_ptr<DeviceContext> Fork() const override {
    return std::make_unique<ForeignContext>();
  }
};

TEST_F(OperatorTest, RefusesAContextOfAnotherClass) {
  ForeignContext foreign;
  EXPECT_EQ(Message(Create(Call("scale"))->Run(&scope_, &foreign)),
            "scale: created for the cpu context of pdl, but given one of another class [PDL0507]");
}

TEST_F(OperatorTest, RefusesToRunWithoutScopeOrContext) {
  EXPECT_EQ(Message(Create(Call("scale"))->Run(&scope_, nullptr)),
            "scale: created for cpu, but given no context [PDL0507]");
  EXPECT_EQ(Message(Create(Call("scale"))->Run(nullptr, &cpu_)),
            "scale: a run needs a scope, got none [PDL0507]");
}

TEST_F(OperatorTest, RunsOnAnotherDevice) {
  FakeContext fake;
  Tensor x = *scope_.Find("x")->Get<Tensor>();
  auto memory = Unwrap(fake.Allocate(x.num_bytes()));
  EXPECT_EQ(Message(fake.CopyFromHost(memory.get(), x.raw(), x.num_bytes())), "");
  scope_.Create("x")->Set(Tensor(x.dtype(), x.sizes(), memory, fake.device()));
  EXPECT_EQ(Message(Create(Call("scale"), DeviceKind::kCUDA)->Run(&scope_, &fake)), "");
  const Tensor& y = *scope_.Find("y")->Get<Tensor>();
  EXPECT_EQ(y.device(), fake.device());
  EXPECT_EQ(y.data<float>()[3], 8);
}

TEST_F(OperatorTest, AnAliasGetsMemoryOfItsOwn) {
  EXPECT_EQ(RunError(Call("flatten")), "");
  EXPECT_EQ(Printed("y"), "[1.0, 2.0, 3.0, 4.0]");
  EXPECT_NE(scope_.Find("y")->Get<Tensor>()->raw(), scope_.Find("x")->Get<Tensor>()->raw());
}

TEST_F(OperatorTest, NothingIsComputedForAnEmptyResult) {
  scope_.Create("e")->Set(Unwrap(Tensor::Allocate(DType::kF32, {0, 3})));
  EXPECT_EQ(RunError(Call("fail", {"e"})), "");
  EXPECT_EQ(scope_.Find("y")->Get<Tensor>()->TypeString(), "f32[0, 3]");
  EXPECT_EQ(RunError(Call("fail")), "the machine is on fire");
}

TEST_F(OperatorTest, ManyThreadsRunOneOperator) {
  std::unique_ptr<OperatorBase> op = Create(Call("scale"));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      Scope own(&scope_);
      for (int i = 0; i < 50; ++i) {
        if (llvm::Error error = op->Run(&own, &cpu_)) {
          llvm::consumeError(std::move(error));
          ++wrong;
        } else {
          wrong += own.Find("y")->Get<Tensor>()->data<float>()[3] != 8;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// `split` and `einsum` have no kernel: their lowering runs as a network.
TEST(SingleCall, OfOperatorsThatAreAlwaysLowered) {
  Scope scope;
  CPUContext cpu{1};
  scope.Create("x")->Set(Tensor::FromValues<float>(DType::kF32, {2, 2}, {1, 2, 3, 4}));
  auto run = [&](const OpDesc& desc) -> std::string {
    auto op = CreateOperator(GlobalRegistry(), desc, DeviceKind::kCPU);
    if (!op) return Message(op.takeError());
    return Message((*op)->Run(&scope, &cpu));
  };
  auto printed = [&](const char* name) { return TensorToString(*scope.Find(name)->Get<Tensor>()); };
  OpDesc split;
  split.set_type("split");
  split.add_inputs("x");
  split.add_outputs("a");
  split.add_outputs("b");
  (*split.mutable_attributes())["parts"].set_int_(2);
  (*split.mutable_attributes())["axis"].set_int_(1);
  EXPECT_EQ(run(split), "");
  EXPECT_EQ(printed("a"), "[[1.0],\n [3.0]]");
  EXPECT_EQ(printed("b"), "[[2.0],\n [4.0]]");
  OpDesc einsum;
  einsum.set_type("einsum");
  einsum.add_inputs("x");
  einsum.add_inputs("x");
  einsum.add_outputs("y");
  (*einsum.mutable_attributes())["equation"].set_string("ij,kj->ik");
  EXPECT_EQ(run(einsum), "");
  EXPECT_EQ(printed("y"), "[[ 5.0, 11.0],\n [11.0, 25.0]]");
  (*split.mutable_attributes())["axis"].set_int_(2);
  EXPECT_THAT(run(split), testing::HasSubstr("split: "));
}

TEST(DeviceContext, Names) {
  EXPECT_EQ(Unwrap(DeviceFromName("cpu")), (Device{DeviceKind::kCPU, 0}));
  EXPECT_EQ(Unwrap(DeviceFromName("cuda")), (Device{DeviceKind::kCUDA, 0}));
  EXPECT_EQ(Unwrap(DeviceFromName("cuda:3")), (Device{DeviceKind::kCUDA, 3}));
  EXPECT_EQ(DeviceToString({DeviceKind::kCUDA, 3}), "cuda:3");
  EXPECT_EQ(DeviceToString({}), "cpu");
  for (const char* name : {"gpu", "", "cpu:1", "cuda:", "cuda:-1", "cuda:x", "CUDA"}) {
    EXPECT_EQ(Message(DeviceFromName(name)),
              "'" + std::string(name) +
                  "' is not a device; devices are 'cpu', 'cuda' and 'cuda:1' [PDL0510]");
  }
}

TEST(DeviceContext, MakesContextsOrSaysWhyNot) {
  auto cpu = CreateDeviceContext({}, 3);
  ASSERT_EQ(Message(cpu ? llvm::Error::success() : cpu.takeError()), "");
  EXPECT_EQ(static_cast<CPUContext&>(**cpu).threads(), 3);
  auto cuda = CreateDeviceContext({DeviceKind::kCUDA, 4711});
  ASSERT_FALSE(cuda);
  llvm::Error error = cuda.takeError();
  EXPECT_TRUE(error.isA<DeviceError>());
  std::string message = Message(std::move(error));
  EXPECT_EQ(message.rfind("cannot use cuda:4711: ", 0), 0u) << message;
  EXPECT_GT(message.size(), std::string("cannot use cuda:4711: ").size());
}

}  // namespace
}  // namespace pdl
