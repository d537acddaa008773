// Sums over ranks whose values stay in the memory of devices.
#ifndef PDL_RUNTIME_DISTRIBUTED_DEVICE_SUM_H_
#define PDL_RUNTIME_DISTRIBUTED_DEVICE_SUM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/Error.h"
#include "runtime/distributed/device_ranks.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl {

/// Values in device memory: the f32 ones, then the f64 ones.
class DeviceValues {
 public:
  static llvm::Expected<DeviceValues> Allocate(DeviceRanks& device, SumLayout::Count count);
  float* f32() const { return static_cast<float*>(memory_.get()); }
  double* f64() const {
    return reinterpret_cast<double*>(static_cast<char*>(memory_.get()) + f64_);
  }

 private:
  std::shared_ptr<void> memory_;
  size_t f64_ = 0;  // offset in bytes
};

/// The sum that SumOverRanks and TreeSum define, with the same bits, of values in device memory. A
/// sum over one rank needs no exchange.
class DeviceSum {
 public:
  /// Starts with the leaf `begin`. `leaves` is the number of leaves over all ranks, of which this
  /// rank adds those of MicroBatchesOf. The device must outlive the sum.
  DeviceSum(DeviceRanks& device, const SumLayout& layout, int64_t begin, int64_t leaves);

  /// Allocates the next leaf, whose values are then put with Weigh.
  llvm::Error BeginLeaf();
  const DeviceValues& leaf() const { return leaf_; }
  /// Adds the leaf to the sum.
  llvm::Error AddLeaf();
  /// The index of the next leaf.
  int64_t end() const { return end_; }

  /// Launches the sum over all ranks, after the last leaf of this one.
  llvm::Error Start();
  /// After DeviceRanks::Finish: the common values, and those of this rank.
  const DeviceValues& total() const { return total_; }

 private:
  /// The index of the first value and the number of values.
  struct Slice {
    size_t begin = 0, count = 0;
  };
  /// The values that a rank adds: a part of the common ones, and its own.
  struct Part {
    Slice f32, own_f32, f64, own_f64;
    SumLayout::Count count() const {
      return {f32.count + own_f32.count, f64.count + own_f64.count};
    }
  };
  using Nodes = std::vector<std::pair<TreeNode, DeviceValues>>;

  static Slice PartOf(size_t count, int rank, int ranks);
  void AppendMessages(int rank, const DeviceValues& values, const Part& part,
                      std::vector<DeviceMessage>& messages) const;
  llvm::Error Add(DeviceRanks::Queue queue, SumLayout::Count count, const DeviceValues& to,
                  const DeviceValues& right);
  llvm::Error AddNode(DeviceRanks::Queue queue, SumLayout::Count count, Nodes& nodes, TreeNode node,
                      DeviceValues values);
  llvm::Error CopyPart(const DeviceValues& values, const Part& part, const DeviceValues& to);
  llvm::Error AddRemaining(DeviceRanks::Queue queue, SumLayout::Count count, Nodes& nodes);
  llvm::Expected<DeviceValues> ReduceScatter();
  llvm::Error AllGather(const DeviceValues& part);

  DeviceRanks& device_;
  const int64_t leaves_;
  int64_t end_;
  const SumLayout::Count common_;
  SumLayout::Count all_;
  std::vector<Part> parts_;  // by rank
  DeviceValues leaf_, total_;
  Nodes nodes_;
  /// Memory that kExchange still uses.
  std::vector<DeviceValues> kept_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_DEVICE_SUM_H_
