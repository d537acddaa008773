// pdl run: feeds a network, runs it once, and shows its outputs.
#include <memory>
#include <vector>

#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"
#include "pdl/runtime/timed_runs.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/onnx_network.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl run", "FILE --input NAME=VALUE... [OPTION]...",
    R"(Runs the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) once, and
prints each of its outputs with name and type, or writes it to a file.
)",
    R"(pdl run digits.pdl --input image=images.npy
pdl run digits.pdl --input image=images.npy --output digit=digit.npy
pdl run model.pdlc --input batch.npz --device=cuda
pdl run model.pdl --input x=random --size N=8
pdl run model.pdl --input x=random --size N=8 --profile=100
echo 'output y = sin([0.0, 0.5])' | pdl run -
)"};

/// One --output: its name and the file to write it to; an empty file: print it.
struct RequestedOutput {
  std::string name;
  std::string file;
};

struct RunArguments {
  CommonOptions common;
  RunInputs inputs;
  std::vector<RequestedOutput> outputs;
  bool check_finite = false, check_indices = false;
  int64_t profiled_runs = 0;
};

void AddOptions(CommandLine& line, RunArguments* arguments) {
  line.Section("Inputs and outputs");
  line.AddValue(
      "-i, --input", "NAME=VALUE",
      "feed an input: a .npy file, a .npz file (its array of that name), a number, a "
      "list such as [[1, 2], [3, 4]], or the word random; FILE.npz without a NAME feeds "
      "every input whose name it has. A ragged input is lists of any length, or the "
      "arrays NAME and NAME.offsets; a sparse one is a .npz written by SciPy. Once for each "
      "input",
      [arguments](llvm::StringRef text) { return arguments->inputs.Add(text); });
  line.AddValue("-o, --output", "NAME[=FILE]",
                "compute only this output; with a FILE (.npy; .npz for a ragged one), write it "
                "there; may be repeated. By default all outputs are printed",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  const auto [name, file] = text.split('=');
                  const bool is_file = file.ends_with(".npy") || file.ends_with(".npz");
                  if (name.empty() || (text.contains('=') && !is_file))
                    return MakeUsageError("expected NAME or NAME=FILE.npy, got '{0}'", text);
                  arguments->outputs.push_back({name.str(), file.str()});
                  return llvm::Error::success();
                });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->common);
  line.Section("The network");
  AddNetworkOptions(line, &arguments->common);
  AddWarningOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The run");
  AddRunOptions(line, &arguments->common);
  AddTrainingOption(line, &arguments->common);
  line.AddFlag("--check-finite",
               "check the results of every call, and report the first one that computes a nan or "
               "an infinity from finite numbers (slow)",
               &arguments->check_finite);
  line.AddFlag("--check-indices",
               "check the indices of every call, and report the first one that is outside the axis "
               "that it selects from (slow)",
               &arguments->check_indices);
  line.AddValue("--profile", "RUNS",
                "repeat the run RUNS times on the same inputs, and print the time of each step of "
                "the plan to standard error",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  constexpr int64_t kMostRuns = 1'000'000;
                  if (text.getAsInteger(10, arguments->profiled_runs) ||
                      arguments->profiled_runs < 1 || arguments->profiled_runs > kMostRuns)
                    return MakeUsageError("expected an integer from 1 to {0}, got '{1}'", kMostRuns,
                                          text);
                  return llvm::Error::success();
                });
  AddTimePassesOption(line, &arguments->common);
  AddMessageOptions(line);
}

void Print(llvm::StringRef name, const PackedValue& value) {
  const std::string text = PackedToString(value);
  // Values of several lines begin on a line of their own.
  llvm::outs() << name << ": " << value.TypeString() << " ="
               << (llvm::StringRef(text).contains('\n') ? '\n' : ' ') << text << '\n';
}

llvm::Error Write(const RequestedOutput& requested, const PackedValue& value) {
  if (!llvm::StringRef(requested.file).ends_with(".npz")) {
    if (value.type.is_plain()) return WriteNpy(requested.file, value.values);
    return MakeUserError(Code::kInputType, "'{0}' is {1}, which requires a .npz file: {0}={2}",
                         requested.name, value.type.ToString(),
                         llvm::StringRef(requested.file).drop_back(1) + "z");
  }
  std::vector<NamedTensor> members;
  for (const PartType& part : PartsOf(requested.name, value.type))
    members.emplace_back(PartName(requested.name, part.part), value.part(part.part));
  return WriteNpz(requested.file, members);
}

const Type& TypeOf(const Graph& graph, llvm::StringRef name) {
  for (const GraphOutput& output : graph.outputs())
    if (output.name == name) return output.value->type();
  InternalError("the run returned an output that the network does not have");
}

llvm::Error Profile(const Network& network, const RunOptions& options, int64_t runs, Scope* scope,
                    DeviceContext* context) {
  TimedRuns timed;
  for (int64_t run = 0; run < runs; ++run)
    if (llvm::Error error = timed.Run(network, scope, context, options)) return error;
  timed.Print(llvm::errs());
  return llvm::Error::success();
}

llvm::Error RunTimed(const Network& network, Scope* scope, DeviceContext* context,
                     const RunOptions& options, const CommonOptions& common) {
  const TimedStage stage(common.pass_timings.get(), "plan and run");
  return network.Run(scope, context, options);
}

/// Whether an ONNX model failed a check of sizes that were not statically known at import.
bool IsForSizes(llvm::StringRef path, llvm::Error& error) {
  bool is_for_sizes = false;
  error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> user) {
    is_for_sizes = user->code() == Code::kSizeCheck;
    return llvm::Error(std::move(user));
  });
  return is_for_sizes && llvm::sys::path::extension(path) == ".onnx";
}

llvm::Error Run(llvm::StringRef path, RunArguments& arguments, bool is_retried = false) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  Scope fed;
  if (llvm::Error error = arguments.inputs.Feed(loaded->graph, arguments.common, &fed))
    return error;
  Scope scope(&fed);
  auto context = OpenDevice(arguments.common);
  if (!context) return context.takeError();
  auto network = CreateNetwork(std::move(*loaded), arguments.common);
  if (!network) return network.takeError();

  RunOptions options;
  options.training = arguments.common.training;
  options.check_finite = arguments.check_finite;
  options.check_indices = arguments.check_indices;
  for (const RequestedOutput& requested : arguments.outputs)
    options.outputs.push_back(requested.name);
  llvm::Error error = RunTimed(**network, &scope, context->get(), options, arguments.common);
  if (!is_retried && IsForSizes(path, error)) {
    // In an ONNX model, a size that turns out to be 1 is broadcast.
    if (auto sizes = SizesAsSettings((*network)->graph(), fed); !sizes.empty()) {
      llvm::consumeError(std::move(error));
      auto& settings = arguments.common.settings;
      settings.insert(settings.end(), sizes.begin(), sizes.end());
      arguments.common.sizes.clear();
      return Run(path, arguments, /*is_retried=*/true);
    }
  }
  if (error) return error;

  std::vector<RequestedOutput> outputs = arguments.outputs;
  if (outputs.empty())
    for (const GraphOutput& output : (*network)->graph().outputs())
      outputs.push_back({output.name, ""});
  for (const RequestedOutput& requested : outputs) {
    llvm::Expected<PackedValue> value =
        PackedValue::Find(scope, requested.name, TypeOf((*network)->graph(), requested.name));
    if (!value) return value.takeError();
    if (requested.file.empty()) {
      Print(requested.name, *value);
    } else if (llvm::Error error = Write(requested, *value)) {
      return error;
    }
  }
  if (arguments.profiled_runs == 0) return llvm::Error::success();
  llvm::outs().flush();
  return Profile(**network, options, arguments.profiled_runs, &scope, context->get());
}

}  // namespace

int RunMain(Arguments arguments) {
  RunArguments run;
  CommandLine line(kHelp);
  AddOptions(line, &run);
  line.AddSandbox({"--output"});
  auto files = line.ParseOneFile(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  const int status = Finish(Run(**files, run));
  PrintPassTimings(run.common);
  return status;
}

}  // namespace pdl
