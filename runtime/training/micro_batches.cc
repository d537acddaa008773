#include "pdl/train/micro_batches.h"

#include <algorithm>
#include <cstring>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/xxhash.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/train/scaled_step.h"
#include "runtime/evaluator.h"
#include "runtime/training/gradient_sums.h"

namespace pdl {
namespace {

size_t NumElements(const Type& type) {
  int64_t elements = 1;
  for (const int64_t size : SizesOf(type)) elements *= size;
  return static_cast<size_t>(elements);
}

/// The number of values in f32 or f64 in which values of that type are added.
size_t& CountOf(SumLayout::Count& count, const Type& type) {
  return type.dtype == DType::kF64 ? count.f64 : count.f32;
}

/// The number of bytes in which values of that type are added.
int64_t BytesOfSum(const Type& type) {
  const size_t each = type.dtype == DType::kF64 ? sizeof(double) : sizeof(float);
  return static_cast<int64_t>(NumElements(type) * each);
}

const Tensor& TensorIn(const Scope& scope, const std::string& name) {
  return *scope.Find(name)->Get<Tensor>();
}

RankTimes TimesOf(llvm::ArrayRef<double> seconds) {
  const auto slowest = llvm::max_element(seconds);
  std::vector<double> sorted = seconds.vec();
  llvm::sort(sorted);
  RankTimes times;
  times.slowest_rank = static_cast<int>(slowest - seconds.begin());
  times.slowest = *slowest;
  times.median = sorted[(sorted.size() - 1) / 2];
  return times;
}

/// The positions in a network of the calls that compute its outputs; 0 for values of no call.
llvm::StringMap<size_t> PositionsOfOutputs(const Graph& graph) {
  llvm::DenseMap<const Op*, size_t> of_calls;
  for (const Op* op : graph.ops()) of_calls.try_emplace(op, of_calls.size() + 1);
  llvm::StringMap<size_t> positions;
  for (const GraphOutput& output : graph.outputs())
    positions[output.name] = of_calls.lookup(output.value->producer());
  return positions;
}

}  // namespace

MicroBatchRange MicroBatchesOf(int64_t count, int rank, int ranks) {
  const int64_t each = (count + ranks - 1) / ranks;
  return {std::min(count, each * rank), std::min(count, each * (rank + 1))};
}

/// Values that are added together over the ranks.
struct MicroBatchStep::Bucket {
  /// Of `means_`.
  size_t begin = 0, end = 0;
  SumBucket sums;
  /// The number of means and metrics.
  size_t num_values = 0;
};

MicroBatchStep::MicroBatchStep() = default;
MicroBatchStep::~MicroBatchStep() = default;

/// One call of Run.
class MicroBatchStep::Runner : public OutputObserver {
 public:
  Runner(const MicroBatchStep& step, const Batch& batch, Scope& scope, DeviceContext& context)
      : step_(step),
        batch_(batch),
        scope_(scope),
        context_(context),
        first_run_(Network::RunCount(scope)) {}

  llvm::Expected<Result> Run() {
    Result result;
    if (llvm::Error error = Sum(&result)) return error;
    if (llvm::Error error = PutMeans(&result)) return error;
    if (batch_.check)
      if (llvm::Error error = batch_.check(result.metrics)) return error;
    // Memory of the device is scarce; that of the CPU is reused in the next step.
    const bool frees_means = sums_->are_on_device();
    sums_.reset();
    if (llvm::Error error = Update(&result)) return error;
    for (const Mean& mean : step_.means_)
      if (frees_means) scope_.Erase(mean.name);
    if (llvm::Error error = ExchangeParameters()) return error;
    Network::SetRunCount(&scope_, first_run_ + static_cast<uint64_t>(batch_.parts.count()));
    return result;
  }

 private:
  /// Sets `sums_` to the sums of the buckets over the micro-batches of all ranks.
  llvm::Error Sum(Result* result) {
    const int64_t leaves = batch_.parts.count();
    Communicator* const ranks = batch_.communicator;
    own_ =
        ranks ? MicroBatchesOf(leaves, ranks->rank(), ranks->size()) : MicroBatchRange{0, leaves};
    for (const Bucket& bucket : step_.buckets_) buckets_.push_back(bucket.sums);
    const SumsOfStep sums{
        buckets_, leaves, own_, ranks, {batch_.step, step_.buckets_hash_, batch_.stop}};
    sums_ = batch_.device_ranks ? MakeDeviceSums(sums, *batch_.device_ranks, context_)
                                : MakeHostSums(sums);
    for (int64_t leaf = own_.begin; leaf < own_.end; ++leaf)
      if (llvm::Error error = RunMicroBatch(leaf)) return error;
    Network::SetRunCount(&scope_, first_run_);
    // Of a rank that has no micro-batch.
    if (llvm::Error error = StartSums()) return error;
    const auto ready = std::chrono::steady_clock::now();
    const double own = std::chrono::duration<double>(ready - batch_.begin).count();
    llvm::Error error = sums_->Finish(own);
    result->stop = sums_->stop();
    if (error || !ranks) return error;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - ready;
    result->times = TimesOf(sums_->seconds());
    result->times.own = own;
    result->times.waited = waited.count();
    return llvm::Error::success();
  }

  /// Adds the values of a micro-batch, weighted by its rows.
  llvm::Error RunMicroBatch(int64_t leaf) {
    if (llvm::Error error = batch_.put(leaf)) return error;
    RunOptions run = batch_.run;
    run.outputs = step_.metrics_;
    for (const Mean& mean : step_.means_) run.outputs.push_back(mean.name);
    run.output_observer = this;
    const auto [rows, size] = batch_.parts;
    weight_ = static_cast<double>(std::min(size, rows - leaf * size)) / static_cast<double>(size);
    num_missing_.clear();
    for (const Bucket& bucket : step_.buckets_) num_missing_.push_back(bucket.num_values);
    if (llvm::Error error = RunGradients(run, first_run_ + static_cast<uint64_t>(leaf)))
      return error;
    // The last bucket may have no values.
    const size_t last = num_missing_.size() - 1;
    return sums_->end(last) == leaf ? sums_->AddLeaf(last) : llvm::Error::success();
  }

  /// Called during RunGradients, as is SeeOutput.
  bool TakesOnDevice(llvm::StringRef name) const override {
    const auto found = step_.places_.find(name);
    return sums_->are_on_device() && found != step_.places_.end() && !found->second.is_metric;
  }

  llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) override {
    const auto found = step_.places_.find(name);
    if (found == step_.places_.end()) return llvm::Error::success();
    const auto [bucket, offset, is_metric] = found->second;
    if (llvm::Error error =
            is_metric
                ? sums_->PutMetric(bucket, offset, weight_ * tensor.ToConstant().ElementAsDouble(0))
                : sums_->Put(bucket, offset, tensor, weight_))
      return error;
    if (--num_missing_[bucket] > 0) return llvm::Error::success();
    if (llvm::Error error = sums_->AddLeaf(bucket)) return error;
    return StartSums();
  }

  /// Starts the sums of the next buckets that have all values of this rank, but not the last one.
  llvm::Error StartSums() {
    for (; num_started_ + 1 < buckets_.size() && sums_->end(num_started_) == own_.end;
         ++num_started_)
      if (llvm::Error error = sums_->Start(num_started_)) return error;
    return llvm::Error::success();
  }

  llvm::Error RunGradients(RunOptions run, uint64_t index) {
    Network::SetRunCount(&scope_, index);
    llvm::Error error = step_.gradients_->Run(&scope_, &context_, run);
    if (!error || !run.check_finite || step_.scale_state_.empty()) return error;
    // An overflow is no error if the step is skipped because of it.
    return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
      if (e->code() != Code::kNotFinite) return llvm::Error(std::move(e));
      if (overflow_.empty()) overflow_ = e->text();
      run.check_finite = false;
      Network::SetRunCount(&scope_, index);
      return step_.gradients_->Run(&scope_, &context_, run);
    });
  }

  /// Puts the means into the Scope for the update, and into the result those of the metrics.
  llvm::Error PutMeans(Result* result) {
    const double count =
        static_cast<double>(batch_.parts.rows) / static_cast<double>(batch_.parts.micro_batch);
    for (const auto& [i, bucket] : llvm::enumerate(step_.buckets_)) {
      const auto means =
          llvm::ArrayRef(step_.means_).slice(bucket.begin, bucket.end - bucket.begin);
      const auto common =
          means.take_while([](const Mean& mean) { return mean.reader == kAllRanks; });
      GradientSums::Position position{i};
      for (const Mean& mean : common)
        if (llvm::Error error = PutMean(mean, count, position)) return error;
      for (size_t metric = 0; metric < bucket.sums.num_metrics; ++metric)
        result->metrics.push_back(sums_->Metric(position) / count);
      for (const Mean& mean : means.drop_front(common.size())) {
        if (mean.reader != batch_.communicator->rank()) {
          scope_.Erase(mean.name);
        } else if (llvm::Error error = PutMean(mean, count, position)) {
          return error;
        }
      }
    }
    return llvm::Error::success();
  }

  llvm::Error PutMean(const Mean& mean, double count, GradientSums::Position& position) {
    llvm::Expected<Tensor> value = sums_->Mean(mean.type, count, position);
    if (!value) return value.takeError();
    scope_.Create(mean.name)->Set(std::move(*value));
    return llvm::Error::success();
  }

  /// Sends the parameters that this rank has updated to the others, and takes theirs.
  llvm::Error ExchangeParameters() {
    if (step_.owned_.empty()) return llvm::Error::success();
    if (batch_.device_ranks) return ExchangeOnDevice(*batch_.device_ranks);
    Communicator& ranks = *batch_.communicator;
    struct Messages {
      std::vector<char> own;
      std::vector<std::vector<char>> received;
    };
    const auto messages = std::make_shared<Messages>();
    auto& [own, received] = *messages;
    received.resize(static_cast<size_t>(ranks.size()));
    std::vector<Tensor> tensors;
    for (const OwnedParameter& each : step_.owned_) {
      llvm::Expected<Tensor> tensor =
          each.owner == ranks.rank()
              ? OnHost(TensorIn(scope_, each.name), context_)
              : Tensor::AllocateUninitialized(each.type.dtype, SizesOf(each.type));
      if (!tensor) return tensor.takeError();
      const auto bytes = static_cast<size_t>(tensor->num_bytes());
      const char* data = static_cast<const char*>(tensor->raw());
      if (each.owner == ranks.rank())
        own.insert(own.end(), data, data + bytes);
      else
        received[static_cast<size_t>(each.owner)].resize(
            received[static_cast<size_t>(each.owner)].size() + bytes);
      tensors.push_back(std::move(*tensor));
    }
    const std::vector<ReceivedBytes> receive(received.begin(), received.end());
    const std::vector<SentBytes> send(received.size(), own);
    if (llvm::Error error = ranks.KeepIfFailed(ranks.Exchange(send, receive), messages))
      return error;
    std::vector<const char*> from;
    for (const std::vector<char>& bytes : received) from.push_back(bytes.data());
    for (const auto& [each, tensor] : llvm::zip_equal(step_.owned_, tensors)) {
      if (each.owner == ranks.rank()) continue;
      const auto bytes = static_cast<size_t>(tensor.num_bytes());
      if (bytes > 0) std::memcpy(tensor.raw(), from[static_cast<size_t>(each.owner)], bytes);
      from[static_cast<size_t>(each.owner)] += bytes;
      scope_.Create(each.name)->Set(std::move(tensor));
    }
    return llvm::Error::success();
  }

  /// ExchangeParameters by the device, where the parameters stay.
  llvm::Error ExchangeOnDevice(DeviceRanks& ranks) {
    std::vector<DeviceMessage> send, receive;
    std::vector<Tensor> tensors;
    for (const OwnedParameter& each : step_.owned_) {
      const bool is_own = each.owner == ranks.rank();
      llvm::Expected<Tensor> tensor = is_own ? MoveToDevice(TensorIn(scope_, each.name), context_)
                                             : AllocateOnDevice(each.type);
      if (!tensor) return tensor.takeError();
      const auto bytes = static_cast<size_t>(tensor->num_bytes());
      if (!is_own) receive.push_back({each.owner, tensor->raw(), bytes});
      for (int rank = 0; is_own && rank < ranks.size(); ++rank)
        send.push_back({rank, tensor->raw(), bytes});
      tensors.push_back(std::move(*tensor));
    }
    auto cancel = llvm::make_scope_exit([&] { ranks.Cancel(); });
    if (llvm::Error error = ranks.BeginExchange()) return error;
    if (llvm::Error error = ranks.Exchange(send, receive)) return error;
    if (llvm::Error error = ranks.Finish()) return error;
    cancel.release();
    for (const auto& [each, tensor] : llvm::zip_equal(step_.owned_, tensors))
      if (each.owner != ranks.rank()) scope_.Create(each.name)->Set(std::move(tensor));
    return llvm::Error::success();
  }

  llvm::Expected<Tensor> AllocateOnDevice(const Type& type) {
    const int64_t bytes = static_cast<int64_t>(NumElements(type) * DTypeSize(type.dtype));
    llvm::Expected<std::shared_ptr<void>> memory = context_.Allocate(bytes);
    if (!memory) return memory.takeError();
    return Tensor(type.dtype, SizesOf(type), std::move(*memory), context_.device());
  }

  llvm::Error Update(Result* result) {
    if (step_.scale_state_.empty()) return step_.update_->Run(&scope_, &context_, batch_.run);
    llvm::Expected<ScaledStep> step =
        RunScaledStep(*step_.update_, step_.scale_state_, {}, batch_.run, &scope_, &context_);
    if (!step) return step.takeError();
    result->loss_scale = step->scale;
    result->is_skipped = step->is_skipped;
    if (!overflow_.empty() && !step->is_skipped)
      return MakeUserError(Code::kNotFinite, "{0}", overflow_);
    return llvm::Error::success();
  }

  const MicroBatchStep& step_;
  const Batch& batch_;
  Scope& scope_;
  DeviceContext& context_;
  const uint64_t first_run_;
  /// The micro-batches of this rank, and the weight of the current one.
  MicroBatchRange own_;
  double weight_ = 1;
  std::vector<SumBucket> buckets_;
  std::unique_ptr<GradientSums> sums_;
  /// By bucket: how many values of the current micro-batch are not known yet.
  std::vector<size_t> num_missing_;
  size_t num_started_ = 0;
  /// The message of a value that is not finite, which a smaller loss scale may avoid.
  std::string overflow_;
};

/// Distributes the means over buckets, and decides the positions of them and of the metrics.
void MicroBatchStep::FormBuckets(int64_t bucket_bytes, int ranks) {
  const llvm::StringMap<size_t> positions = PositionsOfOutputs(gradients_->optimized_graph());
  llvm::stable_sort(means_, [&](const Mean& a, const Mean& b) {
    return positions.lookup(a.name) < positions.lookup(b.name);
  });
  for (size_t begin = 0; begin == 0 || begin < means_.size(); begin = buckets_.back().end) {
    size_t end = begin;
    for (int64_t bytes = 0; end < means_.size() && bytes < bucket_bytes; ++end)
      bytes += BytesOfSum(means_[end].type);
    buckets_.push_back({begin, end, {}, end - begin});
    if (end == 0) break;
  }
  for (Bucket& bucket : buckets_) {
    const bool is_last = &bucket == &buckets_.back();
    const auto means = llvm::MutableArrayRef(means_).slice(bucket.begin, bucket.end - bucket.begin);
    llvm::stable_sort(means, [](const Mean& a, const Mean& b) { return a.reader < b.reader; });
    SumLayout& layout = bucket.sums.layout;
    layout.own.resize(static_cast<size_t>(ranks));
    SumLayout::Count count;
    const auto add_metrics = [&] {
      if (!is_last) return;
      bucket.sums.first_metric = count.f64;
      bucket.sums.num_metrics = metrics_.size();
      for (const std::string& name : metrics_)
        places_[name] = {buckets_.size() - 1, count.f64++, true};
      layout.common.f64 += metrics_.size();
      bucket.num_values += metrics_.size();
    };
    bool has_metrics = false;
    for (const Mean& mean : means) {
      if (mean.reader != kAllRanks && !std::exchange(has_metrics, true)) add_metrics();
      size_t& all = CountOf(count, mean.type);
      places_[mean.name] = {static_cast<size_t>(&bucket - buckets_.data()), all, false};
      const size_t elements = NumElements(mean.type);
      all += elements;
      CountOf(
          mean.reader == kAllRanks ? layout.common : layout.own[static_cast<size_t>(mean.reader)],
          mean.type) += elements;
    }
    if (!has_metrics) add_metrics();
  }
  buckets_hash_ = llvm::xxh3_64bits(BucketsToString());
}

std::string MicroBatchStep::BucketsToString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto& [i, bucket] : llvm::enumerate(buckets_)) {
    const auto means = llvm::ArrayRef(means_).slice(bucket.begin, bucket.end - bucket.begin);
    int64_t bytes = 0;
    for (const Mean& mean : means) bytes += BytesOfSum(mean.type);
    os << "bucket " << i << ", " << bytes << " bytes\n";
    for (const Mean& mean : means) os << "  " << mean.name << ": " << mean.type.ToString() << "\n";
  }
  return text;
}

llvm::Expected<std::shared_ptr<const MicroBatchStep>> MicroBatchStep::Create(
    const Graph& step, Properties properties, const NetworkOptions& options,
    const OpRegistry& registry) {
  llvm::Expected<SplitStep> split = SplitTrainingStep(step);
  if (!split) return split.takeError();
  std::shared_ptr<MicroBatchStep> made(new MicroBatchStep);
  llvm::StringMap<int> readers;
  const Sharding* const sharding = properties.sharding;
  if (sharding) {
    llvm::Expected<UpdateShard> shard =
        ShardUpdate(split->update, sharding->owners, sharding->rank);
    if (!shard) return shard.takeError();
    for (const GraphUpdate& each : split->update.updates())
      if (const auto owner = sharding->owners.find(each.state->name());
          owner != sharding->owners.end() && owner->second.is_parameter)
        made->owned_.push_back({each.state->name(), each.state->type(), owner->second.rank});
    readers = std::move(shard->readers);
    split->update = std::move(shard->update);
  }
  for (SplitStep::Mean& mean : split->means) {
    const auto reader = readers.find(mean.name);
    made->means_.push_back({std::move(mean), reader == readers.end() ? kAllRanks : reader->second});
  }
  auto gradients = Network::Create(std::move(split->gradients), options, registry);
  if (!gradients) return gradients.takeError();
  auto update = Network::Create(std::move(split->update), options, registry);
  if (!update) return update.takeError();
  made->gradients_ = std::move(*gradients);
  made->update_ = std::move(*update);
  made->metrics_ = std::move(properties.metrics);
  made->scale_state_ = std::move(properties.scale_state);
  made->FormBuckets(std::max(properties.bucket_bytes, int64_t{1}), sharding ? sharding->ranks : 0);
  return made;
}

llvm::Expected<MicroBatchStep::Result> MicroBatchStep::Run(const Batch& batch, Scope* scope,
                                                           DeviceContext* context) const {
  return Runner(*this, batch, *scope, *context).Run();
}

}  // namespace pdl
