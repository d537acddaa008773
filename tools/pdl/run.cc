// pdl run: feeds a network, runs it once, and shows its outputs.
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"
#include "pdl/train/dataset.h"
#include "runtime/training/row_runs.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/first_run.h"
#include "tools/pdl/support/interrupt.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/measured_runs.h"
#include "tools/pdl/support/ranks.h"
#include "tools/pdl/support/run_inputs.h"
#include "tools/pdl/support/run_outputs.h"
#include "tools/pdl/support/trace_option.h"

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
mpirun -n 4 pdl run model.pdl --data test.npz --batch-size 256 --output y=y.npy
pdl run model.pdl --input x=random --size N=8
pdl run model.pdl --input x=random --size N=8 --trace=run.pftrace
echo 'output y = sin([0.0, 0.5])' | pdl run -
)"};

struct RunArguments {
  CommonOptions common;
  RunInputs inputs;
  RunOutputs outputs;
  bool check_finite = false, check_indices = false;
  int64_t profiled_runs = 0;
  TraceArguments trace;
  /// Of --data: the rows are run in parts.
  std::string data;
  std::optional<int64_t> batch_size;
  ProcessArguments processes;
};

void AddOptions(CommandLine& line, RunArguments* arguments) {
  line.Section("Inputs and outputs");
  line.AddValues(
      "-i, --input", "NAME=VALUE",
      "feed an input: a .npy file, a .npz or .safetensors file (its array of that name), a number, "
      "a list such as [[1, 2], [3, 4]], or the word random; FILE.npz without a NAME feeds "
      "every input whose name it has. A ragged input is lists of any length, or a .npz file with "
      "the "
      "arrays NAME and NAME.offsets; a sparse one also has NAME.indices, or is a .npz written by "
      "SciPy. Once for each input",
      [arguments](llvm::StringRef text) { return arguments->inputs.Add(text); });
  line.AddValues(
      "-o, --output", "NAME[=FILE]",
      "compute only this output; with a FILE (.npy, .npz or .safetensors; not .npy for a "
      "ragged or sparse one), write it there, where several outputs may share a .npz or "
      ".safetensors file; may be repeated. By default all outputs are printed",
      [arguments](llvm::StringRef text) { return arguments->outputs.Add(text); });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->common);
  line.AddString("-d, --data", "DATA",
                 "feed all inputs from the rows of a data set, as pdl train does, and join the "
                 "outputs; several processes, of mpirun for example, share the rows",
                 &arguments->data);
  line.AddValue("--batch-size", "N",
                "with --data: at most N rows in a run (default: all rows that a "
                "process has)",
                [arguments](llvm::StringRef text) {
                  return ParseInt(text, 1, std::numeric_limits<int64_t>::max())
                      .moveInto(arguments->batch_size);
                });
  line.Section("The network");
  AddNetworkOptions(line, &arguments->common);
  AddWarningOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The run");
  AddRunOptions(line, &arguments->common);
  AddTrainingOption(line, &arguments->common);
  AddPrecisionOption(line, &arguments->common);
  line.AddFlag("--check-finite",
               "check the results of every call, and report the first one that computes a nan or "
               "an infinity from finite numbers (slow)",
               &arguments->check_finite);
  line.AddFlag("--check-indices",
               "check the indices of every call, and report the first one that is outside the axis "
               "that it selects from (slow)",
               &arguments->check_indices);
  line.AddValue(
      "--profile", "RUNS",
      "repeat the run RUNS times on the same inputs, and print to standard error what pdl "
      "profile prints",
      [arguments](llvm::StringRef text) { return ParseRuns(text, &arguments->profiled_runs); });
  AddTraceOptions(line, &arguments->trace);
  AddTimePassesOption(line, &arguments->common);
  AddProcessOptions(line, &arguments->processes);
  for (const char* option : {"--batch-size", "--rank", "--world", "--rendezvous", "--timeout"})
    line.Require(option, "--data");
  AddMessageOptions(line);
}

/// Runs this process's rows of a data set. Returns the outputs of all rows at rank 0.
llvm::Expected<std::vector<PackedValue>> RunData(llvm::StringRef path, RunArguments& arguments,
                                                 Ranks& ranks, RunOptions& options) {
  std::vector<PackedValue> own;
  const auto run = [&]() -> llvm::Error {
    llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
    if (!loaded) return loaded.takeError();
    arguments.outputs.AddAll(loaded->graph);
    options.outputs = arguments.outputs.names();
    llvm::Expected<Dataset> data = Dataset::Open(arguments.data, loaded->graph);
    if (!data) return data.takeError();
    auto context = OpenDevice(arguments.common);
    if (!context) return context.takeError();
    auto network = CreateNetwork(std::move(*loaded), arguments.common);
    if (!network) return network.takeError();
    const int64_t rows = data->num_rows();
    const Communicator* communicator = ranks.communicator();
    const int rank = communicator ? communicator->rank() : 0;
    const int size = communicator ? communicator->size() : 1;
    const int64_t batch_size = arguments.batch_size.value_or((rows - 1) / size + 1);
    return RunRows(**network, *data, RowsOf(rows, batch_size, rank, size), batch_size,
                   context->get(), options)
        .moveInto(own);
  };
  if (llvm::Error error = ranks.Agree(run())) return error;
  if (ranks.communicator() == nullptr) return own;
  return GatherRows(std::move(own), options.outputs, *ranks.communicator());
}

llvm::Error RunOverData(llvm::StringRef path, RunArguments& arguments, Ranks& ranks,
                        RunOptions options) {
  llvm::Expected<std::vector<PackedValue>> values = RunData(path, arguments, ranks, options);
  if (!values) return values.takeError();
  return ranks.is_first() ? arguments.outputs.Show(*values) : llvm::Error::success();
}

llvm::Error Run(llvm::StringRef path, RunArguments& arguments, Ranks& ranks) {
  RunOptions options;
  options.training = arguments.common.training;
  options.check_finite = arguments.check_finite;
  options.check_indices = arguments.check_indices;
  // Ctrl-C ends the run, and a trace can be completed.
  std::optional<StopSignals> signals;
  if (!arguments.trace.path.empty()) options.cancel = &signals.emplace().asked();
  options.outputs = arguments.outputs.names();
  if (!arguments.data.empty()) return RunOverData(path, arguments, ranks, std::move(options));
  auto first = RunOnce(path, arguments.inputs, arguments.common, options);
  if (!first) return first.takeError();
  const Graph& graph = (*first)->network->graph();

  arguments.outputs.AddAll(graph);
  std::vector<PackedValue> values;
  for (const std::string& name : arguments.outputs.names()) {
    const Type& type = graph.FindOutput(name)->value->type();
    llvm::Expected<PackedValue> value = PackedValue::Find((*first)->scope, name, type);
    if (!value) return value.takeError();
    values.push_back(std::move(*value));
  }
  if (llvm::Error error = arguments.outputs.Show(values)) return error;
  if (arguments.profiled_runs == 0) return llvm::Error::success();
  llvm::outs().flush();
  const std::optional<DevicePeak> peak = PeakOf(*(*first)->context);
  llvm::Expected<TimedRuns> timed = MeasureRuns(**first, options, arguments.profiled_runs);
  if (!timed) return timed.takeError();
  ProfileReport(*timed, peak).PrintTable(llvm::errs());
  return llvm::Error::success();
}

/// Whether the options can be combined. The Error is about the command line.
llvm::Error CheckCombination(const RunArguments& arguments) {
  if (!arguments.trace.path.empty() && arguments.outputs.WritesTo(arguments.trace.path))
    return MakeUsageError("--trace and --output write to the same file, '{0}'",
                          arguments.trace.path);
  if (arguments.data.empty()) return llvm::Error::success();
  if (!arguments.inputs.is_empty() || !arguments.common.sizes.empty())
    return MakeUsageError("--data feeds all inputs: {0} cannot be combined with it",
                          arguments.inputs.is_empty() ? "--size" : "--input");
  if (arguments.profiled_runs > 0)
    return MakeUsageError("--profile repeats one run: --data cannot be combined with it");
  return arguments.processes.Check();
}

}  // namespace

int RunMain(Arguments arguments) {
  RunArguments run;
  CommandLine line(kHelp);
  AddOptions(line, &run);
  line.AddSandbox({"--output", "--trace"});
  auto files = line.ParseOneFile(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if (llvm::Error error = CheckCombination(run))
    return Finish(line.Wrong(llvm::toString(std::move(error))));
  Ranks ranks;
  // Without --data, processes of a launcher are independent.
  if (!run.data.empty())
    if (llvm::Error error = ranks.Join(run.processes, &run.common)) return Finish(std::move(error));
  if (!ranks.is_first()) run.trace = {};
  const int status = ranks.Finish(
      WithTrace(run.trace, **files, run.common, [&] { return Run(**files, run, ranks); }));
  if (ranks.is_first()) PrintPassTimings(run.common);
  return status;
}

}  // namespace pdl
