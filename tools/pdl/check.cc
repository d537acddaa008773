// pdl check: reports the mistakes of networks.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/test_block.h"
#include "pdl/compiler/training.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl check", "FILE... [OPTION]...",
    R"(Reports every mistake in the networks (.pdl, .pdlc, .onnx, or - for standard
input): in their syntax, names, types and shapes, and in the weights that they
load. Nothing is run. Says nothing where all is well.
)",
    R"(pdl check model.pdl
pdl check -v models/*.pdl
pdl check --diagnostics=json model.pdl
)"};

std::string Count(size_t count, llvm::StringRef what) {
  return (llvm::Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

// The tests of a text that has no mistake itself: what each of their runs says, once.
llvm::Error CheckTests(const InputFile& file, const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "tests");
  auto source = ToSource(file);
  if (!source) return source.takeError();
  WeightFiles weights(file.folder);
  Diagnostics mistakes;
  const TestSuite suite(MakeCompileRequest(file, *source, ToLoadOptions(options), &weights),
                        &mistakes);
  llvm::StringSet<> known;
  for (const auto& [test, block] : llvm::enumerate(suite.tests())) {
    for (unsigned run = 0; run < block.num_runs; ++run) {
      const TestResult result = suite.Compile(static_cast<unsigned>(test), run, {});
      if (result.run) continue;
      for (const Diagnostic& mistake : result.diagnostics.all())
        if (known.insert(TextOf(mistake)).second) mistakes.Add(mistake);
    }
  }
  if (!mistakes.has_errors()) return llvm::Error::success();
  return llvm::make_error<SourceErrors>(std::move(mistakes));
}

// What only shows when calls become those of dense values: gradients, ragged dims.
llvm::Error CheckLowering(const Graph& graph, const CommonOptions& options) {
  PassContext context{GlobalRegistry(), options.pass_timings.get()};
  if (!CheckPipeline().Applies(graph, context)) return llvm::Error::success();
  Graph lowered = graph.Clone();
  return CheckPipeline().Run(lowered, context);
}

// What a step of training computes.
llvm::Error CheckStep(const InputFile& file, CommonOptions options) {
  options.training_step = options.without_warnings = true;
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(file, options);
  if (!loaded && file.is_compiled) {
    // An optimizer of the text's own was left in the text: such a network runs, and training it
    // says what is missing.
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
  return llvm::Error::success();
}

}  // namespace

int CheckMain(Arguments arguments) {
  CommonOptions options;
  bool verbose = false;
  CommandLine line(kHelp);
  line.AddFlag("-v, --verbose", "say what is in each network that has no mistake", &verbose);
  AddNetworkOptions(line, &options);
  AddTimePassesOption(line, &options);
  AddMessageOptions(line);
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kWell;
  if ((*files)->empty()) return Finish(line.Wrong("which file?"));
  int status = kWell;
  for (llvm::StringRef file : **files)
    status = std::max(status, Finish(Check(file, options, verbose)));
  PrintPassTimings(options);
  return status;
}

}  // namespace pdl
