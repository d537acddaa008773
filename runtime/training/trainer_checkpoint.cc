// Checkpoints of a training run: their contents, and resuming from them.
#include <cmath>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/trace.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/train/averages.h"
#include "runtime/check_finite.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {

static double ElementOf(const Tensor& tensor, int64_t element) {
  return tensor.ToConstant().ElementAsDouble(element);
}

std::vector<const Value*> KeptValues(const Graph& step) {
  std::vector<const Value*> kept(step.states().begin(), step.states().end());
  for (const GraphUpdate& update : step.updates())
    if (update.state->kind() == ValueKind::kParameter) kept.push_back(update.state);
  return kept;
}

Snapshot Trainer::Impl::TakeOwnSnapshot() const {
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

llvm::Expected<Snapshot> Trainer::Impl::TakeSnapshot() {
  Snapshot snapshot = TakeOwnSnapshot();
  if (sharding)
    if (llvm::Error error = GatherStates(&snapshot)) return error;
  return snapshot;
}

llvm::Error CheckLearned(const Network& step, const Value& variable, const Tensor& tensor,
                         int64_t steps) {
  const bool is_parameter = variable.kind() == ValueKind::kParameter;
  int64_t at = FindNotFinite(tensor);
  while (!is_parameter && at >= 0 && !std::isnan(ElementOf(tensor, at)))
    at = FindNotFinite(tensor, at + 1);
  if (at < 0) return llvm::Error::success();
  if (variable.type().has_constant_dims()) {
    llvm::Expected<Tensor> initial = step.InitialValue(variable.name());
    if (!initial) return initial.takeError();
    if (FindNotFinite(*initial) >= 0) return llvm::Error::success();
  }
  return MakeUserError(Code::kNotFinite, "{0} '{1}' holds {2} after step {3}",
                       is_parameter ? "parameter" : "state", variable.name(),
                       DescribeNotFinite(ElementOf(tensor, at), at, tensor.sizes()), steps);
}

llvm::Error Trainer::Impl::CheckLearned(const Snapshot& snapshot,
                                        llvm::ArrayRef<NamedTensor> tensors) const {
  for (const auto& [name, tensor] : tensors) {
    const Value* own = network.FindValue(name);
    const bool is_parameter = own != nullptr && own->kind() == ValueKind::kParameter;
    if (!is_parameter && !network.trainings().empty()) continue;
    // A trained parameter is a state of the step.
    const Value& declared = own != nullptr ? *own : *step_network->graph().FindValue(name);
    if (llvm::Error error =
            pdl::CheckLearned(*step_network, declared, tensor, snapshot.progress.step))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<NamedTensor>> Trainer::Impl::TensorsOf(const Snapshot& snapshot,
                                                                  bool checked) const {
  std::vector<NamedTensor> tensors;
  llvm::StringSet<> written;
  for (const auto& [name, tensor] : snapshot.tensors) {
    written.insert(name);
    llvm::Expected<Tensor> copy = OnHost(tensor, context);
    if (!copy) return copy.takeError();
    tensors.emplace_back(name, std::move(*copy));
  }
  // Parameters that are not trained are part of the network, too.
  for (const Value* parameter : step_network->graph().parameters()) {
    if (written.contains(parameter->name())) continue;
    llvm::Expected<Tensor> value = step_network->InitialValue(parameter->name());
    if (!value) return value.takeError();
    tensors.emplace_back(parameter->name(), std::move(*value));
  }
  if (checked)
    if (llvm::Error error = CheckLearned(snapshot, tensors)) return error;
  return tensors;
}

llvm::Error Trainer::Impl::Write(llvm::StringRef path, const Snapshot& snapshot,
                                 bool checked) const {
  llvm::Expected<std::vector<NamedTensor>> tensors = TensorsOf(snapshot, checked);
  if (!tensors) return tensors.takeError();
  return WriteCheckpoint(path, {std::move(*tensors), snapshot.progress, fingerprint});
}

llvm::Error Trainer::Impl::WriteWeights(llvm::StringRef path, const Snapshot& snapshot,
                                        bool checked) const {
  const llvm::StringSet<> needed = VariablesToRun(network);
  Snapshot expected = snapshot;
  if (options.average > 0) {
    llvm::StringMap<const Tensor*> values;
    for (const auto& [name, tensor] : snapshot.tensors) values[name] = &tensor;
    auto find = [&](llvm::StringRef name) { return values.lookup(name); };
    if (llvm::Error error = TakeAverages(expected.tensors, find, context)) return error;
  }
  llvm::erase_if(expected.tensors,
                 [&](const NamedTensor& each) { return !needed.contains(each.first); });
  llvm::Expected<std::vector<NamedTensor>> tensors = TensorsOf(expected, checked);
  if (!tensors) return tensors.takeError();
  return WriteSafetensors(path, *tensors);
}

llvm::Error Trainer::Impl::Save(llvm::StringRef path) {
  if (sharding)
    if (llvm::Error error = JoinRanks()) return error;
  llvm::Expected<Snapshot> snapshot = TakeSnapshot();
  if (!snapshot) return snapshot.takeError();
  if (sharding && sharding->rank > 0) return llvm::Error::success();
  return Write(path, *snapshot, /*checked=*/false);
}

llvm::Error Trainer::Impl::SaveLast() {
  if (!saves) return llvm::Error::success();
  const TraceSpan span("checkpoint");
  llvm::Expected<Snapshot> snapshot = TakeSnapshot();
  if (!snapshot) return snapshot.takeError();
  if (options.folder.empty()) return llvm::Error::success();
  pending_last = std::move(*snapshot);
  return Flush();
}

llvm::Error Trainer::Impl::Flush() {
  // The best epoch is written first, so that last.safetensors never refers to a newer one. Failed
  // writes are not retried.
  const std::optional<Snapshot> best = std::exchange(pending_best, std::nullopt);
  const std::optional<Snapshot> last = std::exchange(pending_last, std::nullopt);
  if (best)
    if (llvm::Error error = WriteWeights(FileOf("best.safetensors"), *best, /*checked=*/true))
      return error;
  if (last)
    if (llvm::Error error = Write(FileOf("last.safetensors"), *last, /*checked=*/true))
      return error;
  last_write = std::chrono::steady_clock::now();
  return llvm::Error::success();
}

std::string Trainer::Impl::WhatSaysBest(const TrainingProgress& said) const {
  llvm::StringRef name = said.watched;
  const bool largest = name.consume_back(":max");
  std::string text = ("'" + name + "'" + (largest ? " (larger is better)" : "")).str();
  if (!said.validation) return text;
  return text + (said.validation->empty() ? " of the training data" : " of the validation data");
}

std::vector<std::string> Trainer::Impl::Contradictions(const TrainingProgress& read) const {
  std::vector<std::string> differences;
  auto compare = [&](const char* format, auto there, auto here) {
    if (there != here) differences.push_back(llvm::formatv(format, there, here).str());
  };
  auto compare_bools = [&](llvm::StringRef what, bool there, bool here) {
    if (there != here)
      differences.push_back((what + (there ? " there but not here" : " here but not there")).str());
  };
  compare("the data have {0} rows there and {1} here", read.rows, progress.rows);
  std::vector<std::string> others;
  if (read.rows == progress.rows && read.data)
    for (const auto& [name, hash] : *read.data)
      if (const auto here = progress.data->find(name);
          here != progress.data->end() && here->second != hash)
        others.push_back("'" + name + "'");
  if (!others.empty())
    differences.push_back("the data of " + llvm::join(others, " and ") +
                          " are not the same there and here");
  compare("the seed is {0} there and {1} here", read.seed, progress.seed);
  compare("a batch has {0} rows there and {1} here", read.batch_size, progress.batch_size);
  auto micro_batch = [](const TrainingProgress& of) {
    return of.micro_batch > 0 ? of.micro_batch : of.batch_size;
  };
  if (read.batch_size == progress.batch_size)
    compare("a micro-batch has {0} rows there and {1} here", micro_batch(read),
            micro_batch(progress));
  compare_bools("the rows are shuffled", read.shuffle, progress.shuffle);
  compare_bools("short batches are left out", read.drop_last, progress.drop_last);
  if (read.weights && !progress.weights->empty() && read.weights != progress.weights)
    differences.push_back(read.weights->empty()
                              ? "it began without the weights given here"
                              : "it began from other weights than those given here");
  if (std::isfinite(read.best.best) && read.validation && !read.validation->empty() && !validation)
    differences.push_back(
        "its best epoch was selected by validation data, but none are given here");
  return differences;
}

void Trainer::Impl::TakeBest(llvm::StringRef path, const TrainingProgress& read) {
  const TrainingProgress begun = std::exchange(progress, read);
  llvm::StringRef name = read.watched;
  const bool largest = name.consume_back(":max");
  bool is_other = false;
  if (!options.monitor.empty() || !llvm::is_contained(names.all, name)) {
    is_other = read.watched != begun.watched;
  } else {
    monitor = {name.str(), largest};
  }
  // Files of earlier versions do not identify the data.
  is_other |= read.validation && read.validation != begun.validation;
  // A micro-batch of as many rows as a batch is none here, whatever the file says.
  progress.micro_batch = begun.micro_batch;
  progress.validation = begun.validation;
  progress.last_epoch = begun.last_epoch;
  progress.last_step = begun.last_step;
  progress.patience = begun.patience;
  if (!read.data) progress.data = begun.data;
  if (!is_other) return;
  Watch(monitor);
  if (!std::isfinite(read.best.best)) return;
  std::string before = WhatSaysBest(read), now = WhatSaysBest(progress);
  if (before == now) now = "other validation data";
  warnings.push_back("up to '" + path.str() + "' " + before + " selected the best epoch, but " +
                     now +
                     " does from now on: the search for the best epoch restarts, and "
                     "best.safetensors will be replaced");
}

llvm::Error Trainer::Impl::CheckMode(llvm::StringRef path, const TrainingProgress& read) const {
  std::string difference;
  if (read.precision != progress.precision)
    difference = llvm::formatv("the precision is {0} there and {1} here", DTypeName(read.precision),
                               DTypeName(progress.precision));
  else if (read.average != progress.average)
    difference = llvm::formatv("the decay of the averages is {0} there and {1} here",
                               FloatToString(read.average), FloatToString(progress.average));
  if (difference.empty()) return llvm::Error::success();
  return MakeUserError(Code::kCheckpoint,
                       "'{0}' is the checkpoint of another run, which cannot be resumed here: {1}",
                       path, difference);
}

llvm::Error Trainer::Impl::CheckTensors(llvm::StringRef path, const Checkpoint& checkpoint) const {
  // Of the network, and of its optimizers.
  std::vector<std::string> own, others;
  llvm::StringMap<const Tensor*> tensors;
  for (const auto& [name, tensor] : checkpoint.tensors) tensors[name] = &tensor;
  const Graph& graph = step_network->graph();
  for (const auto& values : {graph.parameters(), graph.states()}) {
    for (const Value* value : values) {
      std::vector<std::string>& differences =
          IsNameOfTraining(value->name(), network) ? others : own;
      const auto found = tensors.find(value->name());
      if (found == tensors.end()) {
        // A state whose size depends on the data is created by the first step.
        if (value->type().has_constant_dims())
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
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!tensors.contains(name)) continue;
    (IsNameOfTraining(name, network) ? others : own)
        .push_back("it has '" + name + "': " + tensor.TypeString());
  }
  const bool is_same_network = own.empty();
  own.insert(own.end(), others.begin(), others.end());
  if (own.empty()) return llvm::Error::success();
  constexpr size_t kShown = 5;
  const size_t num_left_out = own.size() - std::min(own.size(), kShown);
  own.resize(own.size() - num_left_out);
  std::string text = llvm::join(own, "; ");
  if (num_left_out > 0) text += llvm::formatv("; and {0} more", num_left_out);
  if (!is_same_network)
    return MakeUserError(Code::kCheckpoint, "'{0}' is the checkpoint of another network: {1}", path,
                         text);
  return MakeUserError(
      Code::kCheckpoint,
      "'{0}' is the checkpoint of a run with other optimizers: {1}; its parameters "
      "can be the --weights of a new run",
      path, text);
}

llvm::Error Trainer::Impl::Resume(llvm::StringRef path) {
  llvm::Expected<Checkpoint> checkpoint = ReadCheckpoint(path);
  if (!checkpoint) return checkpoint.takeError();
  const TrainingProgress& read = checkpoint->progress;
  if (llvm::Error error = CheckMode(path, read)) return error;
  if (llvm::Error error = CheckTensors(path, *checkpoint)) return error;
  const Graph& graph = step_network->graph();
  // All differences at once.
  std::vector<std::string> differences = Contradictions(read);
  if (!differences.empty())
    return MakeUserError(
        Code::kCheckpoint,
        "'{0}' is the checkpoint of another run, which cannot be resumed here: {1}", path,
        llvm::join(differences, "; "));
  if (read.batch > BatchesInEpoch() || read.sums.size() != names.all.size())
    return MakeUserError(
        Code::kCheckpoint,
        "'{0}' is the checkpoint of another network: it has {1} losses and metrics "
        "there and {2} here",
        path, read.sums.size(), names.all.size());
  if (checkpoint->network != fingerprint)
    warnings.push_back(
        "the network has changed since '" + path.str() +
        "' was written; its parameters and states are the same, so the run continues");
  if (!read.weights && !progress.weights->empty())
    warnings.push_back("the given weights are not used: the parameters are those of '" +
                       path.str() + "'");
  TakeBest(path, read);
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

llvm::Expected<CheckpointInfo> ReadCheckpointInfo(llvm::StringRef path) {
  llvm::Expected<Checkpoint> checkpoint = ReadCheckpoint(path);
  if (!checkpoint) return checkpoint.takeError();
  const TrainingProgress& progress = checkpoint->progress;
  return CheckpointInfo{progress.step,       progress.epoch,       progress.seed,
                        progress.batch_size, progress.micro_batch, progress.shuffle,
                        progress.drop_last,  progress.precision,   progress.average,
                        progress.last_epoch, progress.last_step,   progress.patience};
}

}  // namespace pdl
