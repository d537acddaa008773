#include "frontend/elaborate/test_outputs.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/packed_literal.h"
#include "frontend/elaborate/reporter.h"
#include "pdl/op/storage.h"

namespace pdl {

std::string TestOutputs::TestOutput(Value* value) {
  const std::string name = "#" + std::to_string(graph_.outputs().size());
  graph_.AddOutput(name, value);
  return name;
}

std::string TestOutputs::EmitParts(const Datum& literal, const Type& type, SourceRange range) {
  if (literal.holds_poison() || !budget_.SpendExtent(literal, range)) return "";
  if (!literal.is_literal()) {
    report_.Error(
        Code::kOperandKind, range,
        "a value of " + type.ToString() + " is written as lists, got " + literal.Phrase());
    return "";
  }
  auto packed = ToPacked(literal, type);
  if (!packed) {
    report_.Error(Code::kLiteral, range, llvm::toString(packed.takeError()));
    return "";
  }
  const std::string name = "#" + std::to_string(graph_.outputs().size());
  for (const PartType& each : PartsOf(name, type)) {
    Value* value = emitter_.EmitConstant(packed->part(each.part), range, {});
    if (value == nullptr) return "";
    graph_.AddOutput(PartName(name, each.part), value);
  }
  return name;
}

}  // namespace pdl
