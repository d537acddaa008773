// pdl check: reports the errors of networks.
#include <algorithm>
#include <array>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/test_block.h"
#include "pdl/compiler/training.h"
#include "pdl/op/error.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/find_files.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl check", "FILE|FOLDER... [OPTION]...",
    R"(Reports all errors of the networks (.pdl, .pdlc, .onnx, or - for standard input; for a
folder, all .pdl files in it): in syntax, names, types, shapes, and in the weights that
they load. Runs nothing, and prints nothing for a network without errors.
)",
    R"(pdl check model.pdl
pdl check -v models/*.pdl
pdl check --diagnostics=json model.pdl
)"};

std::string Count(size_t count, llvm::StringRef what) {
  return (llvm::Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

/// Prints a table of the inputs, outputs, states and parameters with their types, and the numbers
/// of elements of the parameters.
void PrintInterface(const Graph& graph) {
  std::vector<std::array<std::string, 4>> rows;
  const auto add = [&](const char* keyword, const std::string& name, const Type& type) {
    rows.push_back({keyword, name, type.ToString(), ""});
  };
  for (const Value* input : graph.inputs()) add("input", input->name(), input->type());
  for (const GraphOutput& output : graph.outputs())
    add("output", output.name, output.value->type());
  for (const Value* state : graph.states()) add("state", state->name(), state->type());
  Dim total = 0;
  for (const Value* parameter : graph.parameters()) {
    const Dim count = NumElements(parameter->type().dims);
    total = total + count;
    add("param", parameter->name(), parameter->type());
    rows.back()[3] = count.ToString() + (parameter->variable().trainable ? "" : ", not trainable");
  }
  if (!graph.parameters().empty()) rows.push_back({"", "total", "", total.ToString()});
  std::array<size_t, 3> widths = {0, 0, 0};
  for (const auto& row : rows)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i];
      if (i < widths.size()) line.append(widths[i] - row[i].size(), ' ');
    }
    llvm::outs() << llvm::StringRef(line).rtrim() << '\n';
  }
}

// The tests of a source that compiles: the errors of their runs, each one only once.
llvm::Error CheckTests(const InputFile& file, const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "tests");
  auto source = ToSource(file);
  if (!source) return source.takeError();
  WeightFiles weights(file.folder);
  Diagnostics errors;
  const TestSuite suite(MakeCompileRequest(file, *source, ToLoadOptions(options), &weights),
                        &errors);
  llvm::StringSet<> known;
  for (const auto& [test, block] : llvm::enumerate(suite.tests())) {
    for (unsigned run = 0; run < block.num_runs; ++run) {
      const TestResult result = suite.Compile(static_cast<unsigned>(test), run, {});
      if (result.run) continue;
      for (const Diagnostic& error : result.diagnostics.all())
        if (known.insert(TextOf(error)).second) errors.Add(error);
    }
  }
  if (!errors.has_errors()) return llvm::Error::success();
  return llvm::make_error<SourceErrors>(std::move(errors));
}

// Errors that only lowering finds, such as those of gradients and ragged dims.
llvm::Error CheckLowering(const Graph& graph, const CommonOptions& options) {
  PassContext context{GlobalRegistry(), options.pass_timings.get()};
  if (!CheckPipeline().Applies(graph, context)) return llvm::Error::success();
  Graph lowered = graph.Clone();
  return CheckPipeline().Run(lowered, context);
}

// Checks the graph of a training step.
llvm::Error CheckStep(const InputFile& file, CommonOptions options) {
  options.training_step = options.without_warnings = true;
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(file, options);
  if (!loaded && file.is_compiled) {
    // A custom optimizer is not stored in a compiled file. Such a network still runs, and training
    // it reports the missing optimizer.
    llvm::consumeError(loaded.takeError());
    return llvm::Error::success();
  }
  if (!loaded) return loaded.takeError();
  PassContext context{GlobalRegistry(), options.pass_timings.get()};
  const llvm::SmallVector<unsigned, 2> all = AllTrainings(loaded->graph);
  context.active = all;
  return CheckStepPipeline().Run(loaded->graph, context);
}

llvm::Error Check(llvm::StringRef path, const CommonOptions& options, bool verbose) {
  if (llvm::Error error = LoadPlugins(options)) return error;
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(*file, options);
  if (!loaded) return loaded.takeError();
  const Graph& graph = loaded->graph;
  WeightFiles files(loaded->folder);
  llvm::Error errors = llvm::Error::success();
  for (const Value* variable : Variables(graph)) {
    if (!variable->variable().weight || loaded->weights.contains(variable->name())) continue;
    // Such a file is reported once, not for each of its tensors.
    if (files.IsUnreadable(variable->variable().weight->file)) continue;
    errors = llvm::joinErrors(std::move(errors), FindWeight(*variable, files).takeError());
  }
  if (errors) return errors;
  if (llvm::Error error = CheckLowering(graph, options)) return error;
  if (!graph.trainings().empty())
    if (llvm::Error error = CheckStep(*file, options)) return error;
  if (loaded->has_tests)
    if (llvm::Error error = CheckTests(*file, options)) return error;
  if (!verbose) return llvm::Error::success();
  llvm::outs() << path << ": " << Count(graph.inputs().size(), "input") << ", "
               << Count(graph.parameters().size(), "parameter") << ", "
               << Count(graph.states().size(), "state") << ", " << Count(graph.ops().size(), "call")
               << ", " << Count(graph.outputs().size(), "output") << '\n';
  PrintInterface(graph);
  return llvm::Error::success();
}

}  // namespace

int CheckMain(Arguments arguments) {
  CommonOptions options;
  bool verbose = false;
  CommandLine line(kHelp);
  line.AddFlag("-v, --verbose",
               "describe each network that has no errors: its inputs, outputs, "
               "states and parameters with their types",
               &verbose);
  AddNetworkOptions(line, &options);
  AddWarningOptions(line, &options);
  AddTimePassesOption(line, &options);
  AddMessageOptions(line);
  line.AddSandbox();
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if ((*files)->empty()) return Finish(line.Wrong("no file is given"));
  std::vector<std::string> networks;
  if (llvm::Error error = FindFiles(**files, &networks)) return Finish(std::move(error));
  int status = kSuccess;
  for (const std::string& file : networks)
    status = std::max(status, Finish(Check(file, options, verbose)));
  PrintPassTimings(options);
  return status;
}

}  // namespace pdl
