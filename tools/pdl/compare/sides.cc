#include "tools/pdl/compare/sides.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/packed_value.h"
#include "tools/pdl/compare/copy_calls.h"
#include "tools/pdl/support/elements.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

/// Copies the parts of an input into another Scope, if the input was given.
llvm::Error FeedPart(const Scope& from, llvm::StringRef from_name, const PartType& part,
                     llvm::StringRef name, Side& side) {
  const Variable* variable = from.Find(PartName(from_name, part.part));
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  if (tensor == nullptr) return llvm::Error::success();
  const DType requested = part.type.dtype;
  if (tensor->dtype() != requested && !(IsFloat(tensor->dtype()) && IsFloat(requested))) {
    return MakeUserError(Code::kInputType, "input '{0}' of {1} is {2}, and the fed value is {3}",
                         name, side.path, part.type.ToString(), tensor->TypeString());
  }
  side.scope.Create(PartName(name, part.part))
      ->Set(tensor->dtype() == requested ? Tensor(*tensor) : CastFloats(*tensor, requested));
  return llvm::Error::success();
}

llvm::Error FeedFrom(const Scope& fed, const Side& first, const Pairs* pairs, Side& side) {
  llvm::Error errors = llvm::Error::success();
  const llvm::ArrayRef<Value*> given = first.loaded->graph().inputs();
  for (const Value* input : side.network->graph().inputs()) {
    const std::string name =
        &side == &first || pairs == nullptr ? input->name() : pairs->FirstOf(input->name());
    const bool is_there = llvm::any_of(given, [&](const Value* v) { return v->name() == name; });
    if (!is_there) {
      std::vector<std::string> names;
      for (const Value* value : given) names.push_back(value->name());
      errors = llvm::joinErrors(
          std::move(errors),
          MakeUserError(
              Code::kMissingInput, "{0} has the input '{1}', but {2} has {3}{4}", side.path,
              input->name(), first.path, names.empty() ? "no inputs" : llvm::join(names, ", "),
              pairs == nullptr ? ""
                               : ": pair it with one of them by --pair NAME=" + input->name()));
      continue;
    }
    for (const PartType& part : PartsOf(input->name(), input->type()))
      errors = llvm::joinErrors(std::move(errors), FeedPart(fed, name, part, input->name(), side));
  }
  return errors;
}

/// The names that --pair can refer to, of values as they are compared and as the source names them.
std::vector<std::string> NamesOf(const Side& side) {
  std::vector<std::string> names;
  for (const Graph* graph : {&side.network->graph(), &side.network->optimized_graph()}) {
    for (const GraphOutput& output : graph->outputs()) names.push_back(output.name);
    for (const Value* input : graph->inputs()) names.push_back(input->name());
    for (const Value* variable : Variables(*graph)) names.push_back(variable->name());
    for (const Op* op : graph->ops())
      for (const Value* result : op->results()) names.push_back(result->name());
  }
  return names;
}

}  // namespace

llvm::Error Pairs::Add(llvm::StringRef argument) {
  const auto [first, second] = argument.split('=');
  if (first.empty() || second.empty())
    return MakeUsageError("expected two names, such as hidden=h, got '{0}'", argument);
  if (!second_of_.try_emplace(first, second.str()).second)
    return MakeUsageError("'{0}' is paired twice", first);
  if (!first_of_.try_emplace(second, first.str()).second)
    return MakeUsageError("'{0}' is paired twice", second);
  return llvm::Error::success();
}

void Pairs::AddOutputs(const Graph& first, const Graph& second) {
  const Pairs given = *this;
  for (const GraphOutput& output : first.outputs()) {
    const GraphOutput* partner = second.FindOutput(given.SecondOf(output.name));
    if (!partner || output.value->kind() != ValueKind::kResult ||
        partner->value->kind() != ValueKind::kResult)
      continue;
    const llvm::StringRef a = output.value->name(), b = partner->value->name();
    if (a == b || second_of_.contains(a) || first_of_.contains(b)) continue;
    second_of_[a] = b.str();
    first_of_[b] = a.str();
  }
}

llvm::Error Pairs::Check(const Side& first, const Side& second) const {
  llvm::Error errors = llvm::Error::success();
  for (const auto& [side, pairs] :
       {std::pair(&first, &second_of_), std::pair(&second, &first_of_)}) {
    const std::vector<std::string> known = NamesOf(*side);
    const std::vector<llvm::StringRef> names(known.begin(), known.end());
    for (const auto& pair : *pairs) {
      if (llvm::is_contained(names, pair.first())) continue;
      errors = llvm::joinErrors(
          std::move(errors),
          MakeUserError(Code::kUnknownName, "--pair: {0} has no value '{1}'{2}", side->path,
                        pair.first(), DidYouMean(pair.first(), names)));
    }
  }
  return errors;
}

std::string Pairs::Lookup(const llvm::StringMap<std::string>& to,
                          const llvm::StringMap<std::string>& back, llvm::StringRef name) {
  const auto found = to.find(name);
  if (found != to.end()) return found->second;
  // A name of the second network that is paired with another value has no partner of the same name.
  return back.count(name) != 0 ? std::string() : name.str();
}

std::string Side::Title() const {
  std::string title = path;
  if (options.device.kind != DeviceKind::kCPU) title += " on " + DeviceToString(options.device);
  if (floats) title += (" in " + DTypeName(*floats)).str();
  if (!options.precision.empty()) title += " with --precision=" + options.precision;
  return title;
}

llvm::Error Open(Side& side) {
  auto context = OpenDevice(side.options);
  if (!context) return context.takeError();
  side.context = std::move(*context);
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(side.path, side.options);
  if (!loaded) return loaded.takeError();
  if (side.options.training_step)
    if (llvm::Error error = MakeStep(loaded->graph, side.options)) return error;
  auto network = CreateNetwork(std::move(*loaded), side.options);
  if (!network) return network.takeError();
  side.network = side.loaded = std::move(*network);
  if (!side.floats) return llvm::Error::success();
  llvm::Expected<Graph> converted = ConvertFloats(side.loaded->graph(), *side.floats);
  if (!converted) return converted.takeError();
  NetworkOptions options;
  options.seed = side.options.seed;
  llvm::Expected<llvm::StringMap<Constant>> values = InitialValues(*side.loaded);
  if (!values) return values.takeError();
  for (auto& entry : *values)
    if (IsFloat(entry.second.dtype()))
      entry.second = CastFloats(Tensor::FromConstant(entry.second), *side.floats).ToConstant();
  options.weights = std::move(*values);
  auto made = Network::Create(std::move(*converted), std::move(options), GlobalRegistry());
  if (!made) return made.takeError();
  side.network = std::move(*made);
  return llvm::Error::success();
}

llvm::Error OpenSame(const Side& opened, Side& side) {
  auto context = OpenDevice(side.options);
  if (!context) return context.takeError();
  side.context = std::move(*context);
  side.network = opened.network;
  side.loaded = opened.loaded;
  return llvm::Error::success();
}

llvm::Expected<llvm::StringMap<Constant>> InitialValues(const Network& network) {
  llvm::StringMap<Constant> values;
  for (const Value* variable : Variables(network.graph())) {
    if (!variable->type().has_constant_dims()) continue;
    llvm::Expected<Tensor> value = network.InitialValue(variable->name());
    if (!value) return value.takeError();
    values[variable->name()] = value->ToConstant();
  }
  return values;
}

llvm::Error FeedBoth(RunInputs& inputs, const Pairs* pairs, Side& first, Side& second) {
  Scope fed;
  llvm::Error errors = inputs.Feed(first.loaded->graph(), first.options, &fed);
  errors = llvm::joinErrors(std::move(errors), FeedFrom(fed, first, pairs, first));
  return llvm::joinErrors(std::move(errors), FeedFrom(fed, first, pairs, second));
}

llvm::Error FeedOne(RunInputs& inputs, Side& side) {
  Scope fed;
  llvm::Error errors = inputs.Feed(side.loaded->graph(), side.options, &fed);
  return llvm::joinErrors(std::move(errors), FeedFrom(fed, side, nullptr, side));
}

}  // namespace pdl
