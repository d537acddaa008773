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
