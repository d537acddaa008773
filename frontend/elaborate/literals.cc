#include "frontend/elaborate/literals.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/packed_literal.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

Value* Literals::AsTensor(const Datum& datum, SourceRange range, std::optional<DType> dtype,
                          Targets targets) {
  if (datum.holds_poison()) return nullptr;
  if (Value* tensor = datum.tensor()) return tensor;
  if (const auto* size = datum.get<Dim>()) {
    return emitter_.EmitSize(*size, range, dtype ? *dtype : DType::kI64, targets);
  }
  if (!datum.is_literal()) {
    Diagnostic& diagnostic =
        report_.Error(Code::kOperandKind, range, "expected a tensor, got " + datum.Phrase());
    const auto* items = datum.list();
    if (items != nullptr && !items->empty() &&
        llvm::all_of(*items, [](const Datum& item) { return item.tensor() != nullptr; })) {
      diagnostic.Note("the tensors of a list are given one by one: " + at_.file->Text(range).str() +
                      "...");
    }
    return nullptr;
  }
  if (!budget_.SpendExtent(datum, range)) return nullptr;
  const DType natural = dtype ? *dtype : NaturalDType(datum);
  if (RaggedLevels(datum) > 0 && callees_.FindOperator(sugar::kRagged) != nullptr)
    return EmitRagged(datum, natural, range, targets);
  llvm::Expected<Constant> constant = ToConstant(datum, natural);
  if (!constant) {
    report_.Error(Code::kLiteral, range, llvm::toString(constant.takeError()));
    return nullptr;
  }
  return emitter_.EmitConstant(std::move(*constant), range, targets);
}

Value* Literals::EmitRagged(const Datum& literal, DType dtype, SourceRange range, Targets targets) {
  const Type type = RaggedType(literal, dtype);
  if (type.ragged_levels() > 2) {
    report_.Error(Code::kLiteral, range,
                  "lists may differ in length at two depths, and these do at depth " +
                      llvm::Twine(type.ragged_levels()) + ", too");
    return nullptr;
  }
  auto packed = ToPacked(literal, type);
  if (!packed) {
    report_.Error(Code::kLiteral, range, llvm::toString(packed.takeError()));
    return nullptr;
  }
  Value* value = emitter_.EmitConstant(std::move(packed->values), range, {});
  for (unsigned level = type.ragged_levels(); value != nullptr && level-- > 0;) {
    const Constant& offsets = packed->offsets[level];
    const auto* begins = static_cast<const int64_t*>(offsets.data());
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i + 1 < offsets.num_elements(); ++i)
      lengths.push_back(begins[i + 1] - begins[i]);
    Value* rows = emitter_.EmitConstant(
        Constant::Copy(DType::kI64, {static_cast<int64_t>(lengths.size())}, lengths.data()), range,
        {});
    Call call;
    call.def = callees_.FindOperator(sugar::kRagged);
    call.place = range;
    call.operands = {{Datum(value), range}, {Datum(rows), range}};
    Op* op = emitter_.Emit(call, level == 0 ? targets : Targets());
    value = op == nullptr ? nullptr : op->result();
  }
  return value;
}

}  // namespace pdl
