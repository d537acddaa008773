#include "runtime/distributed/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

template <typename T>
void AddTo(std::vector<T>& to, const std::vector<T>& from) {
  assert(to.size() == from.size() && "leaves have the same numbers of values");
  // Compilers vectorize a loop of a constant length.
  constexpr size_t kBlock = 16;
  T* const sums = to.data();
  const T* const added = from.data();
  size_t i = 0;
  for (; i + kBlock <= to.size(); i += kBlock)
    for (size_t k = 0; k < kBlock; ++k) sums[i + k] += added[i + k];
  for (; i < to.size(); ++i) sums[i] += added[i];
}

void AddTo(TreeValues& to, const TreeValues& from) {
  AddTo(to.f32, from.f32);
  AddTo(to.f64, from.f64);
}

bool AreSiblings(const TreeNode& left, const TreeNode& right) {
  return left.level == right.level && (left.first >> left.level) % 2 == 0;
}

/// Consecutive elements.
struct Slice {
  size_t size() const { return end - begin; }
  size_t begin = 0, end = 0;
};

/// The part of `size` elements that a rank adds.
Slice PartOf(size_t size, int rank, int ranks) {
  const auto part = [&](int i) {
    return size * static_cast<size_t>(i) / static_cast<size_t>(ranks);
  };
  return {part(rank), part(rank + 1)};
}

SentBytes BytesOf(const std::vector<float>& values, Slice slice) {
  return {reinterpret_cast<const char*>(values.data() + slice.begin), slice.size() * sizeof(float)};
}
ReceivedBytes BytesOf(std::vector<float>& values, Slice slice) {
  return {reinterpret_cast<char*>(values.data() + slice.begin), slice.size() * sizeof(float)};
}

template <typename T>
void Append(std::vector<char>& bytes, const T* values, size_t count) {
  const auto* from = reinterpret_cast<const char*>(values);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}
template <typename T>
void Take(const char*& from, T* values, size_t count) {
  if (count > 0) std::memcpy(values, from, count * sizeof(T));
  from += count * sizeof(T);
}

/// Adds values of which each rank has a node of several leaves, or none.
class Reduction {
 public:
  Reduction(const SumLayout& layout, Communicator& communicator)
      : communicator_(communicator), common_(layout.common) {
    const int ranks = communicator.size();
    Slice f32{0, common_.f32}, f64{0, common_.f64};
    for (int rank = 0; rank < ranks; ++rank) {
      const SumLayout::Count own =
          layout.own.empty() ? SumLayout::Count() : layout.own[static_cast<size_t>(rank)];
      f32 = {f32.end, f32.end + own.f32};
      f64 = {f64.end, f64.end + own.f64};
      parts_.push_back(
          {PartOf(common_.f32, rank, ranks), f32, PartOf(common_.f64, rank, ranks), f64});
    }
  }

  llvm::Expected<TreeValues> Run(const TreeSum& own, int64_t leaves, SumNote* note) {
    llvm::Expected<TreeValues> part = ReduceScatter(own, leaves, note);
    if (!part) return part;
    return AllGather(*part);
  }

 private:
  /// The values that a rank adds: a part of the common ones, and its own.
  struct Part {
    Slice f32, own_f32, f64, own_f64;
    size_t common_bytes() const { return f32.size() * sizeof(float) + f64.size() * sizeof(double); }
    size_t bytes() const {
      return common_bytes() + own_f32.size() * sizeof(float) + own_f64.size() * sizeof(double);
    }
  };

  /// Returns the sum of this rank's part, the common values first.
  llvm::Expected<TreeValues> ReduceScatter(const TreeSum& own, int64_t leaves, SumNote* note) {
    const int ranks = communicator_.size(), me = communicator_.rank();
    std::vector<std::vector<char>> sent(static_cast<size_t>(ranks)), received(sent.size());
    std::vector<std::vector<TreeNode>> nodes;
    for (int rank = 0; rank < ranks; ++rank) {
      const MicroBatchRange range = MicroBatchesOf(leaves, rank, ranks);
      nodes.push_back(NodesOf(range.begin, range.end));
      std::vector<char>& bytes = sent[static_cast<size_t>(rank)];
      Append(bytes, note, 1);
      for (const auto& [node, values] : own.nodes()) Put(values, rank, bytes);
      received[static_cast<size_t>(rank)].resize(sizeof(SumNote) +
                                                 nodes.back().size() * PartOfRank(me).bytes());
    }
    std::vector<SentBytes> send(sent.begin(), sent.end());
    std::vector<ReceivedBytes> receive(received.begin(), received.end());
    if (llvm::Error error = communicator_.Exchange(send, receive)) return error;
    received[static_cast<size_t>(me)] = std::move(sent[static_cast<size_t>(me)]);
    const SumNote mine = *note;
    TreeSum sum(0);
    for (int rank = 0; rank < ranks; ++rank) {
      const char* from = received[static_cast<size_t>(rank)].data();
      SumNote other;
      Take(from, &other, 1);
      if (other.step != mine.step)
        return llvm::make_error<RankError>(
            llvm::formatv("rank {0} is at step {1}, but rank {2} at step {3}", rank, other.step, me,
                          mine.step)
                .str());
      note->stop |= other.stop;
      for (const TreeNode& node : nodes[static_cast<size_t>(rank)])
        sum.AddNode(node, TakePart(from, me));
    }
    return std::move(sum).Total();
  }

  /// Returns the sum of the common values and of this rank's own.
  llvm::Expected<TreeValues> AllGather(const TreeValues& part) {
    const int ranks = communicator_.size(), me = communicator_.rank();
    const Part& mine = PartOfRank(me);
    std::vector<char> own;
    Append(own, part.f32.data(), mine.f32.size());
    Append(own, part.f64.data(), mine.f64.size());
    std::vector<std::vector<char>> received(static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      received[static_cast<size_t>(rank)].resize(PartOfRank(rank).common_bytes());
    std::vector<ReceivedBytes> receive(received.begin(), received.end());
    if (llvm::Error error =
            communicator_.Exchange(std::vector<SentBytes>(receive.size(), own), receive))
      return error;
    received[static_cast<size_t>(me)] = std::move(own);
    TreeValues sum{std::vector<float>(common_.f32), std::vector<double>(common_.f64)};
    for (int rank = 0; rank < ranks; ++rank) {
      const char* from = received[static_cast<size_t>(rank)].data();
      const Part& other = PartOfRank(rank);
      Take(from, sum.f32.data() + other.f32.begin, other.f32.size());
      Take(from, sum.f64.data() + other.f64.begin, other.f64.size());
    }
    const auto append = [](auto& to, const auto& values, size_t begin) {
      to.insert(to.end(), values.begin() + static_cast<int64_t>(begin), values.end());
    };
    append(sum.f32, part.f32, mine.f32.size());
    append(sum.f64, part.f64, mine.f64.size());
    return sum;
  }

  const Part& PartOfRank(int rank) const { return parts_[static_cast<size_t>(rank)]; }

  void Put(const TreeValues& values, int rank, std::vector<char>& bytes) const {
    const Part& part = PartOfRank(rank);
    Append(bytes, values.f32.data() + part.f32.begin, part.f32.size());
    Append(bytes, values.f32.data() + part.own_f32.begin, part.own_f32.size());
    Append(bytes, values.f64.data() + part.f64.begin, part.f64.size());
    Append(bytes, values.f64.data() + part.own_f64.begin, part.own_f64.size());
  }

  TreeValues TakePart(const char*& from, int rank) const {
    const Part& part = PartOfRank(rank);
    TreeValues values;
    values.f32.resize(part.f32.size() + part.own_f32.size());
    values.f64.resize(part.f64.size() + part.own_f64.size());
    Take(from, values.f32.data(), values.f32.size());
    Take(from, values.f64.data(), values.f64.size());
    return values;
  }

  Communicator& communicator_;
  const SumLayout::Count common_;
  std::vector<Part> parts_;  // by rank
};

/// Adds f32 values of which each rank has one node of the same level, without copies of them.
class DirectReduction {
 public:
  DirectReduction(const SumLayout& layout, Communicator& communicator)
      : communicator_(communicator), common_(layout.common.f32) {
    Slice own{0, common_};
    for (int rank = 0; rank < communicator.size(); ++rank) {
      const size_t count = layout.own.empty() ? 0 : layout.own[static_cast<size_t>(rank)].f32;
      own = {own.end, own.end + count};
      own_.push_back(own);
      parts_.push_back(PartOf(common_, rank, communicator.size()));
    }
  }

  llvm::Error Run(std::vector<float>* values) {
    std::vector<float> part;
    if (llvm::Error error = ReduceScatter(*values, parts_, &part)) return error;
    std::vector<ReceivedBytes> receive;
    for (const Slice& slice : parts_) receive.push_back(BytesOf(*values, slice));
    const SentBytes sent = BytesOf(std::as_const(part), {0, part.size()});
    if (llvm::Error error =
            communicator_.Exchange(std::vector<SentBytes>(parts_.size(), sent), receive))
      return error;
    std::copy(part.begin(), part.end(),
              values->begin() + static_cast<int64_t>(parts_[rank()].begin));
    if (own_.back().end == common_) return llvm::Error::success();
    if (llvm::Error error = ReduceScatter(*values, own_, &part)) return error;
    values->resize(common_);
    values->insert(values->end(), part.begin(), part.end());
    return llvm::Error::success();
  }

 private:
  size_t rank() const { return static_cast<size_t>(communicator_.rank()); }

  /// Sets `part` to the sum of this rank's slice.
  llvm::Error ReduceScatter(const std::vector<float>& values, llvm::ArrayRef<Slice> slices,
                            std::vector<float>* part) {
    const Slice mine = slices[rank()];
    std::vector<std::vector<float>> received(slices.size());
    std::vector<SentBytes> send;
    std::vector<ReceivedBytes> receive;
    for (size_t other = 0; other < slices.size(); ++other) {
      if (other != rank()) received[other].resize(mine.size());
      send.push_back(BytesOf(values, slices[other]));
      receive.push_back(BytesOf(received[other], {0, received[other].size()}));
    }
    if (llvm::Error error = communicator_.Exchange(send, receive)) return error;
    received[rank()].assign(values.begin() + static_cast<int64_t>(mine.begin),
                            values.begin() + static_cast<int64_t>(mine.end));
    TreeSum sum(0);
    for (std::vector<float>& each : received) sum.AddLeaf({std::move(each), {}});
    *part = std::move(std::move(sum).Total().f32);
    return llvm::Error::success();
  }

  Communicator& communicator_;
  const size_t common_;
  std::vector<Slice> parts_, own_;  // by rank
};

/// Whether each rank has one node, and all of the same level, so that the ranks are the leaves of a
/// tree.
bool HaveEqualNodes(int64_t leaves, int ranks) {
  const int64_t each = leaves / ranks;
  return each > 0 && each * ranks == leaves && std::has_single_bit(static_cast<uint64_t>(each));
}

/// f32 values of this number are sent without copies, which takes more messages.
constexpr size_t kDirect = size_t{1} << 18;

}  // namespace

std::vector<TreeNode> NodesOf(int64_t begin, int64_t end) {
  std::vector<TreeNode> nodes;
  for (int64_t leaf = begin; leaf < end; ++leaf) {
    nodes.push_back({leaf, 0});
    while (nodes.size() > 1 && AreSiblings(nodes[nodes.size() - 2], nodes.back())) {
      nodes.pop_back();
      ++nodes.back().level;
    }
  }
  return nodes;
}

void TreeSum::AddLeaf(TreeValues values) { AddNode({end_, 0}, std::move(values)); }

void TreeSum::AddNode(TreeNode node, TreeValues values) {
  assert(node.first == end_ && "nodes are added in order");
  nodes_.emplace_back(node, std::move(values));
  end_ += int64_t{1} << node.level;
  while (nodes_.size() > 1 && AreSiblings(nodes_[nodes_.size() - 2].first, nodes_.back().first)) {
    const TreeValues right = std::move(nodes_.back().second);
    nodes_.pop_back();
    AddTo(nodes_.back().second, right);
    ++nodes_.back().first.level;
  }
}

TreeValues TreeSum::Total() && {
  assert(begin_ == 0 && !nodes_.empty());
  // The remaining nodes are left children whose right siblings begin with the next node.
  while (nodes_.size() > 1) {
    const TreeValues right = std::move(nodes_.back().second);
    nodes_.pop_back();
    AddTo(nodes_.back().second, right);
  }
  return std::move(nodes_.front().second);
}

llvm::Expected<TreeValues> SumOverRanks(TreeSum own, int64_t leaves, const SumLayout& layout,
                                        Communicator& communicator, SumNote* note) {
  assert(leaves > 0);
  size_t f32 = layout.common.f32;
  for (const SumLayout::Count& each : layout.own) f32 += each.f32;
  if (f32 < kDirect || !HaveEqualNodes(leaves, communicator.size()))
    return Reduction(layout, communicator).Run(own, leaves, note);
  std::vector<float> values = own.TakeF32();
  SumLayout others = layout;
  others.common.f32 = 0;
  for (SumLayout::Count& each : others.own) each.f32 = 0;
  llvm::Expected<TreeValues> sum = Reduction(others, communicator).Run(own, leaves, note);
  if (!sum) return sum;
  if (llvm::Error error = DirectReduction(layout, communicator).Run(&values)) return error;
  sum->f32 = std::move(values);
  return sum;
}

}  // namespace pdl
