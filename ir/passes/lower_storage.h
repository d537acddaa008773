#ifndef PDL_IR_PASSES_LOWER_STORAGE_H_
#define PDL_IR_PASSES_LOWER_STORAGE_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/lowering.h"

namespace pdl {

/// Creates the dense form of a graph, value by value: each becomes the dense values that represent
/// it.
class StorageLowering {
 public:
  StorageLowering(const Graph& graph, const OpRegistry& registry)
      : graph_(graph), registry_(registry) {}

  llvm::Expected<Graph> Run();

  // --- Interface of rules, through their LoweringContext -------------------------------------
  const LoweredValue& lowered(const Value* value) const { return values_.find(value)->second; }
  llvm::Expected<Op*> Call(const Op& at, llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                           llvm::ArrayRef<NamedAttribute> attributes);
  /// Emits the same call on packed values; its results have the names of the original results.
  llvm::Expected<Op*> CallPacked(const Op& op);
  Shape PackedDimsOf(const Shape& dims) const;
  /// "model.pdl:3:5", or empty if unknown.
  std::string PlaceOf(const Op& op) const { return graph_.PathToString(op.location()); }
  void SetResult(const Op& op, unsigned index, Value* values);
  void SetOffsets(const Op& op, const Dim& ragged, Value* offsets, const Dim& total);
  Value* OffsetsOf(const Dim& ragged) const { return rows_.lookup(ragged.symbol()).offsets; }

 private:
  /// The values of a ragged dim.
  struct Rows {
    Value* offsets = nullptr;
    /// The number of outer rows that it divides, and the total number of inner rows.
    Dim outer, total;
  };

  llvm::Error CopySources();
  llvm::Error CopyBlocksOf(const Op& op);
  llvm::Error CopyBlock(BlockId id);
  llvm::Error AddInput(const Value& input);
  llvm::Error AddRows(const Value& input, unsigned level, Value* offsets);
  llvm::Error Lower(const Op& op);
  llvm::Error CopyOp(const Op& op);
  llvm::Error LowerOp(const Op& op);
  /// Adds the size checks of `op` to the calls of its block from index `first` on.
  void KeepChecks(const Op& op, size_t first);
  llvm::Error LowerSelect(const Op& op);
  llvm::Expected<Op*> Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
                           std::vector<AttributeValue> attributes,
                           llvm::ArrayRef<std::string> names, const Op& at);
  /// Returns an operand as packed values of the type `to`, which has more ragged levels,
  /// broadcasting it to the rows.
  llvm::Expected<Value*> AlignRows(const Op& op, unsigned operand, const Type& to);
  llvm::Expected<std::vector<AttributeValue>> PackedAttributes(const Op& op);
  void AddOutputs();
  std::vector<std::string> NamesOf(const Op& op) const;

  const Graph& graph_;
  const OpRegistry& registry_;
  Graph out_;
  /// A node-based map: rules keep references to its elements while more are added.
  std::unordered_map<const Value*, LoweredValue> values_;
  llvm::StringMap<Rows> rows_;       // by the symbol of the ragged dim
  llvm::DenseSet<uint32_t> copied_;  // the indices of blocks
  /// Symbols that the inputs of the dense form determine.
  llvm::StringSet<> known_symbols_;
  /// Data-dependent sizes that were renamed.
  llvm::StringMap<Dim> renamed_;
};

}  // namespace pdl

#endif  // PDL_IR_PASSES_LOWER_STORAGE_H_
