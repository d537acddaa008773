#ifndef TOOLS_PDL_GRADIENT_BODY_H_
#define TOOLS_PDL_GRADIENT_BODY_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/graph.h"

namespace pdl {

/// Puts the block `id` of `from` into `to` as the body of a call with these operands and
/// attributes, every float in it as `floats`.
llvm::Expected<BlockId> CopyBody(Graph& to, const Graph& from, BlockId id, const OpDef& def,
                                 llvm::ArrayRef<Value*> operands,
                                 llvm::ArrayRef<AttributeValue> attributes, DType floats);

}  // namespace pdl

#endif  // TOOLS_PDL_GRADIENT_BODY_H_
