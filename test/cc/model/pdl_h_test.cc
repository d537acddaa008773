// The C++ and C interfaces of programs that embed pdl: pdl.h and pdl_c.h.
#include "pdl/pdl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "pdl/pdl_c.h"
#include "test/cc/model/pdl_c_example.h"
#include "test/cc/model/pdl_h_fixture.h"

namespace pdl {
namespace {

constexpr char kLinear[] =
    "## Rows.\ninput x: f32[N, 3]\nparam w: f32[3, 2] = ones()\n"
    "y = x @ w\noutput y\noutput total = sum(y, axes=[0])\n";

TEST(PdlH, RunsOnMemoryOfTheCaller) {
  const Model model = CompileModel(kLinear);
  const float x[] = {0, 1, 2, 3, 4, 5};
  Result<Arrays> outputs = model.Run({{"x", Array::View(x, {2, 3})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_EQ(FloatsIn(outputs->at("y")), (std::vector<float>{3, 3, 12, 12}));
  EXPECT_EQ(outputs->at("total").sizes, (std::vector<int64_t>{2}));
  EXPECT_EQ(outputs->at("y").As<double>(), nullptr);
  // No rows.
  Result<Arrays> none = model.Run({{"x", Array::View<float>(nullptr, {0, 3})}});
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_EQ(none->at("y").sizes, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(FloatsIn(none->at("total")), (std::vector<float>{0, 0}));
}

TEST(PdlH, DescribesItsValues) {
  const Model model = CompileModel(kLinear);
  const std::vector<ValueInfo> inputs = model.inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].type, "f32[N, 3]");
  EXPECT_EQ(inputs[0].dtype, DType::kF32);
  EXPECT_EQ(inputs[0].sizes, (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(inputs[0].comment, "Rows.");
  ASSERT_EQ(model.outputs().size(), 2u);
  EXPECT_EQ(model.outputs()[1].name, "total");
  ASSERT_EQ(model.parameters().size(), 1u);
  EXPECT_TRUE(model.states().empty());
  EXPECT_EQ(FloatsIn(*model.Value("w")), std::vector<float>(6, 1.0f));
  EXPECT_EQ(model.Value("v").status().code(), "PDL0102");
  EXPECT_EQ(model.warnings(), "");
}

TEST(PdlH, WarnsOfUnusedNames) {
  const Model model = CompileModel("input x: f32[N]\nh = x + 1\noutput x\n");
  EXPECT_NE(model.warnings().find("2:1: warning: the value 'h' is not used [PDL0107]"),
            std::string::npos)
      << model.warnings();
}

TEST(PdlH, ErrorsHaveACodeAMessageAndAPosition) {
  const Result<Model> model =
      Model::FromSource("input x: f32[N, 2]\noutput y = x @ zeros([3, 2])\n", {}, "m.pdl");
  ASSERT_FALSE(model.ok());
  const Status& status = model.status();
  EXPECT_EQ(status.kind(), Status::Kind::kError);
  EXPECT_EQ(status.code(), "PDL0301");
  EXPECT_EQ(status.message(), "matmul: inner dims differ: 2 and 3");
  EXPECT_EQ(status.file(), "m.pdl");
  EXPECT_EQ(status.line(), 2);
  EXPECT_EQ(status.column(), 12);
  EXPECT_NE(status.ToString().find("m.pdl:2:12: error: matmul"), std::string::npos);
  EXPECT_EQ(Status().ToString(), "ok");
  EXPECT_THROW(static_cast<void>(Model::FromSource("output").value()), std::runtime_error);
}

TEST_F(Files, WhatIsNoModelIsAnError) {
  EXPECT_EQ(Model::Load(Path("nothing.pdl")).status().code(), "PDL0401");
  EXPECT_EQ(Model::Load("").status().code(), "PDL0401");
  EXPECT_EQ(Model::Load(Write("broken.pdlc", "\x08\x01 and more")).status().code(), "PDL0402");
  EXPECT_EQ(Model::Load(Write("broken.onnx", "no model")).status().code(), "PDL0402");
  EXPECT_EQ(Model::Load(folder_.string()).status().code(), "PDL0401");
  ModelOptions options;
  options.device = "tpu";
  EXPECT_EQ(Model::FromSource(kLinear, options).status().code(), "PDL0510");
  options = {};
  options.settings["width"] = "3";
  EXPECT_EQ(Model::FromSource(kLinear, options).status().code(), "PDL0208");
  options = {};
  options.weights = Path("nothing.safetensors");
  EXPECT_EQ(Model::FromSource(kLinear, options).status().code(), "PDL0401");
  options = {};
  options.precision = DType::kI8;
  EXPECT_EQ(Model::FromSource(kLinear, options).status().code(), "PDL0507");
  options = {};
  options.plugins = {Path("nothing.so")};
  EXPECT_EQ(Model::FromSource(kLinear, options).status().code(), "PDL0508");
}

TEST(PdlH, ChecksOfAnOperatorOfAPlugin) {
  ModelOptions options;
  options.plugins = {TEST_PLUGIN_FOLDER "/libown_checks_plugin.so"};
  const Status status =
      Model::FromSource("input x: f32[N]\noutput y = test_cos(x, scale=200.0)\n", options).status();
  EXPECT_EQ(status.code(), "PDL0203");
  EXPECT_EQ(status.message(), "test_cos: Scale of cosine op should be at most 100, got 200.00");
  EXPECT_EQ(status.line(), 2);
  EXPECT_EQ(status.column(), 30);
}

TEST(PdlH, WrongInputsAreErrors) {
  const Model model = CompileModel(kLinear);
  float x[6] = {};
  auto code = [&](Arrays inputs) { return model.Run(inputs).status().code(); };
  EXPECT_EQ(code({}), "PDL0501");
  EXPECT_EQ(code({{"x", Array::View(x, {2, 3})}, {"z", Array::View(x, {1})}}), "PDL0502");
  EXPECT_EQ(code({{"x", Array::View(x, {3, 2})}}), "PDL0503");
  EXPECT_EQ(code({{"x", Array::View(x, {6})}}), "PDL0503");
  EXPECT_EQ(code({{"x", Array::View(x, {-1, 3})}}), "PDL0503");
  EXPECT_EQ(code({{"x", Array::View(x, {INT64_MAX, 3})}}), "PDL0503");
  EXPECT_EQ(code({{"x", Array::View<float>(nullptr, {2, 3})}}), "PDL0503");
  Array no_dtype = Array::View(x, {2, 3});
  no_dtype.dtype = static_cast<DType>(99);
  EXPECT_EQ(code({{"x", no_dtype}}), "PDL0503");
  const int64_t integers[6] = {};
  EXPECT_EQ(code({{"x", Array::View(integers, {2, 3})}}), "PDL0503");
  RunRequest request;
  request.outputs = {"nothing"};
  EXPECT_FALSE(model.Run({{"x", Array::View(x, {2, 3})}}, request).ok());
  const Result<Arrays> typo = model.Run({{"X", Array::View(x, {2, 3})}});
  EXPECT_NE(typo.status().message().find("did you mean 'x'?"), std::string::npos);
}

TEST(PdlH, BoolsOfAnInputAreZeroOrOne) {
  const Model model = CompileModel(
      "input b: bool[N]\nstate s: bool[2] = zeros()\nupdate s = s\noutput y = logical_not(b)\n");
  unsigned char bytes[] = {0, 1, 1, 255};
  Array array{DType::kBool, {3}, bytes, nullptr};
  const Result<Arrays> outputs = model.Run({{"b", array}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_EQ(static_cast<const unsigned char*>(outputs->at("y").data)[1], 0);
  array.sizes = {4};
  EXPECT_EQ(model.Run({{"b", array}}).status().message(),
            "'b': a bool is 0 or 1, and element 3 is 255");
  array = {DType::kBool, {2}, bytes + 2, nullptr};
  EXPECT_EQ(model.NewSession().SetState("s", array).code(), "PDL0503");
}

TEST(PdlH, SuggestsThePartsOfAnInput) {
  const Model model = CompileModel("input m: sparse bool[N, 3]\noutput y = m @ ones([3, 2])\n");
  const Status status = model.Run({{"m.offset", Array{}}}).status();
  EXPECT_NE(status.message().find("did you mean 'm.offsets'?"), std::string::npos)
      << status.message();
}

// The run at the end of the program uses what the library made before.
TEST(PdlH, RunsAtTheEndOfTheProgram) {
  const auto run_at_exit = [] {
    static const Model model = CompileModel("input x: f32[N, N]\noutput y = x @ x\n");
    static std::vector<float> x(64 * 64, 0.5f);
    static const auto run = [] {
      const Result<Arrays> outputs = model.Run({{"x", Array::View(x.data(), {64, 64})}});
      if (!outputs.ok() || outputs->at("y").As<float>()[0] != 16) _exit(9);
    };
    run();
    std::atexit([] { run(); });
    std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_at_exit(), testing::ExitedWithCode(0), "");
}

// Statics that the library makes after the handler is registered would be destroyed before it runs.
TEST(PdlH, CompilesAtTheEndOfTheProgram) {
  const auto compile_at_exit = [] {
    static const auto use = [] {
      const Result<Model> model = Model::FromSource(
          "input x: f32[2, 3]\nlayer twice(x: F[...], act: function = none) { return act(x + x) }\n"
          "output y = twice(fc(x, size=4))\noutput z = softmax(y)\n");
      if (!model.ok()) std::cerr << model.status().ToString() << '\n', _exit(8);
      if (Model::FromSource("output y = cosine(1.0)\n").ok()) _exit(7);
      const std::string file = testing::TempDir() + "pdl_h_at_exit.onnx";
      if (!model->Save(file).ok() || !Model::Load(file).ok()) _exit(6);
      float x[6] = {};
      if (!model->Run({{"x", Array::View(x, {2, 3})}}).ok()) _exit(5);
    };
    std::atexit([] { use(); });
    use();
    std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(compile_at_exit(), testing::ExitedWithCode(0), "");
}

TEST(PdlH, ASessionKeepsStatesAndNoInputs) {
  const Model model = CompileModel(
      "input x: f32[N]\nstate total: f32[] = zeros()\noutput twice = x * 2\n"
      "output before = total\nupdate total = total + sum(x)\n");
  Session session = model.NewSession();
  {
    std::vector<float> x = {1, 2};
    ASSERT_TRUE(session.Run({{"x", Array::View(x.data(), {2})}}).ok());
  }
  // The memory of that input has been freed.
  EXPECT_EQ(session.Run({}).status().code(), "PDL0501");
  EXPECT_EQ(FloatsIn(*session.State("total")), std::vector<float>{3});
  float x[] = {10, 20, 30};
  Result<Arrays> first = session.Run({{"x", Array::View(x, {3})}});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(FloatsIn(first->at("before")), std::vector<float>{3});
  // Outputs held by the caller are not overwritten.
  Result<Arrays> second = session.Run({{"x", Array::View(x, {3})}});
  EXPECT_EQ(FloatsIn(first->at("before")), std::vector<float>{3});
  EXPECT_EQ(FloatsIn(second->at("before")), std::vector<float>{63});
  float five = 5;
  ASSERT_TRUE(session.SetState("total", Array::View(&five, {})).ok());
  five = 6;
  EXPECT_EQ(FloatsIn(*session.State("total")), std::vector<float>{5});
  EXPECT_EQ(session.SetState("total", Array::View(x, {3})).code(), "PDL0503");
  EXPECT_EQ(session.SetState("twice", Array::View(x, {3})).code(), "PDL0102");
  session.Reset();
  EXPECT_EQ(FloatsIn(*session.State("total")), std::vector<float>{0});
  // Sessions are independent.
  EXPECT_EQ(FloatsIn(model.Run({{"x", Array::View(x, {3})}})->at("before")), std::vector<float>{0});
}

TEST(PdlH, RunsIntoMemoryOfTheCaller) {
  const Model model = CompileModel(kLinear);
  Session session = model.NewSession();
  const float x[] = {0, 1, 2, 3, 4, 5};
  float y[4] = {}, total[2] = {};
  const Arrays inputs = {{"x", Array::View(x, {2, 3})}};
  ASSERT_TRUE(session.RunInto(inputs, {{"y", Array::View(y, {2, 2})}}).ok());
  EXPECT_EQ(y[3], 12);
  EXPECT_EQ(session.RunInto(inputs, {{"y", Array::View(y, {4})}}).code(), "PDL0503");
  EXPECT_EQ(session.RunInto(inputs, {{"y", Array::View<float>(nullptr, {2, 2})}}).code(),
            "PDL0503");
  EXPECT_TRUE(session.RunInto(inputs, {{"total", Array::View(total, {2})}}).ok());
  EXPECT_EQ(total[0], 15);
}

TEST(PdlH, RaggedValuesAreSeveralArrays) {
  const Model model =
      CompileModel("input x: f32[N, ~T]\noutput y = x * 2\noutput s = sequence_pool(x)\n");
  EXPECT_FALSE(model.inputs()[0].is_dense);
  const float values[] = {1, 2, 3};
  const int64_t offsets[] = {0, 2, 2, 3};
  Result<Arrays> outputs =
      model.Run({{"x", Array::View(values, {3})}, {"x.offsets", Array::View(offsets, {4})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_EQ(FloatsIn(outputs->at("y")), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(outputs->at("y.offsets").As<int64_t>()[2], 2);
  EXPECT_EQ(FloatsIn(outputs->at("s")), (std::vector<float>{3, 0, 3}));
}

TEST(PdlH, ARunIsCancelledFromAnotherThread) {
  const Model model = CompileModel(
      "layer step(x: f32[N], h: f32[N]) {\n  next = cos(x + h)\n  return h=next, y=next\n}\n"
      "input x: f32[N, T]\ny = scan(x, init=zeros([N]), body=step())\noutput y = y\n");
  Session session = model.NewSession();
  std::vector<float> x(1 << 22);
  const Arrays inputs = {{"x", Array::View(x.data(), {1, 1 << 22})}};
  // A cancellation before the run also ends it.
  session.Cancel();
  EXPECT_EQ(session.Run(inputs).status().kind(), Status::Kind::kCancelled);
  EXPECT_EQ(session.Run({{"x", Array::View(x.data(), {1, 2})}}).status().ToString(), "ok");
}

TEST(PdlH, ThreadsShareAModel) {
  const Model model = CompileModel(kLinear);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Session session = model.NewSession();
      for (int64_t n = 1; n <= 20; ++n) {
        const std::vector<float> x(static_cast<size_t>(3 * n), static_cast<float>(t));
        Result<Arrays> outputs = session.Run({{"x", Array::View(x.data(), {n, 3})}});
        if (outputs.ok() && FloatsIn(outputs->at("total"))[0] == static_cast<float>(3 * n * t))
          ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST_F(Files, TrainsSavesAndLoads) {
  const Model model = CompileModel(
      "input x: f32[N, 1]\ninput t: f32[N, 1]\ny = fc(x, size=1)\n"
      "loss = mean((y - t) ** 2)\noutput y\nminimize loss with sgd(lr=0.1)\n");
  std::vector<float> x, t;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i % 8) / 4 - 1);
    t.push_back(3 * x.back() + 1);
  }
  const Arrays data = {{"x", Array::View(x.data(), {64, 1})},
                       {"t", Array::View(t.data(), {64, 1})}};
  TrainRequest request;
  request.epochs = 50;
  request.batch_size = 8;
  request.validation = data;
  Result<TrainedModel> trained = model.Train(data, request);
  ASSERT_TRUE(trained.ok()) << trained.status().ToString();
  ASSERT_EQ(trained->epochs.size(), 50u);
  EXPECT_LT(trained->epochs.back().validation[0].value, 1e-4);
  EXPECT_NEAR(FloatsIn(*trained->model.Value("y.w"))[0], 3, 0.05);
  // The original model is unchanged.
  EXPECT_NE(FloatsIn(*model.Value("y.w")), FloatsIn(*trained->model.Value("y.w")));
  // Training continues from the trained parameters.
  request.epochs = 1;
  Result<TrainedModel> further = trained->model.Train(data, request);
  ASSERT_TRUE(further.ok());
  EXPECT_LT(further->epochs[0].training[0].value, 1e-4);
  for (const char* name : {"saved.pdlc", "saved.pdl"}) {
    ASSERT_TRUE(trained->model.Save(Path(name)).ok());
    Result<Model> loaded = Model::Load(Path(name));
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_EQ(FloatsIn(*loaded->Value("y.w")), FloatsIn(*trained->model.Value("y.w")));
  }
  EXPECT_FALSE(model.Save(Path("no/folder/x.pdlc")).ok());
  // A callback ends training.
  request.epochs = 50;
  request.on_epoch = [](const EpochResult& epoch) { return epoch.epoch < 2; };
  Result<TrainedModel> ended = model.Train(data, request);
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->epochs.size(), 2u);
}

TEST(PdlH, WrongTrainingsAreErrors) {
  const Model model = CompileModel(kLinear);
  float x[6] = {};
  EXPECT_FALSE(model.Train({{"x", Array::View(x, {2, 3})}}).ok());
  const Model good =
      CompileModel("input x: f32[N, 3]\nminimize mean(fc(x, size=1) ** 2) with sgd()\n");
  TrainRequest request;
  request.batch_size = 0;
  EXPECT_EQ(good.Train({{"x", Array::View(x, {2, 3})}}, request).status().code(), "PDL0515");
  request = {};
  request.epochs = 0;
  EXPECT_EQ(good.Train({{"x", Array::View(x, {2, 3})}}, request).status().code(), "PDL0515");
  EXPECT_EQ(good.Train({}).status().code(), "PDL0515");
  EXPECT_EQ(good.Train({{"x", Array::View<float>(nullptr, {2, 3})}}).status().code(), "PDL0503");
}

TEST(PdlC, RunsFromC) {
  char code[8];
  EXPECT_EQ(pdl_c_example("input x: f32[N]\noutput y = x * 2\n", 3, code), 6);
  EXPECT_STREQ(code, "");
  pdl_c_example("input x: f32[N]\noutput y = x *\n", 3, code);
  EXPECT_STREQ(code, "PDL0001");
  EXPECT_STREQ(pdl_version(), Version());
  EXPECT_EQ(pdl_c_api_version(), PDL_C_API_VERSION);
}

TEST(PdlC, NullPointersAreErrors) {
  auto code = [](pdl_status* status) {
    EXPECT_EQ(pdl_status_kind_of(status), PDL_ERROR);
    const std::string text = pdl_status_code(status);
    pdl_status_free(status);
    return text;
  };
  pdl_model* model = nullptr;
  pdl_session* session = nullptr;
  pdl_array array = {};
  EXPECT_EQ(code(pdl_model_load(nullptr, nullptr, &model)), "PDL0507");
  EXPECT_EQ(code(pdl_model_load("x.pdl", nullptr, nullptr)), "PDL0507");
  EXPECT_EQ(code(pdl_session_new(nullptr, &session)), "PDL0507");
  EXPECT_EQ(code(pdl_session_run(nullptr)), "PDL0507");
  EXPECT_EQ(code(pdl_options_set_device(nullptr, "cpu")), "PDL0507");
  ASSERT_EQ(pdl_model_from_source(kLinear, "m.pdl", nullptr, &model), nullptr);
  ASSERT_EQ(pdl_session_new(model, &session), nullptr);
  // A session keeps its model alive.
  pdl_model_free(model);
  EXPECT_EQ(code(pdl_session_set_input(session, nullptr, &array)), "PDL0507");
  array.rank = 2;
  EXPECT_EQ(code(pdl_session_set_input(session, "x", &array)), "PDL0507");
  EXPECT_EQ(code(pdl_session_output(session, "y", &array)), "PDL0507");
  EXPECT_EQ(code(pdl_session_run(session)), "PDL0501");
  const int64_t sizes[] = {1, 3};
  array = {PDL_F32, 2, sizes, nullptr};
  EXPECT_EQ(code(pdl_session_set_input(session, "x", &array)), "PDL0503");
  pdl_session_free(session);
  EXPECT_EQ(pdl_status_kind_of(nullptr), PDL_OK);
  EXPECT_STREQ(pdl_status_text(nullptr), "ok");
  EXPECT_EQ(pdl_model_count(nullptr, PDL_INPUTS), 0u);
  pdl_status_free(nullptr);
  pdl_model_free(nullptr);
  pdl_session_free(nullptr);
  pdl_options_free(nullptr);
}

TEST(PdlC, DescribesModelsAndKeepsStates) {
  pdl_options* options = pdl_options_new();
  ASSERT_EQ(pdl_options_add_setting(options, "scale", "3.0"), nullptr);
  ASSERT_EQ(pdl_options_set_threads(options, 1), nullptr);
  pdl_model* model = nullptr;
  ASSERT_EQ(pdl_model_from_source(
                "attr scale: float = 1.0\ninput x: f32[N]\nstate total: f32[] = zeros()\n"
                "update total = total + sum(x)\noutput y = x * scale\noutput z = total\n",
                "m.pdl", options, &model),
            nullptr);
  pdl_options_free(options);
  ASSERT_EQ(pdl_model_count(model, PDL_OUTPUTS), 2u);
  pdl_value value;
  ASSERT_EQ(pdl_model_value(model, PDL_INPUTS, 0, &value), nullptr);
  EXPECT_STREQ(value.type, "f32[N]");
  EXPECT_EQ(value.sizes[0], -1);
  pdl_status* status = pdl_model_value(model, PDL_STATES, 1, &value);
  EXPECT_STREQ(pdl_status_message(status), "index 1 of 1 values");
  pdl_status_free(status);
  pdl_session* session = nullptr;
  ASSERT_EQ(pdl_session_new(model, &session), nullptr);
  float x[] = {1, 2};
  const int64_t size = 2;
  pdl_array array = {PDL_F32, 1, &size, x};
  ASSERT_EQ(pdl_session_set_input(session, "x", &array), nullptr);
  ASSERT_EQ(pdl_session_want(session, "y"), nullptr);
  ASSERT_EQ(pdl_session_run(session), nullptr);
  // The next run reads the memory of the input again.
  x[0] = 5;
  ASSERT_EQ(pdl_session_run(session), nullptr);
  ASSERT_EQ(pdl_session_output(session, "y", &array), nullptr);
  EXPECT_EQ(static_cast<float*>(array.data)[0], 15);
  EXPECT_EQ(array.sizes[0], 2);
  status = pdl_session_output(session, "z", &array);
  EXPECT_STREQ(pdl_status_code(status), "PDL0507");
  pdl_status_free(status);
  ASSERT_EQ(pdl_session_state(session, "total", &array), nullptr);
  EXPECT_EQ(*static_cast<float*>(array.data), 10);
  ASSERT_EQ(pdl_session_reset(session), nullptr);
  ASSERT_EQ(pdl_session_cancel(session), nullptr);
  status = pdl_session_run(session);
  EXPECT_EQ(pdl_status_kind_of(status), PDL_CANCELLED);
  pdl_status_free(status);
  pdl_session_free(session);
  pdl_model_free(model);
}

// `h` is read from the results of the run before.
TEST(PdlC, ResultsAreInputsOfTheNextRun) {
  pdl_model* model = nullptr;
  ASSERT_EQ(pdl_model_from_source("input h: f32[N, M]\noutput g = h[:, ::-1]\n", "m.pdl", nullptr,
                                  &model),
            nullptr);
  pdl_session* session = nullptr;
  ASSERT_EQ(pdl_session_new(model, &session), nullptr);
  std::vector<float> x(4096);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const int64_t sizes[] = {1, 4096};
  pdl_array array = {PDL_F32, 2, sizes, x.data()};
  for (int run = 0; run < 4; ++run) {
    ASSERT_EQ(pdl_session_set_input(session, "h", &array), nullptr);
    ASSERT_EQ(pdl_session_run(session), nullptr);
    ASSERT_EQ(pdl_session_output(session, "g", &array), nullptr);
  }
  // They outlive a run that fails, and later runs.
  ASSERT_EQ(pdl_session_set_input(session, "h", &array), nullptr);
  ASSERT_EQ(pdl_session_cancel(session), nullptr);
  pdl_status* status = pdl_session_run(session);
  EXPECT_EQ(pdl_status_kind_of(status), PDL_CANCELLED);
  pdl_status_free(status);
  const std::vector<float> reversed(x.rbegin(), x.rend());
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(pdl_session_run(session), nullptr);
    ASSERT_EQ(pdl_session_output(session, "g", &array), nullptr);
    const auto* g = static_cast<const float*>(array.data);
    EXPECT_EQ(std::vector<float>(g, g + x.size()), reversed) << run;
  }
  pdl_session_free(session);
  pdl_model_free(model);
}

}  // namespace
}  // namespace pdl
