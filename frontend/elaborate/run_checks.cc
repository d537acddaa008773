#include "frontend/elaborate/run_checks.h"

#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/sugar.h"

namespace pdl {

Op* RunChecks::Emit(llvm::StringRef op, llvm::ArrayRef<Operand> operands,
                    llvm::ArrayRef<NamedAttribute> attributes, SourceRange place, Targets targets,
                    std::optional<LocationId> location) {
  Call call;
  call.location = location;
  call.def = callees_.FindOperator(op);
  call.place = place;
  call.operands.assign(operands.begin(), operands.end());
  call.attributes.assign(attributes.begin(), attributes.end());
  call.places.resize(attributes.size(), {{}, place, nullptr, {}});
  return emitter_.Emit(call, targets);
}

void RunChecks::Assert(const Operand& condition, llvm::StringRef message) {
  Add({condition, message.str(), at_.AddLocation(graph_, condition.range.begin)});
}

void RunChecks::Add(Journal::Assertion assertion) {
  if (at_.journal != nullptr) {
    at_.journal->assertions.push_back(std::move(assertion));
    return;
  }
  Emit(sugar::kAssert, assertion.condition,
       NamedAttribute{sugar::kAssertMessage.str(), assertion.message}, assertion.condition.range,
       {}, assertion.location);
}

void RunChecks::AssertBranch(const Operand& condition, unsigned side,
                             llvm::ArrayRef<Journal::Assertion> assertions) {
  for (const Journal::Assertion& assertion : assertions) {
    Operand holds{assertion.condition.datum, condition.range};
    if (!holds.datum.tensor()->type().is_scalar()) {
      Op* all = Emit(sugar::kAll, holds, {}, condition.range, {}, assertion.location);
      if (all == nullptr) return;
      holds.datum = Datum(all->result());
    }
    Value* otherwise = literals_.AsTensor(Datum(true), condition.range, DType::kBool, {});
    if (otherwise == nullptr) return;
    Operand sides[] = {condition, holds, holds};
    sides[2 - side].datum = Datum(otherwise);
    Op* selected = Emit(sugar::kPlanSelect, sides, {}, condition.range, {}, assertion.location);
    if (selected == nullptr) return;
    Add({{Datum(selected->result()), condition.range}, assertion.message, assertion.location});
  }
}

Value* RunChecks::InDeclaredRange(Value* value, const Type& declared, SourceRange place,
                                  Targets targets) {
  const Type& type = value->type();
  if (!declared.index_bound || type.index_bound || type.dtype != declared.dtype ||
      type.storage != declared.storage || type.rank() != declared.rank()) {
    return value;
  }
  return WithRange(value, declared, place, targets);
}

Value* RunChecks::WithRange(Value* value, const Type& declared, SourceRange place,
                            Targets targets) {
  if (!declared.index_bound || value->type().index_bound == declared.index_bound) return value;
  Op* op = Emit(sugar::kCheckIndex, Operand{Datum(value), place},
                NamedAttribute{sugar::kCheckIndexBelow.str(), Shape{*declared.index_bound}}, place,
                targets);
  return op == nullptr ? nullptr : op->result();
}

}  // namespace pdl
