// Moving averages of parameters, which AverageParameters adds to a training step.
// Module: runtime
#ifndef PDL_TRAIN_AVERAGES_H_
#define PDL_TRAIN_AVERAGES_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// An Error (kTrainingData) unless `decay` is in 0..1 and, if it is not 0, the network has
/// parameters to average: those of its `minimize` statements.
PDL_API llvm::Error CheckAverage(double decay, const Graph& network);
/// Replaces the tensors of averaged parameters by their averages, in the parameters' dtypes. `find`
/// returns the tensor of a state, or null if there is none. An Error if memory is exhausted or the
/// device fails.
PDL_API llvm::Error TakeAverages(llvm::MutableArrayRef<NamedTensor> parameters,
                                 llvm::function_ref<const Tensor*(llvm::StringRef)> find,
                                 DeviceContext& context);

}  // namespace pdl

#endif  // PDL_TRAIN_AVERAGES_H_
