// Cancellation within one call, and within the body of a loop.
#include <atomic>
#include <cstring>

#include "pdl/compiler/layers.h"
#include "pdl/op/error.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

std::atomic<bool> cancel;
std::atomic<int> pieces, runs;
std::atomic<int> last_piece;

/// The identity in 100 pieces. When `last_piece` of them were computed, it asks to cancel the run.
template <class Context>
class InPieces : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    std::memcpy(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
    context.ParallelFor(100, 1, [](int64_t, int64_t) {
      if (++pieces == last_piece) cancel = true;
    });
    ++runs;
    return llvm::Error::success();
  }
};

struct InPiecesMaker : OpProtoMaker {
  void Make() override {
    AddComment("The identity.");
    AddInput("x", "numbers").Accepts(DType::kF32);
    AddOutput("y", "type as x");
    SetInference(InferSameAsFirst);
  }
};

REGISTER_OP(InPieces, InPiecesMaker, "in_pieces");

class Cancellation : public testing::Test {
 protected:
  Cancellation() { cancel = false, pieces = 0, runs = 0, last_piece = 3; }

  llvm::Error Run(const Network& network, Scope& scope, int threads = 1) {
    CPUContext context(threads);
    RunOptions options;
    options.cancel = &cancel;
    return network.Run(&scope, &context, options);
  }
  static std::string CodeAndText(llvm::Error error) {
    std::string text;
    llvm::handleAllErrors(std::move(error), [&](const UserError& user) {
      text = CodeName(user.code()) + ": " + user.text();
    });
    return text;
  }
};

TEST_F(Cancellation, EndsWithinACallAndChangesNothing) {
  auto network = MakeNetwork(
      "input x: f32[N]\nstate a: f32[] = ones()\n"
      "y = in_pieces(x)\noutput y\nupdate a = a + sum(y)\n");
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  EXPECT_EQ(CodeAndText(Run(*network, scope)),
            CodeName(Code::kCancelled) + ": the run was cancelled");
  EXPECT_EQ(pieces, 3);
  EXPECT_EQ(runs, 0);
  // The next run is complete.
  cancel = false;
  ASSERT_FALSE(Run(*network, scope));
  EXPECT_EQ(pieces, 103);
  EXPECT_EQ(Printed(scope, "y"), "[1.0, 2.0]");
  EXPECT_EQ(Printed(scope, "a"), "4.0");
}

TEST_F(Cancellation, EndsARunWithoutCalls) {
  auto network = MakeNetwork("input x: f32[N]\noutput y = in_pieces(x)\n");
  Scope scope;
  Feed(scope, "x", F32({0}, {}));
  cancel = true;
  EXPECT_EQ(CodeAndText(Run(*network, scope)),
            CodeName(Code::kCancelled) + ": the run was cancelled");
  cancel = false;
  ASSERT_FALSE(Run(*network, scope));
  EXPECT_EQ(Printed(scope, "y"), "[]");
}

TEST_F(Cancellation, EndsThePiecesOfAllThreads) {
  auto network = MakeNetwork("input x: f32[N]\noutput y = in_pieces(x)\n");
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  EXPECT_NE(CodeAndText(Run(*network, scope, 4)), "");
  EXPECT_LT(pieces, 100);
  EXPECT_EQ(runs, 0);
  cancel = false;
  EXPECT_FALSE(Run(*network, scope, 4));
}

TEST_F(Cancellation, EndsALoop) {
  auto network = MakeNetwork(
      "layer step(x: f32[], h: f32[]) {\n  next = in_pieces(h + x)\n  return h=next, y=next\n}\n"
      "input x: f32[T]\noutput y = scan(x, init=zeros([]), body=step(), axis=0)\n");
  Scope scope;
  Feed(scope, "x", F32({5}, {1, 2, 3, 4, 5}));
  last_piece = 250;
  EXPECT_NE(CodeAndText(Run(*network, scope)), "");
  EXPECT_EQ(runs, 2);
  cancel = false;
  ASSERT_FALSE(Run(*network, scope));
  EXPECT_EQ(Printed(scope, "y"), "[1.0, 3.0, 6.0, 10.0, 15.0]");
}

TEST_F(Cancellation, WorksForObservedRunsToo) {
  auto network = MakeNetwork("input x: f32[N]\noutput y = in_pieces(x)\n");
  Scope scope;
  Feed(scope, "x", F32({2}, {1, 2}));
  RunOptions options;
  options.cancel = &cancel;
  options.check_finite = true;
  CPUContext context(1);
  EXPECT_NE(CodeAndText(network->Run(&scope, &context, options)), "");
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace pdl
