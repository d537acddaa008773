#include <climits>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pdl/pdl.h"
#include "test/faults/allocation_faults.h"

// Allocations fail one after another, first only that one, then also all later ones. A
// process that uses libpdl gets a Status then, and continues.

namespace pdl {
namespace {

const std::string kSource = R"(
input x: f32[N, 4]
input t: i64[N] in 0..3
state total: f32[4] = zeros()
state calls: i64[] = zeros()
update total = total + sum(x, axes=[0])
update calls = calls + 1
param w: f32[8, 3] = normal()
logits = relu(fc(x, size=8)) @ w
output best = argmax(logits, axis=1), mean = total / 2.0, noise = uniform([2])
loss = mean(cross_entropy(logits, t))
minimize loss with adam(lr=0.1)
)";

std::vector<float> x = {1, 2, 3, 4, -1, -2, -3, 4};
std::vector<int64_t> t = {0, 2};

Arrays Inputs() {
  return {{"x", Array::View(x.data(), {2, 4})}, {"t", Array::View(t.data(), {2})}};
}

const ModelOptions kOneThread = [] {
  ModelOptions options;
  options.threads = 1;
  return options;
}();
const std::string kName = "model.pdl";

Model MakeModel() { return Model::FromSource(kSource, kOneThread, kName).value(); }

/// Calls `run` with a fault at each of its allocations, or at every `stride`-th, and then `check`,
/// without a fault, with whether the run succeeded. Returns the number of faults.
int WithFaults(const std::function<Status()>& run, const std::function<void(bool)>& check,
               int stride = 1) {
  int faults = 0;
  for (const bool later_too : {false, true}) {
    for (long number = 1;; number += stride) {
      FailAllocations(number, later_too ? LONG_MAX : number);
      Status status;
      bool has_memory = true;
      try {
        status = run();
      } catch (const std::bad_alloc&) {
        has_memory = false;
      }
      const bool is_over = CountAllocations() < number;
      FailAllocations(0, 0);
      SCOPED_TRACE("allocation " + std::to_string(number) + (later_too ? " and later ones" : ""));
      EXPECT_TRUE(has_memory) << "an exception";
      if (!status.ok()) {
        EXPECT_EQ(status.kind(), Status::Kind::kDeviceError) << status.ToString();
        EXPECT_NE(status.message().find("out of memory"), std::string::npos) << status.ToString();
      }
      check(has_memory && status.ok());
      if (is_over || testing::Test::HasFailure()) {
        EXPECT_TRUE(status.ok()) << status.ToString();
        break;
      }
      ++faults;
    }
  }
  return faults;
}

std::vector<float> FloatsOf(const Array& array) {
  const float* floats = array.As<float>();
  return {floats, floats + array.num_elements()};
}

TEST(OutOfMemory, CompilingSource) {
  const std::vector<float> expected = FloatsOf(*MakeModel().Value("w"));
  const int faults =
      WithFaults([] { return Model::FromSource(kSource, kOneThread, kName).status(); },
                 [&](bool) { EXPECT_EQ(FloatsOf(*MakeModel().Value("w")), expected); });
  EXPECT_GT(faults, 1000);
}

TEST(OutOfMemory, SavingAndLoading) {
  const std::string folder = testing::TempDir() + "out_of_memory";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/model.pdlc";
  const Model model = MakeModel();
  ASSERT_TRUE(model.Save(path).ok());
  const auto check = [&](bool) {
    Result<Model> loaded = Model::Load(path, kOneThread);
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_EQ(FloatsOf(*loaded->Value("w")), FloatsOf(*model.Value("w")));
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      EXPECT_NE(entry.path().extension(), ".tmp");
  };
  EXPECT_GT(WithFaults([&] { return model.Save(path); }, check), 100);
  EXPECT_GT(WithFaults([&] { return Model::Load(path, kOneThread).status(); }, check), 1000);
}

// A run that fails changes no state, also not some of them, and no random numbers.
TEST(OutOfMemory, Running) {
  const Model model = MakeModel();
  Session expected(model), session(model);
  int64_t calls = 0;
  Result<Arrays> outputs = Status();
  const Arrays inputs = Inputs();
  const auto run = [&] {
    outputs = session.Run(inputs);
    return outputs.status();
  };
  const auto check = [&](bool is_ok) {
    if (is_ok) {
      ++calls;
      const Arrays same = expected.Run(inputs).value();
      EXPECT_EQ(FloatsOf(outputs->at("noise")), FloatsOf(same.at("noise")));
      EXPECT_EQ(FloatsOf(outputs->at("mean")), FloatsOf(same.at("mean")));
    }
    EXPECT_EQ(*session.State("calls")->As<int64_t>(), calls);
    EXPECT_EQ(FloatsOf(*session.State("total")), FloatsOf(*expected.State("total")));
  };
  EXPECT_GT(WithFaults(run, check), 10);
}

// The first run of a model also makes its plan.
TEST(OutOfMemory, FirstRuns) {
  std::optional<Model> model;
  const Arrays inputs = Inputs();
  const auto check = [&](bool) { model = MakeModel(); };
  check(true);
  EXPECT_GT(WithFaults([&] { return model->Run(inputs).status(); }, check), 100);
}

TEST(OutOfMemory, Training) {
  const Model model = MakeModel();
  const std::vector<float> initial = FloatsOf(*model.Value("w"));
  const Arrays inputs = Inputs();
  const std::vector<float> trained = FloatsOf(*model.Train(inputs).value().model.Value("w"));
  EXPECT_NE(initial, trained);
  Result<TrainedModel> result = Status();
  const auto run = [&] {
    result = model.Train(inputs);
    return result.status();
  };
  const auto check = [&](bool is_ok) {
    EXPECT_EQ(FloatsOf(*model.Value("w")), initial);
    if (is_ok) {
      EXPECT_EQ(FloatsOf(*(*result).model.Value("w")), trained);
    }
  };
  EXPECT_GT(WithFaults(run, check, /*stride=*/13), 1000);
}

}  // namespace
}  // namespace pdl
