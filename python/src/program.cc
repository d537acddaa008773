#include "program.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/passes.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/view.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/io.h"
#include "tensor.h"
#include "text.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace pdl::python {
namespace {

using Settings = std::map<std::string, std::string>;
using Files = std::map<std::string, std::string>;

std::string SettingPlace(llvm::StringRef attr) { return ("settings['" + attr + "']").str(); }

/// The source that an import names: one of `files`, else a file of the folder.
llvm::Expected<std::shared_ptr<const SourceFile>> ReadSource(const Files& files,
                                                             const std::string& folder,
                                                             llvm::StringRef path) {
  if (const auto file = files.find(path.str()); file != files.end())
    return std::make_shared<const SourceFile>(file->first, file->second);
  return ReadImported(folder, path);
}

Program CompileText(std::string text, const std::string& name, std::string folder,
                    const Settings& settings, bool training, const Files& files, bool warn_unused,
                    Positions positions = Positions::kShown) {
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>(name, text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.read_file = [&](llvm::StringRef path) { return ReadSource(files, folder, path); };
  WeightFiles weights(folder);
  request.open_weights = weights.Opener();
  request.settings.assign(settings.begin(), settings.end());
  request.setting_place = SettingPlace;
  request.training_step = training;
  request.warn_unused = warn_unused;
  CompileResult result = [&] {
    WithoutGil without_gil;
    return Compile(request);
  }();
  if (!result.graph) Raise(result.diagnostics);
  Program program;
  program.graph = std::make_shared<const Graph>(std::move(*result.graph));
  program.source = std::move(text);
  program.name = name;
  program.settings = settings;
  program.files = files;
  program.folder = std::move(folder);
  program.last_value = std::move(result.last_value);
  program.positions = positions;
  llvm::raw_string_ostream stream(program.warnings);
  result.diagnostics.Render(stream);
  return program;
}

Program LoadInput(const InputFile& file, const Settings& settings, bool training) {
  if (file.is_source()) {
    return CompileText(Get(ToSource(file))->text().str(), file.name, file.folder, settings,
                       training, {}, /*warn_unused=*/true);
  }
  LoadOptions options;
  options.settings.assign(settings.begin(), settings.end());
  options.setting_place = SettingPlace;
  LoadedNetwork loaded = Get([&] {
    WithoutGil without_gil;
    return LoadNetwork(file, options);
  }());
  // A stored graph is compiled for training from its emitted source.
  if (training && file.is_compiled)
    return CompileText(EmitPdl(loaded.graph), file.name, file.folder, {}, training, {},
                       /*warn_unused=*/false, Positions::kHidden);
  Program program;
  program.graph = std::make_shared<const Graph>(std::move(loaded.graph));
  program.weights = std::move(loaded.weights);
  program.folder = std::move(loaded.folder);
  program.name = file.name;
  return program;
}

Program CompileGiven(std::string text, const Path& name, Path folder, const Settings& settings,
                     bool training, const Files& files, bool warn_unused, bool is_generated) {
  return CompileText(std::move(text), name.bytes, std::move(folder.bytes), settings, training,
                     files, warn_unused, is_generated ? Positions::kHidden : Positions::kShown);
}

/// A setting may be a path.
Settings SettingsOf(std::map<std::string, Path> given) {
  Settings settings;
  for (auto& [name, value] : given) settings[name] = std::move(value.bytes);
  return settings;
}

Program LoadFile(const Path& path, std::map<std::string, Path> settings, bool training) {
  return LoadInput(Get(ReadInputFile(path.bytes)), SettingsOf(std::move(settings)), training);
}

Program LoadBytes(const nb::bytes& data, const std::string& name, const Path& folder,
                  std::map<std::string, Path> settings) {
  const llvm::StringRef bytes(data.c_str(), data.size());
  return LoadInput(FileInMemory(bytes, name, folder.bytes), SettingsOf(std::move(settings)),
                   /*training=*/false);
}

bool IsGenerated(const Program& program) { return program.positions == Positions::kHidden; }

/// The parts of a program for pickling, without the values of its parameters.
nb::tuple StoreProgram(const Program& program) {
  const std::string graph = Get(SerializeNetwork(*program.graph));
  return nb::make_tuple(nb::bytes(graph.data(), graph.size()), program.source, Path{program.name},
                        Path{program.folder}, program.settings, program.files, program.warnings,
                        IsGenerated(program));
}

Program RestoreProgram(const nb::bytes& stored, std::string source, Path name, Path folder,
                       Settings settings, Files files, std::string warnings, bool is_generated) {
  Graph graph = Get(DeserializeNetwork(llvm::StringRef(stored.c_str(), stored.size()), "<pickle>",
                                       GlobalRegistry()));
  // For the lines in errors of runs.
  const auto add = [&](llvm::StringRef file, const std::string& text) {
    graph.AddFile(file, std::make_shared<const std::string>(text));
  };
  if (!source.empty()) add(name.bytes, source);
  for (const auto& [path, text] : files) add(path, text);
  Program program;
  program.graph = std::make_shared<const Graph>(std::move(graph));
  program.source = std::move(source);
  program.name = std::move(name.bytes);
  program.folder = std::move(folder.bytes);
  program.settings = std::move(settings);
  program.files = std::move(files);
  program.warnings = std::move(warnings);
  program.positions = is_generated ? Positions::kHidden : Positions::kShown;
  return program;
}

/// Name, type and comment of each value.
nb::list Describe(llvm::ArrayRef<Value*> values) {
  nb::list rows;
  for (const Value* value : values)
    rows.append(nb::make_tuple(value->name(), value->type().ToString(), value->comment()));
  return rows;
}

/// Name, type, comment and value of each output.
nb::list DescribeOutputs(const Program& program) {
  nb::list rows;
  for (const GraphOutput& output : program.graph->outputs())
    rows.append(nb::make_tuple(output.name, output.value->type().ToString(), output.comment,
                               output.value->name()));
  return rows;
}

/// The number of results of the call that is the last statement.
size_t CountLastResults(const Program& program) {
  const Value* value = program.graph->FindValue(program.last_value);
  return value && value->producer() ? value->producer()->results().size() : 1;
}

/// The page of `pdl view`.
std::string RenderProgram(const Program& program) {
  ViewOptions options;
  options.title = program.name;
  if (!program.source.empty()) {
    options.sources = FindViewSources(
        *program.graph, std::make_shared<const SourceFile>(program.name, program.source),
        program.folder,
        [&](llvm::StringRef path) { return ReadSource(program.files, program.folder, path); });
  }
  const WithoutGil without_gil;
  return RenderPage(*program.graph, options);
}

/// The emitted source of the network without training and without the calls, outputs and updates
/// that depend on some inputs, whose declarations stay; and the names of the remaining outputs.
/// Throws if no output remains, or an update depends on one of the inputs.
std::pair<std::string, std::vector<std::string>> TextWithout(
    const Program& program, const std::vector<std::string>& inputs) {
  Graph graph = program.graph->Clone();
  const auto lacks = NeedsOf(graph, inputs);
  auto fail = [](const Value* input) {
    Raise(MakeUserError(Code::kMissingInput, "no value for input '{0}': {1}", input->name(),
                        input->type().ToString()));
  };
  const std::vector<GraphOutput> outputs = graph.outputs().vec();
  const std::vector<GraphUpdate> updates = graph.updates().vec();
  graph.ClearOutputs();
  graph.ClearTrainings();
  std::vector<std::string> names;
  for (const GraphOutput& output : outputs) {
    if (lacks.contains(output.value)) continue;
    graph.AddOutput(output.name, output.value, output.comment);
    names.push_back(output.name);
  }
  if (names.empty() && !outputs.empty()) fail(lacks.lookup(outputs[0].value));
  for (const GraphUpdate& update : updates) {
    if (const Value* input = lacks.lookup(update.value)) fail(input);
    graph.AddUpdate(update.state, update.value);
  }
  EliminateDeadCode(graph);
  return {EmitPdl(graph, {.loads = false, .without_inputs = inputs}), std::move(names)};
}

void GiveWeight(const Program& program, llvm::StringRef name, Constant value,
                NetworkOptions* options) {
  const Value* variable = program.graph->FindValue(name);
  if (!variable ||
      (variable->kind() != ValueKind::kParameter && variable->kind() != ValueKind::kState))
    Raise(
        MakeUserError(Code::kWeightMismatch, "the network has no parameter or state '{0}'", name));
  options->weights[name] = std::move(value);
}

/// Gives the network's parameters and states the tensors of a source. Throws if they do not fit;
/// what is only worth knowing becomes a Python warning.
void GiveWeights(const Program& program, llvm::Expected<WeightSource> source,
                 const WeightRules& rules, NetworkOptions* options) {
  Diagnostics warnings;
  const GivenWeights given =
      Get(MatchGivenWeights(Get(std::move(source)), rules, *program.graph, &warnings));
  if (llvm::Error error = given.AddTo(&options->weights)) Raise(std::move(error));
  for (const Diagnostic& warning : warnings.all())
    if (warning.severity == Severity::kWarning)
      CallIn("warnings", "warn", Shown(warning.message), "stacklevel"_a = 2);
}

/// Gives weights as `pdl.weights` describes them: the path, tensors by name or None, and the rules
/// as pairs of name and value, see SetWeightRule.
void GiveDescribedWeights(const Program& program, const nb::tuple& described,
                          NetworkOptions* options) {
  const std::string path = nb::cast<Path>(described[0]).bytes;
  WeightRules rules;
  for (nb::handle rule : nb::cast<nb::list>(described[2])) {
    const auto [name, value] = nb::cast<std::pair<std::string, std::string>>(rule);
    if (llvm::Error error = SetWeightRule(&rules, name, value)) Raise(std::move(error));
  }
  if (described[1].is_none()) return GiveWeights(program, WeightSource::Open(path), rules, options);
  std::vector<NamedTensor> tensors;
  for (auto [name, array] : nb::cast<nb::dict>(described[1]))
    tensors.emplace_back(TextOf(name), Tensor::FromConstant(CopyOf(array)));
  GiveWeights(program, WeightSource::FromTensors(path, tensors), rules, options);
}

}  // namespace

llvm::DenseMap<const Value*, const Value*> NeedsOf(const Graph& graph,
                                                   llvm::ArrayRef<std::string> inputs) {
  llvm::DenseMap<const Value*, const Value*> needs;
  for (const Value* input : graph.inputs())
    if (llvm::is_contained(inputs, input->name())) needs[input] = input;
  for (const Op* op : graph.ops())
    for (const Value* operand : op->operands())
      if (const Value* input = needs.lookup(operand))
        for (const Value* result : op->results()) needs[result] = input;
  return needs;
}

NetworkOptions OptionsFor(const Program& program, nb::handle weights, uint64_t seed) {
  NetworkOptions options;
  options.seed = seed;
  options.weight_folder = program.folder;
  options.weights = program.weights;
  if (weights.is_none()) return options;
  if (nb::isinstance<nb::str>(weights)) {
    GiveWeights(program, WeightSource::Open(nb::cast<Path>(weights).bytes), {}, &options);
    return options;
  }
  if (nb::isinstance<nb::tuple>(weights)) {
    GiveDescribedWeights(program, nb::cast<nb::tuple>(weights), &options);
    return options;
  }
  if (!PyMapping_Check(weights.ptr()) || !nb::hasattr(weights, "keys"))
    throw nb::type_error(
        "weights must be the path of a .safetensors file, pdl.weights(...), or arrays by name");
  nb::dict all;
  OrHang([&] { all.update(weights); });
  for (auto [name, array] : all) {
    if (!nb::isinstance<nb::str>(name))
      throw nb::type_error("the name of a weight must be a string");
    GiveWeight(program, TextOf(name), CopyOf(array), &options);
  }
  return options;
}

void BindProgram(nb::module_& module) {
  nb::class_<Program>(module, "Program", "Compiled source, or a stored network.")
      .def_prop_ro("inputs", [](const Program& own) { return Describe(own.graph->inputs()); })
      .def_prop_ro("parameters",
                   [](const Program& own) { return Describe(own.graph->parameters()); })
      .def_prop_ro("states", [](const Program& own) { return Describe(own.graph->states()); })
      .def_prop_ro("outputs", &DescribeOutputs)
      .def_prop_ro("num_last_results", &CountLastResults)
      .def_prop_ro("num_trainings",
                   [](const Program& own) { return own.graph->trainings().size(); })
      .def_ro("source", &Program::source)
      .def_prop_ro("name", [](const Program& own) { return Path{own.name}; })
      .def_ro("settings", &Program::settings)
      .def_ro("files", &Program::files)
      .def_prop_ro("folder", [](const Program& own) { return Path{own.folder}; })
      .def_ro("warnings", &Program::warnings)
      .def_prop_ro("is_generated", &IsGenerated)
      .def("_store", &StoreProgram)
      .def(
          "text",
          [](const Program& own, bool loads) {
            EmitPdlOptions options;
            options.loads = loads;
            return EmitPdl(*own.graph, options);
          },
          nb::arg("loads") = true)
      .def("page", [](const Program& own) { return Shown(RenderProgram(own)); })
      .def("text_without", &TextWithout, nb::arg("inputs"))

      .def("ir", [](const Program& own) { return Shown(EmitIr(*own.graph)); })
      .def("dot", [](const Program& own) { return Shown(EmitDot(*own.graph)); });
  module.def("compile", &CompileGiven, nb::arg("text"), nb::arg("name") = "<text>",
             nb::arg("folder") = ".", nb::arg("settings") = Settings(), nb::arg("training") = false,
             nb::arg("files") = Files(), nb::arg("warn_unused") = false,
             nb::arg("is_generated") = false);
  module.def("restore_program", &RestoreProgram);
  module.def("load", &LoadFile, nb::arg("path"), nb::arg("settings") = Settings(),
             nb::arg("training") = false);
  module.def("load_bytes", &LoadBytes, nb::arg("data"), nb::arg("name"), nb::arg("folder"),
             nb::arg("settings"));
}

}  // namespace pdl::python
