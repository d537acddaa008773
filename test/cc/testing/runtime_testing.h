// Helpers for tests of the runtime.
#ifndef PDL_TEST_CC_TESTING_RUNTIME_TESTING_H_
#define PDL_TEST_CC_TESTING_RUNTIME_TESTING_H_

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// The message of an Error; empty for success.
inline std::string Message(llvm::Error error) { return llvm::toString(std::move(error)); }
template <typename T>
std::string Message(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

/// The value; an Error fails the test and returns a default T.
template <typename T>
T Unwrap(llvm::Expected<T> result) {
  if (result) return std::move(*result);
  ADD_FAILURE() << llvm::toString(result.takeError());
  return T();
}

/// The path of a file of test data, from the folder test/.
inline std::string DataFile(const std::string& name) { return "cc/data/" + name; }

/// A temporary folder, removed by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "pdl-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  size_t CountFiles() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline std::string WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RUNTIME_TESTING_H_
