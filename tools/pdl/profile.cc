// pdl profile: measures where the time of a network's runs is spent.
#include <memory>

#include "llvm/Support/FileSystem.h"
#include "pdl/op/error.h"
#include "pdl/runtime/profile_report.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/first_run.h"
#include "tools/pdl/support/measured_runs.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl profile", "FILE --input NAME=VALUE... [OPTION]...",
    R"(Runs the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) repeatedly on the
same inputs, and prints for each call, or group of fused calls: its time in a run, share,
number of calls, speed, and how close it is to the least time that the peak of this
machine allows for its operations or its bytes, whichever takes longer. The peak is
measured first. See docs/profile.md.
)",
    R"(pdl profile model.pdl --input x=x.npy
pdl profile model.pdl --input x=random --size N=8 --by=layer
pdl profile model.onnx --input x=random --threads=1 --html=profile.html
pdl profile model.pdl --step --input x.npy --input label=labels.npy
)"};

struct ProfileArguments {
  CommonOptions common;
  RunInputs inputs;
  std::vector<std::string> outputs;
  int64_t runs = 0;
  std::string by = "call", html;
  bool json = false, step = false;
};

void AddOptions(CommandLine& line, ProfileArguments* arguments) {
  line.Section("Inputs and outputs");
  line.AddValues("-i, --input", "NAME=VALUE", "feed an input, as in pdl run",
                 [arguments](llvm::StringRef text) { return arguments->inputs.Add(text); });
  line.AddValues("-o, --output", "NAME", "compute only this output; may be repeated",
                 [arguments](llvm::StringRef text) {
                   arguments->outputs.push_back(text.str());
                   return llvm::Error::success();
                 });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->common);
  line.Section("The profile");
  line.AddValue("--runs", "N",
                "the number of runs (default: as many as take one second, at least 3)",
                [arguments](llvm::StringRef text) { return ParseRuns(text, &arguments->runs); });
  line.AddChoice("--by", {"call", "op", "line", "layer"},
                 "a row for each call (default), operator, line of the source, or layer",
                 &arguments->by);
  line.AddFlag("--json", "print JSON", &arguments->json);
  line.AddString(
      "--html", "FILE",
      "also write a page with the table and a plot of the roofline; - is standard output",
      &arguments->html);
  line.Section("The network");
  AddNetworkOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The run");
  AddRunOptions(line, &arguments->common);
  AddTrainingOption(line, &arguments->common);
  line.AddFlag("--step", "run training steps, with all minimize statements, on the same inputs",
               &arguments->step);
  AddPrecisionOption(line, &arguments->common);
  AddMessageOptions(line);
  line.AddSandbox({"--html"});
}

ProfileBy ByOf(llvm::StringRef name) {
  if (name == "op") return ProfileBy::kOp;
  if (name == "line") return ProfileBy::kLine;
  return name == "layer" ? ProfileBy::kLayer : ProfileBy::kCall;
}

llvm::Error WritePage(const ProfileReport& report, llvm::StringRef path, llvm::StringRef network) {
  std::string page;
  llvm::raw_string_ostream os(page);
  report.PrintHtml(os, ("Profile of " + network).str());
  return WriteResultFile(path, page);
}

llvm::Error Profile(llvm::StringRef path, ProfileArguments& arguments) {
  RunOptions options;
  options.training = arguments.common.training;
  options.outputs = arguments.outputs;
  auto first = RunOnce(path, arguments.inputs, arguments.common, options);
  if (!first) return first.takeError();
  const std::optional<DevicePeak> peak = PeakOf(*(*first)->context);
  llvm::Expected<TimedRuns> timed = MeasureRuns(**first, options, arguments.runs);
  if (!timed) return timed.takeError();
  const ProfileReport report(*timed, peak, ByOf(arguments.by));
  llvm::raw_ostream& os = arguments.html == "-" ? llvm::errs() : llvm::outs();
  if (arguments.json) {
    report.PrintJson(os);
  } else {
    report.PrintTable(os);
  }
  if (arguments.html.empty()) return llvm::Error::success();
  return WritePage(report, arguments.html, path);
}

}  // namespace

int ProfileMain(Arguments arguments) {
  ProfileArguments profile;
  CommandLine line(kHelp);
  AddOptions(line, &profile);
  auto files = line.ParseOneFile(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if (profile.step) profile.common.UseTrainingStep();
  return Finish(Profile(**files, profile));
}

}  // namespace pdl
