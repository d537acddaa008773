#include "pdl/train/micro_batches.h"

#include <algorithm>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"
#include "pdl/op/host_copy.h"
#include "pdl/train/scaled_step.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl {
namespace {

/// Appends the elements of a 16-bit, f32 or f64 tensor, times `weight`, to the values.
void Append(const Tensor& tensor, double weight, TreeValues& values) {
  const auto append = [&](auto& to, const auto* from) {
    using Sum = typename std::remove_reference_t<decltype(to)>::value_type;
    const Sum factor = static_cast<Sum>(weight);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      to.push_back(factor * static_cast<Sum>(from[i]));
  };
  switch (tensor.dtype()) {
    case DType::kF64:
      return append(values.f64, tensor.data<double>());
    case DType::kF16:
      return append(values.f32, tensor.data<float16>());
    case DType::kBF16:
      return append(values.f32, tensor.data<bfloat16>());
    default:
      return append(values.f32, tensor.data<float>());
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

void AddTo(SumLayout::Count& count, const Type& type) {
  int64_t elements = 1;
  for (const int64_t size : SizesOf(type)) elements *= size;
  (type.dtype == DType::kF64 ? count.f64 : count.f32) += static_cast<size_t>(elements);
}

const Tensor& TensorIn(const Scope& scope, const std::string& name) {
  return *scope.Find(name)->Get<Tensor>();
}

}  // namespace

MicroBatchRange MicroBatchesOf(int64_t count, int rank, int ranks) {
  const int64_t each = (count + ranks - 1) / ranks;
  return {std::min(count, each * rank), std::min(count, each * (rank + 1))};
}

/// One call of Run.
class MicroBatchStep::Runner {
 public:
  Runner(const MicroBatchStep& step, const Batch& batch, Scope& scope, DeviceContext& context)
      : step_(step),
        batch_(batch),
        scope_(scope),
        context_(context),
        first_run_(Network::RunCount(scope)) {
    const Communicator* ranks = batch.communicator;
    if (ranks) layout_.own.resize(static_cast<size_t>(ranks->size()));
    layout_.common.f64 = step.metrics_.size();
    for (const Mean& mean : step.means_)
      AddTo(
          mean.reader == kAllRanks ? layout_.common : layout_.own[static_cast<size_t>(mean.reader)],
          mean.type);
    num_common_ = static_cast<size_t>(
        llvm::count_if(step.means_, [](const Mean& mean) { return mean.reader == kAllRanks; }));
  }

  llvm::Expected<Result> Run() {
    Result result;
    llvm::Expected<TreeValues> sum = Sum(&result);
    if (!sum) return sum.takeError();
    if (llvm::Error error = PutMeans(*sum, &result)) return error;
    if (llvm::Error error = Update(&result)) return error;
    if (llvm::Error error = ExchangeParameters()) return error;
    Network::SetRunCount(&scope_, first_run_ + static_cast<uint64_t>(batch_.parts.count()));
    return result;
  }

 private:
  /// The sum over the micro-batches of all ranks.
  llvm::Expected<TreeValues> Sum(Result* result) {
    const int64_t leaves = batch_.parts.count();
    Communicator* ranks = batch_.communicator;
    const MicroBatchRange own =
        ranks ? MicroBatchesOf(leaves, ranks->rank(), ranks->size()) : MicroBatchRange{0, leaves};
    TreeSum sum(own.begin);
    for (int64_t leaf = own.begin; leaf < own.end; ++leaf) {
      llvm::Expected<TreeValues> values = RunMicroBatch(leaf);
      if (!values) return values.takeError();
      sum.AddLeaf(std::move(*values));
    }
    Network::SetRunCount(&scope_, first_run_);
    if (!ranks) return std::move(sum).Total();
    SumNote note{batch_.step, batch_.stop};
    llvm::Expected<TreeValues> total = SumOverRanks(std::move(sum), leaves, layout_, *ranks, &note);
    result->stop = note.stop != 0;
    return total;
  }

  /// The values of a micro-batch, weighted by its rows.
  llvm::Expected<TreeValues> RunMicroBatch(int64_t leaf) {
    if (llvm::Error error = batch_.put(leaf)) return error;
    RunOptions run = batch_.run;
    run.outputs = step_.metrics_;
    for (const Mean& mean : step_.means_) run.outputs.push_back(mean.name);
    if (llvm::Error error = RunGradients(run, first_run_ + static_cast<uint64_t>(leaf)))
      return error;
    const auto [rows, size] = batch_.parts;
    const double weight =
        static_cast<double>(std::min(size, rows - leaf * size)) / static_cast<double>(size);
    TreeValues values;
    SumLayout::Count count = layout_.common;
    for (const auto& [f32, f64] : layout_.own) count = {count.f32 + f32, count.f64 + f64};
    values.f32.reserve(count.f32);
    values.f64.reserve(count.f64);
    const auto means = llvm::ArrayRef(step_.means_);
    for (const Mean& mean : means.take_front(num_common_))
      Append(TensorIn(scope_, mean.name), weight, values);
    for (const std::string& name : step_.metrics_)
      values.f64.push_back(weight * TensorIn(scope_, name).ToConstant().ElementAsDouble(0));
    for (const Mean& mean : means.drop_front(num_common_))
      Append(TensorIn(scope_, mean.name), weight, values);
    return values;
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
  llvm::Error PutMeans(const TreeValues& sum, Result* result) {
    const double count =
        static_cast<double>(batch_.parts.rows) / static_cast<double>(batch_.parts.micro_batch);
    Unread sums{sum.f32.data(), sum.f64.data()};
    const auto put = [&](const Mean& mean, Unread& from) -> llvm::Error {
      llvm::Expected<Tensor> value =
          Tensor::AllocateUninitialized(mean.type.dtype, SizesOf(mean.type));
      if (!value) return value.takeError();
      Fill(*value, count, from);
      scope_.Create(mean.name)->Set(std::move(*value));
      return llvm::Error::success();
    };
    const auto means = llvm::ArrayRef(step_.means_);
    for (const Mean& mean : means.take_front(num_common_))
      if (llvm::Error error = put(mean, sums)) return error;
    result->metrics.resize(step_.metrics_.size());
    for (double& metric : result->metrics) metric = *sums.f64++ / count;
    for (const Mean& mean : means.drop_front(num_common_)) {
      if (mean.reader != batch_.communicator->rank()) {
        scope_.Erase(mean.name);
      } else if (llvm::Error error = put(mean, sums)) {
        return error;
      }
    }
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
  /// Of the values of a micro-batch: means that all ranks read, metrics, other means.
  SumLayout layout_;
  size_t num_common_ = 0;
  /// The message of a value that is not finite, which a smaller loss scale may avoid.
  std::string overflow_;
};

llvm::Expected<std::shared_ptr<const MicroBatchStep>> MicroBatchStep::Create(
    const Graph& step, std::vector<std::string> metrics, std::string scale_state,
    const NetworkOptions& options, const OpRegistry& registry, const Sharding* sharding) {
  llvm::Expected<SplitStep> split = SplitTrainingStep(step);
  if (!split) return split.takeError();
  std::shared_ptr<MicroBatchStep> made(new MicroBatchStep);
  llvm::StringMap<int> readers;
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
  llvm::stable_sort(made->means_, [](const Mean& a, const Mean& b) { return a.reader < b.reader; });
  auto gradients = Network::Create(std::move(split->gradients), options, registry);
  if (!gradients) return gradients.takeError();
  auto update = Network::Create(std::move(split->update), options, registry);
  if (!update) return update.takeError();
  made->gradients_ = std::move(*gradients);
  made->update_ = std::move(*update);
  made->metrics_ = std::move(metrics);
  made->scale_state_ = std::move(scale_state);
  return made;
}

llvm::Expected<MicroBatchStep::Result> MicroBatchStep::Run(const Batch& batch, Scope* scope,
                                                           DeviceContext* context) const {
  return Runner(*this, batch, *scope, *context).Run();
}

}  // namespace pdl
