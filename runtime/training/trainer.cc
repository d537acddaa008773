#include "pdl/train/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/trace.h"
#include "pdl/op/error.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/train/averages.h"
#include "runtime/call_error.h"
#include "runtime/check_finite.h"
#include "runtime/training/shuffle.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {
namespace {

using Clock = std::chrono::steady_clock;

/// The numbers of rows of ragged batches vary around a mean: many bindings are worth keeping.
constexpr unsigned kStepBindings = 256;

}  // namespace

const Tensor* FindTensor(const Scope& scope, llvm::StringRef name) {
  const Variable* variable = scope.Find(name);
  return variable ? variable->Get<Tensor>() : nullptr;
}

double MetricIn(const Scope& scope, llvm::StringRef name) {
  return FindTensor(scope, name)->ToConstant().ElementAsDouble(0);
}

llvm::Error Trainer::Impl::CheckOptions() const {
  auto wrong = [](const char* format, auto... arguments) {
    return MakeUserError(Code::kTrainingData, format, arguments...);
  };
  const DType precision = options.network.precision;
  if (precision != DType::kF32 && precision != DType::kF16 && precision != DType::kBF16)
    return wrong("products are computed in f32, bf16 or f16, not in {0}", DTypeName(precision));
  if (llvm::Error error = CheckAverage(options.average, network)) return error;
  if (options.epochs < 0 || options.steps < 0 || (options.epochs == 0 && options.steps == 0))
    return wrong("training needs an end: epochs or steps must be larger than 0");
  if (BatchesInEpoch() == 0)
    return wrong("{0} has {1} rows, fewer than a batch of {2}, and incomplete batches are dropped",
                 data.source(), data.num_rows(), options.batch_size);
  return llvm::Error::success();
}

llvm::Expected<Trainer::Impl::StepNetwork> Trainer::Impl::MakeStepNetwork(Graph step) const {
  StepNetwork made;
  for (size_t i = 0; i < names.all.size(); ++i) {
    if (!step.FindOutput(names.all[i])) continue;
    made.outputs.push_back(names.all[i]);
    made.metrics.push_back(i);
  }
  NetworkOptions kept = options.network;
  if (kept.max_bindings == 0) kept.max_bindings = kStepBindings;
  if (uses_micro_batches()) {
    MicroBatchStep::Properties properties{made.outputs, scale_state,
                                          sharding ? &*sharding : nullptr};
    // One process has nothing to send.
    properties.bucket_bytes = is_distributed() ? options.bucket_bytes : INT64_MAX;
    auto split = MicroBatchStep::Create(step, std::move(properties), kept, registry);
    if (!split) return split.takeError();
    made.micro_batches = std::move(*split);
  }
  auto created = Network::Create(std::move(step), kept, registry);
  if (!created) return created.takeError();
  made.network = std::move(*created);
  return made;
}

llvm::Error Trainer::Impl::MakeNetworks() {
  std::vector<unsigned> all;
  for (unsigned i = 0; i < network.trainings().size(); ++i) all.push_back(i);
  if (options.network.precision == DType::kF16) scale_state = NameOfScale(network);
  llvm::Expected<Graph> step = MakeStep(all);
  if (!step) return step.takeError();
  llvm::Expected<std::string> bytes = SerializeNetwork(*step, {.locations = false});
  if (!bytes) return bytes.takeError();
  fingerprint =
      Sha256(Constant::Copy(DType::kU8, {static_cast<int64_t>(bytes->size())}, bytes->data()));
  names = NamesOfMetrics(network, *step);
  if (llvm::Error error = ShareOptimizer(*step)) return ErrorOfAll(std::move(error));
  llvm::Expected<StepNetwork> made = MakeStepNetwork(std::move(*step));
  if (!made) return made.takeError();
  step_network = made->network;
  step_counter = FindStepCounter(step_network->graph());
  steps.emplace(std::move(all), std::move(*made));
  NetworkOptions measured = options.network;
  measured.precision = DType::kF32;
  auto created = Network::Create(MakeEvaluation(network, names), measured, registry);
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
    llvm::Expected<Graph> step = MakeStep(active);
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
  progress.precision = options.network.precision;
  progress.average = options.average;
  progress.last_epoch = options.epochs;
  progress.last_step = options.steps;
  progress.patience = options.patience;
  progress.data = FingerprintsOf(data);
  progress.validation.emplace();
  progress.weights = FingerprintsOf(options.network.weights);
  saves = !options.folder.empty();
  BeginEpoch();
  if (llvm::Error error = CheckOptions()) return error;
  llvm::Expected<Monitor> parsed = Monitor::Parse(options.monitor, names.all);
  if (!parsed) return parsed.takeError();
  Watch(std::move(*parsed));
  if (options.patience > 0 && names.all.empty())
    return MakeUserError(Code::kTrainingData,
                         "early stopping requires a loss or a metric, but the network has none");
  for (const Value* value : KeptValues(step_network->graph())) {
    if (!value->type().has_constant_dims()) continue;
    llvm::Expected<Tensor> initial = step_network->InitialValue(value->name());
    if (!initial) return initial.takeError();
    scope.Create(value->name())->Set(std::move(*initial));
  }
  return llvm::Error::success();
}

void Trainer::Impl::Watch(Monitor metric) {
  monitor = std::move(metric);
  progress.watched = monitor.ToString();
  progress.best = BestEpoch(monitor.larger_is_better);
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
  if (llvm::Error error = JoinRanks()) return error;
  if (AtEndOfEpoch()) {
    ++progress.epoch;
    BeginEpoch();
  }
  llvm::Expected<const StepNetwork*> next = NextNetwork();
  if (!next) return next.takeError();
  const llvm::ArrayRef<int64_t> rows = NextRows();
  const TraceSpan span("training step");
  if (step_counter)
    scope.Create(step_counter->name())
        ->Set(Tensor::FromValues<int64_t>(DType::kI64, {}, {progress.step}));
  StepReport report;
  llvm::Expected<std::vector<double>> metrics = Run(**next, rows, &report);
  if (!metrics) return ErrorOfStep(metrics.takeError(), rows);
  report.step = ++progress.step;
  report.epoch = progress.epoch + 1;
  report.batch = ++progress.batch;
  report.batches = BatchesInEpoch();
  report.rows = static_cast<int64_t>(rows.size());
  for (const auto& [i, value] : llvm::zip_equal((*next)->metrics, *metrics)) {
    report.metrics.push_back({names.all[i], value});
    progress.sums[i] += value * static_cast<double>(report.rows);
    progress.summed_rows[i] += report.rows;
    if (i >= names.losses || std::isfinite(value)) continue;
    return ErrorOfAll(
        NotFinite(llvm::formatv("the loss '{0}' is {1} in step {2}, of epoch {3}", names.all[i],
                                DescribeNotFinite(value, 0, {}), report.step, report.epoch),
                  data, rows));
  }
  rows_before.assign(rows.begin(), rows.end());
  return report;
}

llvm::Expected<std::vector<Metric>> Trainer::Impl::Evaluate(const Dataset& measured_data) {
  if (llvm::Error error = JoinRanks()) return error;
  const TraceSpan span("validation");
  std::vector<NamedTensor> values;
  for (const auto& variables : {evaluation->graph().parameters(), evaluation->graph().states()})
    for (const Value* value : variables)
      if (const Tensor* tensor = FindTensor(scope, value->name()))
        values.emplace_back(value->name(), *tensor);
  auto find = [&](llvm::StringRef name) { return FindTensor(scope, name); };
  if (options.average > 0)
    if (llvm::Error error = TakeAverages(values, find, context)) return error;
  Scope own;
  for (auto& [name, tensor] : values) own.Create(name)->Set(std::move(tensor));
  RunOptions run;
  run.check_finite = options.check_finite;
  run.check_indices = options.check_indices;
  for (const GraphOutput& output : evaluation->graph().outputs())
    run.outputs.push_back(output.name);
  llvm::Expected<std::vector<double>> values_of_batches = EvaluateBatches(measured_data, run, own);
  if (!values_of_batches) return values_of_batches.takeError();
  std::vector<double> sums(run.outputs.size(), 0);
  const double* value = values_of_batches->data();
  const int64_t num_rows = measured_data.num_rows();
  for (int64_t begin = 0; begin < num_rows; begin += options.batch_size)
    for (double& sum : sums)
      sum += *value++ * static_cast<double>(std::min(options.batch_size, num_rows - begin));
  std::vector<Metric> metrics;
  for (size_t i = 0; i < sums.size(); ++i)
    metrics.push_back({run.outputs[i], sums[i] / static_cast<double>(measured_data.num_rows())});
  return metrics;
}

llvm::Expected<std::vector<double>> Trainer::Impl::EvaluateBatches(const Dataset& measured_data,
                                                                   const RunOptions& run,
                                                                   Scope& own) {
  const int ranks = is_distributed() ? options.communicator->size() : 1;
  const int rank = is_distributed() ? options.communicator->rank() : 0;
  Batch rows(measured_data);
  std::vector<double> values;
  std::vector<int64_t> indices;
  const int64_t num_rows = measured_data.num_rows();
  for (int64_t begin = 0, end = 0, i = 0; begin < num_rows; begin = end, ++i) {
    end = begin + std::min(options.batch_size, num_rows - begin);
    if (i % ranks != rank) continue;
    indices.resize(static_cast<size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    if (llvm::Error error = rows.Put(indices, &own)) return error;
    Network::SetRunCount(&own, static_cast<uint64_t>(i));
    if (llvm::Error error = evaluation->Run(&own, &context, run)) {
      return MapMessage(std::move(error), [&](Code, llvm::StringRef message) {
        return llvm::formatv("{0}, rows {1} to {2}: {3}", measured_data.source(), begin, end - 1,
                             message)
            .str();
      });
    }
    for (const std::string& output : run.outputs) values.push_back(MetricIn(own, output));
  }
  return is_distributed() ? GatherByTurns(values, run.outputs.size(), *options.communicator)
                          : std::move(values);
}

/// Reports the metrics of the epoch so far; notes whether it is the best one. A part of an epoch
/// can be the best only as long as there is no complete one.
llvm::Expected<EpochReport> Trainer::Impl::MeasureEpoch() {
  EpochReport report;
  report.step = progress.step;
  report.epoch = progress.epoch + 1;
  report.batches_done = progress.batch;
  report.batches = BatchesInEpoch();
  for (size_t i = 0; i < names.all.size(); ++i)
    if (progress.summed_rows[i] > 0)
      report.training.push_back(
          {names.all[i], progress.sums[i] / static_cast<double>(progress.summed_rows[i])});
  if (validation) {
    llvm::Expected<std::vector<Metric>> metrics = Evaluate(*validation);
    if (!metrics) return metrics.takeError();
    report.validation = std::move(*metrics);
    for (const Metric& metric : report.validation) {
      const auto losses = llvm::ArrayRef(names.all).take_front(names.losses);
      if (std::isfinite(metric.value) || !llvm::is_contained(losses, metric.name)) continue;
      std::vector<int64_t> rows(static_cast<size_t>(validation->num_rows()));
      std::iota(rows.begin(), rows.end(), 0);
      return ErrorOfAll(NotFinite(
          llvm::formatv("the loss '{0}' of {1} is {2} after step {3}, of epoch {4}", metric.name,
                        validation->source(), DescribeNotFinite(metric.value, 0, {}), report.step,
                        report.epoch),
          *validation, rows));
    }
  }
  std::optional<double> value;
  for (const Metric& metric : validation ? report.validation : report.training)
    if (metric.name == monitor.name) value = metric.value;
  if (report.is_complete()) {
    report.is_best = progress.best.Update(value, monitor.larger_is_better);
    progress.best_part.reset();
  } else {
    BestEpoch best(monitor.larger_is_better);
    if (progress.best_part) best.best = *progress.best_part;
    report.is_best =
        !std::isfinite(progress.best.best) && best.Update(value, monitor.larger_is_better);
    if (report.is_best) progress.best_part = best.best;
    progress.measured_batch = progress.batch;
  }
  if (!monitor.name.empty() && !report.is_best && !std::isfinite(progress.best.best) &&
      !std::exchange(has_warned_of_best, true))
    report.warning = llvm::formatv(
        "'{0}', which selects the best epoch, {1} after epoch {2}: no epoch is the best until it "
        "is finite, and best.safetensors is not written",
        monitor.name,
        value ? "is " + DescribeNotFinite(*value, 0, {}) : "is not computed by any step",
        report.epoch);
  return report;
}

llvm::Error Trainer::Impl::SaveEpoch(bool is_best) {
  if (!saves) return llvm::Error::success();
  llvm::Expected<Snapshot> snapshot = TakeSnapshot();
  if (!snapshot) return snapshot.takeError();
  if (options.folder.empty()) return llvm::Error::success();
  if (is_best) pending_best = *snapshot;
  pending_last = std::move(*snapshot);
  const bool is_due = !last_write || Clock::now() - *last_write >=
                                         std::chrono::duration<double>(options.save_seconds);
  return is_due || IsAtLimit() ? Flush() : llvm::Error::success();
}

llvm::Expected<TrainingEnd> Trainer::Impl::Loop(const TrainingCallbacks& callbacks) {
  stop = callbacks.stop;
  auto is_stopped = [&] { return is_distributed() ? ranks_stop : stop != nullptr && stop->load(); };
  if (llvm::Error error = JoinRanks()) return error;
  for (;;) {
    if (AtEndOfEpoch() || (IsAtLimit() && !IsPartMeasured())) {
      const bool is_whole = AtEndOfEpoch();
      // A part of an epoch is measured; a resumed run continues in it.
      if (!is_whole)
        if (llvm::Error error = SaveLast()) return error;
      llvm::Expected<EpochReport> report = MeasureEpoch();
      if (!report) return report.takeError();
      if (is_whole) {
        ++progress.epoch;
        BeginEpoch();
      }
      if (llvm::Error error = SaveEpoch(report->is_best)) return error;
      if (callbacks.on_epoch)
        if (llvm::Error error = callbacks.on_epoch(*report)) return error;
      if (!is_whole) return TrainingEnd::kDone;
    }
    if (IsAtLimit()) return TrainingEnd::kDone;
    // After an epoch, or when a run is resumed that ended so.
    if (progress.batch == 0 && progress.best.IsStale(options.patience))
      return TrainingEnd::kPatience;
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

// ---------------------------------------------------------------------------------------------

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;

llvm::Expected<std::unique_ptr<Trainer>> Trainer::Create(const Graph& network, Dataset data,
                                                         TrainerOptions options,
                                                         DeviceContext* context,
                                                         const OpRegistry& registry) {
  if (context == nullptr)
    return MakeUserError(Code::kOperatorUse, "training needs a context, got none");
  options.network.seed = options.seed;
  return WithOutOfMemory(
      "preparing the training", [&]() -> llvm::Expected<std::unique_ptr<Trainer>> {
        auto impl =
            std::make_unique<Impl>(network, std::move(data), std::move(options), context, registry);
        if (llvm::Error error = impl->SetMicroBatch()) return impl->ErrorOfAll(std::move(error));
        if (llvm::Error error = impl->MakeNetworks()) return error;
        if (llvm::Error error = impl->Begin()) return error;
        return std::unique_ptr<Trainer>(new Trainer(std::move(impl)));
      });
}

void Trainer::SetValidation(Dataset data) {
  impl_->progress.validation = FingerprintsOf(data);
  impl_->validation = std::move(data);
}
llvm::Error Trainer::Resume(llvm::StringRef path) {
  return WithOutOfMemory("reading '" + path.str() + "'", [&] { return impl_->Resume(path); });
}
llvm::Error Trainer::Save(llvm::StringRef path) {
  return WithOutOfMemory("writing '" + path.str() + "'", [&] { return impl_->Save(path); });
}
llvm::Error Trainer::SaveWeights(llvm::StringRef path) {
  return WithOutOfMemory("writing '" + path.str() + "'", [&] {
    return impl_->WriteWeights(path, impl_->TakeOwnSnapshot(), /*checked=*/false);
  });
}
llvm::Expected<StepReport> Trainer::Step() {
  return WithOutOfMemory("training", [&] { return impl_->Step(); });
}
llvm::Expected<std::vector<Metric>> Trainer::Evaluate(const Dataset& data) {
  return WithOutOfMemory("measuring", [&] { return impl_->Evaluate(data); });
}
llvm::Expected<TrainingEnd> Trainer::Train(const TrainingCallbacks& callbacks) {
  return WithOutOfMemory("training", [&] { return impl_->Train(callbacks); });
}
int64_t Trainer::step() const { return impl_->progress.step; }
int64_t Trainer::epoch() const { return impl_->progress.epoch; }
int64_t Trainer::batches() const { return impl_->BatchesInEpoch(); }
int64_t Trainer::batches_done() const { return impl_->progress.batch; }
bool Trainer::is_done() const {
  const TrainingProgress& progress = impl_->progress;
  if (impl_->AtEndOfEpoch()) return false;
  return (impl_->IsAtLimit() && impl_->IsPartMeasured()) ||
         (progress.batch == 0 && progress.best.IsStale(impl_->options.patience));
}
int64_t Trainer::num_trained() const {
  int64_t count = 0;
  for (const std::string& name : TrainedParameters(impl_->network)) {
    int64_t elements = 1;
    for (const Dim& dim : impl_->network.FindValue(name)->type().dims) elements *= dim.constant();
    count += elements;
  }
  return count;
}
llvm::ArrayRef<std::string> Trainer::metrics() const { return impl_->names.all; }
llvm::ArrayRef<std::string> Trainer::losses() const {
  return metrics().take_front(impl_->names.losses);
}
llvm::ArrayRef<std::string> Trainer::warnings() const { return impl_->warnings; }

llvm::Expected<Tensor> Trainer::TrainedValueOf(llvm::StringRef name) const {
  llvm::Expected<Tensor> value = ValueOf(name);
  if (!value) return value;
  NamedTensor trained(name.str(), std::move(*value));
  auto find = [&](llvm::StringRef average) { return FindTensor(impl_->scope, average); };
  if (impl_->options.average > 0)
    if (llvm::Error error = TakeAverages(trained, find, impl_->context)) return error;
  return OnHost(trained.second, impl_->context);
}

llvm::Expected<Tensor> Trainer::ValueOf(llvm::StringRef name) const {
  const Tensor* tensor = FindTensor(impl_->scope, name);
  const Value* value = impl_->step_network->graph().FindValue(name);
  if (value && !tensor)
    if (const std::optional<int> keeper = impl_->KeeperOf(*value))
      return MakeUserError(Code::kUnknownName, "rank {0} keeps the state '{1}'", *keeper, name);
  const bool is_variable = value != nullptr && (value->kind() == ValueKind::kParameter ||
                                                value->kind() == ValueKind::kState);
  if (tensor == nullptr || !is_variable) return impl_->step_network->InitialValue(name);
  return OnHost(*tensor, impl_->context);
}

}  // namespace pdl
