#ifndef PDL_RUNTIME_FUSION_H_
#define PDL_RUNTIME_FUSION_H_

#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The calls of each step. Groups are in the order of their last call, which is where they run;
/// calls in a group keep their order.
using CallGroups = std::vector<llvm::SmallVector<unsigned, 1>>;

/// The role of a call in a group.
enum class CallKind : uint8_t {
  kOther,  // runs individually
  kTile,   // elementwise, run tile by tile
  // A group may begin with one of these, and process its result while that is in the cache:
  kRows,    // row producer
  kPieces,  // tiled producer with epilogue
};

/// Joins elementwise calls with equal result dims into groups (indices into `ops`). A call joins
/// the group that computes one of its operands as long as no value of that group has been used
/// outside. A group has at most one row producer or tiled producer.
CallGroups FormGroups(llvm::ArrayRef<const Op*> ops, llvm::ArrayRef<CallKind> kinds);

/// One call of a group; the first may be a row producer or a tiled producer, which has no Tile.
struct FusedInstruction {
  Tile tile;
  /// Operands with `external` are indices of the group's inputs, others of earlier instructions.
  struct Operand {
    bool external;
    unsigned index;
  };
  llvm::SmallVector<Operand, 2> operands;
  DType dtype = DType::kF32;  // of the result
  int output = -1;            // index among the group's outputs, or -1
};

/// An operator that runs all instructions on one tile after another, with intermediate values in a
/// buffer that stays in the first-level cache. It owns the instructions' operators, which own the
/// tiles.
std::unique_ptr<OperatorBase> MakeFusedOperator(
    std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
    std::vector<std::unique_ptr<OperatorBase>> operators, const OperatorArguments& arguments);

}  // namespace pdl

#endif  // PDL_RUNTIME_FUSION_H_
