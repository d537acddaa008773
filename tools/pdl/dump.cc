// pdl dump: prints a network at one of the stages between text and numbers.
#include <algorithm>

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
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl dump", "--emit=STAGE FILE [OPTION]...",
    R"(Prints the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) at one
stage of its way from text to numbers.

  ast    the tree that the text was read as
  ir     calls and values with their types, every default filled in (default)
  opt    the same after the passes: what runs
  plan   the prepared run: kernels and fused groups; where the sizes of all
         symbols are given (--size), arena offsets and peak bytes too
  proto  the stored form (.pdlc), as protobuf text
  dot    a graph for Graphviz
  pdl    flat text that compiles to the same network again
  pass:NAME  calls and values after one of the passes between ir and plan; a NAME
         that is none lists them
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
  /// The pass after which the network is printed, or empty.
  std::string pass;
  bool no_locations = false;
  /// The loss whose gradients are to be printed, or empty.
  std::string gradient_of;
  bool step = false;
};

/// Keeps the network as it is after one pass.
class PassPrinter : public PassObserver {
 public:
  PassPrinter(llvm::StringRef pass, PassTimings* timings) : pass_(pass), timings_(timings) {}

  void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) override {
    if (timings_ != nullptr) timings_->AfterPass(pass, graph, run);
    if (pass.name != pass_) return;
    // Each segment of a network has plans of its own.
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

/// The graph that gives the loss and its gradient by each parameter that it depends on.
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
    // The text says them as outputs, whose names have no dots.
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

/// What the passes make of it: gradients and casts appear there.
llvm::Expected<std::string> DumpLowered(llvm::StringRef stage, LoadedNetwork loaded,
                                        const CommonOptions& options) {
  auto network = CreateNetwork(std::move(loaded), options);
  if (!network) return network.takeError();
  const Graph& graph = (*network)->optimized_graph();
  return stage == "pdl" ? EmitPdl(graph) : stage == "dot" ? EmitDot(graph) : EmitIr(graph);
}

/// Without its training where that names a layer of the text that the network was compiled from.
std::string FlatText(const Graph& graph) {
  std::string text = EmitPdl(graph);
  if (graph.trainings().empty()) return text;
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>("", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  return Compile(request).graph ? text : EmitPdl(graph, {.trainings = false});
}

/// Makes the network that of a step of training.
llvm::Error MakeStep(Graph& graph, const CommonOptions& options) {
  PassContext context{GlobalRegistry(), options.pass_timings.get()};
  if (options.pass_observer != nullptr) context.observer = options.pass_observer;
  const llvm::SmallVector<unsigned, 2> all = AllTrainings(graph);
  context.active = all;
  if (PrecisionOf(options) == DType::kF16) context.scale.emplace();
  return StepPipeline().Run(graph, context);
}

/// Runs the passes up to `pass` at least, which the observer of the options prints.
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
  if (stage == "plan") return DumpPlan(std::move(*loaded), arguments.common);
  if (stage == "opt") return DumpLowered(stage, std::move(*loaded), arguments.common);
  SerializeOptions options;
  options.locations = !arguments.no_locations;
  if (stage == "proto") return NetworkToText(loaded->graph, options);
  if (stage == "dot") return EmitDot(loaded->graph);
  if (stage == "pdl") return FlatText(loaded->graph);
  return EmitIr(loaded->graph);
}

/// The passes for the help, by when they run.
std::string DescribePasses() {
  std::string text = "\nThe passes, in their order:\n";
  llvm::raw_string_ostream os(text);
  for (const Pipeline* pipeline : RunPipelines()) {
    os << "\n  " << pipeline->description() << ":\n";
    for (const Pass& pass : pipeline->passes())
      os << llvm::formatv("    {0,-24} {1}\n", pass.name, pass.description);
  }
  return text;
}

/// Sets what --emit says.
llvm::Error ReadStage(llvm::StringRef text, DumpArguments* dump) {
  const std::vector<llvm::StringRef> stages = {"ast", "ir", "opt", "plan", "proto", "dot", "pdl"};
  llvm::StringRef pass = text;
  if (!pass.consume_front("pass:")) {
    if (!llvm::is_contained(stages, text))
      return MakeUsageError("wanted {0}, pass:NAME, got '{1}'{2}", llvm::join(stages, ", "), text,
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

}  // namespace

int DumpMain(Arguments arguments) {
  DumpArguments dump;
  const std::string description = kHelp.description.str() + DescribePasses();
  CommandLine line({kHelp.command, kHelp.arguments, description, kHelp.examples});
  line.AddValue("--emit", "ast|ir|opt|plan|proto|dot|pdl|pass:NAME", "the stage",
                [&dump](llvm::StringRef text) { return ReadStage(text, &dump); });
  line.AddFlag("--no-locations", "proto: without files, lines, columns and comments",
               &dump.no_locations);
  line.AddString("--grad", "LOSS", "the network that gives LOSS and its gradient by each parameter",
                 &dump.gradient_of);
  line.AddFlag("--step", "the network of a step of training, with all minimize statements",
               &dump.step);
  AddPrecisionOption(line, &dump.common);
  AddSizeOption(line, "plan: what a symbol stands for: --size N=32", &dump.common);
  line.Section("The network");
  AddNetworkOptions(line, &dump.common);
  AddWeightsOption(line, &dump.common);
  line.Section("The plan");
  AddRunOptions(line, &dump.common);
  AddTrainingOption(line, &dump.common);
  AddTimePassesOption(line, &dump.common);
  AddMessageOptions(line);
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kWell;
  if (StepPipeline().Find(dump.pass) != nullptr && !dump.step)
    return Finish(line.Wrong("the pass '" + dump.pass + "' makes a step of training: --step"));
  dump.common.training_step = dump.step;
  PassPrinter printer(dump.pass, dump.common.pass_timings.get());
  // A plan is made of a copy of the graph where somebody watches its passes.
  if (!dump.pass.empty()) dump.common.pass_observer = &printer;
  llvm::Expected<std::string> text = Dump(**file, dump, printer);
  PrintPassTimings(dump.common);
  if (!text) return Finish(text.takeError());
  llvm::outs() << *text;
  return kWell;
}

}  // namespace pdl
