// The sums of a step's gradients and metrics over its micro-batches and ranks.
#ifndef PDL_RUNTIME_TRAINING_GRADIENT_SUMS_H_
#define PDL_RUNTIME_TRAINING_GRADIENT_SUMS_H_

#include <memory>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/train/communicator.h"
#include "pdl/train/micro_batches.h"
#include "runtime/distributed/device_ranks.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl {

/// Values that are added together over the ranks.
struct SumBucket {
  /// Of the gradients and metrics.
  SumLayout layout;
  /// The metrics are consecutive f64 values, and all ranks get them. Only the last bucket has some.
  size_t first_metric = 0, num_metrics = 0;
};

/// Describes the sums of a step.
struct SumsOfStep {
  llvm::ArrayRef<SumBucket> buckets;
  /// The number of micro-batches of all ranks, and those of this one.
  int64_t leaves = 0;
  MicroBatchRange own;
  /// Null: this is the only rank.
  Communicator* communicator = nullptr;
  SumNote note;
};

/// The sums of one step, by bucket. For each micro-batch: Put and PutMetric for all values of a
/// bucket, then AddLeaf. After the last micro-batch of this rank: Start, for all buckets but the
/// last one, in order. Then Finish.
class GradientSums {
 public:
  /// The position in the sums of a bucket from which Mean and Metric read.
  struct Position {
    size_t bucket = 0, f32 = 0, f64 = 0;
  };

  virtual ~GradientSums();
  /// Whether gradients are put, and means are made, on the device.
  virtual bool are_on_device() const = 0;
  /// Puts the elements of a tensor, times `weight`, from the index `offset` of the f32 or f64
  /// values on.
  virtual llvm::Error Put(size_t bucket, size_t offset, const Tensor& value, double weight) = 0;
  virtual llvm::Error PutMetric(size_t bucket, size_t offset, double value) = 0;
  virtual llvm::Error AddLeaf(size_t bucket) = 0;
  /// The index of the next micro-batch of a bucket.
  virtual int64_t end(size_t bucket) const = 0;
  virtual llvm::Error Start(size_t bucket) = 0;
  /// Computes all sums. `seconds` is for the note of this rank.
  virtual llvm::Error Finish(double seconds) = 0;

  // After Finish:
  /// Whether any rank was asked to stop, and the times of all ranks.
  virtual bool stop() const = 0;
  virtual llvm::ArrayRef<double> seconds() const = 0;
  /// Returns a tensor with the sums from the position on, divided by `count`, and moves it.
  virtual llvm::Expected<Tensor> Mean(const Type& type, double count, Position& position) = 0;
  /// Returns the sum of the metric at the position, and moves it.
  virtual double Metric(Position& position) const = 0;
};

std::unique_ptr<GradientSums> MakeHostSums(const SumsOfStep& step);
/// The device must be the one of `context`, where gradients are computed.
std::unique_ptr<GradientSums> MakeDeviceSums(const SumsOfStep& step, DeviceRanks& device,
                                             DeviceContext& context);

/// The sizes of a type without symbols.
Sizes SizesOf(const Type& type);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_GRADIENT_SUMS_H_
