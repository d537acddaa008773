// Threads with small stacks, exceptions and temporary results at the interface of pdl.h.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <new>

#include "test/cc/model/pdl_h_fixture.h"
#include "test/cc/testing/sanitizers.h"

namespace pdl {
namespace {

/// Less than compiling takes. Frames are larger with sanitizers.
constexpr size_t kSmallStack = size_t{kIsSanitized ? 1024 : 256} << 10;

/// Calls `f` on a thread with a stack of this size.
void OnStackOf(size_t bytes, const std::function<void()>& f) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string Nested(int calls, const std::string& operand) {
  std::string text = operand;
  for (int i = 0; i < calls; ++i) text = "cos(" + text + ")";
  return text;
}

TEST_F(Files, SmallStacksCompileWhatLargeOnesDo) {
  std::string layers = "layer f0(x: F[...]) { return cos(x) }\n";
  for (int i = 1; i < 60; ++i)
    layers += "layer f" + std::to_string(i) + "(x: F[...]) { return " +
              Nested(8, "f" + std::to_string(i - 1) + "(x)") + " }\n";
  const std::string sources[] = {
      layers + "input x: f32[N]\noutput y = f59(x)\n",
      "input x: f32[N]\noutput y = " + Nested(250, "x") + "\n",
      "input x: f32[N, 2]\nminimize mean(fc(x, size=1) ** 2) with sgd()\noutput y = x\n",
  };
  for (const std::string& source : sources) {
    OnStackOf(kSmallStack, [&] {
      const Result<Model> model = Model::FromSource(source);
      ASSERT_TRUE(model.ok()) << model.status().ToString();
      for (const char* name : {"m.pdl", "m.pdlc"}) {
        ASSERT_TRUE(model->Save(Path(name)).ok());
        ASSERT_TRUE(Model::Load(Path(name)).ok());
      }
    });
  }
  // The limit on nesting is an error, not the end of the stack.
  std::string deep = layers + "layer g0(x: F[...]) { return f59(x) }\n";
  for (int i = 1; i < 1000; ++i)
    deep += "layer g" + std::to_string(i) + "(x: F[...]) { return g" + std::to_string(i - 1) +
            "(x) }\n";
  OnStackOf(kSmallStack, [&] {
    EXPECT_EQ(Model::FromSource(deep + "input x: f32[N]\noutput y = g999(x)\n").status().code(),
              "PDL0003");
  });
}

TEST_F(Files, ExceptionsOfCallbacksArePassedOn) {
  const Model model =
      CompileModel("input x: f32[N, 3]\nminimize mean(fc(x, size=1) ** 2) with sgd()\n");
  float x[6] = {1, 2, 3, 4, 5, 6};
  const Arrays data = {{"x", Array::View(x, {2, 3})}};
  TrainRequest request;
  request.on_epoch = [](const EpochResult&) -> bool { throw std::bad_alloc(); };
  EXPECT_THROW((void)model.Train(data, request), std::bad_alloc);
  request.on_epoch = [](const EpochResult&) -> bool { throw 7; };
  EXPECT_THROW((void)model.Train(data, request), int);
  OnStackOf(kSmallStack, [&] { EXPECT_THROW((void)model.Train(data, request), int); });
}

TEST_F(Files, SmallStacksTrain) {
  const Model model = CompileModel(
      "input x: f32[N, 3]\ny = fc(x, size=1)\nz = fc(x, size=1)\n"
      "minimize mean(y ** 2) over y with sgd(lr=0.01)\nminimize mean(z ** 2) over z with adam() "
      "every 2\n");
  OnStackOf(kSmallStack, [&] {
    float x[6] = {1, 2, 3, 4, 5, 6};
    TrainRequest request;
    request.epochs = 4;
    const Result<TrainedModel> trained = model.Train({{"x", Array::View(x, {2, 3})}}, request);
    ASSERT_TRUE(trained.ok()) << trained.status().ToString();
    EXPECT_EQ(trained->epochs.size(), 4u);
  });
}

// The body of a loop had no memory for its larger sizes then, but counted it.
TEST_F(Files, ALoopRunsAfterARunThatWasOutOfMemory) {
  ModelOptions options;
  options.threads = 1;
  const std::string source =
      "input x: f32[N, T, D]\n"
      "layer cell(x: F[N, D], h: F[N, D]) {\n"
      "  a = cumsum(x, axis=1)\n  b = flip(a, axes=[1])\n  c = cumsum(b, axis=1)\n"
      "  next = h + cumsum(a * b, axis=1) + cumsum(b * c, axis=1) + cumsum(c, axis=1)\n"
      "  return h=next\n}\n"
      "h = scan(x, init=zeros([N, D]), body=cell())\noutput s = sum(h)\n";
  const Model model = CompileModel(source, options);
  const Model hold = CompileModel("input v: f32[M]\noutput w = v + 1.0\n", options);
  Session session = model.NewSession();
  const auto run = [&](Session& of, int64_t d) {
    std::vector<float> x(static_cast<size_t>(8 * d), 1e-3f);
    return of.Run({{"x", Array::View(x.data(), {4, 2, d})}});
  };
  constexpr int64_t kLarge = 1'000'000, kMiB = int64_t{1} << 20;
  // Sessions of one model share the memory of a body.
  Session other = CompileModel(source, options).NewSession();
  const Result<Arrays> expected = run(other, kLarge);
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  ASSERT_TRUE(run(session, 10).ok());
  const int64_t limit = MemoryLimit();
  {
    std::vector<float> v(static_cast<size_t>(15 * kMiB), 1);
    Session holder = hold.NewSession();
    const Result<Arrays> held =
        holder.Run({{"v", Array::View(v.data(), {static_cast<int64_t>(v.size())})}});
    ASSERT_TRUE(held.ok());
    SetMemoryLimit(100 * kMiB);
    const Result<Arrays> failed = run(session, kLarge);
    SetMemoryLimit(limit);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.status().code(), "PDL0506") << failed.status().ToString();
  }
  const Result<Arrays> again = run(session, kLarge);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(FloatsIn(again->at("s")), FloatsIn(expected->at("s")));
}

TEST_F(Files, StatesWhoseSizeDependsOnTheRunAreNotTrained) {
  const Model model = CompileModel(
      "input x: f32[N, 3]\nstate last: f32[N, 3] = zeros([N, 3])\ny = fc(x + last, size=1)\n"
      "update last = x\nminimize mean(y ** 2) with sgd(lr=0.01)\noutput y\n");
  float x[6] = {1, 2, 3, 4, 5, 6};
  TrainRequest request;
  request.epochs = 2;
  const Result<TrainedModel> trained = model.Train({{"x", Array::View(x, {2, 3})}}, request);
  ASSERT_TRUE(trained.ok()) << trained.status().ToString();
  EXPECT_TRUE(trained->model.Save(Path("m.pdlc")).ok());
  EXPECT_TRUE(trained->model.Run({{"x", Array::View(x, {1, 3})}}).ok());
}

TEST_F(Files, ATemporaryResultMayBeIteratedOver) {
  const Model model = CompileModel("input x: f32[N]\noutput y = x * 2\n");
  float x[2] = {1, 2};
  int count = 0;
  for (const auto& [name, array] : *model.Run({{"x", Array::View(x, {2})}})) {
    EXPECT_EQ(name, "y");
    EXPECT_EQ(FloatsIn(array), (std::vector<float>{2, 4}));
    ++count;
  }
  EXPECT_EQ(count, 1);
}

TEST_F(Files, APathOfOneHyphenIsAFile) { EXPECT_EQ(Model::Load("-").status().code(), "PDL0401"); }

TEST_F(Files, StatesOfUnknownSizes) {
  const Model model =
      CompileModel("input x: f32[N]\nstate v: f32[N] = zeros()\noutput y = v + x\nupdate v = x\n");
  Session session = model.NewSession();
  EXPECT_EQ(session.State("v").status().message(),
            "state 'v' is declared f32[N], and has no value before the first run, whose inputs "
            "determine N");
  float x[3] = {1, 2, 3};
  ASSERT_TRUE(session.Run({{"x", Array::View(x, {3})}}).ok());
  EXPECT_TRUE(session.State("v").ok());
  EXPECT_EQ(session.Run({{"x", Array::View(x, {2})}}).status().message(),
            "state 'v' is declared f32[N], but the scope holds f32[3]; reset it to run with other "
            "sizes");
  session.Reset();
  EXPECT_TRUE(session.Run({{"x", Array::View(x, {2})}}).ok());
}

}  // namespace
}  // namespace pdl
