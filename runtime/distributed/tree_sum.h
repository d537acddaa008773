// Sums of vectors whose bits do not depend on how the vectors are distributed over processes.
#ifndef PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_
#define PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/train/communicator.h"
#include "pdl/train/micro_batches.h"

namespace pdl {

/// The values of one leaf, or sums of several: each element is summed in its own precision.
struct TreeValues {
  std::vector<float> f32;
  std::vector<double> f64;
};

/// A node of the tree: the sum of the leaves `first` to `first + 2^level - 1` that exist.
struct TreeNode {
  int64_t first = 0;
  int level = 0;
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};
/// Whether consecutive nodes are the children of one parent.
bool AreSiblings(const TreeNode& left, const TreeNode& right);
/// Returns the largest complete nodes that cover the leaves from `begin` to `end`, from left to
/// right: at most two for each level.
std::vector<TreeNode> NodesOf(int64_t begin, int64_t end);

/// The sum of leaves, in the order of a fixed binary tree: leaves 2i and 2i + 1 have one parent,
/// and so have nodes 2i and 2i + 1 of each level. A node without a right child has the value of its
/// left child. The tree depends on the number of leaves only, and not on which process adds which
/// leaves; only partial sums of complete nodes are kept.
class TreeSum {
 public:
  /// Starts with the leaf of that index.
  explicit TreeSum(int64_t begin) : begin_(begin), end_(begin) {}

  /// Adds the next leaf. All leaves have the same numbers of values.
  void AddLeaf(TreeValues values);
  /// Adds the next complete node, whose first leaf must be the next leaf.
  void AddNode(TreeNode node, TreeValues values);
  /// The nodes of the leaves so far, as NodesOf returns them, and their sums.
  llvm::ArrayRef<std::pair<TreeNode, TreeValues>> nodes() const { return nodes_; }
  /// Removes the f32 values of the only node, and returns them.
  std::vector<float> TakeF32() { return std::exchange(nodes_.front().second.f32, {}); }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  /// Returns the sum of all leaves; there must be one, and the first must be leaf 0.
  TreeValues Total() &&;

 private:
  int64_t begin_, end_;
  std::vector<std::pair<TreeNode, TreeValues>> nodes_;
};

/// Facts that ranks exchange along with a sum.
struct SumNote {
  /// The step of the run, which must be the same everywhere.
  int64_t step = 0;
  /// A hash of the layout of the values, which must be the same everywhere, too.
  uint64_t layout = 0;
  /// Whether a rank was asked to stop.
  int64_t stop = 0;
  /// The time that the rank has needed, in seconds, without waiting for others.
  double seconds = 0;
};

/// How the values of a leaf are divided: first those whose sums all ranks get, then for each rank
/// those whose sums only it gets.
struct SumLayout {
  struct Count {
    size_t f32 = 0, f64 = 0;
  };
  Count common;
  /// By rank; empty: no rank has values of its own.
  std::vector<Count> own;
};

/// Returns the sum of `leaves` leaves of which each rank has added those of MicroBatchesOf: the
/// common values and those of this rank. `own` may be empty. Each rank adds its own values and a
/// part of the common ones, which it sends to the others: if the ranks are a power of two and so
/// are their leaves, each of n ranks sends 2 (n - 1) / n of the bytes of the common values and
/// (n - 1) / n of the others. Sets `note->stop` if any rank has, and `seconds`, unless it is null,
/// to the times in the notes of all ranks. A RankError if a rank does not answer, is at another
/// step or has another layout.
llvm::Expected<TreeValues> SumOverRanks(TreeSum own, int64_t leaves, const SumLayout& layout,
                                        Communicator& communicator, SumNote* note,
                                        std::vector<double>* seconds = nullptr);

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_
