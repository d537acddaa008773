// pdl bisect: finds what makes a result wrong.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "tools/pdl/bisect/finite_search.h"
#include "tools/pdl/bisect/pass_search.h"
#include "tools/pdl/bisect/reduce.h"
#include "tools/pdl/bisect/version_search.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl bisect", "[GOOD] FILE --input NAME=VALUE... [OPTION]...",
    R"(Finds what makes a result of the network in FILE (.pdl, .pdlc, .onnx, or - for standard
input) wrong, by many runs on the same inputs:

  pdl bisect GOOD FILE      the fewest changes from the version GOOD that make an output
                            differ, or a nan or an infinity appear in it
  pdl bisect FILE --passes  the pass of the compiler that makes an output differ
  pdl bisect FILE           the first call that computes a nan or an infinity from finite
                            numbers

and writes the smallest network that still shows it to the file of --output.

Exit status: 0 nothing is wrong, 1 the cause was found, 2 the search was not possible,
3 the device failed.
)",
    R"(pdl bisect old.pdl new.pdl --input x=x.npy -o smallest.pdl
git show HEAD~3:model.pdl | pdl bisect - model.pdl --input x=random --size N=8
pdl bisect model.pdl --passes --input x=x.npy --rtol=1e-3
pdl bisect model.onnx --input batch.npz -o smallest.pdl
)"};

constexpr int kNotBisected = 2;

struct BisectArguments {
  CommonOptions common;
  RunInputs inputs;
  Tolerance tolerance;
  std::string only, out, format = "text";
  bool passes = false;
  std::vector<std::string> suspects;
};

/// Describes the optional steps of compilation for the help.
std::string DescribeSteps() {
  std::string text = "\nThe passes that --passes can leave out, in order:\n\n";
  llvm::raw_string_ostream os(text);
  for (const OptionalStep& step : OptionalSteps())
    os << llvm::formatv("  {0,-24} {1}\n", step.name, step.description);
  return text;
}

llvm::Error AddSuspect(llvm::StringRef text, BisectArguments* arguments) {
  std::vector<llvm::StringRef> names;
  for (const OptionalStep& step : OptionalSteps()) names.push_back(step.name);
  if (!llvm::is_contained(names, text))
    return MakeUsageError("there is no pass '{0}' that can be left out{1}; they are {2}", text,
                          DidYouMean(text, names), llvm::join(names, ", "));
  arguments->passes = true;
  arguments->suspects.push_back(text.str());
  return llvm::Error::success();
}

void AddOptions(CommandLine& line, BisectArguments* arguments) {
  line.AddString("-o, --output", "OUT.pdl",
                 "write the smallest network that shows it to OUT.pdl (or OUT.pdlc), its inputs to "
                 "OUT.npz and its parameters to OUT.safetensors",
                 &arguments->out);
  line.AddFlag("--passes", "search the pass that makes an output differ", &arguments->passes);
  line.AddValue("--pass", "NAME",
                "as --passes, but suspect only this pass; all others run. May be repeated",
                [arguments](llvm::StringRef text) { return AddSuspect(text, arguments); });
  line.AddString("--only", "NAME", "look only at this output", &arguments->only);
  line.AddChoice("--format", {"text", "json"},
                 "output format: 'text' (default), or one JSON object", &arguments->format);
  AddToleranceOptions(line, &arguments->tolerance);
  line.Section("Inputs");
  line.AddValue("-i, --input", "NAME=VALUE", "feed an input, as for pdl run",
                [arguments](llvm::StringRef text) { return arguments->inputs.Add(text); });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->common);
  line.Section("The networks");
  AddNetworkOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The runs");
  AddRunOptions(line, &arguments->common);
  AddTrainingOption(line, &arguments->common);
  AddMessageOptions(line);
}

/// The result of a search, as text and JSON.
struct Report {
  std::string text;
  llvm::json::Object json;
  std::optional<FedNetwork> smallest;
};

std::string Counted(size_t count, llvm::StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

std::string HowWrong(bool not_finite) {
  return not_finite ? "has a nan or an infinity" : "differs";
}

llvm::json::Object ToJson(const Difference& difference) {
  return llvm::json::Object{{"subject", DifferenceSubjectName(difference.subject)},
                            {"text", difference.text},
                            {"changes", llvm::json::Array(difference.changes)}};
}

void PrintCause(llvm::raw_ostream& os, const VersionChange& change) {
  os << "  " << change.bad_place << (change.bad_place.empty() ? "" : ": ")
     << DifferenceSubjectName(change.difference.subject) << ' ' << change.difference.text << '\n';
  for (const std::string& text : change.difference.changes) os << "      " << text << '\n';
  for (const Difference& added : change.added)
    os << "      new: " << DifferenceSubjectName(added.subject) << ' ' << added.text << '\n';
}

/// Errors about inputs that the versions do not have in common.
llvm::Error CheckInputs(const Side& good, const Side& bad) {
  llvm::Error errors = llvm::Error::success();
  for (const auto& [first, second] : {std::pair(&good, &bad), std::pair(&bad, &good)})
    for (const Value* input : first->network->graph().inputs()) {
      const Value* other = second->network->graph().FindValue(input->name());
      if (other == nullptr || other->kind() != ValueKind::kInput) {
        errors = llvm::joinErrors(
            std::move(errors),
            MakeUserError(Code::kMissingInput,
                          "{0} has the input '{1}', but {2} does not: both versions must have the "
                          "same inputs",
                          first->path, input->name(), second->path));
      } else if (first == &good && (input->type().dtype != other->type().dtype ||
                                    input->type().storage != other->type().storage ||
                                    input->type().rank() != other->type().rank())) {
        errors = llvm::joinErrors(
            std::move(errors),
            MakeUserError(Code::kInputType, "input '{0}' is {1} in {2} and {3} in {4}",
                          input->name(), input->type().ToString(), first->path,
                          other->type().ToString(), second->path));
      }
    }
  return errors;
}

llvm::Error CheckOnly(llvm::StringRef only, const Side& side) {
  if (only.empty()) return llvm::Error::success();
  std::vector<llvm::StringRef> names;
  for (const GraphOutput& output : side.network->graph().outputs()) names.push_back(output.name);
  if (llvm::is_contained(names, only)) return llvm::Error::success();
  return MakeUserError(Code::kUnknownName, "{0} has no output '{1}'{2}", side.path, only,
                       DidYouMean(only, names));
}

RunSetup SetupOf(const Side& side) {
  return {side.context.get(), side.options.seed, side.options.training};
}

/// Writes the smallest network, and says so in the report.
llvm::Error Write(const BisectArguments& arguments, const RunSetup& setup, ShowsIt shows,
                  Report& report) {
  llvm::raw_string_ostream os(report.text);
  if (!report.smallest) {
    os << "no part of the network shows it on its own\n";
    return llvm::Error::success();
  }
  const size_t calls = report.smallest->graph.ops().size();
  if (arguments.out.empty()) {
    os << "smallest network: " << Counted(calls, "call") << " (-o writes it)\n";
    return llvm::Error::success();
  }
  if (llvm::Error error =
          WriteAndCheck(*report.smallest, arguments.out, setup, arguments.common, shows))
    return error;
  os << arguments.out << " shows it with " << Counted(calls, "call");
  const bool has_inputs = !report.smallest->graph.inputs().empty();
  if (has_inputs) os << ", on the inputs in " << InputsPath(arguments.out);
  os << '\n';
  report.json["smallest"] =
      llvm::json::Object{{"file", arguments.out},
                         {"inputs", has_inputs ? InputsPath(arguments.out) : std::string()},
                         {"calls", static_cast<int64_t>(calls)}};
  return llvm::Error::success();
}

llvm::Expected<std::optional<Report>> BisectVersions(llvm::StringRef good, llvm::StringRef bad,
                                                     BisectArguments& arguments) {
  Side first, second;
  first.path = good.str();
  second.path = bad.str();
  first.options = second.options = arguments.common;
  for (Side* side : {&first, &second})
    if (llvm::Error error = Open(*side)) return error;
  if (llvm::Error error = CheckInputs(first, second)) return error;
  for (const Side* side : {&first, &second})
    if (llvm::Error error = CheckOnly(arguments.only, *side)) return error;
  if (llvm::Error error = FeedBoth(arguments.inputs, Pairs(), first, second)) return error;
  llvm::Expected<FedNetwork> a = ToFedNetwork(first);
  if (!a) return a.takeError();
  llvm::Expected<FedNetwork> b = ToFedNetwork(second);
  if (!b) return b.takeError();
  const RunSetup setup = SetupOf(first);
  auto finding =
      SearchVersions(*a, *b, arguments.only, arguments.tolerance, setup, arguments.common);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  VersionFinding& found = **finding;
  Report report;
  llvm::raw_string_ostream os(report.text);
  os << "output " << found.output << ' ' << HowWrong(found.not_finite) << " because of "
     << found.causes.size() << " of " << Counted(found.changes.size(), "change") << " ("
     << Counted(found.runs, "run") << "):\n";
  llvm::json::Array causes;
  for (const size_t cause : found.causes) {
    const VersionChange& change = found.changes[cause];
    PrintCause(os, change);
    llvm::json::Object object = ToJson(change.difference);
    object["good_place"] = change.good_place;
    object["bad_place"] = change.bad_place;
    llvm::json::Array added;
    for (const Difference& difference : change.added) added.push_back(ToJson(difference));
    object["new"] = std::move(added);
    causes.push_back(std::move(object));
  }
  const std::string titles[] = {first.path, first.path + " with the changes"};
  PrintFirstDifference(os, found.first, titles);
  report.json = llvm::json::Object{{"output", found.output},
                                   {"not_finite", found.not_finite},
                                   {"changes", static_cast<int64_t>(found.changes.size())},
                                   {"causes", std::move(causes)},
                                   {"first_difference", pdl::ToJson(found.first)},
                                   {"runs", static_cast<int64_t>(found.runs)}};
  report.smallest = std::move(found.smallest);
  const Criterion criterion{arguments.tolerance, found.not_finite};
  if (llvm::Error error = Write(
          arguments, setup,
          [&](const FedNetwork& fed) { return ShowsWrongOutput(fed, setup, criterion); }, report))
    return error;
  return report;
}

llvm::Expected<std::optional<Report>> BisectPasses(const FedNetwork& fed, const Side& side,
                                                   const BisectArguments& arguments) {
  const RunSetup setup = SetupOf(side);
  auto finding = SearchPasses(fed, arguments.suspects, arguments.only, arguments.tolerance, setup);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  PassFinding& found = **finding;
  Report report;
  llvm::raw_string_ostream os(report.text);
  os << "output " << found.output << ' ' << HowWrong(found.not_finite) << " because of the pass "
     << found.step.name << ", which " << found.step.description << " ("
     << Counted(found.runs, "run") << ")\n";
  const std::string titles[] = {side.path + " without " + found.step.name.str(),
                                side.path + " with " + found.step.name.str()};
  PrintFirstDifference(os, found.first, titles);
  report.json = llvm::json::Object{{"output", found.output},
                                   {"not_finite", found.not_finite},
                                   {"pass", found.step.name},
                                   {"first_difference", pdl::ToJson(found.first)},
                                   {"runs", static_cast<int64_t>(found.runs)}};
  report.smallest = std::move(found.smallest);
  const auto shows = [&](const FedNetwork& part) {
    return ShowsWrongPass(part, found, arguments.suspects, arguments.tolerance, setup);
  };
  if (llvm::Error error = Write(arguments, setup, shows, report)) return error;
  return report;
}

llvm::Expected<std::optional<Report>> BisectFinite(const FedNetwork& fed, const Side& side,
                                                   const BisectArguments& arguments) {
  const RunSetup setup = SetupOf(side);
  auto finding = SearchNotFinite(fed, setup);
  if (!finding) return finding.takeError();
  if (!*finding) return std::nullopt;
  Report report;
  report.text = (*finding)->message + "\n";
  report.json = llvm::json::Object{{"value", (*finding)->value}, {"message", (*finding)->message}};
  report.smallest = std::move((*finding)->smallest);
  const auto shows = [&](const FedNetwork& part) { return ShowsNotFinite(part, setup); };
  if (llvm::Error error = Write(arguments, setup, shows, report)) return error;
  return report;
}

/// Nullopt if nothing is wrong.
llvm::Expected<std::optional<Report>> Bisect(llvm::ArrayRef<llvm::StringRef> files,
                                             BisectArguments& arguments) {
  if (files.size() == 2) return BisectVersions(files[0], files[1], arguments);
  Side side;
  side.path = files[0].str();
  side.options = arguments.common;
  if (llvm::Error error = Open(side)) return error;
  if (llvm::Error error = CheckOnly(arguments.only, side)) return error;
  if (llvm::Error error = FeedOne(arguments.inputs, side)) return error;
  llvm::Expected<FedNetwork> fed = ToFedNetwork(side);
  if (!fed) return fed.takeError();
  llvm::Expected<FedNetwork> lowered = Lowered(*fed, SetupOf(side));
  if (!lowered) return lowered.takeError();
  return arguments.passes ? BisectPasses(*lowered, side, arguments)
                          : BisectFinite(*lowered, side, arguments);
}

llvm::Error CheckArguments(const CommandLine& line, llvm::ArrayRef<llvm::StringRef> files,
                           const BisectArguments& arguments) {
  if (files.empty() || files.size() > 2) return line.Wrong("expected one or two networks");
  if (files.size() == 2 && arguments.passes)
    return line.Wrong("--passes is a search in one network");
  if (files.size() == 2 && files[0] == "-" && files[1] == "-")
    return line.Wrong("only one network can be read from standard input");
  if (files.size() == 1 && !arguments.passes && !arguments.only.empty())
    return line.Wrong("--only is for two networks, or --passes");
  const llvm::StringRef extension = llvm::sys::path::extension(arguments.out);
  if (!arguments.out.empty() && extension != ".pdl" && extension != ".pdlc")
    return line.Wrong("expected --output OUT.pdl or OUT.pdlc, got '" + arguments.out + "'");
  return llvm::Error::success();
}

}  // namespace

int BisectMain(Arguments arguments) {
  BisectArguments bisect;
  const std::string description = kHelp.description.str() + DescribeSteps();
  CommandLine line({kHelp.command, kHelp.arguments, description, kHelp.examples});
  AddOptions(line, &bisect);
  line.AddSandbox({"--output"});
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if (llvm::Error error = CheckArguments(line, **files, bisect)) return Finish(std::move(error));
  llvm::Expected<std::optional<Report>> report = Bisect(**files, bisect);
  if (!report) return std::max<int>(kNotBisected, Finish(report.takeError()));
  if (bisect.format == "json") {
    llvm::json::Object object = *report ? std::move((*report)->json) : llvm::json::Object();
    object["found"] = report->has_value();
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << '\n';
  } else {
    llvm::outs() << (*report ? (*report)->text : "nothing is wrong\n");
  }
  return *report ? 1 : kSuccess;
}

}  // namespace pdl
