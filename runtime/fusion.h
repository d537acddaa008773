#ifndef PDL_RUNTIME_FUSION_H_
#define PDL_RUNTIME_FUSION_H_

#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/operator.h"

namespace pdl {

/// Which calls become one step. Groups are in the order of their last call, which is where they
/// run; calls inside keep their order.
using CallGroups = std::vector<llvm::SmallVector<unsigned, 1>>;

/// What a group can do with a call.
enum class CallKind : uint8_t {
  kOther,  // it runs by itself
  kTile,   // elementwise, run tile by tile
  // A group may begin with one of these, and go over what it makes while that is in the cache:
  kRows,    // makes rows
  kPieces,  // makes pieces
};

/// Joins elementwise calls of equal result dims into groups (indices into `ops`). A call joins the
/// group that computes one of its operands as long as nothing outside has used that group's values.
/// A group has at most one call that makes rows or pieces.
CallGroups FormGroups(llvm::ArrayRef<const Op*> ops, llvm::ArrayRef<CallKind> kinds);

/// One call of a group; the first may be one that makes rows or pieces, and has no tile then.
struct FusedInstruction {
  Tile tile;
  /// Operands: `external` ones are indices of the group's inputs, others of earlier instructions.
  struct Operand {
    bool external;
    unsigned index;
  };
  llvm::SmallVector<Operand, 2> operands;
  DType dtype = DType::kF32;  // of the result
  int output = -1;            // index among the group's outputs, or -1
};

/// An operator that runs the instructions over one tile after another, intermediate values in a
/// buffer that stays in the first-level cache. Keeps the instructions' operators, which own the
/// tiles.
std::unique_ptr<OperatorBase> MakeFusedOperator(
    std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
    std::vector<std::unique_ptr<OperatorBase>> operators, const OperatorArguments& arguments);

}  // namespace pdl

#endif  // PDL_RUNTIME_FUSION_H_
