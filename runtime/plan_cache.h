#ifndef PDL_RUNTIME_PLAN_CACHE_H_
#define PDL_RUNTIME_PLAN_CACHE_H_

#include <map>
#include <memory>
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

/// A Plan, and what it was made from.
struct MadePlan {
  /// What the Plan was made of, where that is not the network as it was: with the sides that the
  /// Plan holds, with channels last.
  std::unique_ptr<Graph> graph;
  std::vector<std::string> choices;
  std::unique_ptr<Plan> plan;
};

/// The Plan of a run, and the sizes that chose it.
struct ChosenPlan {
  MadePlan* made = nullptr;
  llvm::ArrayRef<std::string> symbols;
  std::vector<int64_t> sizes;
};

/// The sizes that conditions ask for, as the inputs in a Scope say; -1 where none does.
std::vector<int64_t> SizesIn(const SizeConditions& conditions, const Scope& scope);

/// The sizes that some conditions ask for; -1 where one is not known.
using SizesOf = llvm::function_ref<std::vector<int64_t>(const SizeConditions&)>;

/// The Plans of one graph of dense values: one for each device, mode, set of outputs and outcome of
/// conditions that was asked for. Not synchronized.
class PlanCache {
 public:
  /// `given` as in ScheduleRequest. `parameters`: the graph whose parameters `weights` knows. All
  /// must outlive this.
  PlanCache(const Graph& graph, llvm::ArrayRef<std::string> given, const Graph& parameters,
            const NetworkOptions& options, const OpRegistry& registry, WeightStore& weights);

  /// `outputs` as in ScheduleRequest; those of `run` are not looked at.
  llvm::Expected<ChosenPlan> Get(llvm::ArrayRef<std::string> outputs, const RunOptions& run,
                                 bool variable_parameters, DeviceContext& context,
                                 SizesOf sizes_of);

 private:
  /// The Plans for one device, mode and set of outputs: one for each outcome of the conditions on
  /// sizes.
  struct Family {
    Device device;
    bool training;
    bool variable_parameters;
    bool is_observed;
    std::vector<std::string> outputs;
    SizeConditions conditions;
    std::map<std::vector<uint8_t>, MadePlan> plans;
    /// By the sizes that the conditions ask for, the last found first.
    std::vector<std::pair<std::vector<int64_t>, MadePlan*>> by_sizes;
  };

  llvm::Expected<MadePlan*> PlanForSizes(Family& family, llvm::ArrayRef<int64_t> sizes,
                                         DeviceContext& context);
  llvm::Expected<MadePlan> MakePlan(const Family& family, SymbolLookup sizes,
                                    DeviceContext& context);

  const Graph& graph_;
  const llvm::ArrayRef<std::string> given_;
  const Graph& parameters_;
  const NetworkOptions& options_;
  const OpRegistry& registry_;
  WeightStore& weights_;
  /// The last used first.
  std::vector<std::unique_ptr<Family>> families_;
  bool selects_ = false;        // there is a plan_select
  bool asks_training_ = false;  // there is a training()
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PLAN_CACHE_H_
