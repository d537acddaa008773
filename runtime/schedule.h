#ifndef PDL_RUNTIME_SCHEDULE_H_
#define PDL_RUNTIME_SCHEDULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "pdl/runtime/network.h"
#include "runtime/evaluator.h"

namespace pdl {

/// Index of a value among those that a Schedule knows.
using SlotId = uint32_t;

/// Where the memory of a slot comes from.
enum class SlotKind : uint8_t {
  kResult,     // computed by a step
  kInput,      // the caller's tensor
  kParameter,  // the network's own tensor, or the Scope's
  kState,      // the Scope's tensor
  kConstant,   // computed when the schedule was made
};

struct Slot {
  SlotKind kind = SlotKind::kResult;
  DType dtype = DType::kF32;
  /// Indices into Schedule::dims.
  llvm::SmallVector<uint32_t, 4> dims;
  const Value* value = nullptr;
  /// kParameter and kConstant: the tensor, on the device; empty for a parameter that the Scope
  /// gives.
  Tensor constant;
  /// Steps that compute it and that use it last; outputs and updates count as used at the end.
  uint32_t first_step = 0;
  uint32_t last_step = 0;
  /// It, or what aliases it, is read after the last step.
  bool needed_at_end = false;
};

/// One prepared call: an operator, or a fused group of them behind the same interface.
struct Step {
  std::unique_ptr<OperatorBase> op;
  llvm::SmallVector<SlotId, 4> inputs;
  llvm::SmallVector<SlotId, 2> outputs;
  /// The call, or the calls of the group; never empty.
  llvm::SmallVector<const Op*, 1> calls;
};

/// The size-independent half of a Plan: what is run, in which order, by which kernels. Made once
/// for a Network, a device, a mode and a set of outputs. Immutable.
struct Schedule {
  struct Output {
    std::string name;
    SlotId slot;
  };
  struct Update {
    const Value* state;
    SlotId slot;
    /// The step that computes it, where that is one of those that only store.
    std::optional<uint32_t> storing_step = std::nullopt;
  };

  Device device;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  /// Nothing but updates reads what this step and those after it give, and no data make them fail.
  /// They run when all else is done, and may write the next value of a state over what it was.
  uint32_t first_storing_step = 0;
  /// All different dims of all slots, and those of checks.
  std::vector<Dim> dims;
  std::vector<SlotId> inputs;
  std::vector<SlotId> parameters;
  std::vector<SlotId> states;
  std::vector<Output> outputs;
  std::vector<Update> updates;
  /// Checks of calls that are run, and the network's constraints, with their places.
  struct Check {
    const DimCheck* check;
    std::string where;
  };
  std::vector<Check> checks;
  std::vector<std::string> symbols;
  /// Inputs that are read for their sizes alone, where they are given; and the symbols that no
  /// other input tells, each with those of them that have it (by index). One of these must be
  /// there.
  std::vector<const Value*> size_inputs;
  struct SizeSource {
    std::string symbol;
    llvm::SmallVector<unsigned, 2> inputs;
  };
  std::vector<SizeSource> size_sources;
  bool has_random = false;
  /// A body's: inputs and outputs lie where the caller says, on any device.
  bool is_body = false;
};

/// What a Schedule is made from.
struct ScheduleRequest {
  const Graph* graph = nullptr;
  /// Names of outputs; empty means all. kNoOutput among them is no name.
  std::vector<std::string> outputs;
  /// Symbols that no input has: each run is told their sizes.
  llvm::ArrayRef<std::string> given;
  bool fuse = true;
  bool training = false;
  bool is_body = false;
  /// The Scope gives the parameters: they are no constants.
  bool variable_parameters = false;
  DeviceContext* context = nullptr;
  /// The tensor of a parameter on the device.
  llvm::function_ref<llvm::Expected<Tensor>(const Value&)> parameter;
  /// The results of a call without operands whose sizes are known.
  llvm::function_ref<llvm::Expected<std::vector<Tensor>>(const Op&)> evaluate;
  /// Of a body: the tensor of an input that is the same in every run, else null.
  llvm::function_ref<const Tensor*(const Value&)> fixed_input;
};

/// An Error where `check` does not hold for the sizes that `lookup` gives.
llvm::Error CheckSize(const Schedule::Check& check, SymbolLookup lookup);

/// An Error where the graph has no output of that name.
llvm::Error CheckOutput(const Graph& graph, llvm::StringRef name);

llvm::Expected<std::unique_ptr<const Schedule>> MakeSchedule(const ScheduleRequest& request);

}  // namespace pdl

#endif  // PDL_RUNTIME_SCHEDULE_H_
