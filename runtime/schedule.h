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
#include "pdl/op/symbols.h"
#include "pdl/runtime/network.h"
#include "runtime/constant_calls.h"

namespace pdl {

class PackedInputs;

/// Index of a value in a Schedule.
using SlotId = uint32_t;

/// The origin of a slot's memory.
enum class SlotKind : uint8_t {
  kResult,     // computed by a step
  kInput,      // the caller's tensor
  kParameter,  // the network's tensor, or the Scope's
  kState,      // the Scope's tensor
  kConstant,   // computed when the schedule was created
};

struct Slot {
  SlotKind kind = SlotKind::kResult;
  DType dtype = DType::kF32;
  /// Indices into Schedule::dims.
  llvm::SmallVector<uint32_t, 4> dims;
  const Value* value = nullptr;
  /// kParameter and kConstant: the value, on the device; empty for a parameter that the Scope
  /// provides.
  FixedValue fixed;
  /// The steps that compute it and that use it last; outputs and updates count as used at the end.
  uint32_t first_step = 0;
  uint32_t last_step = 0;
  /// The value, or one that aliases it, is read after the last step.
  bool needed_at_end = false;
};

/// A prepared call: an operator, or a fused group of operators with the same interface.
struct Step {
  std::unique_ptr<OperatorBase> op;
  llvm::SmallVector<SlotId, 4> inputs;
  llvm::SmallVector<SlotId, 2> outputs;
  /// The call, or the calls of the group; never empty.
  llvm::SmallVector<const Op*, 1> calls;
};

/// The size-independent half of a Plan: the steps, their order, and their kernels. Created once for
/// a Network, a device, a mode and a set of outputs. Immutable.
struct Schedule {
  struct Output {
    std::string name;
    SlotId slot;
  };
  struct Update {
    const Value* state;
    SlotId slot;
    /// The step that computes it, if that is an in-place state update.
    std::optional<uint32_t> storing_step = std::nullopt;
  };

  Device device;
  /// See NetworkOptions.
  DType matmul_precision = DType::kF32;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  /// The first in-place state update. The results of these steps are read by updates only, and they
  /// cannot fail. They run after all other steps, and may overwrite a state with its new value.
  uint32_t first_storing_step = 0;
  /// The distinct dims of all slots and checks.
  std::vector<Dim> dims;
  std::vector<SlotId> inputs;
  std::vector<SlotId> parameters;
  std::vector<SlotId> states;
  /// States that are constants: no run changes them, and the Scope holds their initial values.
  struct FixedState {
    const Value* state;
    Tensor initial;
  };
  std::vector<FixedState> fixed_states;
  std::vector<Output> outputs;
  std::vector<Update> updates;
  /// Checks of the scheduled calls, and the network's constraints, with their locations.
  struct Check {
    const DimCheck* check;
    std::string location;
    /// The operator or statement that requires it; empty if it is obvious.
    std::string by;
  };
  std::vector<Check> checks;
  std::vector<std::string> symbols;
  /// Inputs that are only read for their sizes, if they are given; and the symbols that no other
  /// input determines, each with the size inputs that have it (by index), at least one of which
  /// must be given.
  std::vector<const Value*> size_inputs;
  struct SizeSource {
    std::string symbol;
    llvm::SmallVector<unsigned, 2> inputs;
  };
  std::vector<SizeSource> size_sources;
  bool has_random = false;
  /// Whose parts some inputs are, for messages; null: no input is a part.
  const PackedInputs* packed = nullptr;
  /// For a body: inputs and outputs are in the caller's memory, on any device.
  bool is_body = false;
};

/// The parameters of MakeSchedule.
struct ScheduleRequest {
  const Graph* graph = nullptr;
  /// Whose parts some inputs of the graph are; null: no input is a part. Must outlive the Schedule.
  const PackedInputs* packed = nullptr;
  /// Names of outputs; empty means all. kNoOutput is not a name but selects none.
  std::vector<std::string> outputs;
  /// Symbols that no input has: each run is given their sizes.
  llvm::ArrayRef<std::string> given;
  bool fuse = true;
  bool training = false;
  DType matmul_precision = DType::kF32;
  bool is_body = false;
  /// The Scope provides the parameters, so they are not constants.
  bool variable_parameters = false;
  DeviceContext* context = nullptr;
  /// Returns the tensor of a parameter on the device.
  llvm::function_ref<llvm::Expected<Tensor>(const Value&)> parameter;
  /// Returns the initial value of a state, if it is known that the Scope holds it; else an empty
  /// Tensor. Null: states are no constants.
  llvm::function_ref<llvm::Expected<Tensor>(const Value&)> initial_state;
  /// Evaluates a call with constant operands and sizes.
  std::shared_ptr<const ConstantCalls::Evaluate> evaluate;
  /// Whether calls of parameters and constants are evaluated when the Schedule is made. An observed
  /// run computes each call.
  bool fold = true;
  /// Holds their results for several Schedules of a Network; null: they belong to this one.
  ConstantResults* constants = nullptr;
  /// For a body: returns the tensor of an input that is the same in every run, else null.
  llvm::function_ref<const Tensor*(const Value&)> fixed_input;
};

/// Fails if `check` does not hold for the sizes given by `lookup`.
llvm::Error CheckSize(const Schedule::Check& check, SymbolLookup lookup);

/// Fails if the graph has no output with that name.
llvm::Error CheckOutput(const Graph& graph, llvm::StringRef name);

llvm::Expected<std::unique_ptr<const Schedule>> MakeSchedule(const ScheduleRequest& request);

}  // namespace pdl

#endif  // PDL_RUNTIME_SCHEDULE_H_
