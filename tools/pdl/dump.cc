// pdl dump: prints a network after a compiler stage.
#include <algorithm>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/training.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/train/micro_batches.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl dump", "--emit=STAGE FILE [OPTION]...",
    R"(Prints the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) after one of
the stages of compilation.

  ast    the syntax tree
  ir     calls and values with their types, all defaults filled in (default)
  opt    the same after all passes: the network that runs
  plan   the prepared run: kernels and fused groups; if the sizes of all symbols
         are given (--size), arena offsets and peak bytes too
  proto  the stored form (.pdlc), as protobuf text
  dot    a graph for Graphviz
  pdl    flat source that compiles to the same network
  pass:NAME  calls and values after one of the passes between ir and plan; an
         unknown NAME lists the passes
)",
    R"(pdl dump --emit=ir model.pdl
pdl dump --emit=plan --size N=32 model.pdl
pdl dump --emit=pass:lower-gradients --time-passes --step model.pdl
pdl dump --emit=dot model.pdl | dot -Tsvg > model.svg
pdl dump --emit=pdl model.pdlc
pdl dump --emit=pdl --grad=loss model.pdl
pdl dump --emit=pdl --step --precision=bf16 model.pdl
)"};

struct DumpArguments {
  CommonOptions common;
  std::string stage = "ir";
  /// Print the network after this pass, or empty.
  std::string pass;
  bool no_locations = false;
  /// Print the gradients of this loss, or empty.
  std::string gradient_of;
  bool step = false;
  bool micro_batches = false;
  std::optional<int64_t> bucket_bytes;
};

/// Stores the network after one pass, as a string.
class PassPrinter : public PassObserver {
 public:
  PassPrinter(llvm::StringRef pass, PassTimings* timings) : pass_(pass), timings_(timings) {}

  void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) override {
    if (timings_ != nullptr) timings_->AfterPass(pass, graph, run);
    if (pass.name != pass_) return;
    // Each segment of a network has its own plans.
    if (!text_.empty()) text_ += '\n';
    text_ += EmitIr(graph);
  }

  const std::string& text() const { return text_; }

 private:
  const llvm::StringRef pass_;
  PassTimings* const timings_;
  std::string text_;
};

llvm::Expected<std::string> DumpAst(llvm::StringRef path) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  auto source = ToSource(*file);
  if (!source) return source.takeError();
  Diagnostics diagnostics;
  std::string text = EmitAst(*source, &diagnostics);
  if (diagnostics.has_errors()) return llvm::make_error<SourceErrors>(std::move(diagnostics));
  return text;
}

llvm::Expected<std::string> DumpPlan(LoadedNetwork loaded, const CommonOptions& options) {
  auto context = OpenDevice(options);
  if (!context) return context.takeError();
  auto network = CreateNetwork(std::move(loaded), options);
  if (!network) return network.takeError();
  const TimedStage stage(options.pass_timings.get(), "plan");
  RunOptions run;
  run.training = options.training;
  return (*network)->DescribePlan(context->get(), run, options.sizes);
}

/// The plan of a training step that is computed from micro-batches: that of the gradients, the
/// buckets in which they are added over processes, and that of the update.
llvm::Expected<std::string> DumpStepPlan(LoadedNetwork loaded, const DumpArguments& arguments) {
  const CommonOptions& options = arguments.common;
  auto context = OpenDevice(options);
  if (!context) return context.takeError();
  NetworkOptions of_networks;
  of_networks.pass_observer = options.pass_timings.get();
  of_networks.precision = PrecisionOf(options);
  MicroBatchStep::Properties properties;
  if (arguments.bucket_bytes) properties.bucket_bytes = *arguments.bucket_bytes;
  auto step =
      MicroBatchStep::Create(loaded.graph, std::move(properties), of_networks, GlobalRegistry());
  if (!step) return step.takeError();
  const TimedStage stage(options.pass_timings.get(), "plan");
  RunOptions run;
  run.training = true;
  auto gradients = (*step)->gradients().DescribePlan(context->get(), run, options.sizes);
  if (!gradients) return gradients.takeError();
  auto update = (*step)->update().DescribePlan(context->get(), run, {});
  if (!update) return update.takeError();
  return "gradients of a micro-batch\n" + *gradients + "\n" + (*step)->BucketsToString() +
         "\nupdate\n" + *update;
}

/// The graph that returns the loss and its gradient with respect to each parameter that it depends
/// on.
llvm::Expected<Graph> DeriveLoss(const Graph& graph, llvm::StringRef name) {
  Graph backward = graph.Clone();
  Value* loss = backward.FindValue(name);
  for (const GraphOutput& output : backward.outputs())
    if (loss == nullptr && output.name == name) loss = output.value;
  if (loss == nullptr)
    return MakeUserError(Code::kBadGradient, "the network has no value '{0}'", name);
  if (!loss->type().is_scalar() || !IsFloat(loss->type().dtype))
    return MakeUserError(Code::kBadGradient, "a loss is a floating-point scalar; '{0}' is {1}",
                         name, loss->type().ToString());
  std::vector<Value*> parameters = backward.parameters().vec();
  llvm::erase_if(parameters, [](const Value* value) { return !value->variable().trainable; });
  const GradientFlow flow = FindGradientFlow(backward, loss, parameters);
  std::vector<Value*> operands = {loss};
  const DType dtype = loss->type().dtype;
  auto one = backward.AddOp(*GlobalRegistry().Find("constant"), {},
                            {{"value", Constant::Scalar(dtype, 1)}, {"dtype", dtype}},
                            {backward.NewName("one")});
  if (!one) return one.takeError();
  operands.push_back((*one)->result());
  std::vector<std::string> names;
  backward.ReserveName(name);
  for (auto [parameter, reaches] : llvm::zip_equal(parameters, flow.reaches)) {
    if (!reaches) continue;
    operands.push_back(parameter);
    // The gradients become outputs, whose names have no dots.
    std::string plain = parameter->name() + "_grad";
    std::replace(plain.begin(), plain.end(), '.', '_');
    names.push_back(backward.NewName(plain));
    backward.ReserveName(names.back());
  }
  if (names.empty())
    return MakeUserError(Code::kBadGradient, "'{0}' depends on no parameter", name);
  auto gradient = backward.AddOp(*GlobalRegistry().Find("gradient"), operands,
                                 {{"count", static_cast<int64_t>(names.size())}}, names);
  if (!gradient) return gradient.takeError();
  backward.ClearOutputs();
  backward.ClearTrainings();
  backward.AddOutput(name, loss);
  for (Value* result : (*gradient)->results()) backward.AddOutput(result->name(), result);
  return backward;
}

/// The network after all passes, which expand gradients and insert casts.
llvm::Expected<std::string> DumpLowered(llvm::StringRef stage, LoadedNetwork loaded,
                                        const CommonOptions& options) {
  auto network = CreateNetwork(std::move(loaded), options);
  if (!network) return network.takeError();
  const Graph& graph = (*network)->optimized_graph();
  return stage == "pdl" ? EmitPdl(graph) : stage == "dot" ? EmitDot(graph) : EmitIr(graph);
}

/// Without its training if that refers to a layer of the source that the network was compiled from.
std::string FlatText(const Graph& graph) {
  std::string text = EmitPdl(graph);
  if (graph.trainings().empty()) return text;
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>("", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  return Compile(request).graph ? text : EmitPdl(graph, {.trainings = false});
}

/// Runs the passes at least up to `pass`, whose result the observer of the options stores.
llvm::Error RunPasses(llvm::StringRef pass, LoadedNetwork loaded, const CommonOptions& options) {
  if (StepPipeline().Find(pass) != nullptr) return llvm::Error::success();
  if (PlanPipeline().Find(pass) != nullptr) return DumpPlan(std::move(loaded), options).takeError();
  return CreateNetwork(std::move(loaded), options).takeError();
}

llvm::Expected<std::string> Dump(llvm::StringRef path, const DumpArguments& arguments,
                                 const PassPrinter& printer) {
  const llvm::StringRef stage = arguments.stage;
  if (stage == "ast") return DumpAst(path);
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  if (!arguments.gradient_of.empty()) {
    auto backward = DeriveLoss(loaded->graph, arguments.gradient_of);
    if (!backward) return backward.takeError();
    loaded->graph = std::move(*backward);
    if (stage == "pdl" || stage == "ir" || stage == "dot")
      return DumpLowered(stage, std::move(*loaded), arguments.common);
  }
  if (arguments.step) {
    if (llvm::Error error = MakeStep(loaded->graph, arguments.common)) return error;
    const bool is_reduced = PrecisionOf(arguments.common) != DType::kF32;
    if (is_reduced && (stage == "pdl" || stage == "ir" || stage == "dot"))
      return DumpLowered(stage, std::move(*loaded), arguments.common);
  }
  if (!arguments.pass.empty()) {
    if (llvm::Error error = RunPasses(arguments.pass, std::move(*loaded), arguments.common))
      return error;
    return printer.text();
  }
  if (stage == "plan")
    return arguments.micro_batches ? DumpStepPlan(std::move(*loaded), arguments)
                                   : DumpPlan(std::move(*loaded), arguments.common);
  if (stage == "opt") return DumpLowered(stage, std::move(*loaded), arguments.common);
  SerializeOptions options;
  options.locations = !arguments.no_locations;
  if (stage == "proto") return NetworkToText(loaded->graph, options);
  if (stage == "dot") return EmitDot(loaded->graph);
  if (stage == "pdl") return FlatText(loaded->graph);
  return EmitIr(loaded->graph);
}

/// Describes the passes for the help, grouped by pipeline.
std::string DescribePasses() {
  std::string text = "\nThe passes, in order:\n";
  llvm::raw_string_ostream os(text);
  for (const Pipeline* pipeline : RunPipelines()) {
    os << "\n  " << pipeline->description() << ":\n";
    for (const Pass& pass : pipeline->passes())
      os << llvm::formatv("    {0,-24} {1}\n", pass.name, pass.description);
  }
  return text;
}

/// Sets the stage from the value of --emit.
llvm::Error ReadStage(llvm::StringRef text, DumpArguments* dump) {
  const std::vector<llvm::StringRef> stages = {"ast", "ir", "opt", "plan", "proto", "dot", "pdl"};
  llvm::StringRef pass = text;
  if (!pass.consume_front("pass:")) {
    if (!llvm::is_contained(stages, text))
      return MakeUsageError("expected {0}, pass:NAME, got '{1}'{2}", llvm::join(stages, ", "), text,
                            DidYouMean(text, stages));
    dump->stage = text.str();
    return llvm::Error::success();
  }
  std::vector<llvm::StringRef> names;
  for (const Pipeline* pipeline : RunPipelines())
    for (const Pass& each : pipeline->passes()) names.push_back(each.name);
  if (!llvm::is_contained(names, pass))
    return MakeUsageError("there is no pass '{0}'{1}; the passes are {2}", pass,
                          DidYouMean(pass, names), llvm::join(names, ", "));
  dump->stage = "pass";
  dump->pass = pass.str();
  return llvm::Error::success();
}

/// Reports options that have no effect on the stage.
llvm::Error CheckOptions(const CommandLine& line, const DumpArguments& dump) {
  if (StepPipeline().Find(dump.pass) != nullptr && !dump.step)
    return line.Wrong("the pass '" + dump.pass + "' is part of a training step: give --step");
  if (dump.micro_batches && (!dump.step || dump.stage != "plan"))
    return line.Wrong("--micro-batches needs --step and --emit=plan");
  if (dump.bucket_bytes && !dump.micro_batches) return line.Wrong("--bucket needs --micro-batches");
  if (dump.no_locations && dump.stage != "proto")
    return line.Wrong("--no-locations needs --emit=proto");
  for (const char* option : {"--set", "--weights", "--precision", "--grad", "--step"})
    if (dump.stage == "ast" && line.IsGiven(option))
      return line.Wrong(llvm::Twine(option) + " does not change the syntax tree of --emit=ast");
  const bool is_derived = dump.step || !dump.gradient_of.empty();
  const bool is_lowered = dump.stage == "opt" || dump.stage == "plan" || !dump.pass.empty() ||
                          (is_derived && dump.stage != "proto");
  for (const char* option : {"--precision", "--weights"})
    if (!is_lowered && line.IsGiven(option))
      return line.Wrong(llvm::Twine(option) + " needs --emit=opt, plan or pass:NAME");
  const bool is_planned = dump.stage == "plan" || PlanPipeline().Find(dump.pass) != nullptr;
  for (const char* option :
       {"--size", "--training", "--device", "--threads", "--seed", "--memory-limit"})
    if (!is_planned && line.IsGiven(option))
      return line.Wrong(llvm::Twine(option) + " needs --emit=plan, or a pass of the plan");
  return llvm::Error::success();
}

}  // namespace

int DumpMain(Arguments arguments) {
  DumpArguments dump;
  const std::string description = kHelp.description.str() + DescribePasses();
  CommandLine line({kHelp.command, kHelp.arguments, description, kHelp.examples});
  line.AddValue("--emit", "ast|ir|opt|plan|proto|dot|pdl|pass:NAME", "the stage",
                [&dump](llvm::StringRef text) { return ReadStage(text, &dump); });
  line.AddFlag("--no-locations", "proto: omit files, lines, columns and comments",
               &dump.no_locations);
  line.AddString(
      "--grad", "LOSS",
      "print the network that returns LOSS and its gradient with respect to each parameter",
      &dump.gradient_of);
  line.AddFlag("--step", "print the network of a training step, with all minimize statements",
               &dump.step);
  line.AddFlag("--micro-batches",
               "plan, with --step: of a step from micro-batches, as several processes compute it: "
               "gradients, the buckets in which they are added, update",
               &dump.micro_batches);
  AddBucketOption(line, &dump.bucket_bytes);
  AddPrecisionOption(line, &dump.common);
  AddSizeOption(line, "plan: the size of a symbol: --size N=32", &dump.common);
  line.Section("The network");
  AddNetworkOptions(line, &dump.common);
  AddWeightsOption(line, &dump.common);
  line.Section("The plan");
  AddRunOptions(line, &dump.common);
  AddTrainingOption(line, &dump.common);
  AddTimePassesOption(line, &dump.common);
  AddMessageOptions(line);
  line.AddSandbox();
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  if (llvm::Error error = CheckOptions(line, dump)) return Finish(std::move(error));
  if (dump.step) dump.common.UseTrainingStep();
  PassPrinter printer(dump.pass, dump.common.pass_timings.get());
  // If passes are observed, a plan is made from a copy of the graph.
  if (!dump.pass.empty()) dump.common.pass_observer = &printer;
  llvm::Expected<std::string> text = Dump(**file, dump, printer);
  PrintPassTimings(dump.common);
  if (!text) return Finish(text.takeError());
  llvm::outs() << *text;
  return kSuccess;
}

}  // namespace pdl
