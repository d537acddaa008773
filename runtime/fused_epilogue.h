// The part of a fused group that a tiled producer computes in registers.
#ifndef PDL_RUNTIME_FUSED_EPILOGUE_H_
#define PDL_RUNTIME_FUSED_EPILOGUE_H_

#include <cstddef>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/op/operator.h"
#include "runtime/fusion.h"

namespace pdl {

/// The instructions of a group after its tiled producer that the producer computes itself.
struct AbsorbedEpilogue {
  /// The last one of them; 0: there are none.
  size_t last = 0;
  /// The input of the group that is the bias, or -1.
  int bias = -1;
  /// Without the bias.
  RegisterEpilogue epilogue;
};

/// Finds the instructions that a RegisterEpilogue can compute: a sum with an f32 for each element
/// of the result's last dim, then an activation. Nothing else reads their operands, and results in
/// between are no outputs. `last_use` is the last reader of each instruction's result.
AbsorbedEpilogue FindAbsorbedEpilogue(llvm::ArrayRef<FusedInstruction> instructions,
                                      llvm::ArrayRef<size_t> last_use,
                                      llvm::ArrayRef<OperandType> inputs,
                                      llvm::ArrayRef<int64_t> result_sizes);

}  // namespace pdl

#endif  // PDL_RUNTIME_FUSED_EPILOGUE_H_
