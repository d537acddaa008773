#ifndef PDL_IR_PADDED_PARTS_H_
#define PDL_IR_PADDED_PARTS_H_

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The gradient of a slice is that of the result, padded with zeros to the size of the operand.
/// Where several of the terms of a sum are padded along the same axis and their ranges are
/// disjoint, as after a value was split, replaces them by one concatenation, which costs a copy
/// instead of one for each term and the sum. `options` and `name` are those of the new call. An
/// Error if it cannot be added.
llvm::Error JoinPaddedParts(Graph& graph, const OpRegistry& registry, const CallOptions& options,
                            llvm::StringRef name, llvm::SmallVectorImpl<Value*>& terms);

}  // namespace pdl

#endif  // PDL_IR_PADDED_PARTS_H_
