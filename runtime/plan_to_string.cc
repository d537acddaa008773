#include "ir/emit_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/memory.h"
#include "runtime/plan.h"

namespace pdl {
namespace {

std::string PlacementToString(const Binding& binding, const Schedule& schedule, SlotId slot) {
  const Placement& placement = binding.placements[slot];
  std::string text;
  switch (placement.kind) {
    case Placement::Kind::kArena:
      text = "arena+" + std::to_string(placement.offset);
      break;
    case Placement::Kind::kOutput:
      text = "output " + schedule.outputs[static_cast<size_t>(placement.offset)].name;
      break;
    case Placement::Kind::kUpdate: {
      const auto update = static_cast<size_t>(placement.offset);
      text = (binding.overwrites[update] ? "state " : "next ") +
             schedule.updates[update].state->name();
      break;
    }
    case Placement::Kind::kGiven:
      text = "given";
      break;
    case Placement::Kind::kFixed:
      text = "constant";
      break;
    case Placement::Kind::kNone:
      return "unused";
  }
  if (placement.root != slot) text += ", memory of " + schedule.slots[placement.root].value->name();
  return text;
}

constexpr size_t kMaxShown = 40;

std::string CallToString(const Graph& graph, const Op& op) {
  std::vector<std::string> results, operands;
  for (const Value* result : op.results()) results.push_back(result->name());
  for (const Value* operand : op.operands()) operands.push_back(operand->name());
  const std::vector<AttributeDecl>& attributes = op.def().signature.attributes;
  for (size_t i = 0; i < attributes.size(); ++i) {
    const AttributeValue& value = op.attribute_values()[i];
    if (Identical(value, attributes[i].default_value)) continue;
    operands.push_back(attributes[i].name + "=" + Shorten(AttributeToString(value), kMaxShown));
  }
  std::string text =
      llvm::join(results, ", ") + " = " + op.type() + "(" + llvm::join(operands, ", ") + ")";
  std::string place = graph.LocationToString(op.location());
  return place.empty() ? text : text + "  # " + place;
}

}  // namespace

std::string PlanToString(const Graph& graph, const Schedule& schedule, const Binding* binding,
                         llvm::ArrayRef<std::string> choices) {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t groups = llvm::count_if(schedule.steps, [](const Step& s) { return s.calls.size() > 1; });
  size_t calls = 0;
  for (const Step& step : schedule.steps) calls += step.calls.size();
  os << "plan for " << DeviceToString(schedule.device) << ": " << calls << " calls in "
     << schedule.steps.size() << " steps, " << groups
     << (groups == 1 ? " fused group\n" : " fused groups\n");
  if (!binding && !schedule.symbols.empty())
    os << "sizes of " << llvm::join(schedule.symbols, ", ") << " are not given: no offsets (--size "
       << schedule.symbols[0] << "=...)\n";
  if (binding) {
    os << "peak: " << BytesToString(binding->arena_bytes) << " of arena ("
       << BytesToString(binding->live_bytes) << " live at once, "
       << BytesToString(binding->unshared_bytes) << " of results without sharing), "
       << BytesToString(binding->output_bytes) << " of outputs\n";
  }

  for (const std::string& choice : choices) os << "  select " << choice << "\n";
  for (const Slot& slot : schedule.slots) {
    const char* kind = slot.kind == SlotKind::kInput       ? "input"
                       : slot.kind == SlotKind::kParameter ? "param"
                       : slot.kind == SlotKind::kState     ? "state"
                       : slot.kind == SlotKind::kConstant  ? "constant"
                                                           : nullptr;
    if (kind)
      os << "  " << kind << " " << slot.value->name() << ": " << slot.value->type().ToString()
         << "\n";
  }
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    bool fused = step.calls.size() > 1;
    os << llvm::formatv("{0,4}  ", s);
    if (fused) {
      os << "fused group of " << step.calls.size() << " calls\n";
      for (const Op* call : step.calls) os << "        " << CallToString(graph, *call) << "\n";
    } else {
      os << CallToString(graph, *step.calls[0]);
      if (binding && binding->calls[s].skip) os << "  (nothing to run)";
      os << "\n";
    }
    for (SlotId slot : step.outputs) {
      const Value& value = *schedule.slots[slot].value;
      os << "        -> " << value.name() << ": ";
      if (binding) {
        const OperandType& type = binding->types[slot];
        os << TensorTypeToString(type.dtype, type.sizes) << " at "
           << PlacementToString(*binding, schedule, slot);
      } else {
        os << value.type().ToString();
      }
      os << "\n";
    }
  }
  for (const Schedule::Output& output : schedule.outputs)
    os << "  output " << output.name << " = " << schedule.slots[output.slot].value->name() << "\n";
  for (const Schedule::Update& update : schedule.updates)
    os << "  update " << update.state->name() << " = " << schedule.slots[update.slot].value->name()
       << "\n";
  return text;
}

}  // namespace pdl
