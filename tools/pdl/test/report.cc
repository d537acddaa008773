#include "tools/pdl/test/report.h"

#include <cstdio>

#include "ir/escape_markup.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

struct Totals {
  size_t tests = 0, failures = 0, errors = 0;
  double seconds = 0;
  void Add(const TestOutcome& outcome) {
    ++tests;
    seconds += outcome.seconds;
    if (!outcome.failures.empty()) ++(outcome.is_error ? errors : failures);
  }
};

void PrintTotals(const Totals& totals, llvm::raw_ostream& os) {
  os << " tests=\"" << totals.tests << "\" failures=\"" << totals.failures << "\" errors=\""
     << totals.errors << "\" time=\"" << Seconds(totals.seconds) << '"';
}

}  // namespace

std::string ToJUnit(const std::vector<TestOutcome>& outcomes) {
  llvm::MapVector<llvm::StringRef, std::vector<const TestOutcome*>> files;
  Totals all;
  for (const TestOutcome& outcome : outcomes) {
    files[outcome.file].push_back(&outcome);
    all.Add(outcome);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites";
  PrintTotals(all, os);
  os << ">\n";
  for (const auto& [file, tests] : files) {
    Totals totals;
    for (const TestOutcome* test : tests) totals.Add(*test);
    os << "  <testsuite name=\"" << EscapeMarkup(file) << '"';
    PrintTotals(totals, os);
    os << ">\n";
    for (const TestOutcome* test : tests) {
      os << "    <testcase classname=\"" << EscapeMarkup(file) << "\" name=\""
         << EscapeMarkup(test->name) << "\" time=\"" << Seconds(test->seconds) << '"';
      if (test->failures.empty()) {
        os << "/>\n";
        continue;
      }
      const char* const kind = test->is_error ? "error" : "failure";
      os << ">\n      <" << kind << " message=\"" << EscapeMarkup(test->failures.front()) << "\">"
         << EscapeMarkup(llvm::join(test->failures, "\n")) << "</" << kind
         << ">\n    </testcase>\n";
    }
    os << "  </testsuite>\n";
  }
  os << "</testsuites>\n";
  return text;
}

}  // namespace pdl
