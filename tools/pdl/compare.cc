// pdl compare: runs two networks side by side and reports where their values diverge.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/error.h"
#include "pdl/runtime/packed_value.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/compare/against.h"
#include "tools/pdl/compare/lockstep.h"
#include "tools/pdl/compare/report.h"
#include "tools/pdl/compare/sides.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl compare", "A [B] --input NAME=VALUE... [OPTION]...",
    R"(Runs two networks (.pdl, .pdlc, .onnx, or - for standard input) on the same inputs, or
one network on two devices, in two dtypes, in two precisions, or against results in a
file, and reports where their values diverge: the first value that differs, by how much,
and the source line that computes it; then the differences of the outputs.

Both run side by side, call by call, without fused groups. Values of the same name are
compared as soon as they are computed and are not kept. Parameters of the same name are
compared first. Two numbers are near if |a - b| <= atol + rtol * |b|, or within --ulp; if
none of the three is given, atol and rtol are 1e-5 (f64: 1e-10, f16: 1e-3, bf16: 1e-2,
integers: 0). Floats of two dtypes are compared in the less precise one; --precision-b
counts as the dtype of all floats of B.

Exit status: 0 no difference, 1 differences, 2 the networks could not be compared,
3 the device failed.
)",
    R"(pdl compare model.pdl model.pdlc --input x=x.npy
pdl compare model.onnx model.pdl --input x=random --size N=8
pdl compare model.pdl --device-b=cuda --input x=random --size N=8
pdl compare model.pdl --dtypes=f32,bf16 --input x=random --size N=8
pdl compare model.pdl --precision-b=bf16 --input x=random --size N=8
pdl compare model.pdl --against=out.npz --input batch.npz --rtol=1e-3
pdl compare old.pdl new.pdl --pair hidden=h --input x=random --ulp=4
)"};

constexpr int kNotCompared = 2;

struct CompareArguments {
  CommonOptions common;
  RunInputs inputs;
  Pairs pairs;
  std::vector<std::string> outputs;
  std::string weights_b, precision_b, against, format = "text";
  std::optional<Device> device_b;
  std::optional<DType> floats[2];
  Tolerance tolerance;
  bool lists_all = false;
};

void AddOptions(CommandLine& line, CompareArguments* arguments) {
  line.Section("Inputs and outputs");
  line.AddValues("-i, --input", "NAME=VALUE",
                 "feed both networks, as for pdl run; NAME is an input of A",
                 [arguments](llvm::StringRef text) { return arguments->inputs.Add(text); });
  line.AddValues("-o, --output", "NAME",
                 "compare only this output and the values that it depends on; may be repeated",
                 [arguments](llvm::StringRef text) {
                   arguments->outputs.push_back(text.str());
                   return llvm::Error::success();
                 });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &arguments->common);
  line.Section("The two sides");
  line.AddValue("--device-b", "cpu|cuda[:I]", "where B runs, or the second run of A",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  llvm::Expected<Device> device = DeviceFromName(text);
                  if (!device) {
                    llvm::consumeError(device.takeError());
                    return MakeUsageError("expected cpu, cuda or cuda:1, got '{0}'", text);
                  }
                  arguments->device_b = *device;
                  return llvm::Error::success();
                });
  line.AddValue("--dtypes", "A,B",
                "use one dtype for all floats of the first network and another one for those of "
                "the second, or of the same network: f32,bf16. Inputs and parameters are rounded",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  const auto [a, b] = text.split(',');
                  for (auto [name, target] :
                       {std::pair(a, &arguments->floats[0]), std::pair(b, &arguments->floats[1])}) {
                    const std::optional<DType> dtype = DTypeFromName(name);
                    if (!dtype || !IsFloat(*dtype))
                      return MakeUsageError(
                          "expected two float dtypes, such as f32,bf16, got "
                          "'{0}'",
                          text);
                    *target = *dtype;
                  }
                  return llvm::Error::success();
                });
  line.AddChoice("--precision-b", {"bf16", "f16"},
                 "as --precision of pdl run, for B, or for the second run of A",
                 &arguments->precision_b);
  line.AddString("--against", "FILE.npz",
                 "compare A with the arrays of a file (or FILE.safetensors), which are named after "
                 "outputs or other "
                 "values",
                 &arguments->against);
  line.AddValues("--pair", "A=B",
                 "compare the value, input or output A of the first network with B of the second; "
                 "may be repeated. By default, equal names are paired",
                 [arguments](llvm::StringRef text) { return arguments->pairs.Add(text); });
  line.AddString("--weights-b", "FILE", "as --weights, for B", &arguments->weights_b);
  AddToleranceOptions(line, &arguments->tolerance);
  line.Section("The report");
  line.AddFlag("--all", "list each compared value", &arguments->lists_all);
  line.AddChoice("--format", {"text", "json"},
                 "output format: 'text' (default), or one JSON object", &arguments->format);
  line.Section("The networks");
  AddNetworkOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The runs");
  AddRunOptions(line, &arguments->common);
  AddTrainingOption(line, &arguments->common);
  AddMessageOptions(line);
}

/// The results of calls, except those that are statically known to a Plan.
std::vector<std::string> ResultsInOrder(const Graph& graph) {
  std::vector<std::string> names;
  for (const Op* op : graph.ops())
    for (const Value* result : op->results())
      if (!IsKnownToPlan(result)) names.push_back(result->name());
  return names;
}

llvm::StringSet<> ResultsOf(const Graph& graph) {
  llvm::StringSet<> names;
  for (const std::string& name : ResultsInOrder(graph)) names.insert(name);
  return names;
}

/// Compares the initial values of parameters and states of the same name.
llvm::Error CompareVariables(const Side& first, const Side& second, const CompareArguments& a,
                             CompareReport& report) {
  const Graph &graph = first.network->graph(), &other = second.network->graph();
  for (const Value* variable : Variables(graph)) {
    const Value* partner = other.FindValue(a.pairs.SecondOf(variable->name()));
    if (!partner || partner->kind() != variable->kind()) continue;
    if (!variable->type().has_constant_dims() || !partner->type().has_constant_dims()) continue;
    llvm::Expected<Tensor> mine = first.network->InitialValue(variable->name());
    if (!mine) return mine.takeError();
    llvm::Expected<Tensor> theirs = second.network->InitialValue(partner->name());
    if (!theirs) return theirs.takeError();
    report.Add(CompareValues(ComparedValue::Kind::kVariable, variable->name(),
                             {*mine, "", PlaceOf(graph, *variable)},
                             {*theirs, "", PlaceOf(other, *partner)}, a.tolerance));
  }
  return llvm::Error::success();
}

void CompareOutputs(const Side& first, const Side& second, const CompareArguments& arguments,
                    CompareReport& report) {
  const Graph &graph = first.network->graph(), &other = second.network->graph();
  const auto is_selected = [&](llvm::StringRef name) {
    return arguments.outputs.empty() || llvm::is_contained(arguments.outputs, name);
  };
  for (const GraphOutput& output : graph.outputs()) {
    if (!is_selected(output.name)) continue;
    const GraphOutput* partner = other.FindOutput(arguments.pairs.SecondOf(output.name));
    if (!partner) {
      report.AddLone(output.name, /*in_first=*/true);
      continue;
    }
    for (const PartType& part : PartsOf(output.name, output.value->type())) {
      SeenValue mine = FindSeen(first.scope, PartName(output.name, part.part));
      SeenValue theirs = FindSeen(second.scope, PartName(partner->name, part.part));
      mine.place = PlaceOf(graph, *output.value);
      theirs.place = PlaceOf(other, *partner->value);
      report.Add(CompareValues(ComparedValue::Kind::kOutput, PartName(output.name, part.part), mine,
                               theirs, arguments.tolerance));
    }
  }
  for (const GraphOutput& output : other.outputs()) {
    const std::string name = arguments.pairs.FirstOf(output.name);
    if (is_selected(name) && !graph.FindOutput(name)) report.AddLone(output.name, false);
  }
}

RunOptions OptionsOf(const CompareArguments& arguments) {
  RunOptions options;
  options.training = arguments.common.training;
  options.outputs = arguments.outputs;
  return options;
}

llvm::Error CompareNetworks(Side& first, Side& second, CompareArguments& arguments,
                            CompareReport& report) {
  Pairs pairs = arguments.pairs;  // of values
  pairs.AddOutputs(first.network->optimized_graph(), second.network->optimized_graph());
  if (first.network != second.network)
    if (llvm::Error error = CompareVariables(first, second, arguments, report)) return error;
  const llvm::StringSet<> mine = ResultsOf(first.network->optimized_graph());
  const llvm::StringSet<> theirs = ResultsOf(second.network->optimized_graph());
  LockstepHandler handler;
  handler.observes = [&](llvm::StringRef name) {
    return mine.contains(name) && theirs.contains(pairs.SecondOf(name));
  };
  handler.compare = [&](llvm::StringRef name, const SeenValue& a, const SeenValue& b) {
    report.Add(CompareValues(ComparedValue::Kind::kCall, name, a, b, arguments.tolerance));
  };
  const RunOptions options = OptionsOf(arguments);
  RunOptions options_b = options;
  for (std::string& name : options_b.outputs) name = arguments.pairs.SecondOf(name);
  if (llvm::Error error =
          RunLockstep(first, second, pairs, options, options_b, handler, &report.left_out))
    return error;
  CompareOutputs(first, second, arguments, report);
  for (const std::string& name : ResultsInOrder(first.network->optimized_graph()))
    if (!theirs.contains(pairs.SecondOf(name))) report.only_in_first.push_back(name);
  for (const std::string& name : ResultsInOrder(second.network->optimized_graph()))
    if (!mine.contains(pairs.FirstOf(name))) report.only_in_second.push_back(name);
  return llvm::Error::success();
}

/// Returns true if they differ.
llvm::Expected<bool> Compare(llvm::ArrayRef<llvm::StringRef> files, CompareArguments& arguments) {
  Side first, second;
  first.path = files[0].str();
  first.options = arguments.common;
  first.floats = arguments.floats[0];
  if (llvm::Error error = Open(first)) return error;
  const bool is_file = !arguments.against.empty();
  if (!is_file) {
    const bool is_same = files.size() == 1;
    second.path = files.back().str();
    second.options = arguments.common;
    second.floats = arguments.floats[1];
    if (arguments.device_b) second.options.device = *arguments.device_b;
    second.options.precision = arguments.precision_b;
    if (!arguments.precision_b.empty()) arguments.tolerance.precision = PrecisionOf(second.options);
    if (!is_same || !arguments.weights_b.empty()) second.options.weights = arguments.weights_b;
    // A setting of one network need not exist in the other one.
    second.options.without_warnings = is_same;
    const bool can_share =
        is_same && !second.floats && arguments.weights_b.empty() && arguments.precision_b.empty();
    if (llvm::Error error = can_share ? OpenSame(first, second) : Open(second)) return error;
    if (llvm::Error error = arguments.pairs.Check(first, second)) return error;
  }
  if (llvm::Error error = is_file ? FeedOne(arguments.inputs, first)
                                  : FeedBoth(arguments.inputs, &arguments.pairs, first, second))
    return error;
  CompareReport report(first.Title(), is_file ? arguments.against : second.Title(),
                       arguments.format == "json", arguments.lists_all);
  if (llvm::Error error = is_file ? CompareWithFile(first, arguments.against, OptionsOf(arguments),
                                                    arguments.tolerance, report)
                                  : CompareNetworks(first, second, arguments, report))
    return error;
  report.Print(llvm::outs());
  return report.differs();
}

llvm::Error CheckArguments(const CommandLine& line, llvm::ArrayRef<llvm::StringRef> files,
                           const CompareArguments& arguments) {
  if (files.empty() || files.size() > 2) return line.Wrong("expected one or two networks");
  const bool reads_again =
      arguments.floats[0] || !arguments.weights_b.empty() || !arguments.precision_b.empty();
  const bool has_second = arguments.device_b || reads_again;
  if (!arguments.against.empty()) {
    if (files.size() == 2 || has_second || !arguments.pairs.is_empty())
      return line.Wrong("--against compares one unchanged network with a file");
    return llvm::Error::success();
  }
  if (arguments.floats[0] && !arguments.precision_b.empty())
    return line.Wrong("--dtypes and --precision-b cannot be given together");
  if (files.size() == 1 && !has_second)
    return line.Wrong(
        "only one network is given: give a second one, --device-b, --dtypes, --precision-b, "
        "--weights-b or --against");
  if (files.size() == 1 && files[0] == "-" && reads_again)
    return line.Wrong(
        "standard input can be read only once; --dtypes, --precision-b and --weights-b require a "
        "file");
  return llvm::Error::success();
}

}  // namespace

int CompareMain(Arguments arguments) {
  CompareArguments compare;
  CommandLine line(kHelp);
  AddOptions(line, &compare);
  line.AddSandbox();
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if (llvm::Error error = CheckArguments(line, **files, compare)) return Finish(std::move(error));
  llvm::Expected<bool> differ = Compare(**files, compare);
  if (!differ) return std::max<int>(kNotCompared, Finish(differ.takeError()));
  return *differ ? 1 : kSuccess;
}

}  // namespace pdl
