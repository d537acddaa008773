#include "runtime/training/gradient_sums.h"

#include <optional>

#include "pdl/op/half.h"
#include "runtime/distributed/sum_queue.h"

namespace pdl {
namespace {

/// Writes the elements of a 16-bit, f32 or f64 tensor, times `weight`, to the values from `offset`
/// on.
void PutInto(TreeValues& values, const Tensor& tensor, double weight, size_t offset) {
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

/// Fills a tensor with the sums from the position on, divided by `count`.
void Fill(Tensor& tensor, double count, const TreeValues& values, GradientSums::Position position) {
  const auto fill = [&](auto* to, const auto* from) {
    using Element = std::remove_reference_t<decltype(*to)>;
    using Sum = std::remove_const_t<std::remove_reference_t<decltype(*from)>>;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      to[i] = static_cast<Element>(from[i] / static_cast<Sum>(count));
  };
  const float* const f32 = values.f32.data() + position.f32;
  switch (tensor.dtype()) {
    case DType::kF64:
      return fill(tensor.data<double>(), values.f64.data() + position.f64);
    case DType::kF16:
      return fill(tensor.data<float16>(), f32);
    case DType::kBF16:
      return fill(tensor.data<bfloat16>(), f32);
    default:
      return fill(tensor.data<float>(), f32);
  }
}

/// Sums on the CPU; ranks exchange them by their communicator.
class HostSums final : public GradientSums {
 public:
  explicit HostSums(const SumsOfStep& step) : step_(step) {
    for (size_t i = 0; i < step.buckets.size(); ++i) {
      sums_.emplace_back(step.own.begin);
      leaves_.emplace_back();
    }
    if (step.communicator) queue_.emplace(*step.communicator, step.leaves, step.note);
  }

  bool are_on_device() const override { return false; }
  llvm::Error Put(size_t bucket, size_t offset, const Tensor& value, double weight) override {
    PutInto(LeafOf(bucket), value, weight, offset);
    return llvm::Error::success();
  }
  llvm::Error PutMetric(size_t bucket, size_t offset, double value) override {
    LeafOf(bucket).f64[offset] = value;
    return llvm::Error::success();
  }
  llvm::Error AddLeaf(size_t bucket) override {
    LeafOf(bucket);
    sums_[bucket].AddLeaf(std::move(*std::exchange(leaves_[bucket], std::nullopt)));
    return llvm::Error::success();
  }
  int64_t end(size_t bucket) const override { return sums_[bucket].end(); }
  llvm::Error Start(size_t bucket) override {
    if (queue_) queue_->Add(std::move(sums_[bucket]), step_.buckets[bucket].layout);
    return llvm::Error::success();
  }

  llvm::Error Finish(double seconds) override {
    if (queue_)
      return queue_->Finish(std::move(sums_.back()), step_.buckets.back().layout, seconds)
          .moveInto(totals_);
    for (TreeSum& sum : sums_) totals_.push_back(std::move(sum).Total());
    return llvm::Error::success();
  }
  bool stop() const override { return queue_ && queue_->stop(); }
  llvm::ArrayRef<double> seconds() const override {
    return queue_ ? queue_->seconds() : llvm::ArrayRef<double>();
  }
  llvm::Expected<Tensor> Mean(const Type& type, double count, Position& position) override {
    llvm::Expected<Tensor> value = Tensor::AllocateUninitialized(type.dtype, SizesOf(type));
    if (!value) return value;
    Fill(*value, count, totals_[position.bucket], position);
    size_t& next = type.dtype == DType::kF64 ? position.f64 : position.f32;
    next += static_cast<size_t>(value->num_elements());
    return value;
  }
  double Metric(Position& position) const override {
    return totals_[position.bucket].f64[position.f64++];
  }

 private:
  /// The values of the micro-batch that is being computed.
  TreeValues& LeafOf(size_t bucket) {
    if (leaves_[bucket]) return *leaves_[bucket];
    const SumLayout& layout = step_.buckets[bucket].layout;
    SumLayout::Count count = layout.common;
    for (const auto& [f32, f64] : layout.own) count = {count.f32 + f32, count.f64 + f64};
    return leaves_[bucket].emplace(
        TreeValues{std::vector<float>(count.f32), std::vector<double>(count.f64)});
  }

  const SumsOfStep step_;
  std::vector<TreeSum> sums_;  // by bucket, as the other ones
  std::vector<std::optional<TreeValues>> leaves_;
  std::vector<TreeValues> totals_;
  std::optional<SumQueue> queue_;
};

}  // namespace

GradientSums::~GradientSums() = default;

std::unique_ptr<GradientSums> MakeHostSums(const SumsOfStep& step) {
  return std::make_unique<HostSums>(step);
}

Sizes SizesOf(const Type& type) {
  Sizes sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.constant());
  return sizes;
}

}  // namespace pdl
