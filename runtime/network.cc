#include "pdl/network.h"

#include <map>
#include <mutex>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/error.h"
#include "pdl/passes.h"
#include "runtime/evaluator.h"
#include "runtime/find_inputs.h"
#include "runtime/frame.h"
#include "runtime/packed_inputs.h"
#include "runtime/plan.h"
#include "runtime/plan_select.h"
#include "runtime/weight_store.h"

namespace pdl {
namespace {

/// The Variable of a Scope that counts its runs. No name of the language is like it.
constexpr llvm::StringLiteral kRunCount = "#runs";

std::optional<int64_t> NoSizes(llvm::StringRef) { return std::nullopt; }

/// A Plan, and what it was made from.
struct MadePlan {
  /// With the sides that the Plan holds; null where the network selects nothing.
  std::unique_ptr<Graph> graph;
  std::vector<std::string> choices;
  std::unique_ptr<Plan> plan;
};

/// The Plans for one device, mode and set of outputs: one for each outcome of the conditions on
/// sizes.
struct PlanFamily {
  Device device;
  bool training;
  bool variable_parameters;
  bool check_finite;
  std::vector<std::string> outputs;
  SizeConditions conditions;
  std::map<std::vector<uint8_t>, MadePlan> plans;
  /// By the sizes that the conditions ask for, the last found first.
  std::vector<std::pair<std::vector<int64_t>, MadePlan*>> by_sizes;
};

/// The Plan of a run, and the sizes that chose it.
struct ChosenPlan {
  MadePlan* made = nullptr;
  llvm::ArrayRef<std::string> symbols;
  std::vector<int64_t> sizes;
};

using SizesOf = llvm::function_ref<std::vector<int64_t>(const SizeConditions&)>;

}  // namespace

struct Network::Impl {
  Impl(Graph graph_in, NetworkOptions options_in, const OpRegistry& registry_in)
      : graph(std::move(graph_in)),
        options(std::move(options_in)),
        registry(registry_in),
        weights(graph, options) {}

  llvm::Error Optimize();
  llvm::Error Run(Scope* scope, DeviceContext* context, const RunOptions& run);
  /// The mutex must be held by those that call these.
  llvm::Expected<ChosenPlan> GetPlan(const RunOptions& run, bool variable_parameters,
                                     DeviceContext& context, SizesOf sizes_of);
  llvm::Expected<MadePlan*> PlanForSizes(PlanFamily& family, llvm::ArrayRef<int64_t> sizes,
                                         DeviceContext& context);
  llvm::Expected<MadePlan> MakePlan(const PlanFamily& family, SymbolLookup sizes,
                                    DeviceContext& context);
  bool OverridesParameters(const Scope& scope);

  const Graph graph;
  /// Of dense values alone.
  Graph optimized;
  PackedInputs packed;
  const NetworkOptions options;
  const OpRegistry& registry;
  WeightStore weights;
  PackCache packs;

  std::mutex mutex;
  /// The last used first.
  std::vector<std::unique_ptr<PlanFamily>> families;
  bool selects = false;        // there is a plan_select
  bool asks_training = false;  // there is a training()
  /// Whether the Scope asked for last has parameters of its own.
  const Scope* known_scope = nullptr;
  uint64_t known_version = 0;
  bool known_overrides = false;
};

llvm::Error Network::Impl::Optimize() {
  optimized = graph.Clone();
  optimized.ClearTrainings();
  EliminateDeadCode(optimized);
  if (NeedsLowering(optimized)) {
    packed = PackedInputs(graph);
    llvm::Expected<Graph> lowered = LowerStorage(optimized, registry);
    if (!lowered) return lowered.takeError();
    optimized = std::move(*lowered);
  }
  auto look = llvm::make_scope_exit([&] {
    for (uint32_t i = 0; i < optimized.num_blocks(); ++i) {
      for (const Op* op : optimized.block({i}).ops) {
        selects |= op->def().has(kPlanSelect);
        asks_training |= op->def().has(kTrainingFlag);
      }
    }
  });
  if (!options.optimize) return llvm::Error::success();
  ForwardSingleOperands(optimized);
  EliminateCommonSubexpressions(optimized);
  MergeLoops(optimized);
  auto evaluate = [&](const Op& op, llvm::ArrayRef<Constant> operands)
      -> llvm::Expected<std::optional<std::vector<Constant>>> {
    if (!op.def().kernel(DeviceKind::kCPU)) return std::nullopt;
    llvm::SmallVector<Tensor, 4> tensors;
    for (const Constant& operand : operands) tensors.push_back(Tensor::FromConstant(operand));
    llvm::Expected<std::vector<Tensor>> results =
        EvaluateCall(optimized, op, tensors, NoSizes, RandomState{options.seed, 0});
    if (!results) return results.takeError();
    std::vector<Constant> constants;
    for (const Tensor& result : *results) constants.push_back(result.ToConstant());
    return constants;
  };
  if (llvm::Error error = FoldConstants(optimized, registry, evaluate)) return error;
  EliminateDeadCode(optimized);
  return llvm::Error::success();
}

llvm::Expected<ChosenPlan> Network::Impl::GetPlan(const RunOptions& run, bool variable_parameters,
                                                  DeviceContext& context, SizesOf sizes_of) {
  bool training = run.training && asks_training;
  auto found = llvm::find_if(families, [&](const std::unique_ptr<PlanFamily>& family) {
    return family->device == context.device() && family->training == training &&
           family->variable_parameters == variable_parameters &&
           family->check_finite == run.check_finite && family->outputs == run.outputs;
  });
  std::unique_ptr<PlanFamily> fresh;
  if (found == families.end()) {
    fresh = std::make_unique<PlanFamily>(PlanFamily{context.device(),
                                                    training,
                                                    variable_parameters,
                                                    run.check_finite,
                                                    run.outputs,
                                                    {},
                                                    {},
                                                    {}});
    if (selects) {
      llvm::Expected<SizeConditions> conditions =
          SizeConditions::Find(optimized, run.outputs, training);
      if (!conditions) return conditions.takeError();
      fresh->conditions = std::move(*conditions);
    }
  } else if (found != families.begin()) {
    std::rotate(families.begin(), found, found + 1);
  }
  PlanFamily& family = fresh ? *fresh : *families.front();
  ChosenPlan chosen;
  chosen.symbols = family.conditions.symbols();
  if (!family.conditions.empty()) chosen.sizes = sizes_of(family.conditions);
  llvm::Expected<MadePlan*> made = PlanForSizes(family, chosen.sizes, context);
  if (!made) return made.takeError();
  chosen.made = *made;
  if (fresh) families.insert(families.begin(), std::move(fresh));
  return chosen;
}

llvm::Expected<MadePlan*> Network::Impl::PlanForSizes(PlanFamily& family,
                                                      llvm::ArrayRef<int64_t> sizes,
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
      family.conditions.Decide(optimized, family.training, lookup);
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

llvm::Expected<MadePlan> Network::Impl::MakePlan(const PlanFamily& family, SymbolLookup sizes,
                                                 DeviceContext& context) {
  MadePlan made;
  if (selects) {
    llvm::Expected<SelectedGraph> selected =
        SelectSides(optimized, family.outputs, family.training, sizes);
    if (!selected) return selected.takeError();
    made.graph = std::make_unique<Graph>(std::move(selected->graph));
    made.choices = std::move(selected->choices);
  }
  ScheduleRequest request;
  request.graph = made.graph ? made.graph.get() : &optimized;
  request.outputs = family.outputs;
  request.fuse = options.fuse && !family.check_finite;
  request.training = family.training;
  request.variable_parameters = family.variable_parameters;
  request.context = &context;
  auto parameter = [&](const Value& value) {
    return weights.OnDevice(*graph.FindValue(value.name()), context);
  };
  auto evaluate = [&](const Op& op) -> llvm::Expected<std::vector<Tensor>> {
    std::vector<Tensor> results;
    if (op.def().has(kTrainingFlag)) {
      results.push_back(Tensor::FromConstant(Constant::Scalar(DType::kBool, family.training)));
    } else {
      llvm::Expected<std::vector<Tensor>> computed =
          EvaluateCall(*request.graph, op, {}, NoSizes, RandomState{options.seed, 0});
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
  made.plan = std::make_unique<Plan>(std::move(*schedule), options.max_bindings);
  return made;
}

bool Network::Impl::OverridesParameters(const Scope& scope) {
  if (graph.parameters().empty()) return false;
  uint64_t version = scope.version();
  if (known_scope == &scope && known_version == version) return known_overrides;
  known_overrides = llvm::any_of(graph.parameters(), [&](const Value* parameter) {
    return scope.Find(parameter->name()) != nullptr;
  });
  known_scope = &scope;
  known_version = version;
  return known_overrides;
}

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;

llvm::Expected<std::shared_ptr<const Network>> Network::Create(Graph graph, NetworkOptions options,
                                                               const OpRegistry& registry) {
  auto impl = std::make_unique<Impl>(std::move(graph), std::move(options), registry);
  if (llvm::Error error = impl->weights.Load()) return error;
  if (llvm::Error error = impl->Optimize()) return error;
  return std::shared_ptr<const Network>(new Network(std::move(impl)));
}

const Graph& Network::graph() const { return impl_->graph; }
const Graph& Network::optimized_graph() const { return impl_->optimized; }

uint64_t Network::RunCount(const Scope& scope) {
  const Variable* count = scope.Find(kRunCount);
  const uint64_t* runs = count ? count->Get<uint64_t>() : nullptr;
  return runs ? *runs : 0;
}

void Network::SetRunCount(Scope* scope, uint64_t count) { scope->Create(kRunCount)->Set(count); }

llvm::Expected<Tensor> Network::InitialValue(llvm::StringRef name) const {
  const Value* value = impl_->graph.FindValue(name);
  if (!value || (value->kind() != ValueKind::kParameter && value->kind() != ValueKind::kState))
    return MakeUserError(Code::kUnknownName, "the network has no parameter or state '{0}'", name);
  return impl_->weights.Initial(*value, NoSizes);
}

namespace {

/// One run: the tensors it reads from a Scope, and what it writes there.
class NetworkRun {
 public:
  NetworkRun(ChosenPlan chosen, Scope& scope, DeviceContext& context, WeightStore& weights,
             const PackedInputs& packed)
      : chosen_(std::move(chosen)),
        plan_(*chosen_.made->plan),
        schedule_(plan_.schedule()),
        scope_(scope),
        context_(context),
        weights_(weights),
        packed_(packed) {}

  llvm::Error Execute(PackCache& packs, uint64_t seed, const RunOptions& run) {
    llvm::Error error = Compute(packs, seed, run);
    if (error) {
      for (Variable* state : new_states_) state->Clear();
    }
    return error;
  }

 private:
  llvm::Error Compute(PackCache& packs, uint64_t seed, const RunOptions& run) {
    if (llvm::Error error = FindInputs(schedule_, packed_, scope_, context_.device(), &inputs_))
      return error;
    llvm::Expected<std::vector<int64_t>> sizes = plan_.SymbolSizes(inputs_);
    if (!sizes) return sizes.takeError();
    sizes_ = std::move(*sizes);
    if (llvm::Error error = CheckChoice()) return error;
    if (llvm::Error error = FindStates()) return error;
    llvm::Expected<std::shared_ptr<Binding>> binding = plan_.Bind(sizes_, context_, packs);
    if (!binding) return binding.takeError();
    binding_ = std::move(*binding);
    frame_ = binding_->TakeFrame();
    if (!frame_) {
      llvm::Expected<std::unique_ptr<Frame>> made = Frame::Make(*binding_, context_);
      if (!made) return made.takeError();
      frame_ = std::move(*made);
    }
    llvm::Error error = RunFrame(seed, run);
    binding_->GiveBack(std::move(frame_));
    return error;
  }

  /// The sizes that chose the Plan are those of the run: an input that the run does not need may
  /// have said otherwise.
  llvm::Error CheckChoice() {
    for (size_t i = 0; i < chosen_.sizes.size(); ++i) {
      std::optional<int64_t> size = plan_.SizeOf(chosen_.symbols[i], sizes_);
      if (size && chosen_.sizes[i] >= 0 && *size != chosen_.sizes[i])
        return MakeUserError(Code::kSymbolConflict,
                             "'{0}' is {1} by the inputs of the run and {2} by another input that "
                             "is there",
                             chosen_.symbols[i], *size, chosen_.sizes[i]);
    }
    return llvm::Error::success();
  }

  /// States are Tensors of the Scope on the run's device, made with their first values where
  /// missing.
  llvm::Error FindStates() {
    auto lookup = [&](llvm::StringRef symbol) { return plan_.SizeOf(symbol, sizes_); };
    for (SlotId slot : schedule_.states) {
      const Value& value = *schedule_.slots[slot].value;
      Variable* variable = scope_.Create(value.name());
      if (variable->empty()) {
        llvm::Expected<Tensor> initial = weights_.Initial(value, lookup);
        if (!initial) return initial.takeError();
        variable->Set(std::move(*initial));
        new_states_.push_back(variable);
      }
      Tensor* tensor = variable->GetMutable<Tensor>();
      if (!tensor)
        return MakeUserError(Code::kInputType, "state '{0}' holds no tensor", value.name());
      if (tensor->device() != context_.device()) {
        llvm::Expected<Tensor> moved = MoveToDevice(*tensor, context_);
        if (!moved) return moved.takeError();
        tensor = variable->Set(std::move(*moved));
      }
      if (llvm::Error error = CheckVariable(value, *tensor, "state", lookup)) return error;
      states_.push_back(variable);
    }
    return llvm::Error::success();
  }

  llvm::Error CheckVariable(const Value& value, const Tensor& tensor, const char* what,
                            SymbolLookup lookup) {
    const Type& type = value.type();
    bool fits = tensor.dtype() == type.dtype && tensor.rank() == type.rank();
    for (unsigned axis = 0; fits && axis < type.rank(); ++axis) {
      llvm::Expected<int64_t> size = type.dims[axis].Evaluate(lookup);
      if (!size)
        return MakeUserError(Code::kInputType, "{0} '{1}': {2}", what, value.name(),
                             llvm::toString(size.takeError()));
      fits = *size == tensor.size(axis);
    }
    if (fits) return llvm::Error::success();
    return MakeUserError(Code::kInputType, "{0} '{1}' is declared {2}, and the scope holds {3}",
                         what, value.name(), type.ToString(), tensor.TypeString());
  }

  llvm::Error RunFrame(uint64_t seed, const RunOptions& run) {
    if (llvm::Error error = GiveSources()) return error;
    if (llvm::Error error = GiveOutputs()) return error;
    RandomState random{seed, 0};
    if (schedule_.has_random) random.run_count = Network::RunCount(scope_);
    if (llvm::Error error = run.check_finite ? frame_->RunChecked(random, run.cancel)
                                             : frame_->Run(random, run.cancel))
      return error;
    if (llvm::Error error = CollectOutputs()) return error;
    if (llvm::Error error = ComputeUpdates()) return error;
    if (llvm::Error error = frame_->context().Synchronize()) return error;
    // From here on nothing fails. Outputs first: one may have the name of a state.
    for (size_t i = 0; i < outputs_.size(); ++i)
      scope_.Create(schedule_.outputs[i].name)->Set(std::move(outputs_[i]));
    for (size_t i = 0; i < updates_.size(); ++i)
      scope_.Create(schedule_.updates[i].state->name())->Set(std::move(updates_[i]));
    if (schedule_.has_random) Network::SetRunCount(&scope_, random.run_count + 1);
    return llvm::Error::success();
  }

  llvm::Error GiveSources() {
    for (size_t i = 0; i < schedule_.inputs.size(); ++i) {
      SlotId slot = schedule_.inputs[i];
      const Tensor& tensor = *inputs_[i];
      if (binding_->placements[slot].kind == Placement::Kind::kGiven) {
        frame_->SetData(slot, const_cast<void*>(tensor.raw()));
        continue;
      }
      void* to = frame_->tensor(slot).raw();
      llvm::Error error = tensor.device().kind == DeviceKind::kCPU
                              ? frame_->context().CopyFromHost(to, tensor.raw(), tensor.num_bytes())
                              : frame_->context().CopyWithin(to, tensor.raw(), tensor.num_bytes());
      if (error) return error;
    }
    for (size_t i = 0; i < states_.size(); ++i)
      frame_->SetData(schedule_.states[i], states_[i]->GetMutable<Tensor>()->raw());
    auto lookup = [&](llvm::StringRef symbol) { return plan_.SizeOf(symbol, sizes_); };
    for (SlotId slot : schedule_.parameters) {
      if (binding_->placements[slot].kind != Placement::Kind::kGiven) continue;
      const Value& value = *schedule_.slots[slot].value;
      const Variable* variable = scope_.Find(value.name());
      const Tensor* own = variable ? variable->Get<Tensor>() : nullptr;
      if (variable && !own)
        return MakeUserError(Code::kInputType, "parameter '{0}' holds no tensor", value.name());
      llvm::Expected<Tensor> tensor =
          own ? MoveToDevice(*own, context_) : weights_.OnDevice(value, context_);
      if (!tensor) return tensor.takeError();
      if (llvm::Error error = CheckVariable(value, *tensor, "parameter", lookup)) return error;
      frame_->SetData(slot, tensor->raw());
      kept_.push_back(std::move(*tensor));
    }
    return llvm::Error::success();
  }

  /// A tensor for each output; what a step computes goes straight there. The memory of the last
  /// run's result is used again where nobody else refers to it.
  llvm::Error GiveOutputs() {
    for (size_t i = 0; i < schedule_.outputs.size(); ++i) {
      const OperandType& type = binding_->types[schedule_.outputs[i].slot];
      Variable* variable = scope_.FindLocal(schedule_.outputs[i].name);
      Tensor* last = variable ? variable->GetMutable<Tensor>() : nullptr;
      bool fits = last && last->is_recyclable() && last->dtype() == type.dtype &&
                  last->sizes() == llvm::ArrayRef<int64_t>(type.sizes) && !IsRead(last);
      if (fits) {
        outputs_.push_back(std::move(*last));
        variable->Clear();
      } else {
        llvm::Expected<Tensor> fresh = Tensor::AllocateUninitialized(type.dtype, type.sizes);
        if (!fresh) return fresh.takeError();
        outputs_.push_back(std::move(*fresh));
      }
      const Placement& placement = binding_->placements[schedule_.outputs[i].slot];
      if (placement.kind == Placement::Kind::kOutput && placement.offset == static_cast<int64_t>(i))
        frame_->SetData(placement.root, outputs_[i].raw());
    }
    return llvm::Error::success();
  }

  /// Whether this run reads the tensor: an output may have the name of an input.
  bool IsRead(const Tensor* tensor) const {
    if (llvm::is_contained(inputs_, tensor)) return true;
    for (const Tensor& kept : kept_)
      if (kept.raw() == tensor->raw()) return true;
    return llvm::any_of(states_, [&](Variable* state) { return state->Get<Tensor>() == tensor; });
  }

  llvm::Error CollectOutputs() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      SlotId slot = schedule_.outputs[i].slot;
      const Tensor& computed = frame_->tensor(slot);
      if (computed.raw() == outputs_[i].raw()) continue;
      if (llvm::Error error = frame_->context().CopyToHost(outputs_[i].raw(), computed.raw(),
                                                           outputs_[i].num_bytes()))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error ComputeUpdates() {
    for (const Schedule::Update& update : schedule_.updates) {
      const Tensor& computed = frame_->tensor(update.slot);
      llvm::Expected<std::shared_ptr<void>> memory =
          frame_->context().Allocate(computed.num_bytes());
      if (!memory) return memory.takeError();
      if (llvm::Error error =
              frame_->context().CopyWithin(memory->get(), computed.raw(), computed.num_bytes()))
        return error;
      updates_.emplace_back(computed.dtype(), computed.sizes(), std::move(*memory),
                            context_.device());
    }
    return llvm::Error::success();
  }

  const ChosenPlan chosen_;
  Plan& plan_;
  const Schedule& schedule_;
  Scope& scope_;
  DeviceContext& context_;
  WeightStore& weights_;
  const PackedInputs& packed_;
  std::vector<int64_t> sizes_;
  std::shared_ptr<Binding> binding_;
  std::unique_ptr<Frame> frame_;
  llvm::SmallVector<const Tensor*, 4> inputs_;  // as FindInputs gives them
  llvm::SmallVector<Variable*, 4> states_;
  llvm::SmallVector<Variable*, 4> new_states_;  // made by this run
  llvm::SmallVector<Tensor, 2> kept_;
  llvm::SmallVector<Tensor, 2> outputs_;
  llvm::SmallVector<Tensor, 2> updates_;
};

}  // namespace

llvm::Error Network::Run(Scope* scope, DeviceContext* context) const {
  return Run(scope, context, RunOptions());
}

llvm::Error Network::Run(Scope* scope, DeviceContext* context, const RunOptions& options) const {
  if (impl_->packed.empty()) return impl_->Run(scope, context, options);
  if (llvm::Error error = impl_->packed.Check(*scope)) return error;
  RunOptions expanded = options;
  expanded.outputs = impl_->packed.Expand(options.outputs);
  return impl_->Run(scope, context, expanded);
}

llvm::Error Network::Impl::Run(Scope* scope, DeviceContext* context, const RunOptions& run) {
  llvm::Expected<ChosenPlan> chosen = [&] {
    std::lock_guard lock(mutex);
    return GetPlan(run, OverridesParameters(*scope), *context,
                   [&](const SizeConditions& conditions) { return conditions.SizesIn(*scope); });
  }();
  if (!chosen) return chosen.takeError();
  return NetworkRun(std::move(*chosen), *scope, *context, weights, packed)
      .Execute(packs, this->options.seed, run);
}

llvm::Expected<std::string> Network::DescribePlan(DeviceContext* context, const RunOptions& options,
                                                  const llvm::StringMap<int64_t>& symbols) const {
  std::vector<std::string> names = impl_->optimized.Symbols();
  for (const auto& entry : symbols) {
    if (llvm::is_contained(names, entry.first())) continue;
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    llvm::StringRef near = NearestName(entry.first(), known);
    return MakeUserError(Code::kUnknownName, "the network has no symbol '{0}'{1}", entry.first(),
                         near.empty() ? std::string() : "; did you mean '" + near.str() + "'?");
  }
  auto sizes_of = [&](llvm::ArrayRef<std::string> wanted) {
    std::vector<int64_t> sizes;
    for (const std::string& symbol : wanted) {
      auto found = symbols.find(symbol);
      sizes.push_back(found == symbols.end() ? -1 : found->second);
    }
    return sizes;
  };
  llvm::Expected<ChosenPlan> chosen = [&] {
    std::lock_guard lock(impl_->mutex);
    RunOptions expanded = options;
    expanded.outputs = impl_->packed.Expand(options.outputs);
    return impl_->GetPlan(expanded, false, *context, [&](const SizeConditions& conditions) {
      return sizes_of(conditions.symbols());
    });
  }();
  if (!chosen) return chosen.takeError();
  const MadePlan& made = *chosen->made;
  const Graph& graph = made.graph ? *made.graph : impl_->optimized;
  std::vector<int64_t> sizes = sizes_of(made.plan->schedule().symbols);
  if (llvm::is_contained(sizes, -1))
    return PlanToString(graph, made.plan->schedule(), nullptr, made.choices);
  llvm::Expected<std::shared_ptr<Binding>> binding = made.plan->Bind(sizes, *context, impl_->packs);
  if (!binding) return binding.takeError();
  return PlanToString(graph, made.plan->schedule(), binding->get(), made.choices);
}

}  // namespace pdl
