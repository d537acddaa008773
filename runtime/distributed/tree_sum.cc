#include "runtime/distributed/tree_sum.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

template <typename T>
void AddTo(std::vector<T>& to, const std::vector<T>& from) {
  assert(to.size() == from.size() && "leaves have the same numbers of values");
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void AddTo(TreeValues& to, const TreeValues& from) {
  AddTo(to.f32, from.f32);
  AddTo(to.f64, from.f64);
}

bool AreSiblings(const TreeNode& left, const TreeNode& right) {
  return left.level == right.level && (left.first >> left.level) % 2 == 0;
}

/// The part of `size` elements that a rank adds.
struct Slice {
  Slice(size_t size, int rank, int ranks)
      : begin(size * static_cast<size_t>(rank) / static_cast<size_t>(ranks)),
        end(size * (static_cast<size_t>(rank) + 1) / static_cast<size_t>(ranks)) {}
  size_t size() const { return end - begin; }
  size_t begin, end;
};

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

/// One call of SumOverRanks.
class Reduction {
 public:
  Reduction(size_t f32, size_t f64, Communicator& communicator)
      : communicator_(communicator), f32_(f32), f64_(f64) {}

  llvm::Expected<TreeValues> Run(const TreeSum& own, int64_t leaves, SumNote* note) {
    llvm::Expected<TreeValues> slice = ReduceScatter(own, leaves, note);
    if (!slice) return slice;
    return AllGather(*slice);
  }

 private:
  /// Returns this rank's slice of the sum.
  llvm::Expected<TreeValues> ReduceScatter(const TreeSum& own, int64_t leaves, SumNote* note) {
    const int ranks = communicator_.size(), me = communicator_.rank();
    std::vector<std::vector<char>> sent(static_cast<size_t>(ranks)), received(sent.size());
    std::vector<std::vector<TreeNode>> nodes;
    for (int rank = 0; rank < ranks; ++rank) {
      const LeafRange range = LeavesOf(leaves, rank, ranks);
      nodes.push_back(NodesOf(range.begin, range.end));
      std::vector<char>& bytes = sent[static_cast<size_t>(rank)];
      Append(bytes, note, 1);
      for (const auto& [node, values] : own.nodes()) Put(values, rank, bytes);
      received[static_cast<size_t>(rank)].resize(sizeof(SumNote) +
                                                 nodes.back().size() * BytesOfSlice(me));
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
        sum.AddNode(node, TakeSlice(from, me));
    }
    return std::move(sum).Total();
  }

  llvm::Expected<TreeValues> AllGather(const TreeValues& slice) {
    const int ranks = communicator_.size(), me = communicator_.rank();
    std::vector<char> own;
    Append(own, slice.f32.data(), slice.f32.size());
    Append(own, slice.f64.data(), slice.f64.size());
    std::vector<std::vector<char>> received(static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      received[static_cast<size_t>(rank)].resize(BytesOfSlice(rank));
    std::vector<ReceivedBytes> receive(received.begin(), received.end());
    if (llvm::Error error =
            communicator_.Exchange(std::vector<SentBytes>(receive.size(), own), receive))
      return error;
    received[static_cast<size_t>(me)] = std::move(own);
    TreeValues sum{std::vector<float>(f32_), std::vector<double>(f64_)};
    for (int rank = 0; rank < ranks; ++rank) {
      const char* from = received[static_cast<size_t>(rank)].data();
      const Slice f32(f32_, rank, ranks), f64(f64_, rank, ranks);
      Take(from, sum.f32.data() + f32.begin, f32.size());
      Take(from, sum.f64.data() + f64.begin, f64.size());
    }
    return sum;
  }

  size_t BytesOfSlice(int rank) const {
    const int ranks = communicator_.size();
    return Slice(f32_, rank, ranks).size() * sizeof(float) +
           Slice(f64_, rank, ranks).size() * sizeof(double);
  }

  void Put(const TreeValues& values, int rank, std::vector<char>& bytes) const {
    const Slice f32(f32_, rank, communicator_.size()), f64(f64_, rank, communicator_.size());
    Append(bytes, values.f32.data() + f32.begin, f32.size());
    Append(bytes, values.f64.data() + f64.begin, f64.size());
  }

  TreeValues TakeSlice(const char*& from, int rank) const {
    TreeValues values;
    values.f32.resize(Slice(f32_, rank, communicator_.size()).size());
    values.f64.resize(Slice(f64_, rank, communicator_.size()).size());
    Take(from, values.f32.data(), values.f32.size());
    Take(from, values.f64.data(), values.f64.size());
    return values;
  }

  Communicator& communicator_;
  const size_t f32_, f64_;
};

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

LeafRange LeavesOf(int64_t leaves, int rank, int ranks) {
  const int64_t each = (leaves + ranks - 1) / ranks;
  return {std::min(leaves, each * rank), std::min(leaves, each * (rank + 1))};
}

llvm::Expected<TreeValues> SumOverRanks(TreeSum own, int64_t leaves, size_t f32, size_t f64,
                                        Communicator& communicator, SumNote* note) {
  assert(leaves > 0);
  return Reduction(f32, f64, communicator).Run(own, leaves, note);
}

}  // namespace pdl
