// Module: ir
#ifndef PDL_COMPILER_CALL_DESCRIPTION_H_
#define PDL_COMPILER_CALL_DESCRIPTION_H_

#include <cstdint>
#include <string>

#include "pdl/op/dtype.h"

namespace pdl {

/// The work of one or more calls. Doubles, since sums over long runs exceed 64 bits.
struct CallCost {
  /// Arithmetic operations; a multiply-add counts as 2. See "pdl/op/cost.h".
  double operations = 0;
  /// Bytes of memory that must be read and written if each operand and result is accessed once.
  double bytes = 0;
};

/// A step of a plan, as profiles and traces show it: of a call, or of a fused group of calls.
struct CallDescription {
  /// The operators, as in `pdl dump --emit=plan`: "conv2d, add, relu"; "conv2d in bf16, add, relu"
  /// if its operands are rounded to bf16.
  std::string calls;
  /// The result, with sizes: "y: f32[8, 64]".
  std::string result;
  /// The operands, with sizes: "x: f32[8, 32], w: f32[32, 64]".
  std::string operands;
  /// The position of the first call: "model.pdl:3:5", or empty.
  std::string place;
  /// The path of layers that the first call was expanded from: "encoder.0", or empty.
  std::string layer;
  /// The sum of the operations of all calls, and the bytes of the operands and results of the step;
  /// values within a group are not in memory.
  CallCost cost;
  /// See Preparation::matmul_precision.
  DType matmul_precision = DType::kF32;
  /// The bytes of the arena that are in use during the step.
  int64_t live_bytes = 0;
};

}  // namespace pdl

#endif  // PDL_COMPILER_CALL_DESCRIPTION_H_
