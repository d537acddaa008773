// Steps that are computed from micro-batches, which ranks share.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"
#include "pdl/train/scaled_step.h"
#include "runtime/training/trainer_impl.h"

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

/// The numbers of values in a leaf.
std::pair<size_t, size_t> CountValues(llvm::ArrayRef<SplitStep::Mean> means, size_t metrics) {
  size_t f32 = 0, f64 = metrics;
  for (const SplitStep::Mean& mean : means) {
    int64_t elements = 1;
    for (const int64_t size : SizesOf(mean.type)) elements *= size;
    (mean.type.dtype == DType::kF64 ? f64 : f32) += static_cast<size_t>(elements);
  }
  return {f32, f64};
}

}  // namespace

llvm::Error Trainer::Impl::SetMicroBatch() {
  auto wrong = [](const char* format, auto... arguments) {
    return MakeUserError(Code::kTrainingData, format, arguments...);
  };
  const int64_t ranks = is_distributed() ? options.communicator->size() : 1;
  const int64_t rows = options.batch_size;
  if (rows < 1) return wrong("a batch has at least 1 row, got {0}", rows);
  if (options.micro_batch < 0)
    return wrong("a micro-batch has at least 1 row, got {0}", options.micro_batch);
  if (rows % ranks != 0) {
    const int64_t below = rows - rows % ranks;
    return wrong("{0} ranks cannot share a batch of {1} rows equally; {2}{3} rows are possible",
                 ranks, rows, below > 0 ? std::to_string(below) + " or " : "", below + ranks);
  }
  if (options.micro_batch == 0) options.micro_batch = rows / ranks;
  if (ranks > 1 && rows / ranks % options.micro_batch != 0)
    return wrong(
        "micro-batches of {0} rows do not divide the {1} rows that each of {2} ranks has of a "
        "batch",
        options.micro_batch, rows / ranks, ranks);
  progress.micro_batch = options.micro_batch < rows ? options.micro_batch : 0;
  return llvm::Error::success();
}

llvm::Error Trainer::Impl::Split(const Graph& step, const NetworkOptions& kept,
                                 StepNetwork* made) const {
  llvm::Expected<SplitStep> split = SplitTrainingStep(step);
  if (!split) return split.takeError();
  auto gradients = Network::Create(std::move(split->gradients), kept, registry);
  if (!gradients) return gradients.takeError();
  auto update = Network::Create(std::move(split->update), kept, registry);
  if (!update) return update.takeError();
  made->gradients = std::move(*gradients);
  made->update = std::move(*update);
  made->means = std::move(split->means);
  return llvm::Error::success();
}

llvm::Error Trainer::Impl::RunMicroBatch(const StepNetwork& next, llvm::ArrayRef<int64_t> rows,
                                         uint64_t index, std::string* overflow) {
  if (llvm::Error error = batch.Put(rows, &scope)) return error;
  RunOptions run = OptionsOfRun();
  run.outputs = next.outputs;
  for (const SplitStep::Mean& mean : next.means) run.outputs.push_back(mean.name);
  Network::SetRunCount(&scope, index);
  llvm::Error error = next.gradients->Run(&scope, &context, run);
  if (!error || !run.check_finite || scale_state.empty()) return error;
  // An overflow is no error if the step is skipped because of it.
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
    if (e->code() != Code::kNotFinite) return llvm::Error(std::move(e));
    if (overflow->empty()) *overflow = e->text();
    run.check_finite = false;
    Network::SetRunCount(&scope, index);
    return next.gradients->Run(&scope, &context, run);
  });
}

llvm::Expected<TreeSum> Trainer::Impl::SumMicroBatches(const StepNetwork& next,
                                                       llvm::ArrayRef<int64_t> rows,
                                                       std::string* overflow) {
  const int64_t size = options.micro_batch, num_rows = static_cast<int64_t>(rows.size());
  const int64_t leaves = (num_rows + size - 1) / size;
  const LeafRange own = is_distributed() ? LeavesOf(leaves, options.communicator->rank(),
                                                    options.communicator->size())
                                         : LeafRange{0, leaves};
  const uint64_t first_run = Network::RunCount(scope);
  const auto [f32, f64] = CountValues(next.means, next.metrics.size());
  TreeSum sum(own.begin);
  for (int64_t leaf = own.begin; leaf < own.end; ++leaf) {
    const int64_t count = std::min(size, num_rows - leaf * size);
    const auto own_rows = rows.slice(static_cast<size_t>(leaf * size), static_cast<size_t>(count));
    if (llvm::Error error =
            RunMicroBatch(next, own_rows, first_run + static_cast<uint64_t>(leaf), overflow))
      return error;
    const double weight = static_cast<double>(count) / static_cast<double>(size);
    TreeValues values;
    values.f32.reserve(f32);
    values.f64.reserve(f64);
    for (const SplitStep::Mean& mean : next.means)
      Append(*FindTensor(scope, mean.name), weight, values);
    for (const size_t i : next.metrics)
      values.f64.push_back(weight * MetricIn(scope, names.all[i]));
    sum.AddLeaf(std::move(values));
  }
  Network::SetRunCount(&scope, first_run);
  return sum;
}

llvm::Expected<std::vector<double>> Trainer::Impl::PutMeans(const StepNetwork& next,
                                                            const TreeValues& sum, double count) {
  Unread sums{sum.f32.data(), sum.f64.data()};
  for (const SplitStep::Mean& mean : next.means) {
    llvm::Expected<Tensor> value =
        Tensor::AllocateUninitialized(mean.type.dtype, SizesOf(mean.type));
    if (!value) return value.takeError();
    Fill(*value, count, sums);
    scope.Create(mean.name)->Set(std::move(*value));
  }
  std::vector<double> metrics(next.metrics.size());
  for (double& metric : metrics) metric = *sums.f64++ / count;
  return metrics;
}

llvm::Expected<std::vector<double>> Trainer::Impl::RunMicroBatches(const StepNetwork& next,
                                                                   llvm::ArrayRef<int64_t> rows,
                                                                   StepReport* report) {
  const auto num_rows = static_cast<int64_t>(rows.size());
  const int64_t leaves = (num_rows + options.micro_batch - 1) / options.micro_batch;
  const uint64_t first_run = Network::RunCount(scope);
  std::string overflow;
  llvm::Expected<TreeSum> own = SumMicroBatches(next, rows, &overflow);
  if (!own) return own.takeError();
  TreeValues sum;
  if (is_distributed()) {
    const auto [f32, f64] = CountValues(next.means, next.metrics.size());
    SumNote note{progress.step + 1, stop != nullptr && stop->load()};
    llvm::Expected<TreeValues> total =
        SumOverRanks(std::move(*own), leaves, f32, f64, *options.communicator, &note);
    if (!total) return total.takeError();
    ranks_stop = note.stop != 0;
    sum = std::move(*total);
  } else {
    sum = std::move(*own).Total();
  }
  llvm::Expected<std::vector<double>> metrics =
      PutMeans(next, sum, static_cast<double>(num_rows) / static_cast<double>(options.micro_batch));
  if (!metrics) return metrics;
  const RunOptions run = OptionsOfRun();
  if (scale_state.empty()) {
    if (llvm::Error error = next.update->Run(&scope, &context, run)) return error;
  } else {
    llvm::Expected<ScaledStep> step =
        RunScaledStep(*next.update, scale_state, {}, run, &scope, &context);
    if (!step) return step.takeError();
    report->loss_scale = step->scale;
    report->is_skipped = step->is_skipped;
    if (!overflow.empty() && !step->is_skipped)
      return MakeUserError(Code::kNotFinite, "{0}", overflow);
  }
  Network::SetRunCount(&scope, first_run + static_cast<uint64_t>(leaves));
  return metrics;
}

}  // namespace pdl
