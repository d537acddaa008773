#include "runtime/distributed/device_sum.h"

#include <algorithm>
#include <cassert>

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

using Queue = DeviceRanks::Queue;

/// Copies and transfers are faster if both sides are aligned.
constexpr size_t kAlignment = 256;

size_t AlignUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

llvm::Expected<DeviceValues> DeviceValues::Allocate(DeviceRanks& device, SumLayout::Count count) {
  DeviceValues values;
  values.f64_ = AlignUp(count.f32 * sizeof(float));
  const size_t bytes = values.f64_ + count.f64 * sizeof(double);
  llvm::Expected<std::shared_ptr<void>> memory = device.Allocate(static_cast<int64_t>(bytes));
  if (!memory) return memory.takeError();
  values.memory_ = std::move(*memory);
  return values;
}

DeviceSum::Slice DeviceSum::PartOf(size_t count, int rank, int ranks) {
  const auto begin = [&](int i) {
    if (i == ranks) return count;
    const size_t exact = count * static_cast<size_t>(i) / static_cast<size_t>(ranks);
    constexpr size_t kUnit = kAlignment / sizeof(double);
    return exact / kUnit * kUnit;
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

DeviceSum::DeviceSum(DeviceRanks& device, const SumLayout& layout, int64_t begin, int64_t leaves)
    : device_(device), leaves_(leaves), end_(begin), common_(layout.common), all_(layout.common) {
  for (int rank = 0; rank < device.size(); ++rank) {
    const SumLayout::Count own =
        layout.own.empty() ? SumLayout::Count() : layout.own[static_cast<size_t>(rank)];
    parts_.push_back({PartOf(common_.f32, rank, device.size()),
                      {all_.f32, own.f32},
                      PartOf(common_.f64, rank, device.size()),
                      {all_.f64, own.f64}});
    all_ = {all_.f32 + own.f32, all_.f64 + own.f64};
  }
}

llvm::Error DeviceSum::BeginLeaf() { return DeviceValues::Allocate(device_, all_).moveInto(leaf_); }

llvm::Error DeviceSum::AddLeaf() {
  return AddNode(Queue::kCompute, all_, nodes_, {end_++, 0}, std::exchange(leaf_, {}));
}

llvm::Error DeviceSum::Add(Queue queue, SumLayout::Count count, const DeviceValues& to,
                           const DeviceValues& right) {
  if (count.f32 > 0)
    if (llvm::Error error =
            device_.Add(queue, DType::kF32, to.f32(), right.f32(), count.f32, to.f32()))
      return error;
  if (count.f64 == 0) return llvm::Error::success();
  return device_.Add(queue, DType::kF64, to.f64(), right.f64(), count.f64, to.f64());
}

llvm::Error DeviceSum::AddNode(Queue queue, SumLayout::Count count, Nodes& nodes, TreeNode node,
                               DeviceValues values) {
  nodes.emplace_back(node, std::move(values));
  while (nodes.size() > 1 && AreSiblings(nodes[nodes.size() - 2].first, nodes.back().first)) {
    const DeviceValues right = std::move(nodes.back().second);
    nodes.pop_back();
    if (llvm::Error error = Add(queue, count, nodes.back().second, right)) return error;
    if (queue == Queue::kExchange) kept_.push_back(right);
    ++nodes.back().first.level;
  }
  return llvm::Error::success();
}

void DeviceSum::AppendMessages(int rank, const DeviceValues& values, const Part& part,
                               std::vector<DeviceMessage>& messages) const {
  for (const Slice& slice : {part.f32, part.own_f32})
    messages.push_back({rank, values.f32() + slice.begin, slice.count * sizeof(float)});
  for (const Slice& slice : {part.f64, part.own_f64})
    messages.push_back({rank, values.f64() + slice.begin, slice.count * sizeof(double)});
}

/// Copies the values of a part next to each other, as other ranks' values are received.
llvm::Error DeviceSum::CopyPart(const DeviceValues& values, const Part& part,
                                const DeviceValues& to) {
  std::vector<DeviceMessage> from;
  AppendMessages(device_.rank(), values, part, from);
  void* const parts[] = {to.f32(), to.f32() + part.f32.count, to.f64(), to.f64() + part.f64.count};
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].bytes > 0)
      if (llvm::Error error = device_.Copy(parts[i], from[i].data, from[i].bytes)) return error;
  return llvm::Error::success();
}

/// Adds the last nodes: left children whose right siblings begin with the next node.
llvm::Error DeviceSum::AddRemaining(Queue queue, SumLayout::Count count, Nodes& nodes) {
  assert(!nodes.empty() && "there is a leaf");
  while (nodes.size() > 1) {
    kept_.push_back(std::move(nodes.back().second));
    nodes.pop_back();
    if (llvm::Error error = Add(queue, count, nodes.back().second, kept_.back())) return error;
  }
  return llvm::Error::success();
}

/// Returns the sum of this rank's part, the common values first.
llvm::Expected<DeviceValues> DeviceSum::ReduceScatter() {
  const int ranks = device_.size(), me = device_.rank();
  const Part& mine = parts_[static_cast<size_t>(me)];
  // A part that is received is stored like one without other values.
  const Part received_part{{0, mine.f32.count},
                           {mine.f32.count, mine.own_f32.count},
                           {0, mine.f64.count},
                           {mine.f64.count, mine.own_f64.count}};
  std::vector<DeviceMessage> send, receive;
  Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    const MicroBatchRange range = MicroBatchesOf(leaves_, rank, ranks);
    for (const TreeNode& node : NodesOf(range.begin, range.end)) {
      llvm::Expected<DeviceValues> values = DeviceValues::Allocate(device_, mine.count());
      if (!values) return values;
      AppendMessages(rank, *values, received_part, receive);
      nodes.emplace_back(node, std::move(*values));
    }
    for (const auto& [node, values] : nodes_)
      AppendMessages(rank, values, parts_[static_cast<size_t>(rank)], send);
  }
  if (llvm::Error error = device_.BeginExchange()) return error;
  if (llvm::Error error = device_.Exchange(send, receive)) return error;

  Nodes sums;
  for (auto& [node, values] : nodes) {
    const auto own = llvm::find_if(nodes_, [&](const auto& each) { return each.first == node; });
    if (own != nodes_.end())
      if (llvm::Error error = CopyPart(own->second, mine, values)) return error;
    if (llvm::Error error = AddNode(Queue::kExchange, mine.count(), sums, node, std::move(values)))
      return error;
  }
  if (llvm::Error error = AddRemaining(Queue::kExchange, mine.count(), sums)) return error;
  return std::move(sums.front().second);
}

/// Sends the sum of this rank's part to all, and sets the total.
llvm::Error DeviceSum::AllGather(const DeviceValues& part) {
  const Part& mine = parts_[static_cast<size_t>(device_.rank())];
  std::vector<DeviceMessage> send, receive;
  for (int rank = 0; rank < device_.size(); ++rank) {
    const Part& other = parts_[static_cast<size_t>(rank)];
    send.push_back({rank, part.f32(), mine.f32.count * sizeof(float)});
    send.push_back({rank, part.f64(), mine.f64.count * sizeof(double)});
    receive.push_back({rank, total_.f32() + other.f32.begin, other.f32.count * sizeof(float)});
    receive.push_back({rank, total_.f64() + other.f64.begin, other.f64.count * sizeof(double)});
  }
  if (llvm::Error error = device_.Exchange(send, receive)) return error;
  const auto copy = [&](auto* to, const auto* from, size_t count) {
    return count == 0 ? llvm::Error::success() : device_.Copy(to, from, count * sizeof(*to));
  };
  if (llvm::Error error = copy(total_.f32() + mine.f32.begin, part.f32(), mine.f32.count))
    return error;
  if (llvm::Error error =
          copy(total_.f32() + common_.f32, part.f32() + mine.f32.count, mine.own_f32.count))
    return error;
  if (llvm::Error error = copy(total_.f64() + mine.f64.begin, part.f64(), mine.f64.count))
    return error;
  return copy(total_.f64() + common_.f64, part.f64() + mine.f64.count, mine.own_f64.count);
}

llvm::Error DeviceSum::Start() {
  assert(end_ == MicroBatchesOf(leaves_, device_.rank(), device_.size()).end);
  const Part& mine = parts_[static_cast<size_t>(device_.rank())];
  if (device_.size() == 1) {
    if (llvm::Error error = AddRemaining(Queue::kCompute, all_, nodes_)) return error;
    total_ = nodes_.front().second;
    return llvm::Error::success();
  }
  const SumLayout::Count count{common_.f32 + mine.own_f32.count, common_.f64 + mine.own_f64.count};
  // Allocated before kExchange waits for kCompute, in whose order memory is reused.
  if (llvm::Error error = DeviceValues::Allocate(device_, count).moveInto(total_)) return error;
  llvm::Expected<DeviceValues> part = ReduceScatter();
  if (!part) return part.takeError();
  kept_.push_back(std::move(*part));
  return AllGather(kept_.back());
}

}  // namespace pdl
