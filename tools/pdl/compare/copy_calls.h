#ifndef PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_
#define PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Copies calls from one graph into another one, with `floats` as the dtype of all their floats.
class CallCopier {
 public:
  CallCopier(Graph& to, const Graph& from, DType floats) : to_(to), from_(from), floats_(floats) {}

  /// Makes calls that read `from` read `to`.
  void Map(const Value* from, Value* to) { map_[from] = to; }
  /// The copy of a value; null if it was not copied.
  Value* Find(const Value* from) const { return map_.lookup(from); }
  /// Copies a call, whose operands were mapped or copied, to the end of `block`.
  llvm::Error CopyOp(const Op& op, BlockId block);
  /// Copies a block as the body of a call with these operands and attributes.
  llvm::Expected<BlockId> CopyBody(BlockId id, const OpDef& def, llvm::ArrayRef<Value*> operands,
                                   llvm::ArrayRef<AttributeValue> attributes);
  /// Copies a block without inputs.
  llvm::Expected<BlockId> CopyInitializer(BlockId id);

 private:
  llvm::Error CopyInto(BlockId made, BlockId id);

  Graph& to_;
  const Graph& from_;
  const DType floats_;
  llvm::DenseMap<const Value*, Value*> map_;
  llvm::StringMap<Dim> symbols_;
};

/// `network` with `floats` as the dtype of all its floats. Parameters and states lose the files
/// that their values come from, and parameters their initializers. An Error names the call that
/// does not accept that dtype.
llvm::Expected<Graph> ConvertFloats(const Graph& network, DType floats);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_
