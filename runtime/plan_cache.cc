#include "runtime/plan_cache.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/error.h"
#include "pdl/layout_rule.h"
#include "pdl/passes.h"
#include "runtime/evaluator.h"

namespace pdl {
namespace {

std::optional<int64_t> NoSizes(llvm::StringRef) { return std::nullopt; }

}  // namespace

PlanCache::PlanCache(const Graph& graph, llvm::ArrayRef<std::string> given, const Graph& parameters,
                     const NetworkOptions& options, const OpRegistry& registry,
                     WeightStore& weights)
    : graph_(graph),
      given_(given),
      parameters_(parameters),
      options_(options),
      registry_(registry),
      weights_(weights) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      selects_ |= op->def().properties().is_plan_select;
      asks_training_ |= op->def().properties().is_training_flag;
      const LayoutRule* layout = op->def().properties().channels_last;
      gains_by_layout_ |= layout != nullptr && layout->gain != nullptr;
    }
  }
}

llvm::Expected<ChosenPlan> PlanCache::Get(llvm::ArrayRef<std::string> outputs,
                                          const RunOptions& run, bool variable_parameters,
                                          DeviceContext& context, SizesOf sizes_of) {
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
      llvm::Expected<SizeConditions> conditions = SizeConditions::Find(graph_, outputs, training);
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
  llvm::Expected<MadePlan*> made = PlanForSizes(family, chosen.sizes, context);
  if (!made) return made.takeError();
  chosen.made = *made;
  if (fresh) families_.insert(families_.begin(), std::move(fresh));
  return chosen;
}

llvm::Expected<MadePlan*> PlanCache::PlanForSizes(Family& family, llvm::ArrayRef<int64_t> sizes,
                                                  DeviceContext& context) {
  for (auto entry = family.by_sizes.begin(); entry != family.by_sizes.end(); ++entry) {
    if (llvm::ArrayRef<int64_t>(entry->first) != sizes) continue;
    if (entry != family.by_sizes.begin()) std::rotate(family.by_sizes.begin(), entry, entry + 1);
    return family.by_sizes.front().second;
  }
  auto lookup = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
    auto found = llvm::find(family.conditions.symbols(), symbol);
    if (found == family.conditions.symbols().end()) return std::nullopt;
    int64_t size = sizes[static_cast<size_t>(found - family.conditions.symbols().begin())];
    return size < 0 ? std::nullopt : std::optional(size);
  };
  llvm::Expected<std::vector<uint8_t>> outcomes =
      family.conditions.Decide(graph_, family.training, lookup);
  if (!outcomes) return outcomes.takeError();
  auto known = family.plans.find(*outcomes);
  if (known == family.plans.end()) {
    llvm::Expected<MadePlan> made = MakePlan(family, lookup, context);
    if (!made) return made.takeError();
    known = family.plans.emplace(std::move(*outcomes), std::move(*made)).first;
  }
  constexpr size_t kMaxSizes = 64;
  if (family.by_sizes.size() == kMaxSizes) family.by_sizes.pop_back();
  family.by_sizes.insert(family.by_sizes.begin(), {sizes.vec(), &known->second});
  return &known->second;
}

llvm::Expected<MadePlan> PlanCache::MakePlan(const Family& family, SymbolLookup sizes,
                                             DeviceContext& context) {
  MadePlan made;
  if (selects_) {
    llvm::Expected<SelectedGraph> selected =
        SelectSides(graph_, family.outputs, family.training, sizes);
    if (!selected) return selected.takeError();
    made.graph = std::make_unique<Graph>(std::move(selected->graph));
    made.choices = std::move(selected->choices);
  }
  // A run that is observed sees the calls as they were written.
  if (context.device().kind == DeviceKind::kCPU && !family.is_observed && gains_by_layout_) {
    if (!made.graph) made.graph = std::make_unique<Graph>(graph_.Clone());
    KeepChannelsLast(*made.graph, registry_);
  }
  ScheduleRequest request;
  request.graph = made.graph ? made.graph.get() : &graph_;
  request.outputs = family.outputs;
  request.given = given_;
  request.fuse = options_.fuse && !family.is_observed;
  request.training = family.training;
  request.variable_parameters = family.variable_parameters;
  request.context = &context;
  auto parameter = [&](const Value& value) {
    return weights_.OnDevice(*parameters_.FindValue(value.name()), context);
  };
  auto evaluate = [&](const Op& op) -> llvm::Expected<std::vector<Tensor>> {
    std::vector<Tensor> results;
    if (op.def().properties().is_training_flag) {
      results.push_back(Tensor::FromConstant(Constant::Scalar(DType::kBool, family.training)));
    } else {
      llvm::Expected<std::vector<Tensor>> computed =
          EvaluateCall(*request.graph, op, {}, NoSizes, RandomState{options_.seed, 0});
      if (!computed) return computed.takeError();
      results = std::move(*computed);
    }
    for (Tensor& tensor : results) {
      llvm::Expected<Tensor> moved = MoveToDevice(tensor, context);
      if (!moved) return moved.takeError();
      tensor = std::move(*moved);
    }
    return results;
  };
  request.parameter = parameter;
  request.evaluate = evaluate;
  llvm::Expected<std::unique_ptr<const Schedule>> schedule = MakeSchedule(request);
  if (!schedule) return schedule.takeError();
  made.plan = std::make_unique<Plan>(std::move(*schedule), options_.max_bindings);
  return made;
}

}  // namespace pdl
