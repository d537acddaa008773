// pdl gradcheck: compares gradient rules with finite differences at the inputs of tests.
#include <map>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/find_files.h"
#include "tools/pdl/support/finite_differences.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl gradcheck", "FILE|FOLDER... [OPTION]...",
    R"(Compares the gradient rule of each operator that `test` blocks call with central
differences in f64, with the sizes, attributes and values of the tests: at order 1, at
order 2 if the calls of the rule have rules themselves, and the rule in f32 with that in
f64. Points with nan or inf, corners, and calls with ragged or sparse operands are
skipped. Inputs that no expectation of a test depends on need no value. Exits with
status 1 if a rule is wrong, and with --all if the order that an operator declares is
not the one reached.
)",
    R"(pdl gradcheck test/ops
pdl gradcheck test/ops/softmax.pdl --verbose
pdl gradcheck test/ops --all --format=json
)"};

/// The results for all calls of an operator.
struct OperatorReport {
  unsigned order = 0;
  unsigned num_calls = 0, num_compared = 0, num_corners = 0;
  double error[2] = {0, 0}, f32_error = 0;
  std::set<unsigned> inputs;
  /// Why order 2 was not reached, or no call was compared.
  std::string why;
  std::vector<std::string> failures;
};
using Reports = std::map<std::string, OperatorReport>;

/// Whether derivatives with respect to an input can be compared.
bool IsDerived(const InputDecl& input) {
  return input.differentiable && input.dtypes.Contains(DType::kF64);
}

/// Whether there is a rule to compare: not for calls that a Plan removes, nor for a rule without
/// any gradient.
bool HasRule(const OpDef& def) {
  const bool runs = def.kernel(DeviceKind::kCPU) != nullptr || def.lower != nullptr;
  return def.gradient != nullptr && runs && llvm::any_of(def.signature.inputs, IsDerived);
}

/// Whether there is a rule, but differences in f64 cannot be computed.
bool LacksF64(const OpDef& def) {
  const auto is_differentiable = [](const InputDecl& input) { return input.differentiable; };
  return def.gradient != nullptr && llvm::any_of(def.signature.inputs, is_differentiable) &&
         llvm::none_of(def.signature.inputs, IsDerived);
}

/// Calls with the same key differ only in values or float dtypes.
std::string KeyOf(const TestCall& call) {
  std::string key = call.def->name();
  for (const AttributeValue& value : call.attributes) key += "|" + AttributeToString(value);
  if (call.body)
    for (const Op* op : call.body->ops()) key += "|" + op->type();
  for (const Tensor& operand : call.operands) {
    const DType dtype = IsFloat(operand.dtype()) ? DType::kF64 : operand.dtype();
    key += "|" + TensorTypeToString(dtype, operand.sizes());
  }
  return key;
}

void Add(const TestCall& call, const GradientReport& one, bool verbose, OperatorReport* report) {
  if (verbose) {
    llvm::outs() << call.place << ": " << call.ToString();
    if (one.order == 0 && one.failures.empty()) {
      llvm::outs() << ": not compared" << (one.why.empty() ? "" : ": " + one.why) << '\n';
    } else {
      llvm::outs() << llvm::formatv(": order {0}, {1} derivatives, {2} at corners{3}\n", one.order,
                                    one.num_compared, one.num_corners,
                                    one.why.empty() ? "" : "; " + one.why);
    }
  }
  for (const std::string& failure : one.failures)
    report->failures.push_back(call.place + ": " + call.ToString() + "\n    " + failure);
  report->num_corners += one.num_corners;
  if (one.order == 0) {
    if (report->order == 0 && !one.why.empty()) report->why = one.why;
    return;
  }
  if (report->num_calls == 0 || one.order > report->order) report->why = one.why;
  report->order = std::max(report->order, one.order);
  ++report->num_calls;
  report->num_compared += one.num_compared;
  report->inputs.insert(one.inputs.begin(), one.inputs.end());
  report->f32_error = std::max(report->f32_error, one.f32_error);
  for (int i : {0, 1}) report->error[i] = std::max(report->error[i], one.error[i]);
}

/// Reports rules that no call has compared, or not to the order that is declared, and inputs
/// without any compared derivative. `filter`: only of this operator, unless it is empty.
void FindMissing(llvm::StringRef filter, Reports* reports) {
  for (const OpDef* def : GlobalRegistry().All()) {
    if (!filter.empty() && def->name() != filter) continue;
    if (!HasRule(*def) && def->gradient_order == 0) continue;
    OperatorReport& report = (*reports)[def->name()];
    if (!report.failures.empty()) continue;
    const std::string why = report.why.empty() ? "" : ": " + report.why;
    if (report.order == 0) {
      report.failures.push_back("its rule is not compared" + why);
      continue;
    }
    if (report.order != def->gradient_order) {
      report.failures.push_back(
          llvm::formatv("its rule is declared to order {0}, compared to order {1}{2}",
                        def->gradient_order, report.order, why));
      continue;
    }
    const std::vector<InputDecl>& inputs = def->signature.inputs;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (IsDerived(inputs[i]) && report.inputs.count(i) == 0)
        report.failures.push_back("no derivative for '" + inputs[i].name + "' is compared");
    }
  }
}

void PrintJson(const Reports& reports) {
  llvm::json::Array list;
  for (const auto& [name, report] : reports) {
    list.push_back(llvm::json::Object{{"operator", name},
                                      {"order", report.order},
                                      {"calls", report.num_calls},
                                      {"derivatives", report.num_compared},
                                      {"corners", report.num_corners},
                                      {"error", report.error[0]},
                                      {"error_order_2", report.error[1]},
                                      {"error_f32", report.f32_error},
                                      {"why", report.why},
                                      {"failures", llvm::json::Array(report.failures)}});
  }
  llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
}

void PrintText(const Reports& reports, llvm::StringRef filter) {
  if (reports.empty()) {
    llvm::outs() << (filter.empty()
                         ? "no test calls an operator that has a gradient rule\n"
                         : "no test calls '" + filter.str() + "', or it has no gradient rule\n");
    return;
  }
  unsigned orders[3] = {0, 0, 0}, failed = 0;
  for (const auto& [name, report] : reports) {
    if (!report.failures.empty()) {
      ++failed;
      llvm::outs() << "FAIL  " << name << '\n';
      for (const std::string& failure : report.failures) llvm::outs() << "  " << failure << '\n';
      continue;
    }
    ++orders[report.order];
    llvm::outs() << llvm::formatv("{0,-24} order {1}  {2,4} derivatives", name, report.order,
                                  report.num_compared);
    if (report.order > 0) {
      llvm::outs() << llvm::formatv("  largest error {0:e1}", report.error[0]);
      if (report.order > 1) llvm::outs() << llvm::formatv(", {0:e1}", report.error[1]);
      llvm::outs() << llvm::formatv("; f32 {0:e1}", report.f32_error);
    }
    if (report.order < 2 && !report.why.empty()) llvm::outs() << "  (" << report.why << ")";
    llvm::outs() << '\n';
  }
  llvm::outs() << llvm::formatv(
      "to order 2: {0}, to order 1: {1}, not compared: {2}, failed: {3}\n", orders[2], orders[1],
      orders[0], failed);
}

int Gradcheck(llvm::ArrayRef<std::string> files, llvm::StringRef filter, llvm::StringRef format,
              bool all, bool verbose, const CommonOptions& options) {
  int status = kSuccess;
  Reports reports;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    auto calls = CallsOfTests(file, options);
    if (!calls) {
      status = std::max(status, Finish(calls.takeError()));
      continue;
    }
    for (const TestCall& call : *calls) {
      const OpDef& def = *call.def;
      if (!filter.empty() && def.name() != filter) continue;
      if (LacksF64(def)) reports[def.name()].why = "it does not accept f64";
      if (!HasRule(def) || !call.is_dense) continue;
      const std::string key = KeyOf(call);
      if (seen.count(key) != 0) continue;
      const GradientReport report = CheckGradient(call);
      if (report.order > 0 || !report.failures.empty()) seen.insert(key);
      Add(call, report, verbose && format == "text", &reports[def.name()]);
    }
  }
  if (all) FindMissing(filter, &reports);
  if (format == "json") {
    PrintJson(reports);
  } else if (status == kSuccess || !reports.empty()) {
    PrintText(reports, filter);
  }
  for (const auto& [name, report] : reports)
    if (!report.failures.empty()) status = std::max<int>(status, kUserError);
  if (reports.empty() && !filter.empty()) status = std::max<int>(status, kUserError);
  return status;
}

}  // namespace

int GradcheckMain(Arguments arguments) {
  CommonOptions options;
  std::string filter, format = "text";
  bool all = false, verbose = false;
  CommandLine line(kHelp);
  line.AddFlag("--all",
               "require that every rule, and every float input, is compared by some call, to the "
               "declared order",
               &all);
  line.AddString("--filter", "NAME", "only this operator", &filter);
  line.AddChoice("--format", {"text", "json"}, "output format (default 'text')", &format);
  line.AddFlag("-v, --verbose", "print each call", &verbose);
  line.AddValues("--plugin", "FILE.so", "load operators from a shared library",
                 [&](llvm::StringRef file) {
                   options.plugins.push_back(file.str());
                   return llvm::Error::success();
                 });
  AddMessageOptions(line);
  line.AddSandbox();
  auto paths = line.Parse(arguments);
  if (!paths) return Finish(paths.takeError());
  if (!*paths) return kSuccess;
  if ((*paths)->empty()) return Finish(line.Wrong("no file is given"));
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  if (!filter.empty() && GlobalRegistry().Find(filter) == nullptr) {
    std::vector<llvm::StringRef> known;
    for (const OpDef* def : GlobalRegistry().All()) known.push_back(def->name());
    return Finish(MakeUserError(Code::kUnknownOperator, "no operator is called '{0}'{1}", filter,
                                DidYouMean(filter, known)));
  }
  std::vector<std::string> files;
  if (llvm::Error error = FindFiles(**paths, &files)) return Finish(std::move(error));
  return Gradcheck(files, filter, format, all, verbose, options);
}

}  // namespace pdl
