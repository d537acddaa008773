#include "pdl/train/micro_batches.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"
#include "pdl/op/host_copy.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/train/scaled_step.h"
#include "runtime/distributed/sum_queue.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl {
namespace {

/// Writes the elements of a 16-bit, f32 or f64 tensor, times `weight`, to the values from `offset`
/// on.
void Put(const Tensor& tensor, double weight, size_t offset, TreeValues& values) {
  const auto put = [&](auto& sums, const auto* from) {
    using Sum = typename std::remove_reference_t<decltype(sums)>::value_type;
    const Sum factor = static_cast<Sum>(weight);
    Sum* const to = sums.data() + offset;
    const int64_t count = tensor.num_elements();
    for (int64_t i = 0; i < count; ++i) to[i] = factor * static_cast<Sum>(from[i]);
  };
  switch (tensor.dtype()) {
    case DType::kF64:
      return put(values.f64, tensor.data<double>());
    case DType::kF16:
      return put(values.f32, tensor.data<float16>());
    case DType::kBF16:
      return put(values.f32, tensor.data<bfloat16>());
    default:
      return put(values.f32, tensor.data<float>());
  }
}

/// The sums that have not been read yet.
struct Unread {
  const float* f32;
  const double* f64;
};

/// Fills a tensor with the next sums, divided by `count`.
void Fill(Tensor& tensor, double count, Unread& sums) {
  const auto fill = [&](auto* to, const auto*& from) {
    using Element = std::remove_reference_t<decltype(*to)>;
    using Sum = std::remove_const_t<std::remove_reference_t<decltype(*from)>>;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      to[i] = static_cast<Element>(*from++ / static_cast<Sum>(count));
  };
  switch (tensor.dtype()) {
    case DType::kF64:
      return fill(tensor.data<double>(), sums.f64);
    case DType::kF16:
      return fill(tensor.data<float16>(), sums.f32);
    case DType::kBF16:
      return fill(tensor.data<bfloat16>(), sums.f32);
    default:
      return fill(tensor.data<float>(), sums.f32);
  }
}

Sizes SizesOf(const Type& type) {
  Sizes sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.constant());
  return sizes;
}

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
  SumLayout layout;
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
    llvm::Expected<std::vector<TreeValues>> sums = Sum(&result);
    if (!sums) return sums.takeError();
    if (llvm::Error error = PutMeans(*sums, &result)) return error;
    if (llvm::Error error = Update(&result)) return error;
    if (llvm::Error error = ExchangeParameters()) return error;
    Network::SetRunCount(&scope_, first_run_ + static_cast<uint64_t>(batch_.parts.count()));
    return result;
  }

 private:
  /// The values of a bucket.
  struct Values {
    TreeSum sum;
    /// Of the micro-batch that is being computed, and how many are not known yet.
    TreeValues leaf;
    size_t num_missing = 0;
  };

  /// The sums of the buckets over the micro-batches of all ranks.
  llvm::Expected<std::vector<TreeValues>> Sum(Result* result) {
    const int64_t leaves = batch_.parts.count();
    Communicator* ranks = batch_.communicator;
    own_ =
        ranks ? MicroBatchesOf(leaves, ranks->rank(), ranks->size()) : MicroBatchRange{0, leaves};
    for (size_t i = 0; i < step_.buckets_.size(); ++i)
      values_.push_back({TreeSum(own_.begin), {}, 0});
    if (ranks)
      queue_.emplace(*ranks, leaves, SumNote{batch_.step, step_.buckets_hash_, batch_.stop});
    for (int64_t leaf = own_.begin; leaf < own_.end; ++leaf)
      if (llvm::Error error = RunMicroBatch(leaf)) return error;
    Network::SetRunCount(&scope_, first_run_);
    if (!ranks) {
      std::vector<TreeValues> totals;
      for (Values& each : values_) totals.push_back(std::move(each.sum).Total());
      return totals;
    }
    // Of a rank that has no micro-batch.
    while (num_queued_ + 1 < values_.size()) QueueNext();
    const auto ready = std::chrono::steady_clock::now();
    const double own = std::chrono::duration<double>(ready - batch_.begin).count();
    auto totals = queue_->Finish(std::move(values_.back().sum), step_.buckets_.back().layout, own);
    result->stop = queue_->stop();
    if (!totals) return totals;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - ready;
    result->times = TimesOf(queue_->seconds());
    result->times.own = own;
    result->times.waited = waited.count();
    return totals;
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
    for (const auto& [bucket, values] : llvm::zip_equal(step_.buckets_, values_))
      values.num_missing = bucket.num_values;
    if (llvm::Error error = RunGradients(run, first_run_ + static_cast<uint64_t>(leaf)))
      return error;
    // The last bucket may have no values.
    if (values_.back().sum.end() == leaf) values_.back().sum.AddLeaf({});
    return llvm::Error::success();
  }

  /// Called during RunGradients.
  llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) override {
    const auto found = step_.places_.find(name);
    if (found == step_.places_.end()) return llvm::Error::success();
    const auto [bucket, offset, is_metric] = found->second;
    Values& values = values_[bucket];
    if (values.num_missing == step_.buckets_[bucket].num_values)
      values.leaf = MakeLeaf(step_.buckets_[bucket].layout);
    if (is_metric) {
      values.leaf.f64[offset] = weight_ * tensor.ToConstant().ElementAsDouble(0);
    } else {
      Put(tensor, weight_, offset, values.leaf);
    }
    if (--values.num_missing > 0) return llvm::Error::success();
    values.sum.AddLeaf(std::move(values.leaf));
    while (queue_ && num_queued_ + 1 < values_.size() && values_[num_queued_].sum.end() == own_.end)
      QueueNext();
    return llvm::Error::success();
  }

  static TreeValues MakeLeaf(const SumLayout& layout) {
    SumLayout::Count count = layout.common;
    for (const auto& [f32, f64] : layout.own) count = {count.f32 + f32, count.f64 + f64};
    return {std::vector<float>(count.f32), std::vector<double>(count.f64)};
  }

  /// Adds the next bucket to the queue, which must not be the last one.
  void QueueNext() {
    queue_->Add(std::move(values_[num_queued_].sum), step_.buckets_[num_queued_].layout);
    ++num_queued_;
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
  llvm::Error PutMeans(llvm::ArrayRef<TreeValues> sums, Result* result) {
    const double count =
        static_cast<double>(batch_.parts.rows) / static_cast<double>(batch_.parts.micro_batch);
    for (const auto& [bucket, sum] : llvm::zip_equal(step_.buckets_, sums)) {
      const auto means =
          llvm::ArrayRef(step_.means_).slice(bucket.begin, bucket.end - bucket.begin);
      const auto common =
          means.take_while([](const Mean& mean) { return mean.reader == kAllRanks; });
      Unread unread{sum.f32.data(), sum.f64.data()};
      for (const Mean& mean : common)
        if (llvm::Error error = PutMean(mean, count, unread)) return error;
      if (&bucket == &step_.buckets_.back())
        for (size_t i = 0; i < step_.metrics_.size(); ++i)
          result->metrics.push_back(*unread.f64++ / count);
      for (const Mean& mean : means.drop_front(common.size())) {
        if (mean.reader != batch_.communicator->rank()) {
          scope_.Erase(mean.name);
        } else if (llvm::Error error = PutMean(mean, count, unread)) {
          return error;
        }
      }
    }
    return llvm::Error::success();
  }

  llvm::Error PutMean(const Mean& mean, double count, Unread& sums) {
    llvm::Expected<Tensor> value =
        Tensor::AllocateUninitialized(mean.type.dtype, SizesOf(mean.type));
    if (!value) return value.takeError();
    Fill(*value, count, sums);
    scope_.Create(mean.name)->Set(std::move(*value));
    return llvm::Error::success();
  }

  /// Sends the parameters that this rank has updated to the others, and takes theirs.
  llvm::Error ExchangeParameters() {
    if (step_.owned_.empty()) return llvm::Error::success();
    Communicator& ranks = *batch_.communicator;
    std::vector<char> own;
    std::vector<std::vector<char>> received(static_cast<size_t>(ranks.size()));
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
    if (llvm::Error error = ranks.Exchange(std::vector<SentBytes>(received.size(), own), receive))
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
  std::vector<Values> values_;  // by bucket
  std::optional<SumQueue> queue_;
  size_t num_queued_ = 0;
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
    SumLayout& layout = bucket.layout;
    layout.own.resize(static_cast<size_t>(ranks));
    SumLayout::Count count;
    const auto add_metrics = [&] {
      if (!is_last) return;
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
