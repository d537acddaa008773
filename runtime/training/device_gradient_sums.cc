// Sums of gradients in the memory of the device that computes them.
#include <deque>

#include "pdl/compiler/trace.h"
#include "runtime/distributed/device_sum.h"
#include "runtime/training/gradient_sums.h"

namespace pdl {
namespace {

/// Ranks exchange gradients by the device, and metrics and notes by their communicator.
class DeviceSums final : public GradientSums {
 public:
  DeviceSums(const SumsOfStep& step, DeviceRanks& device, DeviceContext& context)
      : step_(step), device_(device), context_(context), metrics_(step.own.begin) {
    for (const SumBucket& bucket : step.buckets) {
      SumLayout& layout = layouts_.emplace_back(bucket.layout);
      layout.common.f64 -= bucket.num_metrics;
    }
    for (const SumLayout& layout : layouts_)
      sums_.emplace_back(device, layout, step.own.begin, step.leaves);
    has_leaf_.resize(sums_.size());
  }
  ~DeviceSums() override {
    if (is_exchanging_) device_.Cancel();
  }

  bool are_on_device() const override { return true; }

  llvm::Error Put(size_t bucket, size_t offset, const Tensor& value, double weight) override {
    if (llvm::Error error = BeginLeaf(bucket)) return error;
    const DeviceValues& leaf = sums_[bucket].leaf();
    if (value.num_elements() == 0) return llvm::Error::success();
    if (value.dtype() != DType::kF64) return device_.Weigh(value, weight, leaf.f32() + offset);
    return device_.Weigh(value, weight, leaf.f64() + WithoutMetrics(bucket, offset));
  }

  llvm::Error PutMetric(size_t bucket, size_t offset, double value) override {
    metrics_of_leaf_.resize(step_.buckets[bucket].num_metrics);
    metrics_of_leaf_[offset - step_.buckets[bucket].first_metric] = value;
    return llvm::Error::success();
  }

  llvm::Error AddLeaf(size_t bucket) override {
    if (llvm::Error error = BeginLeaf(bucket)) return error;
    has_leaf_[bucket] = false;
    if (bucket + 1 == sums_.size()) metrics_.AddLeaf({{}, metrics_of_leaf_});
    return sums_[bucket].AddLeaf();
  }

  int64_t end(size_t bucket) const override { return sums_[bucket].end(); }
  llvm::Error Start(size_t bucket) override {
    is_exchanging_ = true;
    return sums_[bucket].Start();
  }

  llvm::Error Finish(double seconds) override {
    const TraceSpan span("sum over ranks");
    // The ranks compare their notes first: an Error of the communicator names the rank that does
    // not answer.
    if (step_.communicator == nullptr) {
      total_metrics_ = std::move(metrics_).Total();
    } else {
      SumNote note = step_.note;
      note.seconds = seconds;
      const SumLayout layout{{0, step_.buckets.back().num_metrics}, {}};
      if (llvm::Error error = SumOverRanks(std::move(metrics_), step_.leaves, layout,
                                           *step_.communicator, &note, &seconds_)
                                  .moveInto(total_metrics_))
        return error;
      stop_ = note.stop != 0;
    }
    if (llvm::Error error = Start(sums_.size() - 1)) return error;
    if (llvm::Error error = device_.Finish()) return error;
    is_exchanging_ = false;
    return llvm::Error::success();
  }

  bool stop() const override { return stop_; }
  llvm::ArrayRef<double> seconds() const override { return seconds_; }

  llvm::Expected<Tensor> Mean(const Type& type, double count, Position& position) override {
    const Sizes sizes = SizesOf(type);
    int64_t elements = 1;
    for (const int64_t size : sizes) elements *= size;
    auto memory = context_.Allocate(elements * static_cast<int64_t>(DTypeSize(type.dtype)));
    if (!memory) return memory.takeError();
    Tensor value(type.dtype, sizes, std::move(*memory), context_.device());
    const DeviceValues& total = sums_[position.bucket].total();
    size_t& next = type.dtype == DType::kF64 ? position.f64 : position.f32;
    const size_t begin = std::exchange(next, next + static_cast<size_t>(elements));
    if (elements == 0) return value;
    const void* const sums =
        type.dtype == DType::kF64
            ? static_cast<const void*>(total.f64() + WithoutMetrics(position.bucket, begin))
            : total.f32() + begin;
    if (llvm::Error error = device_.Divide(sums, count, value)) return error;
    return value;
  }

  double Metric(Position& position) const override {
    const SumBucket& bucket = step_.buckets[position.bucket];
    return total_metrics_.f64[position.f64++ - bucket.first_metric];
  }

 private:
  llvm::Error BeginLeaf(size_t bucket) {
    if (has_leaf_[bucket]) return llvm::Error::success();
    has_leaf_[bucket] = true;
    return sums_[bucket].BeginLeaf();
  }

  /// The index of an f64 value if there are no metrics.
  size_t WithoutMetrics(size_t bucket, size_t offset) const {
    const SumBucket& of = step_.buckets[bucket];
    return offset < of.first_metric ? offset : offset - of.num_metrics;
  }

  const SumsOfStep step_;
  DeviceRanks& device_;
  DeviceContext& context_;
  std::deque<SumLayout> layouts_;  // by bucket, as the next ones
  std::deque<DeviceSum> sums_;
  std::vector<bool> has_leaf_;
  /// Whether work that was launched in kExchange may use the memory of the sums.
  bool is_exchanging_ = false;
  TreeSum metrics_;
  std::vector<double> metrics_of_leaf_;
  TreeValues total_metrics_;
  std::vector<double> seconds_;
  bool stop_ = false;
};

}  // namespace

std::unique_ptr<GradientSums> MakeDeviceSums(const SumsOfStep& step, DeviceRanks& device,
                                             DeviceContext& context) {
  return std::make_unique<DeviceSums>(step, device, context);
}

}  // namespace pdl
