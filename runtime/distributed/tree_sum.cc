#include "runtime/distributed/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <memory>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

/// Sets `count` sums; they may be the left or the right numbers.
template <typename T>
void Add(const T* left, const T* right, size_t count, T* sums) {
  // Compilers vectorize a loop of a constant length.
  constexpr size_t kBlock = 16;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    T block[kBlock];
    for (size_t k = 0; k < kBlock; ++k) block[k] = left[i + k] + right[i + k];
    std::copy_n(block, kBlock, sums + i);
  }
  for (; i < count; ++i) sums[i] = left[i] + right[i];
}

template <typename T>
void AddTo(std::vector<T>& to, const std::vector<T>& from) {
  assert(to.size() == from.size() && "leaves have the same numbers of values");
  Add(to.data(), from.data(), to.size(), to.data());
}

void AddTo(TreeValues& to, const TreeValues& from) {
  AddTo(to.f32, from.f32);
  AddTo(to.f64, from.f64);
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

  llvm::Expected<TreeValues> Run(const TreeSum& own, int64_t leaves, SumNote* note,
                                 std::vector<double>* seconds) {
    llvm::Expected<TreeValues> part = ReduceScatter(own, leaves, note, seconds);
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
  llvm::Expected<TreeValues> ReduceScatter(const TreeSum& own, int64_t leaves, SumNote* note,
                                           std::vector<double>* seconds) {
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
    if (llvm::Error error = communicator_.Exchange(send, receive)) {
      for (auto* bytes : {&sent, &received})
        communicator_.Keep(std::make_shared<std::vector<std::vector<char>>>(std::move(*bytes)));
      return error;
    }
    received[static_cast<size_t>(me)] = std::move(sent[static_cast<size_t>(me)]);
    const SumNote mine = *note;
    if (seconds != nullptr) seconds->clear();
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
      if (other.layout != mine.layout)
        return llvm::make_error<RankError>(
            llvm::formatv("ranks {0} and {1} add different gradients", rank, me).str());
      note->stop |= other.stop;
      if (seconds != nullptr) seconds->push_back(other.seconds);
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
            communicator_.Exchange(std::vector<SentBytes>(receive.size(), own), receive)) {
      received[static_cast<size_t>(me)] = std::move(own);
      communicator_.Keep(std::make_shared<std::vector<std::vector<char>>>(std::move(received)));
      return error;
    }
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

/// Adds f32 values of which each rank has one node of the same level. The values stay in place and
/// are sent in pieces: while a piece is added, the next one is received.
class DirectReduction {
 public:
  DirectReduction(const SumLayout& layout, Communicator& communicator)
      : communicator_(communicator), ranks_(static_cast<size_t>(communicator.size())) {
    const size_t common = layout.common.f32;
    Slice own{0, common};
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const size_t count = layout.own.empty() ? 0 : layout.own[rank].f32;
      own = {own.end, own.end + count};
      own_.push_back(own);
      parts_.push_back(PartOf(common, static_cast<int>(rank), communicator.size()));
    }
    // The values that a rank receives for a piece stay in the cache.
    piece_ = std::max(kReceived / std::max(ranks_ - 1, size_t{1}), kSmallestPiece);
    for (Received& each : received_) each.resize(ranks_);
  }

  /// Leaves the common values and this rank's own.
  llvm::Error Run(std::vector<float>* values) {
    values_ = values->data();
    llvm::Error error = Reduce(parts_, /*returns_all=*/true);
    if (!error) error = Reduce(own_, /*returns_all=*/false);
    if (error) {
      communicator_.Keep(std::make_shared<std::vector<float>>(std::move(*values)));
      for (Received& each : received_)
        communicator_.Keep(std::make_shared<Received>(std::move(each)));
      return error;
    }
    const Slice own = own_[rank()];
    if (const size_t to = parts_.back().end; to != own.begin)
      std::copy(values_ + own.begin, values_ + own.end, values_ + to);
    values->resize(parts_.back().end + own.size());
    return llvm::Error::success();
  }

 private:
  using Exchange = std::unique_ptr<StartedExchange>;
  using Received = std::vector<std::vector<float>>;  // by rank

  size_t rank() const { return static_cast<size_t>(communicator_.rank()); }

  /// Piece `index` of the values that a rank adds.
  Slice PieceOf(const Slice& slice, size_t index) const {
    const size_t begin = std::min(slice.begin + index * piece_, slice.end);
    return {begin, std::min(begin + piece_, slice.end)};
  }
  template <typename Bytes>
  Bytes BytesOf(Slice slice) const {
    return {reinterpret_cast<char*>(values_ + slice.begin), slice.size() * sizeof(float)};
  }

  /// Each rank adds its slice of the values. If `returns_all`, all ranks get all sums.
  llvm::Error Reduce(llvm::ArrayRef<Slice> slices, bool returns_all) {
    size_t longest = 0;
    for (const Slice& slice : slices) longest = std::max(longest, slice.size());
    const size_t pieces = (longest + piece_ - 1) / piece_;
    std::vector<Exchange> returned;
    Exchange next;
    if (pieces > 0)
      if (llvm::Error error = StartToAdd(slices, 0, &next)) return error;
    for (size_t i = 0; i < pieces; ++i) {
      Exchange received = std::move(next);
      if (i + 1 < pieces)
        if (llvm::Error error = StartToAdd(slices, i + 1, &next)) return error;
      if (llvm::Error error = communicator_.Finish(std::move(received))) return error;
      AddPiece(PieceOf(slices[rank()], i), received_[i % 2]);
      if (!returns_all) continue;
      if (llvm::Error error = StartToReturn(slices, i, &returned.emplace_back())) return error;
    }
    for (Exchange& each : returned)
      if (llvm::Error error = communicator_.Finish(std::move(each))) return error;
    return llvm::Error::success();
  }

  /// Sends a piece of its slice to each rank, and receives the own one from each.
  llvm::Error StartToAdd(llvm::ArrayRef<Slice> slices, size_t index, Exchange* exchange) {
    std::vector<SentBytes> send;
    std::vector<ReceivedBytes> receive;
    const size_t count = PieceOf(slices[rank()], index).size();
    for (size_t other = 0; other < ranks_; ++other) {
      std::vector<float>& buffer = received_[index % 2][other];
      if (other != rank()) buffer.resize(count);
      send.push_back(BytesOf<SentBytes>(PieceOf(slices[other], index)));
      receive.emplace_back(reinterpret_cast<char*>(buffer.data()), buffer.size() * sizeof(float));
    }
    return Start(send, receive, exchange);
  }

  /// Sends the sums of a piece to all ranks, and receives theirs. A rank has sent its values before
  /// it receives their sums at the same addresses.
  llvm::Error StartToReturn(llvm::ArrayRef<Slice> slices, size_t index, Exchange* exchange) {
    const std::vector<SentBytes> send(ranks_, BytesOf<SentBytes>(PieceOf(slices[rank()], index)));
    std::vector<ReceivedBytes> receive;
    for (const Slice& slice : slices)
      receive.push_back(BytesOf<ReceivedBytes>(PieceOf(slice, index)));
    return Start(send, receive, exchange);
  }

  llvm::Error Start(llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive,
                    Exchange* exchange) {
    auto started = communicator_.Start(send, receive);
    if (!started) return started.takeError();
    *exchange = std::move(*started);
    return llvm::Error::success();
  }

  /// Replaces own values by their sums over the ranks, which are the leaves of the tree.
  void AddPiece(Slice own, Received& received) {
    std::vector<float*> of_ranks;
    for (std::vector<float>& each : received) of_ranks.push_back(each.data());
    of_ranks[rank()] = values_ + own.begin;
    for (size_t distance = 1; distance < ranks_; distance *= 2)
      for (size_t left = 0; left + distance < ranks_; left += 2 * distance)
        Add(of_ranks[left], of_ranks[left + distance], own.size(),
            2 * distance < ranks_ ? of_ranks[left] : values_ + own.begin);
  }

  /// The numbers of elements that are received for a piece, and of a piece.
  static constexpr size_t kReceived = size_t{1} << 18, kSmallestPiece = size_t{1} << 14;

  Communicator& communicator_;
  const size_t ranks_;
  size_t piece_;
  float* values_ = nullptr;
  std::vector<Slice> parts_, own_;  // by rank
  /// Of the current piece and the next one.
  Received received_[2];
};

/// Whether each rank has one node, and all of the same level, so that the ranks are the leaves of a
/// tree.
bool HaveEqualNodes(int64_t leaves, int ranks) {
  const int64_t each = leaves / ranks;
  return each > 0 && each * ranks == leaves && std::has_single_bit(static_cast<uint64_t>(each));
}

/// f32 values of this number are sent in pieces, which takes more messages.
constexpr size_t kDirect = size_t{1} << 18;

}  // namespace

bool AreSiblings(const TreeNode& left, const TreeNode& right) {
  return left.level == right.level && (left.first >> left.level) % 2 == 0;
}

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
                                        Communicator& communicator, SumNote* note,
                                        std::vector<double>* seconds) {
  assert(leaves > 0);
  size_t f32 = layout.common.f32;
  for (const SumLayout::Count& each : layout.own) f32 += each.f32;
  if (f32 < kDirect || !HaveEqualNodes(leaves, communicator.size()))
    return Reduction(layout, communicator).Run(own, leaves, note, seconds);
  std::vector<float> values = own.TakeF32();
  SumLayout others = layout;
  others.common.f32 = 0;
  for (SumLayout::Count& each : others.own) each.f32 = 0;
  llvm::Expected<TreeValues> sum = Reduction(others, communicator).Run(own, leaves, note, seconds);
  if (!sum) return sum;
  if (llvm::Error error = DirectReduction(layout, communicator).Run(&values)) return error;
  sum->f32 = std::move(values);
  return sum;
}

}  // namespace pdl
