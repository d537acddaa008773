// Module: ir
#ifndef PDL_OP_LOWERING_H_
#define PDL_OP_LOWERING_H_

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/error.h"
#include "pdl/op/storage.h"

namespace pdl {

class StorageLowering;

/// Whether every call of the operator becomes other calls before a network runs: no kernel runs it.
PDL_API bool IsAlwaysLowered(const OpDef& def);

/// The dense values that one value of a graph becomes; see PartsOf.
struct LoweredValue {
  /// As it was declared or inferred.
  Type type;
  /// Null for a sparse tensor of truth values: they are ones.
  Value* values = nullptr;
  /// One for each ragged dim, the outermost first; of a sparse tensor one more, where the elements
  /// of each row begin.
  llvm::SmallVector<Value*, 3> offsets;
  /// The columns of a sparse tensor; else null.
  Value* indices = nullptr;
};

/// What a lowering rule sees of a call with ragged or sparse operands, and how it emits the calls
/// of dense values that take its place. A rule reads like the formula:
///
///   llvm::Error LowerLength(LoweringContext& l) {
///     Value* ends = l.Call("slice", …);
///     l.SetOutput(l.Call("sub", {ends, begins}));
///     return l.TakeError();
///   }
///
/// A mistake of an emitted call makes it and what uses it null; TakeError tells the first.
class PDL_API LoweringContext {
 public:
  LoweringContext(StorageLowering& lowering, const Op& op) : lowering_(&lowering), op_(&op) {}

  const Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  unsigned num_inputs() const { return static_cast<unsigned>(op_->operands().size()); }
  const LoweredValue& input(unsigned index) const;
  const Type& result_type(unsigned index = 0) const { return op_->result(index)->type(); }

  /// Emits a call of dense values at the place of the call; gives its first result.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// The values of a result; reshaped where only its dims of size 1 differ.
  void SetOutput(Value* values) { SetOutput(0, values); }
  void SetOutput(unsigned index, Value* values);
  /// The offsets of a ragged dim of a result that no operand has, and how many rows it makes.
  void SetOffsets(const Dim& ragged, Value* offsets, const Dim& total);
  /// The offsets of a ragged dim that an operand has.
  Value* OffsetsOf(const Dim& ragged) const;

  /// Makes a symbol that is a size of a result stand for `count`, i64[]: calls emitted after this
  /// may have it in their attributes.
  void DefineSize(const Dim& symbol, Value* count);

  /// For each row of the values behind `levels` ragged dims of `type` the row, `up` levels further
  /// out, that it belongs to: i64[sum(T)]. `up` is at least 1 and at most `levels`.
  Value* RowOf(const Type& type, unsigned levels, unsigned up);

  /// The rule of every operator that has none of its own: the same call on packed values, its axes
  /// counted without the ragged dims.
  [[nodiscard]] llvm::Error LowerPacked();

  /// A mistake of the call that shows only here; TakeError tells it, with the call's place.
  void Fail(Code code, const llvm::Twine& message);
  [[nodiscard]] llvm::Error TakeError();

 private:
  StorageLowering* lowering_;
  const Op* op_;
  std::string error_;
  std::optional<Code> code_;  // of a mistake of the user's
};

}  // namespace pdl

#endif  // PDL_OP_LOWERING_H_
