#ifndef PDL_RUNTIME_FIND_INPUTS_H_
#define PDL_RUNTIME_FIND_INPUTS_H_

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/scope.h"
#include "runtime/packed_inputs.h"
#include "runtime/schedule.h"

namespace pdl {

/// Finds the tensors that a run on `device` reads from the Scope: those of the schedule's inputs,
/// in order, then those of its size inputs, some of which may be null. An Error names the inputs
/// that lack a value.
llvm::Error FindInputs(const Schedule& schedule, const PackedInputs& packed, const Scope& scope,
                       Device device, llvm::SmallVectorImpl<const Tensor*>* inputs);

}  // namespace pdl

#endif  // PDL_RUNTIME_FIND_INPUTS_H_
