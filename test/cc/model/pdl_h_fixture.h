// Helpers of the tests of pdl.h.
#ifndef PDL_TEST_CC_MODEL_PDL_H_FIXTURE_H_
#define PDL_TEST_CC_MODEL_PDL_H_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "pdl/pdl.h"

namespace pdl {

/// A temporary folder for one test.
class Files : public testing::Test {
 protected:
  Files() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("pdl_h_test." + std::to_string(::getpid()) + "." + test.name());
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

  std::filesystem::path folder_;
};

inline Model CompileModel(const std::string& source, const ModelOptions& options = {}) {
  Result<Model> model = Model::FromSource(source, options);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return std::move(model).value();
}

/// The elements of an array; empty if it has another dtype.
inline std::vector<float> FloatsIn(const Array& array) {
  const float* data = array.As<float>();
  return data ? std::vector<float>(data, data + array.num_elements()) : std::vector<float>();
}

}  // namespace pdl

#endif  // PDL_TEST_CC_MODEL_PDL_H_FIXTURE_H_
