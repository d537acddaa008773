#ifndef PDL_TOOLS_PDL_TEST_REPORT_H_
#define PDL_TOOLS_PDL_TEST_REPORT_H_

#include <string>
#include <vector>

namespace pdl {

/// How one test ended.
struct TestOutcome {
  std::string file;
  std::string name;
  double seconds = 0;
  /// What failed, each with its place; empty where the test passed.
  std::vector<std::string> failures;
  /// The test could not be run at all: it does not compile, or the device failed.
  bool is_error = false;
};

/// The outcomes as a JUnit XML document: a testsuite for each file.
std::string ToJUnit(const std::vector<TestOutcome>& outcomes);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_REPORT_H_
