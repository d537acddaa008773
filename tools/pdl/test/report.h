#ifndef PDL_TOOLS_PDL_TEST_REPORT_H_
#define PDL_TOOLS_PDL_TEST_REPORT_H_

#include <string>
#include <vector>

namespace pdl {

/// The result of one test.
struct TestOutcome {
  std::string file;
  std::string name;
  double seconds = 0;
  /// The failures with their locations; empty if the test passed.
  std::vector<std::string> failures;
  /// The test could not run: it does not compile, or the device failed.
  bool is_error = false;
};

/// Formats the results as a JUnit XML document, with a testsuite for each file.
std::string ToJUnit(const std::vector<TestOutcome>& outcomes);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_REPORT_H_
