// pdl bisect: finds what makes a result wrong.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "tools/pdl/bisect/pass_search.h"
#include "tools/pdl/bisect/reduce.h"
#include "tools/pdl/bisect/report.h"
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
  BisectRequest request;
  std::string format = "text";
  bool passes = false;
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
  arguments->request.suspects.push_back(text.str());
  return llvm::Error::success();
}

void AddOptions(CommandLine& line, BisectArguments* arguments) {
  line.AddString("-o, --output", "OUT.pdl",
                 "write the smallest network that shows it to OUT.pdl (or OUT.pdlc), its inputs to "
                 "OUT.npz and its parameters to OUT.safetensors",
                 &arguments->request.out);
  line.AddFlag("--passes", "search the pass that makes an output differ", &arguments->passes);
  line.AddValues("--pass", "NAME",
                 "as --passes, but suspect only this pass; all others run. May be repeated",
                 [arguments](llvm::StringRef text) { return AddSuspect(text, arguments); });
  line.AddString("--only", "NAME", "look only at this output of two networks, or with --passes",
                 &arguments->request.only);
  line.AddChoice("--format", {"text", "json"},
                 "output format: 'text' (default), or one JSON object", &arguments->format);
  AddToleranceOptions(line, &arguments->request.tolerance);
  line.Section("Inputs");
  line.AddValues("-i, --input", "NAME=VALUE", "feed an input, as for pdl run",
                 [arguments](llvm::StringRef text) { return arguments->request.inputs.Add(text); });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->request.common);
  line.Section("The networks");
  AddNetworkOptions(line, &arguments->request.common);
  AddWeightsOption(line, &arguments->request.common);
  line.Section("The runs");
  AddRunOptions(line, &arguments->request.common);
  AddTrainingOption(line, &arguments->request.common);
  line.AddFlag(
      "--step",
      "run the network of a training step, with all minimize statements; the new values of "
      "parameters and states are outputs, such as w.next",
      &arguments->request.common.training_step);
  AddPrecisionOption(line, &arguments->request.common);
  AddMessageOptions(line);
}

/// Nullopt if nothing is wrong.
llvm::Expected<std::optional<BisectReport>> Bisect(llvm::ArrayRef<llvm::StringRef> files,
                                                   BisectArguments& arguments) {
  BisectRequest& request = arguments.request;
  if (files.size() == 2) return BisectVersions(files[0], files[1], request);
  return arguments.passes ? BisectPasses(files[0], request) : BisectFinite(files[0], request);
}

llvm::Error CheckArguments(const CommandLine& line, llvm::ArrayRef<llvm::StringRef> files,
                           const BisectArguments& arguments) {
  if (files.empty() || files.size() > 2) return line.Wrong("expected one or two networks");
  if (files.size() == 2 && arguments.passes)
    return line.Wrong("--passes is a search in one network");
  if (files.size() == 1 && !arguments.passes && !arguments.request.only.empty())
    return line.Wrong("--only is for two networks, or --passes");
  for (const char* option : {"--rtol", "--atol", "--ulp", "--nan-differs"})
    if (files.size() == 1 && !arguments.passes && line.IsGiven(option))
      return line.Wrong(llvm::Twine(option) + " is for two networks, or --passes");
  const CommonOptions& common = arguments.request.common;
  if (PrecisionOf(common) != DType::kF32 && !common.training_step &&
      common.device.kind == DeviceKind::kCPU)
    return line.Wrong(
        "--precision needs --step or --device=cuda: in other runs on the CPU, no pass changes the "
        "precision");
  const llvm::StringRef extension = llvm::sys::path::extension(arguments.request.out);
  if (!arguments.request.out.empty() && extension != ".pdl" && extension != ".pdlc")
    return line.Wrong("expected --output OUT.pdl or OUT.pdlc, got '" + arguments.request.out + "'");
  const std::string weights = arguments.request.out.substr(0, arguments.request.out.rfind('.'));
  for (const std::string& written : {InputsPath(arguments.request.out), weights + ".safetensors"})
    if (!arguments.request.out.empty() && line.Reads(written))
      return line.Wrong("'" + written + "' cannot be an output: the command reads it");
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
  llvm::Expected<std::optional<BisectReport>> report = Bisect(**files, bisect);
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
