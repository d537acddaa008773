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

/// Whether every call of the operator is replaced by other calls before a network runs, because it
/// has no kernel.
PDL_API bool IsAlwaysLowered(const OpDef& def);

/// Whether gradients flow through the operator: it has a rule, or is lowered to calls of operators
/// that have one.
PDL_API bool IsDifferentiable(const OpDef& def);

/// The dense values that a value of a graph is lowered to; see PartsOf.
struct LoweredValue {
  /// The type before lowering.
  Type type;
  /// Null for a sparse bool tensor, all of whose stored elements are true.
  Value* values = nullptr;
  /// One for each ragged dim, outermost first. A sparse tensor has one more, with the beginning of
  /// each row's elements.
  llvm::SmallVector<Value*, 3> offsets;
  /// The column indices of a sparse tensor; else null.
  Value* indices = nullptr;
};

/// The interface of a lowering rule: access to one call with ragged or sparse operands, and
/// functions that emit the calls on dense values that replace it. A rule reads like the formula:
///
///   llvm::Error LowerLength(LoweringContext& l) {
///     Value* ends = l.Call("slice", …);
///     l.SetOutput(l.Call("sub", {ends, begins}));
///     return l.TakeError();
///   }
///
/// After an error in an emitted call, it and the calls that use it return null; TakeError returns
/// the first error.
class PDL_API LoweringContext {
 public:
  LoweringContext(StorageLowering& lowering, const Op& op) : lowering_(&lowering), op_(&op) {}

  const Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  unsigned num_inputs() const { return static_cast<unsigned>(op_->operands().size()); }
  const LoweredValue& input(unsigned index) const;
  const Type& result_type(unsigned index = 0) const { return op_->result(index)->type(); }

  /// Emits a call on dense values at the location of the lowered call and returns its first result.
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes = {});
  /// Sets the dense values of a result; they are reshaped if they differ in dims of size 1 only.
  void SetOutput(Value* values) { SetOutput(0, values); }
  void SetOutput(unsigned index, Value* values);
  /// Sets the offsets of a ragged dim of a result that no operand has, and the total number of
  /// rows.
  void SetOffsets(const Dim& ragged, Value* offsets, const Dim& total);
  /// Returns the offsets of a ragged dim that an operand has.
  Value* OffsetsOf(const Dim& ragged) const;

  /// Defines a symbol of a result's type as `count`, i64[]: calls emitted after this may use it in
  /// attributes.
  void DefineSize(const Dim& symbol, Value* count);

  /// Returns, for each row of the values after `levels` ragged dims of `type`, the index of the row
  /// `up` levels further out that contains it: i64[sum(T)]. 1 <= up <= levels.
  Value* RowOf(const Type& type, unsigned levels, unsigned up);

  /// The default rule: the same call on packed values, with axes renumbered without the ragged
  /// dims.
  [[nodiscard]] llvm::Error LowerPacked();

  /// Reports an error of the call that is found only here; TakeError returns it, with the call's
  /// position.
  void Fail(Code code, const llvm::Twine& message);
  [[nodiscard]] llvm::Error TakeError();

 private:
  StorageLowering* lowering_;
  const Op* op_;
  std::string error_;
  std::optional<Code> code_;  // set for an error of the user
};

}  // namespace pdl

#endif  // PDL_OP_LOWERING_H_
