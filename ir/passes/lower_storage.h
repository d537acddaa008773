#ifndef PDL_IR_PASSES_LOWER_STORAGE_H_
#define PDL_IR_PASSES_LOWER_STORAGE_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/lowering.h"

namespace pdl {

/// Makes the dense form of a graph: values one after another, each as the dense values that stand
/// for it.
class StorageLowering {
 public:
  StorageLowering(const Graph& graph, const OpRegistry& registry)
      : graph_(graph), registry_(registry) {}

  llvm::Expected<Graph> Run();

  // --- What rules are given, through their LoweringContext ----------------------------------
  const LoweredValue& lowered(const Value* value) const { return values_.find(value)->second; }
  llvm::Expected<Op*> Call(const Op& at, llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                           llvm::ArrayRef<NamedAttribute> attributes);
  /// The same call on packed values; gives its results, which have the names of the call's own.
  llvm::Expected<Op*> CallPacked(const Op& op);
  Shape PackedDimsOf(const Shape& dims) const;
  /// "model.pdl:3:5", or empty where nobody knows.
  std::string PlaceOf(const Op& op) const { return graph_.PathToString(op.location()); }
  void SetResult(const Op& op, unsigned index, Value* values);
  void SetOffsets(const Op& op, const Dim& ragged, Value* offsets, const Dim& total);
  Value* OffsetsOf(const Dim& ragged) const { return rows_.lookup(ragged.symbol()).offsets; }

 private:
  /// What is known of a ragged dim.
  struct Rows {
    Value* offsets = nullptr;
    /// The rows that it splits, and all that it makes of them.
    Dim outer, total;
  };

  llvm::Error CopySources();
  llvm::Error CopyBlocks();
  llvm::Error CopyBlock(BlockId id, std::vector<bool>& copied);
  llvm::Error AddInput(const Value& input);
  llvm::Error AddRows(const Value& input, unsigned level, Value* offsets);
  llvm::Error Lower(const Op& op);
  llvm::Error CopyOp(const Op& op);
  llvm::Error LowerOp(const Op& op);
  /// What `op` asks of its sizes, for all calls of its block from the `first` one on.
  void KeepChecks(const Op& op, size_t first);
  llvm::Error LowerSelect(const Op& op);
  llvm::Expected<Op*> Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
                           std::vector<AttributeValue> attributes,
                           llvm::ArrayRef<std::string> names, const Op& at);
  /// `value` as the packed values of `dims`, of more ragged levels than it has, broadcast with it.
  llvm::Expected<Value*> AlignRows(const Op& op, unsigned operand, const Type& to);
  llvm::Expected<std::vector<AttributeValue>> PackedAttributes(const Op& op);
  void AddOutputs();
  std::vector<std::string> NamesOf(const Op& op) const;

  const Graph& graph_;
  const OpRegistry& registry_;
  Graph out_;
  /// Rules keep references to what they are given while more is added.
  std::unordered_map<const Value*, LoweredValue> values_;
  llvm::StringMap<Rows> rows_;  // by the symbol of the ragged dim
  /// Sizes that the inputs of the dense form tell.
  llvm::StringSet<> told_;
  /// Sizes that only the data decide, where they got another name.
  llvm::StringMap<Dim> renamed_;
};

}  // namespace pdl

#endif  // PDL_IR_PASSES_LOWER_STORAGE_H_
