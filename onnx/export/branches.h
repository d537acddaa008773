// The calls that only one side of an `if` needs, which become the branches of an If node.
#ifndef PDL_ONNX_EXPORT_BRANCHES_H_
#define PDL_ONNX_EXPORT_BRANCHES_H_

#include <array>
#include <deque>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// An `if` on sizes: consecutive calls of plan_select with one condition.
struct Branches {
  const Value* condition = nullptr;
  std::vector<const Op*> selects;
  /// The calls of each side, in order: those that nothing else uses. `if`s among them are in here
  /// with all of their selects.
  std::array<std::vector<const Op*>, 2> sides;
};

/// The `if`s of a sequence of calls.
class BranchTable {
 public:
  /// `ops`: of one block of the graph. `is_result`: whether a value is used by more than the calls.
  BranchTable(const Graph& graph, llvm::ArrayRef<Op*> ops,
              llvm::function_ref<bool(const Value*)> is_result);

  /// The calls that belong to no side.
  llvm::ArrayRef<const Op*> outside() const { return outside_; }
  /// The `if` of a select; null for any other call.
  const Branches* Find(const Op* op) const { return ifs_.lookup(op); }

 private:
  /// One side of an `if`; the outermost has no parent.
  struct Region {
    Branches* branches = nullptr;
    unsigned side = 0;
    unsigned parent = 0, depth = 0;
  };

  void FindIfs(llvm::ArrayRef<Op*> ops);
  /// The region that contains both.
  unsigned Common(unsigned a, unsigned b) const;
  /// The region in which a use needs the value.
  unsigned RegionOf(const Value::Use& use) const;

  std::deque<Branches> all_;
  llvm::DenseMap<const Op*, Branches*> ifs_;
  /// The first of the two regions of an `if`.
  llvm::DenseMap<const Branches*, unsigned> first_region_;
  llvm::DenseMap<const Op*, unsigned> regions_of_;
  std::vector<Region> regions_ = {Region()};
  std::vector<const Op*> outside_;
};

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_BRANCHES_H_
