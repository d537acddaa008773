#ifndef PDL_TOOLS_PDL_COMPARE_REPORT_H_
#define PDL_TOOLS_PDL_COMPARE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/tensor.h"
#include "tools/pdl/compare/lockstep.h"
#include "tools/pdl/compare/tolerance.h"

namespace pdl {

/// The result of comparing a value of the first network with one of the second.
struct ComparedValue {
  enum class Kind : uint8_t { kVariable, kCall, kOutput };
  enum class Result : uint8_t { kEqual, kNear, kDifferent };
  Kind kind;
  Result result;
  std::string name;
  std::string first_type, second_type;
  std::string first_place, second_place;  // "model.pdl:3:5: add"
  double max_error = 0, max_relative = 0;
  uint64_t max_ulp = 0;
  bool is_float = false;
  int64_t elements = 0, wrong = 0;

  /// The two values of an element.
  struct Element {
    std::string index;  // "[0, 3]"; empty for a scalar
    std::string first, second;
    double error = 0, relative = 0;
    uint64_t ulp = 0;
  };
  /// The first element that differs and the one with the largest difference; empty if none differs.
  std::optional<Element> first_wrong, worst;
  std::string tolerance;
};

ComparedValue CompareValues(ComparedValue::Kind kind, llvm::StringRef name, const SeenValue& first,
                            const SeenValue& second, const Tolerance& tolerance);

/// Prints what differs and by how much: "first difference: value act: f32[2, 2]" and some lines
/// with the two sides, which `titles` names. The value must be different.
void PrintFirstDifference(llvm::raw_ostream& os, const ComparedValue& value,
                          const std::string titles[2]);
llvm::json::Object ToJson(const ComparedValue& value);

/// Prints or collects the results of a comparison as it proceeds. Of the intermediate values, only
/// the first that differs is kept.
class CompareReport {
 public:
  /// `lists_all`: prints a line for each value as it is compared, or in JSON, lists them at the
  /// end.
  CompareReport(std::string first, std::string second, bool is_json, bool lists_all)
      : titles_{std::move(first), std::move(second)}, is_json_(is_json), lists_all_(lists_all) {}

  void Add(ComparedValue value);
  /// Adds an output that only one of the networks has.
  void AddLone(llvm::StringRef output, bool in_first);
  /// Values that are not outputs, and have no partner or were not compared.
  std::vector<std::string> only_in_first, only_in_second, left_out;

  bool differs() const { return first_ || !lone_outputs_[0].empty() || !lone_outputs_[1].empty(); }
  /// The number of compared values.
  int64_t compared() const { return counts_[0] + counts_[1] + counts_[2]; }
  void Print(llvm::raw_ostream& os) const;

 private:
  void PrintText(llvm::raw_ostream& os) const;
  void PrintJson(llvm::raw_ostream& os) const;

  std::string titles_[2];
  bool is_json_, lists_all_;
  std::optional<ComparedValue> first_;
  std::vector<ComparedValue> outputs_;
  std::vector<ComparedValue> all_;  // values other than outputs, for JSON
  std::vector<std::string> lone_outputs_[2];
  /// Number of values other than outputs, by result.
  int64_t counts_[3] = {0, 0, 0};
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_REPORT_H_
