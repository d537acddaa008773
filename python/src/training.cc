#include "training.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "errors.h"
#include "gil.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/passes.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/attribute.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/finite.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/train/averages.h"
#include "pdl/train/best_epoch.h"
#include "pdl/train/scaled_step.h"
#include "pdl/train/trainer.h"
#include "tensor.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

std::vector<double> NumbersIn(const Scope& scope, llvm::ArrayRef<std::string> names) {
  std::vector<double> values;
  for (const std::string& name : names)
    values.push_back(scope.Find(name)->Get<Tensor>()->ToConstant().ElementAsDouble(0));
  return values;
}

nb::dict Named(llvm::ArrayRef<std::string> names, llvm::ArrayRef<double> values) {
  nb::dict metrics;
  for (auto [name, value] : llvm::zip_equal(names, values)) metrics[name.c_str()] = value;
  return metrics;
}

llvm::Expected<DType> ReadPrecision(const std::string& name) {
  const DType dtype = DTypeFromName(name).value_or(DType::kBool);
  if (dtype != DType::kF32 && dtype != DType::kBF16 && dtype != DType::kF16)
    return MakeUserError(Code::kTrainingData, "precision must be f32, bf16 or f16, got {0}", name);
  return dtype;
}

/// Calls `check` with each scalar output of floats.
class LossObserver : public OutputObserver {
 public:
  explicit LossObserver(llvm::function_ref<llvm::Error(llvm::StringRef, double)> check)
      : check_(check) {}
  llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) override {
    if (!IsFloat(tensor.dtype()) || tensor.num_elements() != 1) return llvm::Error::success();
    return check_(name, tensor.ToConstant().ElementAsDouble(0));
  }

 private:
  llvm::function_ref<llvm::Error(llvm::StringRef, double)> check_;
};

/// The indices of all minimize statements.
std::vector<unsigned> AllStatements(const Graph& graph) {
  std::vector<unsigned> all(graph.trainings().size());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

PyTraining::PyTraining(const Program& program, const std::string& device, int threads,
                       nb::object weights, uint64_t seed, bool check_finite,
                       const std::string& precision, double average, PyRanks* ranks, bool has_parts,
                       bool cpu_sums)
    : program_(program),
      options_(OptionsFor(program, weights, seed)),
      feed_(*program.graph),
      ranks_(ranks),
      cpu_sums_(cpu_sums),
      has_parts_(has_parts),
      check_finite_(check_finite),
      average_(average) {
  options_.precision = Get(ReadPrecision(precision));
  Check(CheckAverage(average, *program_.graph));
  if (options_.precision == DType::kF16) scale_state_ = NameOfScale(*program_.graph);
  // States of the training that the network itself does not have.
  std::vector<std::string> own;
  if (has_parts_) own.push_back(runs_name_ = program_.graph->Clone().NewName("runs"));
  if (!scale_state_.empty()) own.insert(own.end(), {scale_state_, scale_state_ + ".good"});
  if (average > 0)
    for (const Value* parameter : program_.graph->parameters())
      own.push_back(AverageName(parameter->name()));
  std::optional<SafetensorsFile> saved;
  if (nb::isinstance<nb::str>(weights))
    if (const std::string path = nb::cast<Path>(weights).bytes;
        llvm::StringRef(path).ends_with(".safetensors") && !llvm::StringRef(path).contains('*'))
      saved = Get(SafetensorsFile::Open(path));
  for (const std::string& name : own)
    if (const SafetensorsFile::Entry* entry = saved ? saved->Find(name) : nullptr)
      options_.weights[name] = saved->Read(*entry);
  // Resumes from a checkpoint of Training.save: the number of steps determines which statements a
  // step performs, and the numbers of random operators.
  if (const auto step = options_.weights.find("step"); step != options_.weights.end()) {
    step_ = static_cast<int64_t>(step->second.ElementAsDouble(0));
    Network::SetRunCount(&scope_, static_cast<uint64_t>(step_.load()));
  }
  if (const auto runs = options_.weights.find(runs_name_); runs != options_.weights.end()) {
    Network::SetRunCount(&scope_, static_cast<uint64_t>(runs->second.ElementAsDouble(0)));
    options_.weights.erase(runs);
  }
  Device own_device = Get(DeviceFromName(device));
  if (ranks) {
    threads = ranks->ThreadsFor(threads);
    if (device == "cuda") own_device.index = ranks->OwnGpu();
  }
  context_ = Get(CreateDeviceContext(own_device, threads));
  const Graph step = Get(MakeStep(AllStatements(*program_.graph)));
  names_ = NamesOfMetrics(*program_.graph, step);
  if (saved && !saved->FindMetadata(kTrainingMetadata).empty()) CompareWith(*saved, step);
  if (const Value* counter = FindStepCounter(step)) step_counter_ = counter->name();
}

void PyTraining::CompareWith(const SafetensorsFile& saved, const Graph& step) {
  llvm::StringSet<> variables;
  if (has_parts_) variables.insert(runs_name_);
  for (const Value* variable : Variables(step)) variables.insert(variable->name());
  const auto is_known = [](const Dim& dim) { return dim.is_constant(); };
  for (const Value* variable : Variables(step))
    // A state whose size depends on data has no value before the first step.
    if (saved.Find(variable->name()) == nullptr && llvm::all_of(variable->type().dims, is_known))
      missing_.push_back(variable->name());
  for (const SafetensorsFile::Entry& entry : saved.entries())
    if (!variables.contains(entry.name)) unused_.push_back(entry.name);
  llvm::sort(unused_);
}

llvm::Expected<Graph> PyTraining::MakeStep(llvm::ArrayRef<unsigned> active) const {
  const Graph& graph = *program_.graph;
  if (graph.trainings().empty() && graph.updates().empty())
    return MakeUserError(Code::kBadMinimize,
                         "there is nothing to train: the network has no minimize statement and no "
                         "update");
  Graph step = graph.Clone();
  PassContext context{GlobalRegistry()};
  if (!graph.trainings().empty()) context.active = active;
  if (average_ > 0) context.averages = {average_, TrainedParameters(graph)};
  if (!scale_state_.empty()) context.scale.emplace().state = scale_state_;
  if (llvm::Error error = StepPipeline().Run(step, context)) return error;
  return step;
}

llvm::Expected<const PyTraining::StepNetwork*> PyTraining::Next() {
  std::vector<unsigned> active;
  for (unsigned i = 0; i < program_.graph->trainings().size(); ++i)
    if ((step_ + 1) % program_.graph->trainings()[i].every == 0) active.push_back(i);
  auto found = networks_.find(active);
  if (found != networks_.end()) return &found->second;
  llvm::Expected<Graph> step = MakeStep(active);
  if (!step) return step.takeError();
  StepNetwork made;
  for (const std::string& name : names_.all)
    if (llvm::any_of(step->outputs(), [&](const GraphOutput& each) { return each.name == name; }))
      made.metrics.push_back(name);
  if (has_parts_) {
    auto in_parts = MicroBatchStep::Create(
        *step, {.metrics = made.metrics, .scale_state = scale_state_}, options_, GlobalRegistry());
    if (!in_parts) return in_parts.takeError();
    made.in_parts = std::move(*in_parts);
  }
  auto network = Network::Create(std::move(*step), options_, GlobalRegistry());
  if (!network) return network.takeError();
  made.network = std::move(*network);
  return &networks_.emplace(std::move(active), std::move(made)).first->second;
}

llvm::Error PyTraining::PutInitialValues(const Network& network) {
  for (const Value* variable : Variables(network.graph())) {
    if (Held(variable->name())) continue;
    llvm::Expected<Tensor> value = network.InitialValue(variable->name());
    if (value) {
      scope_.Create(variable->name())->Set(std::move(*value));
    } else if (variable->kind() == ValueKind::kState) {
      // Its size is data-dependent, and no step has computed it.
      llvm::consumeError(value.takeError());
    } else {
      return value.takeError();
    }
  }
  return llvm::Error::success();
}

RunOptions PyTraining::OptionsOfRun() const {
  RunOptions run;
  run.training = true;
  run.check_finite = check_finite_;
  return run;
}

llvm::Expected<std::vector<double>> PyTraining::RunBatch(const StepNetwork& next,
                                                         const FedTensors& fed) {
  RunOptions run = OptionsOfRun();
  run.outputs = next.metrics;
  feed_.Put(fed, &scope_);
  // Outputs are seen before states change. On a GPU, that would interrupt the step.
  const auto check = [&](llvm::StringRef name, double value) { return CheckLoss(name, value); };
  LossObserver observer(check);
  llvm::Error error = [&]() -> llvm::Error {
    if (context_->device().kind == DeviceKind::kCPU && scale_state_.empty())
      run.output_observer = &observer;
    if (scale_state_.empty()) return next.network->Run(&scope_, context_.get(), run);
    std::vector<std::string> active;
    for (const std::string& name : next.metrics)
      if (llvm::is_contained(losses(), name)) active.push_back(name);
    return RunScaledStep(*next.network, scale_state_, active, run, &scope_, context_.get())
        .takeError();
  }();
  if (error) return error;
  return NumbersIn(scope_, next.metrics);
}

llvm::Expected<std::vector<double>> PyTraining::RunParts(const StepNetwork& next,
                                                         llvm::ArrayRef<FedTensors> fed,
                                                         BatchParts rows) {
  if (llvm::Error error = PutInitialValues(*next.network)) return error;
  MicroBatchStep::Batch batch;
  batch.parts = rows;
  if (ranks_) batch.communicator = ranks_->communicator();
  if (!cpu_sums_ && !has_joined_device_) {
    if (llvm::Error error = context_->JoinRanks(batch.communicator).moveInto(device_ranks_))
      return error;
    has_joined_device_ = true;
  }
  batch.device_ranks = device_ranks_.get();
  const FedTensors* part = fed.begin();
  const auto put = [&](int64_t) {
    feed_.Put(*part++, &scope_);
    return llvm::Error::success();
  };
  batch.put = put;
  batch.run = OptionsOfRun();
  batch.step = step_ + 1;
  const auto check = [&](llvm::ArrayRef<double> metrics) -> llvm::Error {
    for (auto [name, value] : llvm::zip_equal(next.metrics, metrics))
      if (llvm::Error error = CheckLoss(name, value)) return error;
    return llvm::Error::success();
  };
  if (scale_state_.empty()) batch.check = check;
  auto result = next.in_parts->Run(batch, &scope_, context_.get());
  if (!result) return result.takeError();
  return std::move(result->metrics);
}

llvm::Expected<std::vector<double>> PyTraining::RunStep(const StepNetwork& next,
                                                        llvm::ArrayRef<FedTensors> fed,
                                                        BatchParts rows) {
  if (!step_counter_.empty())
    scope_.Create(step_counter_)->Set(Tensor::FromValues<int64_t>(DType::kI64, {}, {step_.load()}));
  auto values = has_parts_ ? RunParts(next, fed, rows) : RunBatch(next, fed.front());
  for (const FedTensors& each : fed) feed_.Clear(each, &scope_);
  if (!values) return values;
  // The next step must not use an output of this one as the input with the same name.
  for (const std::string& name : next.metrics)
    if (const Value* value = program_.graph->FindValue(name);
        value && value->kind() == ValueKind::kInput)
      scope_.Erase(name);
  return values;
}

llvm::Expected<std::vector<double>> PyTraining::RunMeasure(const FedTensors& fed, uint64_t run) {
  if (!evaluation_) {
    NetworkOptions measured = options_;
    measured.precision = DType::kF32;
    auto made = Network::Create(MakeEvaluation(*program_.graph, names_), std::move(measured),
                                GlobalRegistry());
    if (!made) return made.takeError();
    evaluation_ = std::move(*made);
  }
  std::vector<NamedTensor> values;
  for (const Value* variable : Variables(evaluation_->graph()))
    if (const Tensor* tensor = Held(variable->name()))
      values.emplace_back(variable->name(), *tensor);
  auto find = [&](llvm::StringRef name) { return Held(name); };
  if (average_ > 0)
    if (llvm::Error error = TakeAverages(values, find, *context_)) return error;
  Scope own;
  for (auto& [name, tensor] : values) own.Create(name)->Set(std::move(tensor));
  feed_.Put(fed, &own);
  Network::SetRunCount(&own, run);
  RunOptions options;
  options.check_finite = check_finite_;
  options.outputs = names_.all;
  if (llvm::Error error = evaluation_->Run(&own, context_.get(), options)) return error;
  return NumbersIn(own, names_.all);
}

nb::tuple PyTraining::Measure(nb::handle batch, uint64_t run) {
  const FedTensors fed = feed_.Read(batch);
  llvm::Expected<std::vector<double>> values = [&] {
    WithoutGil without_gil;
    std::lock_guard lock(mutex_);
    return RunMeasure(fed, run);
  }();
  if (!values) Raise(feed_.WithConversion(values.takeError(), fed), program_.positions);
  return nb::make_tuple(Named(names_.all, *values), feed_.CountRows(fed));
}

llvm::Expected<std::vector<double>> PyTraining::StepOnce(llvm::ArrayRef<FedTensors> fed,
                                                         BatchParts rows,
                                                         const StepNetwork** next) {
  WithoutGil without_gil;
  std::lock_guard lock(mutex_);
  llvm::Expected<const StepNetwork*> found = Next();
  if (!found) return found.takeError();
  *next = *found;
  llvm::Expected<std::vector<double>> run = RunStep(**next, fed, rows);
  if (run) ++step_;
  return run;
}

llvm::Error PyTraining::CheckLoss(llvm::StringRef name, double value) const {
  if (std::isfinite(value) || !llvm::is_contained(losses(), name)) return llvm::Error::success();
  return MakeUserError(Code::kNotFinite, "the loss '{0}' is {1}", name, FloatToString(value));
}

nb::tuple PyTraining::FinishStep(llvm::Expected<std::vector<double>> values,
                                 const StepNetwork* next, const FedTensors& fed,
                                 int64_t rows) const {
  if (!values) Raise(feed_.WithConversion(values.takeError(), fed), program_.positions);
  for (auto [name, value] : llvm::zip_equal(next->metrics, *values)) Check(CheckLoss(name, value));
  return nb::make_tuple(Named(next->metrics, *values), rows);
}

nb::tuple PyTraining::Step(nb::handle batch) {
  const FedTensors fed = feed_.Read(batch);
  const StepNetwork* next = nullptr;
  auto values = StepOnce(fed, {}, &next);
  return FinishStep(std::move(values), next, fed, feed_.CountRows(fed));
}

nb::tuple PyTraining::StepInParts(nb::list parts, int64_t rows, int64_t micro_batch) {
  std::vector<FedTensors> fed;
  for (nb::handle part : parts) fed.push_back(feed_.Read(part));
  const StepNetwork* next = nullptr;
  auto values = StepOnce(fed, {rows, micro_batch}, &next);
  return FinishStep(std::move(values), next, fed.empty() ? FedTensors() : fed.front(), rows);
}

std::vector<std::string> PyTraining::RowInputs() const { return Get(feed_.RowInputs()); }

std::string PyTraining::Fingerprint() const {
  const Graph step = Get(MakeStep(AllStatements(*program_.graph)));
  const std::string bytes = Get(SerializeNetwork(step, {.locations = false}));
  return Sha256(Constant::Copy(DType::kU8, {static_cast<int64_t>(bytes.size())}, bytes.data()));
}

const Tensor* PyTraining::Held(llvm::StringRef name) const {
  const Variable* held = scope_.Find(name);
  return held == nullptr ? nullptr : held->Get<Tensor>();
}

nb::dict PyTraining::Values(bool averaged) {
  std::vector<NamedTensor> tensors;
  Check([&]() -> llvm::Error {
    WithoutGil without_gil;
    std::lock_guard lock(mutex_);
    llvm::Expected<const StepNetwork*> some = Next();
    if (!some) return some.takeError();
    for (const Value* variable : Variables((*some)->network->graph())) {
      const Tensor* tensor = Held(variable->name());
      llvm::Expected<Tensor> value =
          tensor ? OnHost(*tensor, *context_) : (*some)->network->InitialValue(variable->name());
      if (!value && variable->kind() == ValueKind::kState && !tensor) {
        // Its size is data-dependent, and no step has computed it.
        llvm::consumeError(value.takeError());
        continue;
      }
      if (!value) return value.takeError();
      tensors.emplace_back(variable->name(), std::move(*value));
    }
    auto find = [&](llvm::StringRef name) { return Held(name); };
    if (averaged && average_ > 0)
      if (llvm::Error error = TakeAverages(tensors, find, *context_)) return error;
    for (auto& [name, tensor] : tensors) {
      llvm::Expected<Tensor> value = OnHost(tensor, *context_);
      if (!value) return value.takeError();
      tensor = std::move(*value);
    }
    if (has_parts_)
      tensors.emplace_back(runs_name_,
                           Tensor::FromValues<int64_t>(
                               DType::kI64, {}, {static_cast<int64_t>(Network::RunCount(scope_))}));
    return llvm::Error::success();
  }());
  nb::dict values;
  for (auto& [name, tensor] : tensors) {
    // During a step it has the number of previous steps.
    if (name == step_counter_)
      tensor = Tensor::FromValues<int64_t>(DType::kI64, {}, {step_.load()});
    values[name.c_str()] = nb::cast(PyTensor{std::move(tensor), /*read_only=*/true});
  }
  return values;
}

void PyTraining::CheckParameters() {
  Check([&]() -> llvm::Error {
    WithoutGil without_gil;
    std::lock_guard lock(mutex_);
    llvm::Expected<const StepNetwork*> some = Next();
    if (!some) return some.takeError();
    for (const std::string& name : TrainedParameters(*program_.graph)) {
      const Tensor* held = Held(name);
      if (held == nullptr || given_.contains(name)) continue;
      llvm::Expected<Tensor> tensor = OnHost(*held, *context_);
      if (!tensor) return tensor.takeError();
      if (llvm::Error error = CheckLearned(*(*some)->network, *program_.graph->FindValue(name),
                                           *tensor, step_.load()))
        return error;
    }
    return llvm::Error::success();
  }());
}

void PyTraining::Set(const std::string& name, nb::handle array) {
  const Tensor tensor = Tensor::FromConstant(CopyOf(array));
  WithoutGil without_gil;
  std::lock_guard lock(mutex_);
  scope_.Create(name)->Set(tensor);
  if (FindNotFinite(tensor) >= 0) given_.insert(name);
}

/// Writes tensors on the CPU, the variables of a training, to a .safetensors file, by name.
void WriteTensors(const Path& path, nb::dict given) {
  std::vector<NamedTensor> tensors;
  for (auto [name, array] : given) {
    std::optional<Tensor> tensor = ImportTensor(array);
    if (!tensor) throw nb::type_error("expected an array");
    tensors.emplace_back(nb::cast<std::string>(name), std::move(*tensor));
  }
  Check(WriteSafetensors(path.bytes, tensors, {{kTrainingMetadata.str(), "1"}}));
}

/// Returns the name of a metric and whether larger values are better.
std::pair<std::string, bool> ParseMonitor(const std::string& text,
                                          const std::vector<std::string>& metrics) {
  Monitor monitor = Get(Monitor::Parse(text, metrics));
  return {std::move(monitor.name), monitor.larger_is_better};
}

void BindTraining(nb::module_& module) {
  module.def("parse_monitor", &ParseMonitor, nb::arg("text"), nb::arg("metrics"));
  nb::class_<BestEpoch>(module, "BestEpoch")
      .def(nb::init<bool>(), nb::arg("larger_is_better"))
      .def("update", &BestEpoch::Update, nb::arg("value").none(), nb::arg("larger_is_better"))
      .def("is_stale", &BestEpoch::IsStale, nb::arg("patience"))
      .def_ro("best", &BestEpoch::best);
  module.def("write_tensors", &WriteTensors, nb::arg("path"), nb::arg("tensors"));
  nb::class_<PyTraining>(module, "TrainingCore")
      .def(nb::init<const Program&, const std::string&, int, nb::object, uint64_t, bool,
                    const std::string&, double, PyRanks*, bool, bool>(),
           nb::keep_alive<1, 10>(), nb::arg("program"), nb::arg("device") = "cpu",
           nb::arg("threads") = 0, nb::arg("weights") = nb::none(), nb::arg("seed") = 0,
           nb::arg("check_finite") = false, nb::arg("precision") = "f32", nb::arg("average") = 0.0,
           nb::arg("ranks").none() = nb::none(), nb::arg("has_parts") = false,
           nb::arg("cpu_sums") = false)
      .def("step", &PyTraining::Step, nb::arg("batch"))
      .def("step_in_parts", &PyTraining::StepInParts, nb::arg("parts"), nb::arg("rows"),
           nb::arg("micro_batch"))
      .def_prop_ro("row_inputs", &PyTraining::RowInputs)
      .def_prop_ro("fingerprint", &PyTraining::Fingerprint)
      .def("measure", &PyTraining::Measure, nb::arg("batch"), nb::arg("run"))
      .def_prop_ro("metrics", [](const PyTraining& own) { return own.names().all; })
      .def_prop_ro("num_losses", [](const PyTraining& own) { return own.names().losses; })
      .def_prop_ro("steps", &PyTraining::step)
      .def_prop_ro("missing", &PyTraining::missing)
      .def_prop_ro("unused", &PyTraining::unused)
      .def("check_parameters", &PyTraining::CheckParameters)
      .def("set", &PyTraining::Set, nb::arg("name"), nb::arg("array"))
      .def("values", &PyTraining::Values, nb::arg("averaged") = false);
}

}  // namespace pdl::python
