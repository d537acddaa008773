#ifndef PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_
#define PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// Copies calls, with their locations, from one graph into another one.
class CallCopier {
 public:
  /// `floats`: the dtype of all floats of the copies; nullopt: they keep theirs.
  CallCopier(Graph& to, const Graph& from, std::optional<DType> floats = std::nullopt);

  /// Makes calls that read `from` read `to`. Symbols that are dims of `from` become the dims of
  /// `to` in the attributes of calls.
  void Map(const Value* from, Value* to);
  /// The same for a symbol that is not a dim of a mapped value.
  void MapSymbol(llvm::StringRef symbol, Dim dim) { symbols_[symbol] = std::move(dim); }
  /// The copy of a value; null if it was not copied.
  Value* Find(const Value* from) const { return map_.lookup(from); }
  /// The location in the other graph.
  LocationId CopyLocation(LocationId location) const;
  /// Replaces the symbols of `dim` as Map and MapSymbol say.
  Dim Substitute(const Dim& dim) const;
  /// Sets the name of the copy of a result. It must be new to the graph; by default, the name is
  /// kept or extended to a new one.
  void Name(const Value* result, std::string name) { names_[result] = std::move(name); }
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
  const std::optional<DType> floats_;
  /// The number of locations that the other graph had before.
  const uint32_t first_location_;
  llvm::DenseMap<const Value*, Value*> map_;
  llvm::DenseMap<const Value*, std::string> names_;
  llvm::StringMap<Dim> symbols_;
};

/// `network` with `floats` as the dtype of all its floats. Parameters and states lose the files
/// that their values come from, and parameters their initializers. An Error names the call that
/// does not accept that dtype.
llvm::Expected<Graph> ConvertFloats(const Graph& network, DType floats);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_COPY_CALLS_H_
