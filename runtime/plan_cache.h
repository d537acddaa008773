#ifndef PDL_RUNTIME_PLAN_CACHE_H_
#define PDL_RUNTIME_PLAN_CACHE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/passes/plan_select.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/network.h"
#include "runtime/plan.h"
#include "runtime/weight_store.h"

namespace pdl {

/// A Plan, and the graph that it was created from.
struct MadePlan {
  /// The graph of the Plan if it differs from the network's: with the operands that plan_select
  /// chose, or with channels last.
  std::unique_ptr<Graph> graph;
  std::vector<std::string> choices;
  std::unique_ptr<Plan> plan;
};

/// The Plan of a run, and the sizes that selected it.
struct ChosenPlan {
  MadePlan* made = nullptr;
  llvm::ArrayRef<std::string> symbols;
  std::vector<int64_t> sizes;
};

/// The sizes that conditions depend on, from the inputs in a Scope; -1 if unknown.
std::vector<int64_t> SizesIn(const SizeConditions& conditions, const Scope& scope);

/// A function that returns the sizes that conditions depend on; -1 if unknown.
using SizesOf = llvm::function_ref<std::vector<int64_t>(const SizeConditions&)>;
/// Whether the Scope of the run holds the initial values of these states.
using HoldsInitial = llvm::function_ref<bool(llvm::ArrayRef<Schedule::FixedState>)>;

/// Whether `scope` has no value of its own for any of the states, or the initial one.
bool HasInitialStates(Scope& scope, llvm::ArrayRef<Schedule::FixedState> states);

/// The Plans of one graph of dense values: one for each requested device, mode, set of outputs and
/// outcome of conditions. Not synchronized.
class PlanCache {
 public:
  /// `given` and `packed` as in ScheduleRequest. `parameters`: the graph whose parameters are in
  /// `weights`. All must outlive the cache.
  PlanCache(const Graph& graph, llvm::ArrayRef<std::string> given, const PackedInputs& packed,
            const Graph& parameters, const NetworkOptions& options, const OpRegistry& registry,
            WeightStore& weights, ConstantResults& constants);

  /// `outputs` as in ScheduleRequest; those of `run` are ignored.
  llvm::Expected<ChosenPlan> Get(llvm::ArrayRef<std::string> outputs, const RunOptions& run,
                                 bool variable_parameters, DeviceContext& context, SizesOf sizes_of,
                                 HoldsInitial holds_initial);

 private:
  /// The Plans for one outcome of the conditions on sizes.
  struct Plans {
    /// States that no run changes are constants of this Plan.
    std::optional<MadePlan> fixed;
    /// For a Scope that holds other values of such states.
    std::optional<MadePlan> variable;
  };
  /// The Plans for one device, mode and set of outputs.
  struct Family {
    Device device;
    bool training;
    bool variable_parameters;
    bool is_observed;
    std::vector<std::string> outputs;
    SizeConditions conditions;
    std::map<std::vector<uint8_t>, Plans> plans;
    /// By the sizes that the conditions depend on, the most recently found first.
    std::vector<std::pair<std::vector<int64_t>, Plans*>> by_sizes;
  };

  llvm::Expected<Plans*> PlansForSizes(Family& family, llvm::ArrayRef<int64_t> sizes,
                                       SymbolLookup lookup);
  /// See WeightStore::KeptInitial.
  llvm::Expected<Tensor> InitialState(const Value& state);
  /// `fixes_states`: states that the Plan does not change are constants.
  llvm::Expected<MadePlan> MakePlan(const Family& family, SymbolLookup sizes, bool fixes_states,
                                    DeviceContext& context);

  const Graph& graph_;
  const llvm::ArrayRef<std::string> given_;
  const PackedInputs& packed_;
  const Graph& parameters_;
  const NetworkOptions& options_;
  const OpRegistry& registry_;
  WeightStore& weights_;
  ConstantResults& constants_;
  /// The most recently used ones first.
  std::vector<std::unique_ptr<Family>> families_;
  bool selects_ = false;        // there is a plan_select
  bool asks_training_ = false;  // there is a training()
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PLAN_CACHE_H_
