// How calls are rewritten when the channels of images move from axis 1 to the last one.
// Module: ir
#ifndef PDL_OP_LAYOUT_RULE_H_
#define PDL_OP_LAYOUT_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/attribute_reader.h"

namespace pdl {

/// What a layout rule sees of one call, [N, C, ...] in most cases, and how it emits the calls on
/// values with their channels last, [N, ..., C], that take its place.
class PDL_API LayoutContext {
 public:
  explicit LayoutContext(Op& op) : op_(&op) {}
  virtual ~LayoutContext();

  Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  /// f32 of rank 3 to 5.
  static bool IsImage(const Value* value);
  /// The axis of [N, ..., C] that is `axis` (negative: from the end) of [N, C, ...].
  static int64_t AxisInLast(int64_t axis, unsigned rank);

  /// Whether a value is available with its channels last at no cost.
  virtual bool IsLast(const Value* value) const = 0;
  /// A value with its channels last; where it is not available so, a transpose is emitted.
  virtual Value* Last(Value* value) = 0;
  /// Whether passes have an operator of this name (OpRegistry::RegisterInternalOp).
  virtual bool HasInternal(llvm::StringRef name) const = 0;
  /// Emits a call of an operator of that kind; its results have these names, which are new.
  virtual const Op* CallInternal(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                                 std::vector<AttributeValue> attributes,
                                 llvm::ArrayRef<std::string> names) = 0;
  /// Emits a call without attributes whose result is named after the call that is rewritten.
  virtual Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands) = 0;
  /// A new name for the result of a call in place of this one: "y_nhwc".
  virtual std::string NewResultName() = 0;
  /// A new name, from the name of the call's result and a suffix.
  virtual std::string NewName(llvm::StringRef suffix) = 0;

  /// The rewritten call's result with its channels last; what reads it in its own order gets a
  /// transpose. True.
  virtual bool Replace(Value* last) = 0;
  /// Rewrites the call as itself, with operands that have their channels last and renumbered axes
  /// (AttributeDecl::is_axis). False where operands differ in rank, or the result would have its
  /// dims in another order.
  virtual bool RenumberAxes() = 0;

 private:
  Op* op_;
};

/// What a call gains by channels last.
enum class LayoutGain : uint8_t {
  /// Nothing: it is rewritten where its operand has its channels last anyway.
  kNone,
  /// Runs as well with its channels last; where the network is rewritten, it is, too.
  kTakes,
  /// Runs faster: with another call that takes or wants it, the network is worth rewriting.
  kWants,
  /// Must have its operands as they are, so the network is not rewritten at all.
  kForbids,
};

/// How calls of an operator are rewritten; static data of the operator's file.
struct LayoutRule {
  /// False where the call stays as it is. Asked for calls with one result and at least one operand;
  /// without a `gain`, only where an operand has its channels last.
  bool (*rewrite)(LayoutContext& context) = nullptr;
  /// Null: LayoutGain::kNone.
  LayoutGain (*gain)(const Op& op) = nullptr;
};

/// For operators that go along axes, whose attributes say which.
PDL_API extern const LayoutRule kRenumberAxes;
/// For operators of which passes have a form with channels last, NAME.channels_last, with the same
/// attributes: an image as the first operand is given so.
PDL_API extern const LayoutRule kChannelsLastForm;

}  // namespace pdl

#endif  // PDL_OP_LAYOUT_RULE_H_
