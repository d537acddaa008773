// Sessions of pdl.h: runs into memory of the caller, states after errors, objects that were moved
// from; and the Statuses of runs that fail.
#include <gtest/gtest.h>

#include <utility>

#include "test/cc/model/pdl_h_fixture.h"

namespace pdl {
namespace {

constexpr char kCounter[] =
    "input x: f32[N]\nstate n: f32[] = zeros()\noutput y = x * 2.0\nupdate n = n + 1.0\n";

// An output that has the name of a state is a copy.
TEST(PdlHRuns, TheCallerMayChangeResults) {
  const Model model = CompileModel("state t: f32[2] = zeros()\nupdate t = t + 1.0\noutput t\n");
  Session session(model);
  for (const float expected : {1.0f, 2.0f, 3.0f}) {
    const Result<Arrays> outputs = session.Run({});
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    EXPECT_EQ(FloatsIn(outputs->at("t")), (std::vector<float>{expected, expected}));
    outputs->at("t").As<float>()[0] = 1000;
    EXPECT_EQ(FloatsIn(*session.State("t"))[0], expected);
  }
}

// The state is written in place after all calls.
TEST(PdlHRuns, AnOutputOfAStateThatIsWrittenInPlace) {
  const Model model = CompileModel(
      "input x: f32[1, 2]\ninput at: i64[]\nstate cache: f32[4, 2] = zeros()\n"
      "update cache = write(cache, x, at)\noutput cache\noutput total = sum(cache)\n");
  Session session(model);
  const float x[] = {1, 2};
  float total = 0;
  for (int64_t at = 0; at < 3; ++at) {
    const Result<Arrays> outputs =
        session.Run({{"x", Array::View(x, {1, 2})}, {"at", Array::View(&at, {})}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    total += 3;
    EXPECT_EQ(FloatsIn(*session.State("cache")), FloatsIn(outputs->at("cache"))) << at;
    EXPECT_EQ(outputs->at("total").As<float>()[0], total);
    outputs->at("cache").As<float>()[0] = 1000;
  }
}

TEST(PdlHRuns, PartsOfAnOutputAreNotRequestedAlone) {
  const Model model = CompileModel("input x: f32[N, ~T]\noutput y = x * 2.0\n");
  const float x[] = {1, 2, 3};
  const int64_t offsets[] = {0, 1, 3};
  const Arrays inputs = {{"x", Array::View(x, {3})}, {"x.offsets", Array::View(offsets, {3})}};
  RunRequest request;
  request.outputs = {"y.offsets"};
  const Status status = model.Run(inputs, request).status();
  EXPECT_EQ(status.code(), "PDL0102") << status.ToString();
  request.outputs = {"y"};
  const Result<Arrays> outputs = model.Run(inputs, request);
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_EQ(outputs->size(), 2u);
}

TEST(PdlHRuns, ARangeIsThatOfAState) {
  const Model model = CompileModel(
      "input x: f32[4]\nstate at: i64[] in 0..4 = zeros()\nupdate at = at\noutput y = gather(x, "
      "at)\n");
  Session session(model);
  const int64_t inside = 3, outside = 4;
  EXPECT_TRUE(session.SetState("at", Array::View(&inside, {})).ok());
  const Status status = session.SetState("at", Array::View(&outside, {}));
  EXPECT_EQ(status.message(), "state 'at' must be in 0..4, and element 0 is 4");
  EXPECT_EQ(status.code(), "PDL0512");
}

TEST(PdlHRuns, ACancelledRunThatFailsIsOver) {
  const Model model = CompileModel(kCounter);
  Session session(model);
  const float x[] = {1, 2, 3};
  session.Cancel();
  EXPECT_EQ(session.Run({{"nothing", Array::View(x, {3})}}).status().code(), "PDL0502");
  EXPECT_TRUE(session.Run({{"x", Array::View(x, {3})}}).ok());
  session.Cancel();
  float y[3] = {};
  EXPECT_EQ(
      session.RunInto({{"x", Array::View(x, {3})}}, {{"nothing", Array::View(y, {3})}}).code(),
      "PDL0102");
  EXPECT_TRUE(session.RunInto({{"x", Array::View(x, {3})}}, {{"y", Array::View(y, {3})}}).ok());
}

TEST(PdlHRuns, TheInitialValueOfAStateIsInItsRange) {
  const Model model = CompileModel(
      "state at: i64[] in 0..4 = constant(7)\nupdate at = at\noutput y = gather(ones([4]), at)\n");
  const Status status = model.Run({}).status();
  EXPECT_EQ(status.code(), "PDL0512") << status.ToString();
  EXPECT_NE(status.message().find("'at' must be in 0..4, and element 0 is 7"), std::string::npos)
      << status.message();
}

TEST(PdlHRunInto, AFailingRunChangesNoState) {
  const Model model = CompileModel(kCounter);
  Session session(model);
  const float x[] = {1, 2, 3};
  const Arrays inputs = {{"x", Array::View(x, {3})}};
  float y[4] = {};
  double wide[3] = {};
  const Status sizes = session.RunInto(inputs, {{"y", Array::View(y, {4})}});
  EXPECT_EQ(sizes.code(), "PDL0503");
  EXPECT_EQ(sizes.message(), "output 'y' is f32[3], but the array for it is f32[4]");
  EXPECT_EQ(session.RunInto(inputs, {{"y", Array::View(wide, {3})}}).message(),
            "output 'y' is f32[3], but the array for it is f64[3]");
  EXPECT_EQ(session.RunInto(inputs, {{"y", Array::View<float>(nullptr, {3})}}).code(), "PDL0503");
  EXPECT_EQ(FloatsIn(*session.State("n")), std::vector<float>{0});
  ASSERT_TRUE(session.RunInto(inputs, {{"y", Array::View(y, {3})}}).ok());
  EXPECT_EQ(FloatsIn(*session.State("n")), std::vector<float>{1});
  EXPECT_EQ(y[2], 6);
}

// The sizes of `y` are those of data, so that the network runs in several parts.
TEST(PdlHRunInto, ChecksSizesThatDependOnData) {
  const Model model = CompileModel(
      "input x: f32[N]\nstate n: f32[] = zeros()\nupdate n = n + 1.0\n"
      "output y = nonzero(x)\n");
  Session session(model);
  const float x[] = {1, 0, 3};
  const Arrays inputs = {{"x", Array::View(x, {3})}};
  Result<Arrays> outputs = session.Run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  const Array expected = outputs->at("y");
  std::vector<int64_t> y(static_cast<size_t>(expected.num_elements()) + 1);
  std::vector<int64_t> wrong = expected.sizes;
  wrong[0] += 1;
  EXPECT_EQ(session.RunInto(inputs, {{"y", Array::View(y.data(), {9})}}).code(), "PDL0503");
  EXPECT_EQ(FloatsIn(*session.State("n")), std::vector<float>{1});
  const Status status = session.RunInto(inputs, {{"y", Array::View(y.data(), expected.sizes)}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(FloatsIn(*session.State("n")), std::vector<float>{2});
}

TEST(PdlHRunInto, WritesToMemoryOfAnyAlignmentAndOfAnInput) {
  const Model model = CompileModel(
      "input x: f32[N, 4]\noutput y = transpose(x * 2.0, perm=[1, 0])\noutput z = x\n"
      "output same = x\noutput s = softmax(x)\n");
  Session session(model);
  std::vector<float> x(64 * 4 + 1), y(64 * 4 + 1), z(64 * 4), same(64 * 4), s(64 * 4 + 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Arrays inputs = {{"x", Array::View(x.data() + 1, {64, 4})}};
  const std::vector<float> softmax = FloatsIn(session.Run(inputs)->at("s"));
  ASSERT_TRUE(session
                  .RunInto(inputs, {{"y", Array::View(y.data() + 1, {4, 64})},
                                    {"z", Array::View(z.data(), {64, 4})},
                                    {"same", Array::View(same.data(), {64, 4})},
                                    {"s", Array::View(s.data() + 1, {64, 4})}})
                  .ok());
  EXPECT_EQ(y[2], 10);
  EXPECT_EQ(z[5], 6);
  EXPECT_EQ(same, z);
  EXPECT_EQ(std::vector<float>(s.begin() + 1, s.end()), softmax);
  // Over the input: the transposed one, which cannot be computed in place.
  ASSERT_TRUE(session.RunInto(inputs, {{"y", Array::View(x.data() + 1, {4, 64})}}).ok());
  EXPECT_EQ(x, y);
  // The session does not refer to that memory later.
  z.assign(z.size(), -1);
  x[1] = 7;
  EXPECT_EQ(FloatsIn(session.Run(inputs)->at("z"))[0], 7);
  EXPECT_EQ(z[0], -1);
}

TEST(PdlHRunInto, ArraysMustNotOverlap) {
  const Model model = CompileModel("input x: f32[N]\noutput y = x * 2.0\noutput z = x * 3.0\n");
  Session session(model);
  const float x[] = {1, 2};
  float y[3] = {};
  const Status status = session.RunInto(
      {{"x", Array::View(x, {2})}}, {{"y", Array::View(y, {2})}, {"z", Array::View(y + 1, {2})}});
  EXPECT_EQ(status.code(), "PDL0503");
  EXPECT_EQ(status.message(), "the arrays of the outputs 'y' and 'z' overlap");
}

TEST(PdlHRunInto, OutputsAreThoseWithAnArray) {
  const Model model = CompileModel("input x: f32[N, ~T]\noutput y = x * 2\n");
  Session session(model);
  const float values[] = {1, 2, 3};
  const int64_t offsets[] = {0, 2, 3};
  const Arrays inputs = {{"x", Array::View(values, {3})}, {"x.offsets", Array::View(offsets, {3})}};
  float y[3] = {};
  int64_t begins[3] = {};
  const Array to_values = Array::View(y, {3}), to_offsets = Array::View(begins, {3});
  Status status = session.RunInto(inputs, {{"y", to_values}, {"y.offsets", to_offsets}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(y[2], 6);
  EXPECT_EQ(begins[1], 2);
  // A part individually.
  begins[1] = y[2] = 0;
  status = session.RunInto(inputs, {{"y.offsets", to_offsets}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(begins[1], 2);
  ASSERT_TRUE(session.RunInto(inputs, {{"y", to_values}}).ok());
  EXPECT_EQ(y[2], 6);
  EXPECT_EQ(session.RunInto(inputs, {{"Y", to_values}}).message(),
            "the network has no output 'Y'; did you mean 'y'?");
  EXPECT_EQ(session.RunInto(inputs, {{"y.indices", to_values}}).code(), "PDL0102");
  RunRequest request;
  request.outputs = {"y"};
  EXPECT_EQ(session.RunInto(inputs, {{"y", to_values}}, request).message(),
            "RunInto computes the outputs that it has arrays for: the request must not name any");
}

TEST(PdlHMoved, ASessionThatWasMovedFromIsAnError) {
  Session session(CompileModel(kCounter));
  Session other(std::move(session));
  const float x[] = {1};
  const Arrays inputs = {{"x", Array::View(x, {1})}};
  const std::string message = "the session was moved from";
  // NOLINTBEGIN(bugprone-use-after-move): it is what is tested.
  EXPECT_EQ(session.Run(inputs).status().message(), message);
  EXPECT_EQ(session.Run(inputs).status().code(), "PDL0507");
  EXPECT_EQ(session.RunInto(inputs, {}).message(), message);
  EXPECT_EQ(session.State("n").status().message(), message);
  EXPECT_EQ(session.SetState("n", Array::View(x, {})).message(), message);
  session.Reset();
  session.Cancel();
  session = std::move(other);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(session.Run(inputs).ok());
}

TEST(PdlHMoved, AModelThatWasMovedFromIsAnError) {
  Model model = CompileModel(kCounter);
  const Model other(std::move(model));
  const std::string message = "the model was moved from";
  // NOLINTBEGIN(bugprone-use-after-move): it is what is tested.
  EXPECT_TRUE(model.inputs().empty());
  EXPECT_TRUE(model.outputs().empty());
  EXPECT_TRUE(model.parameters().empty());
  EXPECT_TRUE(model.states().empty());
  EXPECT_EQ(model.warnings(), "");
  EXPECT_EQ(model.Value("n").status().message(), message);
  EXPECT_EQ(model.Run({}).status().message(), message);
  EXPECT_EQ(model.Train({}).status().message(), message);
  EXPECT_EQ(model.Save("model.pdl").message(), message);
  Session session = model.NewSession();
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(session.Run({}).status().message(), message);
  EXPECT_EQ(session.RunInto({}, {}).message(), message);
  EXPECT_EQ(session.State("n").status().message(), message);
  EXPECT_EQ(session.SetState("n", {}).message(), message);
  session.Reset();
  EXPECT_EQ(other.inputs().size(), 1u);
}

TEST(PdlHStatus, OfARunHasThePositionOfTheCall) {
  const Model model =
      CompileModel("input a: f32[N]\ninput b: f32[M]\noutput y = a + b\noutput a2 = a\n");
  const float x[3] = {};
  const Status status =
      model.Run({{"a", Array::View(x, {2})}, {"b", Array::View(x, {3})}}).status();
  EXPECT_EQ(status.message(), "add: sizes do not broadcast: N = 2 and M = 3");
  EXPECT_EQ(status.file(), "<source>");
  EXPECT_EQ(status.line(), 3);
  EXPECT_EQ(status.column(), 14);
  EXPECT_EQ(status.ToString(),
            "<source>:3:14: error: add: sizes do not broadcast: N = 2 and M = 3 [PDL0505]\n"
            " 3 | output y = a + b\n"
            "   |              ^");
}

// The position is that in the layer, as it is for errors of the compiler.
TEST(PdlHStatus, OfARunHasThePositionInALayer) {
  const Model model = CompileModel(
      "layer join(a: f32[N], b: f32[M]) {\n  return y = a + b\n}\n"
      "input a: f32[N]\ninput b: f32[M]\noutput y = join(a, b)\n");
  const float x[3] = {};
  const Status status =
      model.Run({{"a", Array::View(x, {2})}, {"b", Array::View(x, {3})}}).status();
  EXPECT_EQ(status.message(), "add: sizes do not broadcast: N = 2 and M = 3");
  EXPECT_EQ(status.line(), 2);
}

TEST(PdlHStatus, MessagesHaveNoCode) {
  const Model model = CompileModel(kCounter);
  const float x[6] = {};
  const Status status = model.Run({{"x", Array::View(x, {-2, 3})}}).status();
  EXPECT_EQ(status.code(), "PDL0503");
  EXPECT_EQ(status.message(), "'x': f32[-2, 3] has a negative size");
}

TEST_F(Files, AnEmptyOnnxModelHasOneCode) {
  const Status status = Model::Load(Write("empty.onnx", "")).status();
  EXPECT_EQ(status.code(), "PDL0402");
  EXPECT_EQ(status.message().find("PDL0"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace pdl
