// The work of a call: its arithmetic operations and the bytes that it reads and writes.
// Module: runtime
#ifndef PDL_OP_COST_H_
#define PDL_OP_COST_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/op/operator.h"

namespace pdl {

/// One call with the sizes of its operands and results; refers to its arguments.
struct CallSizes {
  const OperatorArguments& call;
  llvm::ArrayRef<OperandType> inputs;
  llvm::ArrayRef<OperandType> outputs;

  AttributeReader attributes() const { return {call.def->signature, call.attributes}; }
};

/// The number of arithmetic operations that a call performs on operands of these sizes: a
/// multiply-add counts as 2, any other function of numbers as 1. May be an estimate where it
/// depends on data.
using OperationCount = double (*)(const CallSizes& call);

/// Declares the operations of the calls of an operator, next to its registration. Without, they are
/// one for each element of the largest operand or result, and none if the operator only moves
/// elements.
PDL_API void DeclareOperations(llvm::StringRef op, OperationCount count);

/// The arithmetic operations of a call.
PDL_API double OperationsOf(const CallSizes& call);
/// The bytes of the operands and results. An operator that only moves elements reads at most as
/// many bytes of an operand as it writes.
PDL_API double BytesOf(const CallSizes& call);

/// The arithmetic operations of one run of a graph whose inputs have these types. Calls whose sizes
/// do not follow from those of the inputs are not counted.
PDL_API double OperationsOf(const Graph& graph, llvm::ArrayRef<OperandType> inputs);

}  // namespace pdl

#endif  // PDL_OP_COST_H_
