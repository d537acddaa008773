// Sums of vectors whose bits do not depend on how the vectors are distributed over processes.
#ifndef PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_
#define PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/train/communicator.h"

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
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  /// Returns the sum of all leaves; there must be one, and the first must be leaf 0.
  TreeValues Total() &&;

 private:
  int64_t begin_, end_;
  std::vector<std::pair<TreeNode, TreeValues>> nodes_;
};

/// The leaves of one rank: consecutive, possibly none.
struct LeafRange {
  int64_t begin = 0, end = 0;
};
/// Distributes leaves over ranks, in order: each has the same number, except that the last ones may
/// have fewer.
LeafRange LeavesOf(int64_t leaves, int rank, int ranks);

/// Facts that ranks exchange along with a sum.
struct SumNote {
  /// The step of the run, which must be the same everywhere.
  int64_t step = 0;
  /// Whether a rank was asked to stop.
  int64_t stop = 0;
};

/// Returns the sum of `leaves` leaves of which each rank has added those of LeavesOf, on all ranks.
/// `own` may be empty; `f32` and `f64` are the numbers of values in a leaf. Each rank adds a part
/// of the elements and sends it to the others: if the ranks are a power of two and so are their
/// leaves, 2 (n - 1) / n of the vector's bytes are sent by each of n ranks. Sets `note->stop` if
/// any rank has. A RankError if a rank does not answer or is at another step.
llvm::Expected<TreeValues> SumOverRanks(TreeSum own, int64_t leaves, size_t f32, size_t f64,
                                        Communicator& communicator, SumNote* note);

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_TREE_SUM_H_
