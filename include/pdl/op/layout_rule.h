// Rules that rewrite calls when the channel axis of images moves from axis 1 to the last axis.
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

/// The interface of a layout rule: access to one call, usually on [N, C, ...], and functions that
/// emit the replacing calls on channels-last values, [N, ..., C].
class PDL_API LayoutContext {
 public:
  explicit LayoutContext(Op& op) : op_(&op) {}
  virtual ~LayoutContext();

  Op& op() const { return *op_; }
  AttributeReader attributes() const { return op_->attributes(); }
  /// Whether the value is f32 of rank 3 to 5.
  static bool IsImage(const Value* value);
  /// Maps an axis of [N, C, ...] (negative: from the end) to the axis of [N, ..., C].
  static int64_t AxisInLast(int64_t axis, unsigned rank);

  /// Whether a channels-last version of the value exists already.
  virtual bool IsLast(const Value* value) const = 0;
  /// Returns the channels-last version of a value; emits a transpose if there is none.
  virtual Value* Last(Value* value) = 0;
  /// Whether there is an internal operator of this name (OpRegistry::RegisterInternalOp).
  virtual bool HasInternal(llvm::StringRef name) const = 0;
  /// Emits a call of an internal operator. `names` are the new names of its results.
  virtual const Op* CallInternal(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                                 std::vector<AttributeValue> attributes,
                                 llvm::ArrayRef<std::string> names) = 0;
  /// Emits a call without attributes; its result is named after the rewritten call.
  virtual Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands) = 0;
  /// Returns a new name for the result of the replacing call: "y_nhwc".
  virtual std::string NewResultName() = 0;
  /// Returns a new name made of the name of the call's result and a suffix.
  virtual std::string NewName(llvm::StringRef suffix) = 0;

  /// Sets the channels-last result of the rewritten call; uses that need the original order get a
  /// transpose. Returns true.
  virtual bool Replace(Value* last) = 0;
  /// Replaces the call by the same call on channels-last operands with renumbered axes
  /// (AttributeDecl::is_axis). Returns false if operands differ in rank, or the dims of the result
  /// would be in another order.
  virtual bool RenumberAxes() = 0;

 private:
  Op* op_;
};

/// The benefit of channels-last layout for a call.
enum class LayoutGain : uint8_t {
  /// None: the call is rewritten if its operand is channels-last already.
  kNone,
  /// Equally fast in both layouts: the call is rewritten if the network is.
  kTakes,
  /// Faster: the network is rewritten if there is also another call with kTakes or kBenefits.
  kBenefits,
  /// Requires the original layout: the network is not rewritten at all.
  kForbids,
};

/// The layout rule of an operator; static data.
struct LayoutRule {
  /// Rewrites a call; returns false if the call stays unchanged. Called for calls with one result
  /// and at least one operand; if `gain` returns kNone, only if an operand is channels-last.
  bool (*rewrite)(LayoutContext& context) = nullptr;
  /// Null: LayoutGain::kNone.
  LayoutGain (*gain)(const Op& op) = nullptr;
};

/// For operators whose attributes name the axes that they work along.
PDL_API extern const LayoutRule kRenumberAxes;
/// For operators with an internal channels-last form, NAME.channels_last, that has the same
/// attributes and takes the image as its first operand.
PDL_API extern const LayoutRule kChannelsLastForm;

}  // namespace pdl

#endif  // PDL_OP_LAYOUT_RULE_H_
