// States that begin as copies of parameters and of other states.
#include "pdl/compiler/serialize.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

const char kCopies[] = R"(input x: f32[N]
param w: f32[3] = normal()
state c: f32[3] = copy(w)
state cc = copy(c)
update c = c + 1.0
output y = sum(w * x[0]), was = c - 1.0, cc
)";

TEST(Copies, BeginWithTheInitialValueOfTheOriginal) {
  auto network = MakeNetwork(kCopies);
  ASSERT_TRUE(network);
  Scope scope;
  Feed(scope, "x", F32({1}, {1}));
  ASSERT_FALSE(RunOnce(*network, scope));
  const std::string w = TensorToString(Unwrap(network->InitialValue("w")));
  EXPECT_NE(w, "[0.0, 0.0, 0.0]");
  EXPECT_EQ(TensorToString(Unwrap(network->InitialValue("c"))), w);
  EXPECT_EQ(Printed(scope, "cc"), w);
  // The original has not changed.
  EXPECT_EQ(TensorToString(Unwrap(network->InitialValue("w"))), w);
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "cc"), w);
}

TEST(Copies, FollowWeightsOfTheOriginalUnlessTheyHaveTheirOwn) {
  NetworkOptions options;
  options.weights["w"] = F32({3}, {1, 2, 3}).ToConstant();
  auto network = MakeNetwork(kCopies, options);
  EXPECT_EQ(TensorToString(Unwrap(network->InitialValue("cc"))), "[1.0, 2.0, 3.0]");
  options.weights["c"] = F32({3}, {4, 5, 6}).ToConstant();
  network = MakeNetwork(kCopies, options);
  EXPECT_EQ(TensorToString(Unwrap(network->InitialValue("w"))), "[1.0, 2.0, 3.0]");
  EXPECT_EQ(TensorToString(Unwrap(network->InitialValue("cc"))), "[4.0, 5.0, 6.0]");
}

TEST(Copies, TakeTheValueThatTheOriginalHasInTheScope) {
  auto network = MakeNetwork(kCopies);
  Scope scope;
  Feed(scope, "x", F32({1}, {1}));
  std::vector<float> own = {7, 8, 9};
  Feed(scope, "w", F32({3}, own));
  Feed(scope, "c", F32({3}, {1, 1, 1}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "cc"), "[1.0, 1.0, 1.0]");
  Scope other;
  Feed(other, "x", F32({1}, {1}));
  Feed(other, "w", F32({3}, own));
  ASSERT_FALSE(RunOnce(*network, other));
  EXPECT_EQ(Printed(other, "was"), "[7.0, 8.0, 9.0]");
  // A later value of the original does not change the copy.
  Feed(other, "w", F32({3}, {0, 0, 0}));
  ASSERT_FALSE(RunOnce(*network, other));
  EXPECT_EQ(Printed(other, "was"), "[8.0, 9.0, 10.0]");
}

TEST(Copies, DoNotShareMemoryThatTheProgramMayWrite) {
  auto network = MakeNetwork(
      "input x: f32[N]\nparam w: f32[2] = ones()\nstate c = copy(w)\noutput y = c * sum(x)\n");
  Scope scope;
  Feed(scope, "x", F32({1}, {1}));
  float memory[] = {2, 3};
  Feed(scope, "w",
       Tensor(DType::kF32, {2}, std::shared_ptr<void>(std::shared_ptr<void>(), memory)));
  ASSERT_FALSE(RunOnce(*network, scope));
  memory[0] = 100;
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "y"), "[2.0, 3.0]");
}

TEST(Copies, MayHaveAnotherFloatingPointDType) {
  auto network = MakeNetwork(R"(param w: bf16[2] = uniform()
state c: f32[2] = copy(w)
state d: f64[2] = copy(c)
output same = all(cast(w, to=f64) == d)
)");
  ASSERT_TRUE(network);
  Scope scope;
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "same"), "true");
  EXPECT_EQ(Unwrap(network->InitialValue("d")).dtype(), DType::kF64);
}

TEST(Copies, OfStatesWithSizesOfTheRun) {
  auto network = MakeNetwork(R"(input x: f32[N]
state a: f32[N] = ones()
state b = copy(a)
update b = b + x
output y = b
)");
  ASSERT_TRUE(network);
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  ASSERT_FALSE(RunOnce(*network, scope));
  EXPECT_EQ(Printed(scope, "y"), "[2.0, 3.0]");
  Scope empty;
  Feed(empty, "x", F32({0}, {}));
  ASSERT_FALSE(RunOnce(*network, empty));
  EXPECT_EQ(Printed(empty, "y"), "[]");
}

TEST(Copies, AnOriginalOfAnotherTypeIsAnError) {
  auto network = MakeNetwork(kCopies);
  Scope scope;
  Feed(scope, "x", F32({1}, {1}));
  Feed(scope, "w", F32({2}, {1, 1}));
  EXPECT_EQ(Message(RunOnce(*network, scope)),
            "the source of a copy, 'w' is declared f32[3], but the scope holds f32[2] [PDL0503]");
  EXPECT_EQ(Printed(scope, "c"), "nothing");
}

TEST(Copies, AreStored) {
  auto network = MakeNetwork(kCopies);
  llvm::Expected<std::string> bytes = SerializeNetwork(network->graph());
  ASSERT_TRUE(static_cast<bool>(bytes)) << llvm::toString(bytes.takeError());
  llvm::Expected<Graph> again = DeserializeNetwork(*bytes, "m.pdlc", GlobalRegistry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(again->FindValue("c")->variable().copy_of, "w");
  EXPECT_EQ(again->FindValue("cc")->variable().copy_of, "c");
}

}  // namespace
}  // namespace pdl
