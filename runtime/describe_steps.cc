#include "runtime/describe_steps.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/cost.h"

namespace pdl {
namespace {

std::string Describe(const Binding& binding, SlotId slot) {
  const OperandType& type = binding.types[slot];
  return binding.schedule.slots[slot].value->name() + ": " +
         TensorTypeToString(type.dtype, type.sizes);
}

std::vector<OperandType> TypesOf(const Binding& binding, llvm::ArrayRef<SlotId> slots) {
  std::vector<OperandType> types;
  for (const SlotId slot : slots) types.push_back(binding.types[slot]);
  return types;
}

/// The result that a step is known by: of a single call the first, of a group the last one.
SlotId MainOutput(const Step& step) {
  return step.calls.size() == 1 ? step.outputs.front() : step.outputs.back();
}

/// The types of values of a group: those that it reads or writes, and those within it, whose sizes
/// are those of its results.
std::vector<OperandType> TypesOf(const Binding& binding, const Step& step,
                                 llvm::ArrayRef<Value*> values) {
  std::vector<OperandType> types;
  for (const Value* value : values) {
    const auto slots = llvm::concat<const SlotId>(step.inputs, step.outputs);
    const auto found = llvm::find_if(
        slots, [&](SlotId slot) { return binding.schedule.slots[slot].value == value; });
    if (found != slots.end()) {
      types.push_back(binding.types[*found]);
    } else {
      types.push_back({value->type().dtype, binding.types[MainOutput(step)].sizes});
    }
  }
  return types;
}

CallCost CostOf(const Binding& binding, const Step& step) {
  const std::vector<OperandType> inputs = TypesOf(binding, step.inputs);
  if (step.calls.size() == 1) {
    const std::vector<OperandType> outputs = TypesOf(binding, step.outputs);
    const CallSizes call{step.op->arguments(), inputs, outputs};
    return {OperationsOf(call), BytesOf(call)};
  }
  CallCost cost;
  for (const Op* op : step.calls) {
    OperatorArguments arguments;
    arguments.def = &op->def();
    arguments.attributes = op->attribute_values().vec();
    const auto operands = TypesOf(binding, step, op->operands());
    const auto results = TypesOf(binding, step, op->results());
    cost.operations += OperationsOf(CallSizes{arguments, operands, results});
  }
  std::vector<OperandType> outputs;
  for (const SlotId slot : step.outputs)
    if (binding.placements[slot].kind != Placement::Kind::kNone)
      outputs.push_back(binding.types[slot]);
  cost.bytes = BytesOf(CallSizes{step.op->arguments(), inputs, outputs});
  return cost;
}

/// The bytes of the weights that are not read because the call reads them rounded to bf16: of the
/// second operand of its first operator, the product.
double BytesSavedByRounding(const Binding& binding, const Step& step) {
  const Value* weights = step.calls.front()->operands()[1];
  for (const SlotId slot : step.inputs) {
    const OperandType& type = binding.types[slot];
    if (binding.schedule.slots[slot].value == weights && type.dtype == DType::kF32)
      return static_cast<double>(type.num_elements() *
                                 (DTypeSize(DType::kF32) - DTypeSize(DType::kBF16)));
  }
  return 0;
}

/// The operators of a step: "matmul in bf16, add, relu".
std::string CallsOf(const Step& step, DType matmul_precision) {
  std::string calls = step.calls.front()->type();
  if (matmul_precision == DType::kBF16) calls += " in bf16";
  for (const Op* op : llvm::drop_begin(step.calls)) calls += ", " + op->type();
  return calls;
}

/// The bytes of values in the arena during each step.
std::vector<int64_t> LiveBytes(const Binding& binding) {
  const Schedule& schedule = binding.schedule;
  const size_t steps = schedule.steps.size();
  struct Use {
    size_t first = SIZE_MAX, last = 0;
  };
  std::vector<Use> uses(schedule.slots.size());  // by slot with memory of its own
  for (SlotId slot = 0; slot < schedule.slots.size(); ++slot) {
    const Slot& described = schedule.slots[slot];
    Use& use = uses[binding.placements[slot].root];
    use.first = std::min<size_t>(use.first, described.first_step);
    use.last = std::max<size_t>(use.last, described.needed_at_end ? steps : described.last_step);
  }
  std::vector<int64_t> change(steps + 2);
  for (SlotId slot = 0; slot < schedule.slots.size(); ++slot) {
    const Placement& placement = binding.placements[slot];
    if (placement.root != slot || placement.kind != Placement::Kind::kArena) continue;
    const OperandType& type = binding.types[slot];
    const int64_t bytes = type.num_elements() * DTypeSize(type.dtype);
    change[std::min(uses[slot].first, steps)] += bytes;
    change[std::min(uses[slot].last, steps) + 1] -= bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

}  // namespace

std::vector<CallDescription> DescribeSteps(const Binding& binding) {
  const std::vector<int64_t> live = LiveBytes(binding);
  std::vector<CallDescription> described;
  for (const auto& [index, step] : llvm::enumerate(binding.schedule.steps)) {
    CallDescription& call = described.emplace_back();
    call.matmul_precision = binding.calls[index].matmul_precision;
    call.calls = CallsOf(step, call.matmul_precision);
    if (!step.outputs.empty()) call.result = Describe(binding, MainOutput(step));
    for (const SlotId slot : step.inputs)
      call.operands += (call.operands.empty() ? "" : ", ") + Describe(binding, slot);
    call.place = step.op->arguments().location;
    call.layer = step.calls.front()->layer_path();
    call.cost = CostOf(binding, step);
    if (call.matmul_precision == DType::kBF16)
      call.cost.bytes -= BytesSavedByRounding(binding, step);
    call.live_bytes = live[index];
  }
  return described;
}

}  // namespace pdl
