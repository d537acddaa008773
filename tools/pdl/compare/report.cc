#include "tools/pdl/compare/report.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "tools/pdl/compare/elements.h"
#include "tools/pdl/support/elements.h"
#include "tools/pdl/test/compare.h"

namespace pdl {
namespace {

using Result = ComparedValue::Result;

std::string Place(const SeenValue& value) {
  if (value.place.empty()) return value.op;
  return value.op.empty() ? value.place : value.place + ": " + value.op;
}

ComparedValue::Element ElementOf(const Tensor& first, const Tensor& second, int64_t index) {
  ComparedValue::Element element;
  if (first.rank() > 0) element.index = "[" + llvm::join(ElementIndex(first, index), ", ") + "]";
  element.first = ElementText(first, index);
  element.second = ElementText(second, index);
  const double a = ElementAsReal(first, index), b = ElementAsReal(second, index);
  element.error = ElementError(a, b, first.dtype());
  element.relative = element.error / std::fabs(b);
  if (IsFloat(first.dtype()))
    element.ulp = UlpDistance(a, b, CoarserFloat(first.dtype(), second.dtype()));
  return element;
}

/// "off by 0.1 (relative 0.05, 812 ULP)".
std::string Distance(double error, double relative, uint64_t ulp, bool is_float) {
  std::string text = "off by " + ErrorText(error);
  std::vector<std::string> more;
  if (std::isfinite(relative) && relative > 0) more.push_back("relative " + ErrorText(relative));
  if (is_float && std::isfinite(error)) more.push_back(std::to_string(ulp) + " ULP");
  return more.empty() ? text : text + " (" + llvm::join(more, ", ") + ")";
}

std::string Describe(const ComparedValue::Element& element, const ComparedValue& value) {
  const std::string place = element.index.empty() ? "the value" : "element " + element.index;
  const std::string text = place + " is " + element.first + " in a and " + element.second + " in b";
  if (!std::isfinite(element.error)) return text;
  return text + ": " + Distance(element.error, element.relative, element.ulp, value.is_float);
}

llvm::StringRef KindName(ComparedValue::Kind kind) {
  if (kind == ComparedValue::Kind::kVariable) return "parameter";
  return kind == ComparedValue::Kind::kCall ? "value" : "output";
}

/// "equal", "near: off by at most …", "differs: 3 of 20 elements, …".
std::string Summary(const ComparedValue& value) {
  if (value.result == Result::kEqual) return "equal";
  if (!value.first_wrong && value.result == Result::kDifferent)
    return "differs: " + value.first_type + " in a and " + value.second_type + " in b";
  std::string distance =
      Distance(value.max_error, value.max_relative, value.max_ulp, value.is_float);
  distance.insert(distance.find("by ") + 3, "at most ");
  if (value.result == Result::kNear) return "near: " + distance;
  return "differs: " + std::to_string(value.wrong) + " of " + std::to_string(value.elements) +
         (value.elements == 1 ? " element, " : " elements, ") + distance;
}

void PrintNames(llvm::raw_ostream& os, llvm::StringRef title,
                const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  if (names.empty()) return;
  os << title << ": "
     << llvm::join(names.begin(), names.begin() + static_cast<long>(std::min(names.size(), kShown)),
                   ", ");
  if (names.size() > kShown) os << " and " << names.size() - kShown << " more";
  os << '\n';
}

llvm::StringRef ResultName(Result result) {
  if (result == Result::kEqual) return "equal";
  return result == Result::kNear ? "near" : "different";
}

llvm::json::Value Number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

llvm::json::Object ToJson(const ComparedValue::Element& element) {
  return llvm::json::Object{
      {"index", element.index},
      {"a", element.first},
      {"b", element.second},
      {"absolute", Number(element.error)},
      {"relative", Number(element.relative)},
      {"ulp", static_cast<int64_t>(std::min<uint64_t>(element.ulp, INT64_MAX))}};
}

}  // namespace

void PrintFirstDifference(llvm::raw_ostream& os, const ComparedValue& value,
                          const std::string titles[2]) {
  const bool has_types = value.first_type != value.second_type;
  os << "first difference: " << KindName(value.kind) << " " << value.name << ": "
     << value.first_type << (has_types ? " in a and " + value.second_type + " in b" : "") << '\n';
  const auto side = [&](const char* name, const std::string& title, const std::string& place) {
    os << "  " << name << ": " << title << (place.empty() ? "" : ", " + place) << '\n';
  };
  side("a", titles[0], value.first_place);
  side("b", titles[1], value.second_place);
  if (!value.first_wrong) return;
  os << "  " << Describe(*value.first_wrong, value) << '\n';
  if (value.wrong > 1) {
    os << "  " << value.wrong << " of " << value.elements << " elements differ; ";
    if (value.worst->index == value.first_wrong->index) {
      os << "this one most\n";
    } else {
      os << "most of all " << Describe(*value.worst, value) << '\n';
    }
  }
  os << "  tolerance " << value.tolerance << '\n';
}

llvm::json::Object ToJson(const ComparedValue& value) {
  llvm::json::Object object{
      {"name", value.name},
      {"kind", KindName(value.kind)},
      {"result", ResultName(value.result)},
      {"a", llvm::json::Object{{"type", value.first_type}, {"place", value.first_place}}},
      {"b", llvm::json::Object{{"type", value.second_type}, {"place", value.second_place}}},
      {"elements", value.elements},
      {"different_elements", value.wrong},
      {"max_absolute", Number(value.max_error)},
      {"max_relative", Number(value.max_relative)},
      {"max_ulp", static_cast<int64_t>(std::min<uint64_t>(value.max_ulp, INT64_MAX))}};
  if (value.first_wrong) object["first"] = ToJson(*value.first_wrong);
  if (value.worst) object["worst"] = ToJson(*value.worst);
  return object;
}

ComparedValue CompareValues(ComparedValue::Kind kind, llvm::StringRef name, const SeenValue& first,
                            const SeenValue& second, const Tolerance& tolerance) {
  const Tensor &a = first.tensor, &b = second.tensor;
  ComparedValue value{};
  value.kind = kind;
  value.name = name.str();
  value.first_type = a.TypeString();
  value.second_type = b.TypeString();
  value.first_place = Place(first);
  value.second_place = Place(second);
  value.is_float = IsFloat(a.dtype());
  const bool comparable = a.dtype() == b.dtype() || (IsFloat(a.dtype()) && IsFloat(b.dtype()));
  value.result = Result::kDifferent;
  if (!comparable || a.sizes() != b.sizes()) return value;

  const DType coarser = value.is_float ? CoarserFloat(a.dtype(), b.dtype()) : a.dtype();
  // If any tolerance is given, those that are not given are 0.
  const bool is_given = tolerance.relative || tolerance.absolute || tolerance.ulp;
  const DType least_precise =
      value.is_float && tolerance.precision ? CoarserFloat(coarser, *tolerance.precision) : coarser;
  const double by_dtype = is_given ? 0 : DefaultTolerance(least_precise);
  const double relative = tolerance.relative.value_or(by_dtype);
  const double absolute = tolerance.absolute.value_or(by_dtype);
  const std::optional<uint64_t> ulp = value.is_float ? tolerance.ulp : std::nullopt;
  const ElementComparison found =
      CompareElements(a, b, !tolerance.nan_differs, [&](double x, double y, double error) {
        return error <= absolute + relative * std::fabs(y) ||
               (ulp && UlpDistance(x, y, coarser) <= *ulp);
      });
  value.elements = found.elements;
  value.wrong = found.wrong;
  value.max_error = found.max_error;
  value.max_relative = found.max_relative;
  value.max_ulp = found.max_ulp;
  if (found.is_equal()) {
    value.result = Result::kEqual;
  } else if (found.wrong == 0) {
    value.result = Result::kNear;
  } else {
    value.first_wrong = ElementOf(a, b, found.first);
    value.worst = ElementOf(a, b, found.worst);
    value.tolerance = ErrorText(absolute) + " + " + ErrorText(relative) + " * |b|";
    if (ulp) value.tolerance += ", or " + std::to_string(*ulp) + " ULP";
  }
  return value;
}

void CompareReport::Add(ComparedValue value) {
  if (lists_all_ && !is_json_ && value.kind != ComparedValue::Kind::kOutput)
    llvm::outs() << KindName(value.kind) << ' ' << value.name << ": " << Summary(value) << '\n';
  if (value.result == Result::kDifferent && !first_) first_ = value;
  if (value.kind == ComparedValue::Kind::kOutput) {
    outputs_.push_back(std::move(value));
  } else {
    ++counts_[static_cast<size_t>(value.result)];
    if (lists_all_ && is_json_) all_.push_back(std::move(value));
  }
}

void CompareReport::AddLone(llvm::StringRef output, bool in_first) {
  lone_outputs_[in_first ? 0 : 1].push_back(output.str());
}

void CompareReport::Print(llvm::raw_ostream& os) const {
  if (is_json_) {
    PrintJson(os);
  } else {
    PrintText(os);
  }
}

void CompareReport::PrintText(llvm::raw_ostream& os) const {
  if (first_) PrintFirstDifference(os, *first_, titles_);
  for (const ComparedValue& output : outputs_)
    os << "output " << output.name << ": " << Summary(output) << '\n';
  PrintNames(os, "outputs only in a", lone_outputs_[0]);
  PrintNames(os, "outputs only in b", lone_outputs_[1]);
  os << compared() << (compared() == 1 ? " other value: " : " other values: ") << counts_[0]
     << " equal, " << counts_[1] << " near, " << counts_[2] << " different\n";
  PrintNames(os, "only in a", only_in_first);
  PrintNames(os, "only in b", only_in_second);
  PrintNames(os, "not compared, because of their order", left_out);
}

void CompareReport::PrintJson(llvm::raw_ostream& os) const {
  llvm::json::Array outputs;
  for (const ComparedValue& output : outputs_) outputs.push_back(ToJson(output));
  llvm::json::Object report{
      {"a", titles_[0]},
      {"b", titles_[1]},
      {"differ", differs()},
      {"values",
       llvm::json::Object{{"equal", counts_[0]}, {"near", counts_[1]}, {"different", counts_[2]}}},
      {"outputs", std::move(outputs)},
      {"outputs_only_in_a", llvm::json::Array(lone_outputs_[0])},
      {"outputs_only_in_b", llvm::json::Array(lone_outputs_[1])},
      {"only_in_a", llvm::json::Array(only_in_first)},
      {"only_in_b", llvm::json::Array(only_in_second)},
      {"not_compared", llvm::json::Array(left_out)}};
  if (first_) report["first_difference"] = ToJson(*first_);
  if (lists_all_) {
    llvm::json::Array all;
    for (const ComparedValue& value : all_) all.push_back(ToJson(value));
    report["compared"] = std::move(all);
  }
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(report))) << '\n';
}

}  // namespace pdl
