#include "network.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "errors.h"
#include "gil.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/storage.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/profile_report.h"
#include "tensor.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

/// The maximum size of the pool of Scopes.
constexpr size_t kMaxScopes = 64;

/// The number of runs of all eager calls, which share one sequence of random numbers.
std::shared_ptr<std::atomic<uint64_t>> SharedRuns() {
  static auto runs = std::make_shared<std::atomic<uint64_t>>(0);
  return runs;
}

/// Whether the calls of a block, or the bodies of its loops, sample random numbers.
bool IsRandom(const Graph& graph, BlockId block = {}) {
  return llvm::any_of(graph.block(block).ops, [&](const Op* op) {
    return op->def().properties().random ||
           llvm::any_of(op->attribute_values(), [&](const AttributeValue& value) {
             const auto* body = std::get_if<BlockId>(&value);
             return body && IsRandom(graph, *body);
           });
  });
}

constexpr const char* kInputsByName = "a network takes its inputs by name: net(x=…), or as a dict";

/// A dict with the items of a mapping; throws if it is not a mapping.
nb::dict Named(nb::handle mapping) {
  if (!PyMapping_Check(mapping.ptr()) || !nb::hasattr(mapping, "keys"))
    throw nb::type_error(kInputsByName);
  nb::dict all;
  OrHang([&] { all.update(mapping); });
  return all;
}

/// Whether one of the inputs is a value of a pdl.Graph.
bool HasGraphValue(const nb::dict& inputs) {
  // Not a static initializer: the import may release the GIL, and another thread would wait for the
  // initializer with the GIL.
  static PyObject* value = nullptr;
  if (!value) {
    nb::object imported =
        OrHang([] { return nb::object(nb::module_::import_("pdl._graph").attr("Value")); });
    value = imported.release().ptr();
  }
  PyObject *name = nullptr, *given = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(inputs.ptr(), &position, &name, &given))
    if (reinterpret_cast<PyObject*>(Py_TYPE(given)) == value) return true;
  return false;
}

std::shared_ptr<const Network> Create(const Program& program, NetworkOptions options) {
  auto network = [&] {
    WithoutGil without_gil;
    return Network::Create(program.graph->Clone(), std::move(options), GlobalRegistry());
  }();
  if (!network) Raise(network.takeError(), program.positions);
  return std::move(*network);
}

llvm::Expected<Tensor> Copied(const Tensor& tensor) {
  llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(tensor.dtype(), tensor.sizes());
  if (copy) std::memcpy(copy->raw(), tensor.raw(), static_cast<size_t>(tensor.num_bytes()));
  return copy;
}

/// Whether `value` is the initial value of the state.
bool IsFirstValue(const Network& network, const Value& state, const Tensor& value) {
  llvm::Expected<Tensor> first = network.InitialValue(state.name());
  if (!first) return llvm::consumeError(first.takeError()), false;
  return first->sizes() == value.sizes() &&
         (value.num_bytes() == 0 ||
          std::memcmp(first->raw(), value.raw(), static_cast<size_t>(value.num_bytes())) == 0);
}

DType ReadPrecision(const std::string& name) {
  const DType dtype = DTypeFromName(name).value_or(DType::kBool);
  if (dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16) return dtype;
  const std::string message = "precision must be f32, bf16 or f16, got " + name;
  throw nb::value_error(message.c_str());
}

RunOptions MakeRunOptions(std::vector<std::string> outputs, bool training, bool check_finite,
                          bool check_indices) {
  RunOptions options;
  options.outputs = std::move(outputs);
  options.training = training;
  options.check_finite = check_finite;
  options.check_indices = check_indices;
  return options;
}

}  // namespace

PyNetwork::PyNetwork(const Program& program, const std::string& device, int threads,
                     nb::object weights, uint64_t seed, bool at_once, const std::string& precision)
    : program_(program),
      threads_(threads),
      precision_(ReadPrecision(precision)),
      seed_(seed),
      feed_(*program.graph),
      at_once_(at_once) {
  NetworkOptions options = OptionsFor(program, weights, seed);
  std::vector<std::string> given;
  for (const auto& entry : options.weights) given.push_back(entry.getKey().str());
  given_ = std::make_shared<const std::vector<std::string>>(std::move(given));
  context_ = Get(CreateDeviceContext(Get(DeviceFromName(device)), threads));
  if (const std::string no_effect = SetPrecision(precision_, context_->device().kind, &options);
      !no_effect.empty()) {
    const std::string message = no_effect + "; the network runs in f32";
    CallIn("warnings", "warn", message, nb::arg("stacklevel") = 2);
  }
  network_ = Create(program, std::move(options));
  has_states_ = !program.graph->states().empty();
  if (IsRandom(*program.graph))
    random_runs_ = at_once ? SharedRuns() : std::make_shared<std::atomic<uint64_t>>(0);
  FindOutputs();
}

PyNetwork::PyNetwork(const PyNetwork& other)
    : program_(other.program_),
      threads_(other.threads_),
      precision_(other.precision_),
      context_(other.context_),
      feed_(other.feed_),
      outputs_(other.outputs_),
      output_parts_(other.output_parts_),
      has_states_(other.has_states_),
      at_once_(other.at_once_),
      random_runs_(other.random_runs_ ? std::make_shared<std::atomic<uint64_t>>(0) : nullptr) {
  std::lock_guard lock(other.mutex_);
  seed_ = other.seed_;
  network_ = other.network_;
  given_ = other.given_;
}

void PyNetwork::FindOutputs() {
  for (const GraphOutput& output : program_.graph->outputs()) {
    const auto first = static_cast<unsigned>(output_parts_.size());
    const Type& type = output.value->type();
    const Value* named = program_.graph->FindValue(output.name);
    const bool hides =
        named && (named->kind() == ValueKind::kInput || named->kind() == ValueKind::kParameter);
    for (const PartType& part : PartsOf(output.name, type))
      output_parts_.push_back({PartName(output.name, part.part), hides});
    outputs_.push_back({output.name, type.is_plain() ? "" : type.ToString(), Intern(output.name),
                        first, static_cast<unsigned>(output_parts_.size()) - first});
  }
}

uint64_t PyNetwork::seed() const {
  std::lock_guard lock(mutex_);
  return seed_;
}

std::shared_ptr<const Network> PyNetwork::network() const {
  std::lock_guard lock(mutex_);
  return network_;
}

std::pair<std::unique_ptr<Scope>, std::shared_ptr<const Network>> PyNetwork::Take() {
  std::lock_guard lock(mutex_);
  if (scopes_.empty()) return {std::make_unique<Scope>(), network_};
  std::unique_ptr<Scope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  return {std::move(scope), network_};
}

void PyNetwork::Return(std::unique_ptr<Scope> scope, const Network* network) {
  std::lock_guard lock(mutex_);
  if (scopes_.size() < kMaxScopes && network == network_.get()) scopes_.push_back(std::move(scope));
}

/// Adds a tensor for each of output_parts_ to `results`, an empty one for outputs that are not
/// requested.
llvm::Error PyNetwork::RunIn(const Network& network, Scope& scope, const FedTensors& fed,
                             const RunOptions& options, llvm::SmallVectorImpl<Tensor>& results) {
  feed_.Put(fed, &scope);
  if (random_runs_ && !has_states_) Network::SetRunCount(&scope, random_runs_->fetch_add(1));
  llvm::Error error = network.Run(&scope, context_.get(), options);
  if (!error) {
    for (const OutputPart& part : output_parts_) {
      llvm::Expected<Tensor> result = TakeOutput(network, part, scope);
      if (!result) {
        error = result.takeError();
        break;
      }
      results.push_back(std::move(*result));
    }
  }
  feed_.Clear(fed, &scope);
  return error;
}

llvm::Expected<Tensor> PyNetwork::TakeOutput(const Network& network, const OutputPart& part,
                                             Scope& scope) {
  Variable* variable = scope.FindLocal(part.name);
  const Tensor* held = variable ? variable->Get<Tensor>() : nullptr;
  if (!held) return Tensor();
  Tensor tensor = *held;
  if (part.hides)
    scope.Erase(part.name);
  else if (at_once_)
    variable->Clear();
  if (!has_states_) return tensor;
  for (const Value* state : network.graph().states()) {
    const Variable* kept = scope.FindLocal(state->name());
    const Tensor* value = kept ? kept->Get<Tensor>() : nullptr;
    if (value && value->raw() == tensor.raw() && tensor.num_bytes() > 0) return Copied(tensor);
  }
  return tensor;
}

std::string PyNetwork::OutputsFor(const FedTensors& fed) const {
  const Graph& graph = *program_.graph;
  const auto lacks = NeedsOf(graph, feed_.Missing(fed));
  std::string names;
  for (const GraphUpdate& update : graph.updates())
    if (lacks.contains(update.value)) return "";
  for (const GraphOutput& output : graph.outputs())
    if (!lacks.contains(output.value))
      names += (names.empty() ? "\"" : ", \"") + output.name + "\"";
  return names;
}

llvm::Error PyNetwork::WithHint(llvm::Error error, const FedTensors& fed,
                                const RunOptions& options) const {
  error = feed_.WithConversion(std::move(error), fed);
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
    const bool is_missing = e->code() == Code::kMissingInput && options.outputs.empty();
    const std::string names = is_missing ? OutputsFor(fed) : "";
    if (names.empty()) return llvm::Error(std::move(e));
    return MakeUserError(e->code(), "{0}; run(…, outputs=[{1}]) does not need it", e->text(),
                         names);
  });
}

llvm::SmallVector<nb::object, 2> PyNetwork::RunOn(const FedTensors& fed,
                                                  const RunOptions& options) {
  llvm::SmallVector<Tensor, 2> results;
  llvm::Error error = [&] {
    WithoutGil without_gil;
    if (has_states_) {
      std::lock_guard lock(run_mutex_);
      return RunIn(*this->network(), *states_, fed, options, results);
    }
    auto [scope, network] = Take();
    llvm::Error failed = RunIn(*network, *scope, fed, options, results);
    Return(std::move(scope), network.get());
    return failed;
  }();
  if (error) Raise(WithHint(std::move(error), fed, options), program_.positions);
  llvm::SmallVector<nb::object, 2> objects;
  for (const Output& output : outputs_) {
    if (!options.outputs.empty() && !llvm::is_contained(options.outputs, output.name)) {
      objects.emplace_back();
    } else if (output.type.empty()) {
      objects.push_back(nb::cast(PyTensor{std::move(results[output.first])}));
    } else {
      nb::list parts;
      for (unsigned i = 0; i < output.num_parts; ++i)
        parts.append(nb::cast(PyTensor{std::move(results[output.first + i])}));
      objects.push_back(CallIn("pdl._ragged", "of_parts", output.type, parts));
    }
  }
  return objects;
}

nb::dict PyNetwork::Run(nb::handle inputs, const RunOptions& options) {
  Current();
  nb::dict outputs;
  for (auto [output, object] : llvm::zip_equal(outputs_, RunOn(feed_.Read(inputs), options)))
    if (object.is_valid()) outputs[output.key] = std::move(object);
  return outputs;
}

nb::dict PyNetwork::Call(nb::args positional, nb::kwargs named) {
  static const RunOptions options;
  nb::dict all;
  if (positional.size() == 0) {
    all = named;
  } else {
    if (positional.size() > 1) throw nb::type_error(kInputsByName);
    all = Named(positional[0]);
    for (auto [name, given] : named) {
      if (all.contains(name)) {
        const std::string message = "input '" + TextOf(name) + "' is given twice";
        throw nb::type_error(message.c_str());
      }
      all[name] = given;
    }
  }
  if (HasGraphValue(all))
    return nb::cast<nb::dict>(CallIn("pdl._compose", "call", nb::find(*this), all));
  return Run(all, options);
}

std::string PyNetwork::Plan(const RunOptions& options,
                            const std::map<std::string, int64_t>& symbols) const {
  llvm::StringMap<int64_t> sizes;
  for (const auto& [symbol, size] : symbols) sizes[symbol] = size;
  return Get(network()->DescribePlan(context_.get(), options, sizes));
}

nb::tuple PyNetwork::Profile(nb::handle inputs, const RunOptions& options, int64_t runs) {
  Current();
  const FedTensors fed = feed_.Read(inputs);
  Scope scope;
  feed_.Put(fed, &scope);
  std::shared_ptr<const Network> network;
  // A first run, which is not measured, makes the plan.
  llvm::Error error = [&]() -> llvm::Error {
    WithoutGil without_gil;
    if (llvm::Error failed = CopyStates(&network, &scope)) return failed;
    return network->Run(&scope, context_.get(), options);
  }();
  if (error) Raise(WithHint(std::move(error), fed, options), program_.positions);
  TimedRuns timed;
  for (int64_t run = 0; run < runs; ++run) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    Check(
        [&] {
          WithoutGil without_gil;
          return timed.Run(*network, &scope, context_.get(), options);
        }(),
        program_.positions);
  }
  nb::list steps;
  for (const RunProfile::Step& step : timed.steps().steps())
    steps.append(nb::make_tuple(step.calls, step.result, Shown(step.place), step.layer,
                                step.seconds, static_cast<double>(step.runs) * step.cost.operations,
                                static_cast<double>(step.runs) * step.cost.bytes));
  std::string table;
  llvm::raw_string_ostream stream(table);
  std::optional<DevicePeak> peak;
  if (context_->device().kind == DeviceKind::kCPU) {
    WithoutGil without_gil;
    peak = MeasurePeak(static_cast<CPUContext&>(*context_));
  }
  ProfileReport(timed, peak).PrintTable(stream);
  return nb::make_tuple(steps, timed.seconds(), Shown(table));
}

llvm::Error PyNetwork::CopyStates(std::shared_ptr<const Network>* network, Scope* scope) {
  std::lock_guard run_lock(run_mutex_);
  *network = this->network();
  for (const Value* state : (*network)->graph().states()) {
    llvm::Expected<std::optional<Tensor>> now = StateNow(**network, *state);
    if (!now) return now.takeError();
    if (*now) scope->Create(state->name())->Set(std::move(**now));
  }
  return llvm::Error::success();
}

bool PyNetwork::IsGiven(const Value& state) const {
  std::lock_guard lock(mutex_);
  return state.variable().weight || llvm::is_contained(*given_, state.name());
}

llvm::Expected<std::optional<Tensor>> PyNetwork::StateNow(const Network& network,
                                                          const Value& state) const {
  const Variable* held = states_->FindLocal(state.name());
  if (const Tensor* tensor = held ? held->Get<Tensor>() : nullptr)
    return OnHost(*tensor, *context_);
  llvm::Expected<Tensor> first = network.InitialValue(state.name());
  if (first) return std::move(*first);
  llvm::consumeError(first.takeError());
  return std::nullopt;
}

llvm::Error PyNetwork::Save(const std::string& path) {
  WithoutGil without_gil;
  llvm::StringMap<Tensor> states;
  std::lock_guard run_lock(run_mutex_);
  const std::shared_ptr<const Network> network = this->network();
  for (const Value* state : network->graph().states()) {
    // A value with a data-dependent size cannot be loaded from a file.
    if (!state->type().has_constant_dims()) continue;
    llvm::Expected<std::optional<Tensor>> now = StateNow(*network, *state);
    if (!now) return now.takeError();
    if (!*now) continue;
    if (IsGiven(*state) || !IsFirstValue(*network, *state, **now))
      states[state->name()] = std::move(**now);
  }
  return SaveNetwork(*network, path, states);
}

void PyNetwork::Adopt(const PyNetwork& other, TrainingStep step) {
  WithoutGil without_gil;
  uint64_t seed = 0;
  std::shared_ptr<const Network> network;
  std::shared_ptr<const std::vector<std::string>> given;
  {
    std::lock_guard lock(other.mutex_);
    seed = other.seed_;
    network = other.network_;
    given = other.given_;
  }
  std::lock_guard run_lock(run_mutex_);
  std::lock_guard lock(mutex_);
  if (step < adopted_) return;
  adopted_ = step;
  seed_ = seed;
  network_ = std::move(network);
  given_ = std::move(given);
  scopes_.clear();
  states_ = std::make_unique<Scope>();
}

PyNetwork& PyNetwork::Current() {
  if (!learn_.is_valid()) return *this;
  // Removed first, since it uses this network.
  nb::object learn = std::move(learn_);
  try {
    CallPython(learn);
  } catch (...) {
    if (!learn_.is_valid()) learn_ = std::move(learn);
    throw;
  }
  return *this;
}

void PyNetwork::Reset() {
  WithoutGil without_gil;
  std::lock_guard lock(run_mutex_);
  states_ = std::make_unique<Scope>();
}

nb::dict PyNetwork::States() {
  std::vector<NamedTensor> tensors;
  Check([&]() -> llvm::Error {
    WithoutGil without_gil;
    std::lock_guard lock(run_mutex_);
    const std::shared_ptr<const Network> network = this->network();
    for (const Value* state : network->graph().states()) {
      llvm::Expected<std::optional<Tensor>> now = StateNow(*network, *state);
      if (!now) return now.takeError();
      if (*now) tensors.emplace_back(state->name(), std::move(**now));
    }
    return llvm::Error::success();
  }());
  nb::dict states;
  for (const auto& [name, tensor] : tensors)
    states[name.c_str()] = nb::cast(PyTensor{tensor, /*read_only=*/true});
  return states;
}

nb::dict PyNetwork::FirstValues() const {
  const std::shared_ptr<const Network> network = this->network();
  nb::dict values;
  for (const Value* variable : Variables(network->graph())) {
    if (variable->kind() == ValueKind::kState && !IsGiven(*variable)) continue;
    const Tensor first = Get(network->InitialValue(variable->name()));
    values[variable->name().c_str()] = nb::cast(PyTensor{first, /*read_only=*/true});
  }
  return values;
}

void PyNetwork::SetState(const std::string& name, nb::handle array) {
  const Tensor tensor = Tensor::FromConstant(CopyOf(array));
  WithoutGil without_gil;
  std::lock_guard lock(run_mutex_);
  states_->Create(name)->Set(tensor);
}

void PyNetwork::SetParameter(const std::string& name, nb::handle array) {
  Constant value = CopyOf(array);
  Check(
      [&]() -> llvm::Error {
        WithoutGil without_gil;
        std::lock_guard run_lock(run_mutex_);
        const std::shared_ptr<const Network> before = network();
        NetworkOptions options;
        options.seed = seed_;
        static_cast<void>(SetPrecision(precision_, context_->device().kind, &options));
        for (const Value* variable : Variables(before->graph())) {
          llvm::Expected<Tensor> first = before->InitialValue(variable->name());
          if (first)
            options.weights[variable->name()] = first->ToConstant();
          else
            llvm::consumeError(first.takeError());  // A state with a data-dependent size.
        }
        options.weights[name] = std::move(value);
        auto made = Network::Create(before->graph().Clone(), std::move(options), GlobalRegistry());
        if (!made) return made.takeError();
        std::lock_guard lock(mutex_);
        network_ = std::move(*made);
        scopes_.clear();
        return llvm::Error::success();
      }(),
      program_.positions);
}

void BindNetwork(nb::module_& module) {
  nb::class_<PyNetwork>(module, "NetworkCore", nb::is_weak_referenceable())
      .def(nb::init<const Program&, const std::string&, int, nb::object, uint64_t, bool,
                    const std::string&>(),
           nb::arg("program"), nb::arg("device") = "cpu", nb::arg("threads") = 0,
           nb::arg("weights") = nb::none(), nb::arg("seed") = 0, nb::arg("at_once") = false,
           nb::arg("precision") = "f32")
      .def(
          "__init__",
          [](PyNetwork* own, PyNetwork& other) { new (own) PyNetwork(other.Current()); },
          nb::arg("other"))
      .def("__call__", &PyNetwork::Call)
      .def(
          "_run",
          [](PyNetwork& own, nb::handle inputs, std::vector<std::string> outputs, bool training,
             bool check_finite, bool check_indices) {
            return own.Run(Named(inputs), MakeRunOptions(std::move(outputs), training, check_finite,
                                                         check_indices));
          },
          nb::arg("inputs").none(), nb::arg("outputs"), nb::arg("training"),
          nb::arg("check_finite"), nb::arg("check_indices"))
      .def_prop_ro("program", &PyNetwork::program)
      .def_prop_ro("_threads", &PyNetwork::threads)
      .def_prop_ro("_seed", &PyNetwork::seed)
      .def_prop_ro("precision", &PyNetwork::precision,
                   "The dtype in which f32 matmuls and convolutions are computed, if the device "
                   "has it.")
      .def_prop_ro("device", &PyNetwork::device, "The device on which it runs: 'cpu', 'cuda:0'.")
      .def("_value",
           [](PyNetwork& own, const std::string& name) {
             return PyTensor{Get(own.Current().network()->InitialValue(name)), /*read_only=*/true};
           })
      .def(
          "_plan",
          [](const PyNetwork& own, bool training, std::map<std::string, int64_t> symbols) {
            return Shown(own.Plan(MakeRunOptions({}, training, false, false), symbols));
          },
          nb::arg("training"), nb::arg("symbols"))
      .def(
          "_profile",
          [](PyNetwork& own, nb::handle inputs, std::vector<std::string> outputs, bool training,
             int64_t runs) {
            return own.Profile(Named(inputs),
                               MakeRunOptions(std::move(outputs), training, false, false), runs);
          },
          nb::arg("inputs").none(), nb::arg("outputs"), nb::arg("training"), nb::arg("runs"))
      .def("_adopt", &PyNetwork::Adopt, nb::arg("other"), nb::arg("step"))
      .def("_learn_from", &PyNetwork::LearnFrom)
      .def("_save", [](PyNetwork& own, const Path& path) { Check(own.Current().Save(path.bytes)); })
      .def(
          "reset", [](PyNetwork& own) { own.Current().Reset(); },
          "Resets all states to their initial values: those of weights= or of the last training, "
          "or "
          "else of the source.")
      .def("_first_values", [](PyNetwork& own) { return own.Current().FirstValues(); })
      .def("_states", [](PyNetwork& own) { return own.Current().States(); })
      .def("_set_state", [](PyNetwork& own, const std::string& name,
                            nb::handle array) { own.Current().SetState(name, array); })
      .def("_set_parameter", [](PyNetwork& own, const std::string& name, nb::handle array) {
        own.Current().SetParameter(name, array);
      });
  module.def(
      "begin_draws", [] { SharedRuns()->store(0); },
      "Restarts the sequence of random numbers of eager calls.");
}

}  // namespace pdl::python
