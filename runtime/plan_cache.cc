#include "runtime/plan_cache.h"

#include "ir/passes/segments.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/trace.h"
#include "pdl/op/error.h"
#include "runtime/call_error.h"
#include "runtime/evaluator.h"

namespace pdl {
namespace {

/// Conditions have no random calls.
llvm::Expected<std::vector<Constant>> EvaluateCondition(const Graph& graph, const Op& op,
                                                        llvm::ArrayRef<Constant> operands,
                                                        SymbolLookup sizes) {
  return EvaluateConstants(graph, op, operands, sizes, RandomState{0, 0});
}

/// The size of the only symbol of a dim, given that the dim is `size`; nullopt if there is none.
std::optional<int64_t> Solve(const Dim& dim, int64_t size) {
  if (!dim.symbol().empty()) return size;
  llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solved = dim.Solve(size);
  if (!solved) {
    // The run reports the invalid input.
    llvm::consumeError(solved.takeError());
    return std::nullopt;
  }
  return *solved ? std::optional((*solved)->second) : std::nullopt;
}

}  // namespace

std::vector<int64_t> SizesIn(const SizeConditions& conditions, const Scope& scope) {
  std::vector<int64_t> sizes(conditions.symbols().size(), -1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (const SizeConditions::Source& source : conditions.sources(i)) {
      const Type& type = source.input->type();
      const Variable* variable = scope.Find(source.input->name());
      const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
      if (!tensor || tensor->rank() != type.rank()) continue;
      const std::optional<int64_t> size = Solve(type.dims[source.axis], tensor->size(source.axis));
      if (!size) continue;
      sizes[i] = *size;
      break;
    }
  }
  return sizes;
}

/// Whether a run with `graph` gives a state another value.
static bool IsUpdated(const Graph& graph, const Value& state) {
  return llvm::any_of(graph.updates(), [&](const GraphUpdate& update) {
    return update.state->name() == state.name() && update.value != update.state;
  });
}

bool HasInitialStates(Scope& scope, llvm::ArrayRef<Schedule::FixedState> states) {
  return llvm::all_of(states, [&](const Schedule::FixedState& fixed) {
    // A run does not read the states of the Scope's parents.
    const Variable* variable = scope.FindLocal(fixed.state->name());
    if (variable == nullptr || variable->empty()) return true;
    const Tensor* tensor = variable->Get<Tensor>();
    return tensor != nullptr && tensor->raw() == fixed.initial.raw();
  });
}

PlanCache::PlanCache(const Graph& graph, llvm::ArrayRef<std::string> given,
                     const PackedInputs& packed, const Graph& parameters,
                     const NetworkOptions& options, const OpRegistry& registry,
                     WeightStore& weights, ConstantResults& constants)
    : graph_(graph),
      given_(given),
      packed_(packed),
      parameters_(parameters),
      options_(options),
      registry_(registry),
      weights_(weights),
      constants_(constants) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      selects_ |= op->def().properties().is_plan_select;
      asks_training_ |= op->def().properties().is_training_flag;
    }
  }
}

llvm::Expected<ChosenPlan> PlanCache::Get(llvm::ArrayRef<std::string> outputs,
                                          const RunOptions& run, bool variable_parameters,
                                          DeviceContext& context, SizesOf sizes_of,
                                          HoldsInitial holds_initial) {
  bool training = run.training && asks_training_;
  auto found = llvm::find_if(families_, [&](const std::unique_ptr<Family>& family) {
    return family->device == context.device() && family->training == training &&
           family->variable_parameters == variable_parameters &&
           family->is_observed == run.is_observed() && outputs.equals(family->outputs);
  });
  std::unique_ptr<Family> fresh;
  if (found == families_.end()) {
    fresh = std::make_unique<Family>(Family{context.device(),
                                            training,
                                            variable_parameters,
                                            run.is_observed(),
                                            outputs.vec(),
                                            {},
                                            {},
                                            {}});
    if (selects_) {
      llvm::Expected<SizeConditions> conditions =
          SizeConditions::Find(graph_, outputs, training, EvaluateCondition);
      if (!conditions) return conditions.takeError();
      fresh->conditions = std::move(*conditions);
    }
  } else if (found != families_.begin()) {
    std::rotate(families_.begin(), found, found + 1);
  }
  Family& family = fresh ? *fresh : *families_.front();
  ChosenPlan chosen;
  chosen.symbols = family.conditions.symbols();
  if (!family.conditions.empty()) chosen.sizes = sizes_of(family.conditions);
  auto lookup = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
    auto known = llvm::find(family.conditions.symbols(), symbol);
    if (known == family.conditions.symbols().end()) return std::nullopt;
    int64_t size = chosen.sizes[static_cast<size_t>(known - family.conditions.symbols().begin())];
    return size < 0 ? std::nullopt : std::optional(size);
  };
  llvm::Expected<Plans*> plans = PlansForSizes(family, chosen.sizes, lookup);
  if (!plans) return plans.takeError();
  auto make = [&](std::optional<MadePlan>* plan, bool fixes_states) -> llvm::Error {
    if (*plan) return llvm::Error::success();
    llvm::Expected<MadePlan> made = MakePlan(family, lookup, fixes_states, context);
    if (!made) return made.takeError();
    *plan = std::move(*made);
    return llvm::Error::success();
  };
  if (llvm::Error error = make(&(*plans)->fixed, true)) return error;
  chosen.made = &*(*plans)->fixed;
  if (!holds_initial(chosen.made->plan->schedule().fixed_states)) {
    if (llvm::Error error = make(&(*plans)->variable, false)) return error;
    chosen.made = &*(*plans)->variable;
  }
  if (fresh) families_.insert(families_.begin(), std::move(fresh));
  return chosen;
}

llvm::Expected<PlanCache::Plans*> PlanCache::PlansForSizes(Family& family,
                                                           llvm::ArrayRef<int64_t> sizes,
                                                           SymbolLookup lookup) {
  for (auto entry = family.by_sizes.begin(); entry != family.by_sizes.end(); ++entry) {
    if (llvm::ArrayRef<int64_t>(entry->first) != sizes) continue;
    if (entry != family.by_sizes.begin()) std::rotate(family.by_sizes.begin(), entry, entry + 1);
    return family.by_sizes.front().second;
  }
  llvm::Expected<std::vector<uint8_t>> outcomes =
      family.conditions.Decide(graph_, family.training, lookup, EvaluateCondition);
  if (!outcomes) return outcomes.takeError();
  Plans* plans = &family.plans[*outcomes];
  constexpr size_t kMaxSizes = 64;
  if (family.by_sizes.size() == kMaxSizes) family.by_sizes.pop_back();
  family.by_sizes.insert(family.by_sizes.begin(), {sizes.vec(), plans});
  return plans;
}

llvm::Expected<Tensor> PlanCache::InitialState(const Value& state) {
  return weights_.KeptInitial(*parameters_.FindValue(state.name()));
}

llvm::Expected<MadePlan> PlanCache::MakePlan(const Family& family, SymbolLookup sizes,
                                             bool fixes_states, DeviceContext& context) {
  const TraceSpan span("plan");
  MadePlan made;
  PassContext passes{registry_};
  passes.observer = options_.pass_observer;
  passes.device = context.device().kind;
  passes.training = family.training;
  passes.is_observed = family.is_observed;
  passes.outputs = family.outputs;
  passes.is_segment =
      !given_.empty() || llvm::any_of(graph_.outputs(), [](const GraphOutput& output) {
        return llvm::StringRef(output.name).starts_with(kCrossing);
      });
  passes.sizes = sizes;
  passes.evaluate_sized = EvaluateCondition;
  passes.optimize = options_.optimize;
  auto is_fixed = [&](const Value& value) {
    if (value.kind() == ValueKind::kParameter) return !family.variable_parameters;
    if (!fixes_states || IsUpdated(made.graph ? *made.graph : graph_, value)) return false;
    llvm::Expected<Tensor> initial = InitialState(value);
    // The schedule reports the Error.
    if (!initial) return llvm::consumeError(initial.takeError()), false;
    return initial->owns_memory();
  };
  passes.is_fixed = is_fixed;
  if (passes.observer != nullptr || PlanPipeline().Applies(graph_, passes)) {
    made.graph = std::make_unique<Graph>(graph_.Clone());
    if (llvm::Error error = PlanPipeline().Run(*made.graph, passes)) return error;
    made.choices = std::move(passes.choices);
  }
  ScheduleRequest request;
  request.graph = made.graph ? made.graph.get() : &graph_;
  request.outputs = family.outputs;
  request.given = given_;
  request.packed = &packed_;
  request.fuse = options_.fuse && !family.is_observed;
  request.training = family.training;
  request.matmul_precision = options_.matmul_precision;
  request.variable_parameters = family.variable_parameters;
  request.context = &context;
  auto parameter = [&](const Value& value) {
    return weights_.OnDevice(*parameters_.FindValue(value.name()), context);
  };
  request.parameter = parameter;
  auto initial_state = [&](const Value& value) { return InitialState(value); };
  if (fixes_states) request.initial_state = initial_state;
  request.evaluate = std::make_shared<const ConstantCalls::Evaluate>(
      [graph = request.graph, training = family.training, seed = options_.seed](
          const Op& op, llvm::ArrayRef<Tensor> operands, DeviceContext& device) {
        auto results =
            EvaluateConstantCall(*graph, op, operands, training, RandomState{seed, 0}, device);
        if (results) return results;
        OperatorArguments call;
        call.def = &op.def();
        call.location = graph->PathToString(op.location());
        return llvm::Expected<std::vector<Tensor>>(AboutCall(call, results.takeError()));
      });
  request.fold = options_.optimize && !family.is_observed;
  request.constants = &constants_;
  llvm::Expected<std::unique_ptr<const Schedule>> schedule = MakeSchedule(request);
  if (!schedule) return schedule.takeError();
  made.plan = std::make_unique<Plan>(std::move(*schedule), options_.max_bindings);
  return made;
}

}  // namespace pdl
