#include "pdl/op/layout_rule.h"

namespace pdl {
namespace {

bool FormToLast(LayoutContext& context) {
  const Op& op = context.op();
  Value* x = op.operands()[0];
  const std::string form = op.type() + ".channels_last";
  if (!LayoutContext::IsImage(x) || !context.IsLast(x) || !context.HasInternal(form)) return false;
  llvm::SmallVector<Value*, 3> operands(op.operands());
  operands[0] = context.Last(x);
  const Op* call =
      context.CallInternal(form, operands, op.attribute_values().vec(), context.NewResultName());
  return context.Replace(call->result());
}

}  // namespace

LayoutContext::~LayoutContext() = default;

bool LayoutContext::IsImage(const Value* value) {
  const Type& type = value->type();
  return type.dtype == DType::kF32 && type.rank() >= 3 && type.rank() <= 5;
}

int64_t LayoutContext::AxisInLast(int64_t axis, unsigned rank) {
  if (axis < 0) axis += rank;
  return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
}

constinit const LayoutRule kRenumberAxes = {
    [](LayoutContext& context) { return context.RenumberAxes(); }};
constinit const LayoutRule kChannelsLastForm = {FormToLast};

}  // namespace pdl
