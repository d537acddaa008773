#include "pdl/trainer.h"

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/error.h"
#include "pdl/serialize.h"
#include "pdl/training.h"
#include "runtime/evaluator.h"
#include "runtime/training/batch.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/measured.h"
#include "runtime/training/shuffle.h"

namespace pdl {
namespace {

/// Everything that decides how the run goes on. Holds the tensors of that moment, which later steps
/// do not write over.
struct Snapshot {
  std::vector<NamedTensor> tensors;
  TrainingProgress progress;
};

using Clock = std::chrono::steady_clock;

bool HasFixedSize(const Type& type) {
  return llvm::all_of(type.dims, [](const Dim& dim) { return dim.is_constant(); });
}

/// The part of a step's network that the trainer keeps in the Scope: states, and parameters that an
/// update changes.
std::vector<const Value*> KeptValues(const Graph& step) {
  std::vector<const Value*> kept(step.states().begin(), step.states().end());
  for (const GraphUpdate& update : step.updates())
    if (update.state->kind() == ValueKind::kParameter) kept.push_back(update.state);
  return kept;
}

/// The network of a step that does the minimize statements `active`.
llvm::Expected<Graph> MakeStep(const Graph& network, llvm::ArrayRef<unsigned> active) {
  if (network.trainings().empty()) {
    if (network.updates().empty())
      return MakeUserError(Code::kBadMinimize,
                           "there is nothing to train: the network has no minimize statement, and "
                           "no update");
    return network.Clone();
  }
  return MakeTrainingStep(network, active);
}

const Tensor* FindTensor(const Scope& scope, llvm::StringRef name) {
  const Variable* variable = scope.Find(name);
  return variable ? variable->Get<Tensor>() : nullptr;
}

}  // namespace

struct Trainer::Impl {
  Impl(const Graph& graph, Dataset data_in, TrainerOptions options_in, DeviceContext* context_in,
       const OpRegistry& registry_in)
      : network(graph.Clone()),
        data(std::move(data_in)),
        options(std::move(options_in)),
        context(*context_in),
        registry(registry_in),
        batch(data) {}

  /// What a step runs, and which metrics it gives, by their place in names.all.
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> outputs;
    std::vector<size_t> metrics;
  };

  llvm::Error MakeNetworks();
  llvm::Expected<StepNetwork> MakeStepNetwork(Graph step) const;
  /// The network of the next step.
  llvm::Expected<const StepNetwork*> NextNetwork();
  llvm::Error Begin();
  llvm::Error CheckOptions() const;
  int64_t BatchesInEpoch() const {
    return (progress.rows + (options.drop_last ? 0 : options.batch_size - 1)) / options.batch_size;
  }
  bool AtEndOfEpoch() const { return progress.batch == BatchesInEpoch(); }
  bool IsAtLimit() const {
    return (options.epochs > 0 && progress.epoch >= options.epochs) ||
           (options.steps > 0 && progress.step >= options.steps);
  }
  llvm::ArrayRef<int64_t> NextRows();
  llvm::Expected<StepReport> Step();
  llvm::Expected<std::vector<Metric>> Evaluate(const Dataset& measured_data);
  llvm::Expected<EpochReport> MeasureEpoch();
  llvm::Expected<TrainingEnd> Train(const TrainingCallbacks& callbacks);
  llvm::Expected<TrainingEnd> Loop(const TrainingCallbacks& callbacks);

  Snapshot TakeSnapshot() const;
  llvm::Error Write(llvm::StringRef path, const Snapshot& snapshot) const;
  llvm::Error SaveLast();
  /// Writes what was put off.
  llvm::Error Flush();
  std::string FileOf(llvm::StringRef name) const { return options.folder + "/" + name.str(); }
  llvm::Error Resume(llvm::StringRef path);

  void BeginEpoch() {
    progress.batch = 0;
    progress.sums.assign(names.all.size(), 0);
    progress.summed_rows.assign(names.all.size(), 0);
    has_order = false;
  }

  const Graph network;
  const Dataset data;
  std::optional<Dataset> validation;
  TrainerOptions options;
  DeviceContext& context;
  const OpRegistry& registry;
  /// By the minimize statements that are done; `every` leaves some out. The states are the same.
  std::map<std::vector<unsigned>, StepNetwork> steps;
  /// That of all minimize statements.
  std::shared_ptr<const Network> step_network;
  std::shared_ptr<const Network> evaluation;
  std::string fingerprint;
  MetricNames names;
  std::string watched;  // which metric says what is best
  std::vector<std::string> warnings;
  /// The state that counts steps, where nothing in the network does.
  const Value* step_counter = nullptr;

  Scope scope;
  Batch batch;
  TrainingProgress progress;
  std::vector<int64_t> order;  // of the rows in this epoch
  bool has_order = false;

  std::optional<Snapshot> pending_last, pending_best;
  std::optional<Clock::time_point> last_write;
};

llvm::Error Trainer::Impl::CheckOptions() const {
  auto wrong = [](const char* format, auto... arguments) {
    return MakeUserError(Code::kTrainingData, format, arguments...);
  };
  if (options.batch_size < 1)
    return wrong("a batch has at least 1 row, got {0}", options.batch_size);
  if (options.epochs < 0 || options.steps < 0 || options.epochs + options.steps == 0)
    return wrong("training ends after some epochs or steps: one of the two must be larger than 0");
  if (BatchesInEpoch() == 0)
    return wrong("{0} has {1} rows, fewer than a batch of {2}, and short batches are left out",
                 data.source(), data.num_rows(), options.batch_size);
  return llvm::Error::success();
}

llvm::Expected<Trainer::Impl::StepNetwork> Trainer::Impl::MakeStepNetwork(Graph step) const {
  StepNetwork made;
  for (size_t i = 0; i < names.all.size(); ++i) {
    const bool is_there = llvm::any_of(
        step.outputs(), [&](const GraphOutput& output) { return output.name == names.all[i]; });
    if (!is_there) continue;
    made.outputs.push_back(names.all[i]);
    made.metrics.push_back(i);
  }
  auto created = Network::Create(std::move(step), options.network, registry);
  if (!created) return created.takeError();
  made.network = std::move(*created);
  return made;
}

llvm::Error Trainer::Impl::MakeNetworks() {
  std::vector<unsigned> all;
  for (unsigned i = 0; i < network.trainings().size(); ++i) all.push_back(i);
  llvm::Expected<Graph> step = MakeStep(network, all);
  if (!step) return step.takeError();
  llvm::Expected<std::string> bytes = SerializeNetwork(*step, {.locations = false});
  if (!bytes) return bytes.takeError();
  fingerprint =
      Sha256(Constant::Copy(DType::kU8, {static_cast<int64_t>(bytes->size())}, bytes->data()));
  names = NamesOfMetrics(network, *step);
  llvm::Expected<StepNetwork> made = MakeStepNetwork(std::move(*step));
  if (!made) return made.takeError();
  step_network = made->network;
  step_counter = FindStepCounter(step_network->graph());
  steps.emplace(std::move(all), std::move(*made));
  auto created = Network::Create(MakeEvaluation(network, names), options.network, registry);
  if (!created) return created.takeError();
  evaluation = std::move(*created);
  return llvm::Error::success();
}

llvm::Expected<const Trainer::Impl::StepNetwork*> Trainer::Impl::NextNetwork() {
  std::vector<unsigned> active;
  for (unsigned i = 0; i < network.trainings().size(); ++i)
    if ((progress.step + 1) % network.trainings()[i].every == 0) active.push_back(i);
  auto found = steps.find(active);
  if (found == steps.end()) {
    llvm::Expected<Graph> step = MakeStep(network, active);
    if (!step) return step.takeError();
    llvm::Expected<StepNetwork> made = MakeStepNetwork(std::move(*step));
    if (!made) return made.takeError();
    found = steps.emplace(std::move(active), std::move(*made)).first;
  }
  return &found->second;
}

llvm::Error Trainer::Impl::Begin() {
  progress.seed = options.seed;
  progress.rows = data.num_rows();
  progress.batch_size = options.batch_size;
  progress.shuffle = options.shuffle;
  progress.drop_last = options.drop_last;
  if (options.monitor_largest) progress.best = -progress.best;
  BeginEpoch();
  if (llvm::Error error = CheckOptions()) return error;
  if (!options.monitor.empty()) {
    const auto found = llvm::find(names.all, options.monitor);
    if (found == names.all.end()) {
      std::vector<llvm::StringRef> known(names.all.begin(), names.all.end());
      const llvm::StringRef near = NearestName(options.monitor, known);
      return MakeUserError(Code::kUnknownName, "no loss or metric is called '{0}'{1}",
                           options.monitor,
                           !near.empty() ? ", did you mean '" + near.str() + "'?"
                                         : "; there are " + llvm::join(names.all, ", "));
    }
  }
  watched = !options.monitor.empty() ? options.monitor : names.all.empty() ? "" : names.all[0];
  progress.watched = watched + (options.monitor_largest ? ":max" : "");
  if (options.patience > 0 && names.all.empty())
    return MakeUserError(Code::kTrainingData,
                         "the network has no loss and no metric that could say when to end early");
  for (const Value* value : KeptValues(step_network->graph())) {
    if (!HasFixedSize(value->type())) continue;
    llvm::Expected<Tensor> initial = step_network->InitialValue(value->name());
    if (!initial) return initial.takeError();
    scope.Create(value->name())->Set(std::move(*initial));
  }
  return llvm::Error::success();
}

llvm::ArrayRef<int64_t> Trainer::Impl::NextRows() {
  if (!has_order) {
    if (options.shuffle) {
      order = ShuffledRows(progress.rows, options.seed, static_cast<uint64_t>(progress.epoch));
    } else {
      order.resize(static_cast<size_t>(progress.rows));
      for (int64_t row = 0; row < progress.rows; ++row) order[static_cast<size_t>(row)] = row;
    }
    has_order = true;
  }
  const int64_t begin = progress.batch * options.batch_size;
  const int64_t count = std::min(options.batch_size, progress.rows - begin);
  return llvm::ArrayRef<int64_t>(order).slice(static_cast<size_t>(begin),
                                              static_cast<size_t>(count));
}

llvm::Expected<StepReport> Trainer::Impl::Step() {
  if (AtEndOfEpoch()) {
    ++progress.epoch;
    BeginEpoch();
  }
  llvm::Expected<const StepNetwork*> next = NextNetwork();
  if (!next) return next.takeError();
  const llvm::ArrayRef<int64_t> rows = NextRows();
  if (llvm::Error error = batch.Put(rows, &scope)) return error;
  if (step_counter)
    scope.Create(step_counter->name())
        ->Set(Tensor::FromValues<int64_t>(DType::kI64, {}, {progress.step}));
  RunOptions run;
  run.training = true;
  run.check_finite = options.check_finite;
  run.outputs = (*next)->outputs;
  if (llvm::Error error = (*next)->network->Run(&scope, &context, run)) {
    return llvm::handleErrors(std::move(error), [&](const UserError& e) {
      return MakeUserError(e.code(), "step {0}: {1}", progress.step + 1, e.text());
    });
  }
  StepReport report;
  report.step = ++progress.step;
  report.epoch = progress.epoch + 1;
  report.batch = ++progress.batch;
  report.batches = BatchesInEpoch();
  report.rows = static_cast<int64_t>(rows.size());
  for (size_t i : (*next)->metrics) {
    const double value = FindTensor(scope, names.all[i])->ToConstant().ElementAsDouble(0);
    report.metrics.push_back({names.all[i], value});
    progress.sums[i] += value * static_cast<double>(report.rows);
    progress.summed_rows[i] += report.rows;
    if (i >= names.losses || std::isfinite(value)) continue;
    return MakeUserError(Code::kNotFinite, "the loss '{0}' is {1} in step {2}, of epoch {3}",
                         names.all[i], std::isnan(value) ? "nan" : FloatToString(value),
                         report.step, report.epoch);
  }
  return report;
}

llvm::Expected<std::vector<Metric>> Trainer::Impl::Evaluate(const Dataset& measured_data) {
  Scope own;
  for (const auto& values : {evaluation->graph().parameters(), evaluation->graph().states()})
    for (const Value* value : values)
      if (const Tensor* tensor = FindTensor(scope, value->name()))
        own.Create(value->name())->Set(*tensor);
  Batch rows(measured_data);
  RunOptions run;
  run.check_finite = options.check_finite;
  for (const GraphOutput& output : evaluation->graph().outputs())
    run.outputs.push_back(output.name);
  std::vector<double> sums(run.outputs.size(), 0);
  std::vector<int64_t> places;
  for (int64_t begin = 0; begin < measured_data.num_rows(); begin += options.batch_size) {
    const int64_t end = std::min(measured_data.num_rows(), begin + options.batch_size);
    places.clear();
    for (int64_t row = begin; row < end; ++row) places.push_back(row);
    if (llvm::Error error = rows.Put(places, &own)) return error;
    if (llvm::Error error = evaluation->Run(&own, &context, run)) return error;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += FindTensor(own, run.outputs[i])->ToConstant().ElementAsDouble(0) *
                 static_cast<double>(end - begin);
  }
  std::vector<Metric> metrics;
  for (size_t i = 0; i < sums.size(); ++i)
    metrics.push_back({run.outputs[i], sums[i] / static_cast<double>(measured_data.num_rows())});
  return metrics;
}

/// Of the epoch that is done, or as far as it is done; notes whether it is the best one.
llvm::Expected<EpochReport> Trainer::Impl::MeasureEpoch() {
  EpochReport report;
  report.step = progress.step;
  report.epoch = progress.epoch + 1;
  for (size_t i = 0; i < names.all.size(); ++i)
    if (progress.summed_rows[i] > 0)
      report.training.push_back(
          {names.all[i], progress.sums[i] / static_cast<double>(progress.summed_rows[i])});
  if (validation) {
    llvm::Expected<std::vector<Metric>> metrics = Evaluate(*validation);
    if (!metrics) return metrics.takeError();
    report.validation = std::move(*metrics);
  }
  for (const Metric& metric : validation ? report.validation : report.training) {
    if (metric.name != watched) continue;
    report.is_best =
        options.monitor_largest ? metric.value > progress.best : metric.value < progress.best;
    if (report.is_best) progress.best = metric.value;
  }
  progress.stale = report.is_best ? 0 : progress.stale + 1;
  return report;
}

Snapshot Trainer::Impl::TakeSnapshot() const {
  Snapshot snapshot;
  snapshot.progress = progress;
  snapshot.progress.runs = Network::RunCount(scope);
  const Graph& graph = step_network->graph();
  for (const auto& values : {graph.parameters(), graph.states()})
    for (const Value* value : values)
      if (const Tensor* tensor = FindTensor(scope, value->name()))
        snapshot.tensors.emplace_back(value->name(), *tensor);
  return snapshot;
}

llvm::Error Trainer::Impl::Write(llvm::StringRef path, const Snapshot& snapshot) const {
  Checkpoint checkpoint;
  checkpoint.progress = snapshot.progress;
  checkpoint.network = fingerprint;
  llvm::StringSet<> written;
  for (const auto& [name, tensor] : snapshot.tensors) {
    written.insert(name);
    if (tensor.device().kind == DeviceKind::kCPU) {
      checkpoint.tensors.emplace_back(name, tensor);
      continue;
    }
    llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(tensor.dtype(), tensor.sizes());
    if (!copy) return copy.takeError();
    if (llvm::Error error = context.CopyToHost(copy->raw(), tensor.raw(), tensor.num_bytes()))
      return error;
    checkpoint.tensors.emplace_back(name, std::move(*copy));
  }
  // What is not trained belongs to the network all the same.
  for (const Value* parameter : step_network->graph().parameters()) {
    if (written.contains(parameter->name())) continue;
    llvm::Expected<Tensor> value = step_network->InitialValue(parameter->name());
    if (!value) return value.takeError();
    checkpoint.tensors.emplace_back(parameter->name(), std::move(*value));
  }
  return WriteCheckpoint(path, checkpoint);
}

llvm::Error Trainer::Impl::SaveLast() {
  if (options.folder.empty()) return llvm::Error::success();
  pending_last = TakeSnapshot();
  return Flush();
}

llvm::Error Trainer::Impl::Flush() {
  // The best one first: what last.safetensors says of it is never ahead of the file.
  for (auto [pending, name] : {std::pair(&pending_best, "best.safetensors"),
                               std::pair(&pending_last, "last.safetensors")}) {
    if (!*pending) continue;
    if (llvm::Error error = Write(FileOf(name), **pending)) return error;
    pending->reset();
  }
  last_write = Clock::now();
  return llvm::Error::success();
}

llvm::Expected<TrainingEnd> Trainer::Impl::Loop(const TrainingCallbacks& callbacks) {
  auto is_stopped = [&] { return callbacks.stop != nullptr && callbacks.stop->load(); };
  for (;;) {
    if (AtEndOfEpoch() || (IsAtLimit() && progress.batch > 0)) {
      const bool is_whole = AtEndOfEpoch();
      // A part of an epoch is measured, and the run goes on in it when it is resumed.
      if (!is_whole)
        if (llvm::Error error = SaveLast()) return error;
      llvm::Expected<EpochReport> report = MeasureEpoch();
      if (!report) return report.takeError();
      ++progress.epoch;
      BeginEpoch();
      if (!options.folder.empty()) {
        Snapshot snapshot = TakeSnapshot();
        if (report->is_best) pending_best = snapshot;
        if (is_whole) pending_last = std::move(snapshot);
        const bool is_due = !last_write || Clock::now() - *last_write >=
                                               std::chrono::duration<double>(options.save_seconds);
        if (is_due || IsAtLimit())
          if (llvm::Error error = Flush()) return error;
      }
      if (callbacks.on_epoch)
        if (llvm::Error error = callbacks.on_epoch(*report)) return error;
      const bool is_stale = options.patience > 0 && progress.stale >= options.patience;
      if (!is_whole || IsAtLimit()) return TrainingEnd::kDone;
      if (is_stale) return TrainingEnd::kPatience;
    }
    if (IsAtLimit()) return TrainingEnd::kDone;
    if (is_stopped()) {
      if (llvm::Error error = SaveLast()) return error;
      return TrainingEnd::kStopped;
    }
    llvm::Expected<StepReport> report = Step();
    if (!report) return report.takeError();
    if (callbacks.on_step)
      if (llvm::Error error = callbacks.on_step(*report)) return error;
    if (options.save_every > 0 && progress.step % options.save_every == 0)
      if (llvm::Error error = SaveLast()) return error;
  }
}

llvm::Expected<TrainingEnd> Trainer::Impl::Train(const TrainingCallbacks& callbacks) {
  llvm::Expected<TrainingEnd> end = Loop(callbacks);
  llvm::Error error = Flush();
  if (!end) return llvm::joinErrors(end.takeError(), std::move(error));
  if (error) return error;
  return end;
}

llvm::Error Trainer::Impl::Resume(llvm::StringRef path) {
  llvm::Expected<Checkpoint> checkpoint = ReadCheckpoint(path);
  if (!checkpoint) return checkpoint.takeError();
  // All that differs at once.
  std::vector<std::string> differences;
  llvm::StringMap<const Tensor*> tensors;
  for (const auto& [name, tensor] : checkpoint->tensors) tensors[name] = &tensor;
  const Graph& graph = step_network->graph();
  for (const auto& values : {graph.parameters(), graph.states()}) {
    for (const Value* value : values) {
      const auto found = tensors.find(value->name());
      if (found == tensors.end()) {
        // A state whose size the data decide is made by the first step.
        if (HasFixedSize(value->type()))
          differences.push_back("it has no '" + value->name() + "': " + value->type().ToString());
        continue;
      }
      const Tensor& tensor = *found->second;
      const Type& type = value->type();
      bool fits = tensor.dtype() == type.dtype && tensor.rank() == type.rank();
      for (unsigned axis = 0; fits && axis < type.rank(); ++axis)
        fits = !type.dims[axis].is_constant() || type.dims[axis].is_constant(tensor.size(axis));
      if (!fits)
        differences.push_back("'" + value->name() + "' is " + tensor.TypeString() + " there and " +
                              type.ToString() + " here");
      tensors.erase(found);
    }
  }
  for (const auto& [name, tensor] : checkpoint->tensors)
    if (tensors.contains(name))
      differences.push_back("it has '" + name + "': " + tensor.TypeString());
  if (!differences.empty())
    return MakeUserError(Code::kCheckpoint, "'{0}' is the checkpoint of another network: {1}", path,
                         llvm::join(differences, "; "));
  const TrainingProgress& read = checkpoint->progress;
  auto compare = [&](llvm::StringRef what, auto there, auto here) {
    if (there != here)
      differences.push_back(llvm::formatv("{0} {1} there and {2} here", what, there, here).str());
  };
  compare("the data have rows:", read.rows, progress.rows);
  compare("the seed is", read.seed, progress.seed);
  compare("a batch has rows:", read.batch_size, progress.batch_size);
  compare("rows are shuffled:", read.shuffle, progress.shuffle);
  compare("a short batch is left out:", read.drop_last, progress.drop_last);
  if (!differences.empty())
    return MakeUserError(Code::kCheckpoint,
                         "'{0}' is the checkpoint of another run, which cannot go on so: {1}", path,
                         llvm::join(differences, "; "));
  if (read.batch > BatchesInEpoch() || read.sums.size() != names.all.size())
    return MakeUserError(
        Code::kCheckpoint,
        "'{0}' is the checkpoint of another network: it has {1} losses and metrics "
        "there and {2} here",
        path, read.sums.size(), names.all.size());
  if (checkpoint->network != fingerprint)
    warnings.push_back(
        "the network computes something else than when '" + path.str() +
        "' was written; its parameters and states are the same, and the run goes on");
  TrainingProgress begin = std::exchange(progress, read);
  // Another metric is watched from now on: nothing was best by it yet.
  if (progress.watched != begin.watched) {
    progress.watched = begin.watched;
    progress.best = begin.best;
    progress.stale = 0;
  }
  has_order = false;
  llvm::StringSet<> kept;
  for (const Value* value : KeptValues(graph)) kept.insert(value->name());
  for (auto& [name, tensor] : checkpoint->tensors) {
    if (!kept.contains(name)) {
      // Not trained; it may have come from a file that is not given this time.
      llvm::Expected<Tensor> initial = step_network->InitialValue(name);
      if (!initial) return initial.takeError();
      if (initial->ToConstant() == tensor.ToConstant()) continue;
    }
    scope.Create(name)->Set(std::move(tensor));
  }
  Network::SetRunCount(&scope, progress.runs);
  return llvm::Error::success();
}

// ---------------------------------------------------------------------------------------------

llvm::Expected<CheckpointInfo> ReadCheckpointInfo(llvm::StringRef path) {
  llvm::Expected<Checkpoint> checkpoint = ReadCheckpoint(path);
  if (!checkpoint) return checkpoint.takeError();
  const TrainingProgress& progress = checkpoint->progress;
  return CheckpointInfo{progress.step,       progress.epoch,   progress.seed,
                        progress.batch_size, progress.shuffle, progress.drop_last};
}

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;

llvm::Expected<std::unique_ptr<Trainer>> Trainer::Create(const Graph& network, Dataset data,
                                                         TrainerOptions options,
                                                         DeviceContext* context,
                                                         const OpRegistry& registry) {
  options.network.seed = options.seed;
  auto impl =
      std::make_unique<Impl>(network, std::move(data), std::move(options), context, registry);
  if (llvm::Error error = impl->MakeNetworks()) return error;
  if (llvm::Error error = impl->Begin()) return error;
  return std::unique_ptr<Trainer>(new Trainer(std::move(impl)));
}

void Trainer::SetValidation(Dataset data) { impl_->validation = std::move(data); }
llvm::Error Trainer::Resume(llvm::StringRef path) { return impl_->Resume(path); }
llvm::Error Trainer::Save(llvm::StringRef path) {
  return impl_->Write(path, impl_->TakeSnapshot());
}
llvm::Expected<StepReport> Trainer::Step() { return impl_->Step(); }
llvm::Expected<std::vector<Metric>> Trainer::Evaluate(const Dataset& data) {
  return impl_->Evaluate(data);
}
llvm::Expected<TrainingEnd> Trainer::Train(const TrainingCallbacks& callbacks) {
  return impl_->Train(callbacks);
}
int64_t Trainer::step() const { return impl_->progress.step; }
int64_t Trainer::epoch() const { return impl_->progress.epoch; }
int64_t Trainer::batches() const { return impl_->BatchesInEpoch(); }
llvm::ArrayRef<std::string> Trainer::metrics() const { return impl_->names.all; }
llvm::ArrayRef<std::string> Trainer::losses() const {
  return metrics().take_front(impl_->names.losses);
}
llvm::ArrayRef<std::string> Trainer::warnings() const { return impl_->warnings; }

llvm::Expected<Tensor> Trainer::ValueOf(llvm::StringRef name) const {
  const Tensor* tensor = FindTensor(impl_->scope, name);
  const Value* value = impl_->step_network->graph().FindValue(name);
  const bool is_variable = value != nullptr && (value->kind() == ValueKind::kParameter ||
                                                value->kind() == ValueKind::kState);
  if (tensor == nullptr || !is_variable) return impl_->step_network->InitialValue(name);
  if (tensor->device().kind == DeviceKind::kCPU) return *tensor;
  llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(tensor->dtype(), tensor->sizes());
  if (!copy) return copy.takeError();
  if (llvm::Error error =
          impl_->context.CopyToHost(copy->raw(), tensor->raw(), tensor->num_bytes()))
    return error;
  return copy;
}

}  // namespace pdl
