// Errors of pdl_c.h: what is checked when it is set, and what results hold after an error.
#include "pdl/pdl_c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdl/pdl.h"

namespace {

/// The code and message of a status, which is freed.
std::string TextOf(pdl_status* status) {
  std::string text = std::string(pdl_status_code(status)) + " " + pdl_status_message(status);
  pdl_status_free(status);
  return text;
}

class PdlCSession : public testing::Test {
 protected:
  PdlCSession() {
    EXPECT_EQ(pdl_model_from_source("input x: f32[N]\ninput r: f32[N, ~T]\noutput total = x * 2\n"
                                    "output other = r\n",
                                    "m.pdl", nullptr, &model_),
              nullptr);
    EXPECT_EQ(pdl_session_new(model_, &session_), nullptr);
  }
  ~PdlCSession() override {
    pdl_session_free(session_);
    pdl_model_free(model_);
  }

  pdl_model* model_ = nullptr;
  pdl_session* session_ = nullptr;
};

TEST_F(PdlCSession, InputsAreCheckedWhenTheyAreSet) {
  float x[2] = {1, 2};
  int64_t size = 2;
  ASSERT_EQ(pdl_session_want(session_, "total"), nullptr);
  pdl_array array = {PDL_F32, 1, &size, x};
  ASSERT_EQ(pdl_session_set_input(session_, "x", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_set_input(session_, "X", &array)),
            "PDL0502 the network has no input 'X'; did you mean 'x'?");
  EXPECT_EQ(TextOf(pdl_session_set_input(session_, "X", nullptr)),
            "PDL0502 the network has no input 'X'; did you mean 'x'?");
  EXPECT_EQ(pdl_session_set_input(session_, "r.offsets", nullptr), nullptr);
  for (const int dtype : {0, 14, -1, PDL_F32 + 256}) {
    array.dtype = dtype;
    EXPECT_EQ(TextOf(pdl_session_set_input(session_, "x", &array)),
              "PDL0503 'x': " + std::to_string(dtype) + " is not a dtype");
  }
  array = {PDL_F32, 1, &size, nullptr};
  EXPECT_EQ(TextOf(pdl_session_set_input(session_, "x", &array)),
            "PDL0503 'x' has no data (a null pointer)");
  size = -2;
  array.data = x;
  EXPECT_EQ(TextOf(pdl_session_set_input(session_, "x", &array)),
            "PDL0503 'x': f32[-2] has a negative size");
  // The array that was set before remains.
  EXPECT_EQ(TextOf(pdl_session_run(session_)), " ");
  ASSERT_EQ(pdl_session_output(session_, "total", &array), nullptr);
  EXPECT_EQ(static_cast<float*>(array.data)[1], 4);
  // NULL removes it.
  ASSERT_EQ(pdl_session_set_input(session_, "x", nullptr), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)).substr(0, 7), "PDL0501");
}

TEST_F(PdlCSession, OutputsAreCheckedWhenTheyAreSelected) {
  EXPECT_EQ(TextOf(pdl_session_want(session_, "totl")),
            "PDL0102 the network has no output 'totl'; did you mean 'total'?");
  ASSERT_EQ(pdl_session_want(session_, "total"), nullptr);
  float x[2] = {1, 2};
  const int64_t size = 2;
  const pdl_array array = {PDL_F32, 1, &size, x};
  ASSERT_EQ(pdl_session_set_input(session_, "x", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)), " ");
}

TEST_F(PdlCSession, ResultsAreEmptyAfterAnError) {
  auto* model = reinterpret_cast<pdl_model*>(this);
  pdl_status_free(pdl_model_load("nothing.pdl", nullptr, &model));
  EXPECT_EQ(model, nullptr);
  model = reinterpret_cast<pdl_model*>(this);
  pdl_status_free(pdl_model_load(nullptr, nullptr, &model));
  EXPECT_EQ(model, nullptr);
  model = reinterpret_cast<pdl_model*>(this);
  pdl_status_free(pdl_model_from_source("output", "m.pdl", nullptr, &model));
  EXPECT_EQ(model, nullptr);
  auto* session = reinterpret_cast<pdl_session*>(this);
  pdl_status_free(pdl_session_new(nullptr, &session));
  EXPECT_EQ(session, nullptr);
  float x = 0;
  const int64_t size = 1;
  pdl_array array = {PDL_F32, 1, &size, &x};
  pdl_status_free(pdl_session_output(session_, "total", &array));
  EXPECT_EQ(array.data, nullptr);
  EXPECT_EQ(array.rank, 0);
  array = {PDL_F32, 1, &size, &x};
  pdl_status_free(pdl_session_state(session_, "total", &array));
  EXPECT_EQ(array.sizes, nullptr);
  pdl_value value = {"x", "x", 1, 1, &size, "x"};
  pdl_status_free(pdl_model_value(model_, PDL_STATES, 0, &value));
  EXPECT_EQ(value.name, nullptr);
}

TEST_F(PdlCSession, OutputsInTheCallersMemory) {
  float x[2] = {1, 2}, total[2] = {};
  int64_t size = 2;
  pdl_array array = {PDL_F32, 1, &size, x};
  ASSERT_EQ(pdl_session_set_input(session_, "x", &array), nullptr);
  array.data = total;
  ASSERT_EQ(pdl_session_set_output(session_, "total", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)), " ");
  EXPECT_EQ(total[1], 4);
  ASSERT_EQ(pdl_session_output(session_, "total", &array), nullptr);
  EXPECT_EQ(array.data, total);
  // Memory of another size, of no output, and together with a selection.
  size = 3;
  array = {PDL_F32, 1, &size, total};
  EXPECT_EQ(pdl_session_set_output(session_, "total", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)).substr(0, 7), "PDL0503");
  EXPECT_EQ(TextOf(pdl_session_output(session_, "total", &array)).substr(0, 7), "PDL0507");
  size = 2;
  array = {PDL_F32, 1, &size, total};
  ASSERT_EQ(pdl_session_set_output(session_, "total", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_set_output(session_, "totl", &array)),
            "PDL0102 the network has no output 'totl'; did you mean 'total'?");
  ASSERT_EQ(pdl_session_want(session_, "total"), nullptr);
  EXPECT_EQ(
      TextOf(pdl_session_run(session_)),
      "PDL0507 pdl_session_set_output and pdl_session_want cannot select outputs for the same "
      "run");
  // Without memory, the session owns results again.
  ASSERT_EQ(pdl_session_set_output(session_, "total", nullptr), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)), " ");
  ASSERT_EQ(pdl_session_output(session_, "total", &array), nullptr);
  EXPECT_NE(array.data, total);
  EXPECT_EQ(TextOf(pdl_session_set_output(nullptr, "total", &array)),
            "PDL0507 'session' is a null pointer");
}

TEST_F(PdlCSession, ValuesByNameAndKind) {
  size_t index = 7;
  ASSERT_EQ(pdl_model_find(model_, PDL_INPUTS, "r", &index), nullptr);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(pdl_model_value_is_dense(model_, PDL_INPUTS, 0), 1);
  EXPECT_EQ(pdl_model_value_is_dense(model_, PDL_INPUTS, 1), 0);
  EXPECT_EQ(pdl_model_value_is_dense(model_, PDL_INPUTS, 2), 0);
  EXPECT_EQ(pdl_model_value_is_dense(nullptr, PDL_INPUTS, 0), 0);
  EXPECT_EQ(TextOf(pdl_model_find(model_, PDL_OUTPUTS, "totl", &index)),
            "PDL0102 the model has no value 'totl' of this kind; did you mean 'total'?");
  EXPECT_EQ(index, 0u);
#ifndef __SANITIZE_ADDRESS__  // with which enums are checked: C passes any number
  const auto unknown = static_cast<pdl_values>(7);
  pdl_value value;
  EXPECT_EQ(TextOf(pdl_model_value(model_, unknown, 0, &value)),
            "PDL0507 7 is not one of pdl_values");
  EXPECT_EQ(TextOf(pdl_model_find(model_, unknown, "x", &index)),
            "PDL0507 7 is not one of pdl_values");
#endif
}

TEST_F(PdlCSession, ParametersAndChecks) {
  pdl_model* model = nullptr;
  pdl_session* session = nullptr;
  ASSERT_EQ(pdl_model_from_source("input x: f32[N]\nparam w: f32[2] = fill(value=3.0)\n"
                                  "output y = log(x) * sum(w)\n",
                                  "m.pdl", nullptr, &model),
            nullptr);
  ASSERT_EQ(pdl_session_new(model, &session), nullptr);
  pdl_model_free(model);
  pdl_array array;
  ASSERT_EQ(pdl_session_parameter(session, "w", &array), nullptr);
  EXPECT_EQ(static_cast<float*>(array.data)[1], 3);
  EXPECT_EQ(TextOf(pdl_session_parameter(session, "x", &array)),
            "PDL0102 the network has no parameter 'x'");
  EXPECT_EQ(array.data, nullptr);
  float x[1] = {0};
  const int64_t size = 1;
  array = {PDL_F32, 1, &size, x};
  ASSERT_EQ(pdl_session_set_input(session, "x", &array), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session)), " ");
  ASSERT_EQ(pdl_session_set_checks(session, 1, 1), nullptr);
  EXPECT_NE(TextOf(pdl_session_run(session)), " ");
  ASSERT_EQ(pdl_session_set_checks(session, 0, 0), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session)), " ");
  pdl_session_free(session);
}

TEST_F(PdlCSession, TheMemoryLimitIsOneOfTheProcess) {
  const int64_t before = pdl_memory_limit();
  EXPECT_GT(before, 0);
  pdl_set_memory_limit(INT64_MIN);
  EXPECT_EQ(pdl_memory_limit(), 0);
  pdl_set_memory_limit(1 << 20);
  EXPECT_EQ(pdl::MemoryLimit(), 1 << 20);
  std::vector<float> x(1 << 20);
  const int64_t size = 1 << 20;
  const pdl_array array = {PDL_F32, 1, &size, x.data()};
  EXPECT_EQ(pdl_session_set_input(session_, "x", &array), nullptr);
  EXPECT_EQ(pdl_session_want(session_, "total"), nullptr);
  EXPECT_EQ(TextOf(pdl_session_run(session_)).substr(0, 7), "PDL0506");
  pdl::SetMemoryLimit(before);
  EXPECT_EQ(TextOf(pdl_session_run(session_)), " ");
}

}  // namespace
