#include "pdl/runtime/network.h"

#include <map>
#include <mutex>

#include "ir/passes/segments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/trace.h"
#include "pdl/op/error.h"
#include "pdl/op/out_of_memory.h"
#include "runtime/call_error.h"
#include "runtime/evaluator.h"
#include "runtime/memory_analysis.h"
#include "runtime/network_run.h"
#include "runtime/packed_inputs.h"
#include "runtime/plan.h"
#include "runtime/plan_cache.h"
#include "runtime/schedule.h"
#include "runtime/weight_store.h"

namespace pdl {
namespace {

llvm::Error CheckRun(const Scope* scope, const DeviceContext* context) {
  if (scope != nullptr && context != nullptr) return llvm::Error::success();
  return MakeUserError(Code::kOperatorUse, "a run of a network needs a {0}, got none",
                       scope == nullptr ? "scope" : "context");
}

/// The Variable of a Scope that counts its runs. It is not a valid name of the language.
constexpr llvm::StringLiteral kRunCount = "#runs";

std::optional<int64_t> NoSizes(llvm::StringRef) { return std::nullopt; }

/// The sizes of `symbols`, -1 if unknown.
std::vector<int64_t> LookUpSizes(llvm::ArrayRef<std::string> symbols,
                                 const llvm::StringMap<int64_t>& known) {
  std::vector<int64_t> sizes;
  for (const std::string& symbol : symbols) {
    auto found = known.find(symbol);
    sizes.push_back(found == known.end() ? -1 : found->second);
  }
  return sizes;
}

}  // namespace

struct Network::Impl {
  /// For each segment, the names of the outputs that a run needs from it.
  using RequestedOutputs = std::vector<std::vector<std::string>>;

  Impl(Graph graph_in, NetworkOptions options_in, const OpRegistry& registry_in)
      : graph(std::move(graph_in)),
        packed(graph),
        options(std::move(options_in)),
        registry(registry_in),
        weights(graph, options) {}

  llvm::Error Optimize();
  void MakeParts();
  llvm::Error Run(Scope* scope, DeviceContext* context, const RunOptions& run);
  llvm::Error RunSegments(Scope* scope, DeviceContext* context, const RunOptions& run);
  llvm::Error CheckSize(const Segment::Size& size, SegmentData& data, DeviceContext& context) const;
  llvm::Expected<std::string> Describe(DeviceContext& context, const RunOptions& options,
                                       const llvm::StringMap<int64_t>& symbols);
  llvm::Expected<std::string> DescribePart(unsigned index, llvm::ArrayRef<std::string> outputs,
                                           const RunOptions& run, DeviceContext& context,
                                           const llvm::StringMap<int64_t>& symbols);
  llvm::Expected<MemoryReport> ReportMemory(DeviceContext& context, const RunOptions& options,
                                            const llvm::StringMap<int64_t>& symbols);
  llvm::Error AddMemoryOfPart(unsigned index, llvm::ArrayRef<std::string> outputs,
                              const RunOptions& run, DeviceContext& context,
                              const llvm::StringMap<int64_t>& symbols, MemoryReport* report);
  llvm::Error CheckSymbols(const llvm::StringMap<int64_t>& symbols) const;
  /// The outputs that a run with these outputs needs from each part.
  llvm::Expected<RequestedOutputs> OutputsByPart(llvm::ArrayRef<std::string> requested_outputs);
  /// The plan of a part for a Scope that overrides nothing.
  llvm::Expected<ChosenPlan> PlanOf(unsigned index, llvm::ArrayRef<std::string> outputs,
                                    const RunOptions& run, DeviceContext& context,
                                    const llvm::StringMap<int64_t>& symbols);
  const Graph& part(size_t index) const {
    return segments->empty() ? optimized : (*segments)[index].graph;
  }
  llvm::ArrayRef<std::string> given(size_t index) const {
    if (segments->empty()) return {};
    return (*segments)[index].given;
  }
  /// Callers must hold the mutex.
  llvm::Expected<const RequestedOutputs*> RequestedOf(llvm::ArrayRef<std::string> outputs);
  bool OverridesParameters(const Scope& scope);

  const Graph graph;
  /// Contains dense values only.
  Graph optimized;
  std::unique_ptr<const Segments> segments;
  PackedInputs packed;
  const NetworkOptions options;
  const OpRegistry& registry;
  WeightStore weights;
  ConstantResults constants;
  PackCache packs;

  std::mutex mutex;
  /// One for each segment; a single one if the network is not segmented.
  std::vector<PlanCache> plans;
  std::map<std::vector<std::string>, RequestedOutputs> requested;
  /// Whether the most recently used Scope overrides parameters.
  const Scope* known_scope = nullptr;
  uint64_t known_version = 0;
  bool known_overrides = false;
};

llvm::Error Network::Impl::Optimize() {
  optimized = graph.Clone();
  auto evaluate = [&](const Op& op, llvm::ArrayRef<Constant> operands)
      -> llvm::Expected<std::optional<std::vector<Constant>>> {
    if (!op.def().kernel(DeviceKind::kCPU)) return std::nullopt;
    llvm::Expected<std::vector<Constant>> results =
        EvaluateConstants(optimized, op, operands, NoSizes, RandomState{options.seed, 0});
    if (!results) return results.takeError();
    return std::optional(std::move(*results));
  };
  PassContext context{registry};
  context.observer = options.pass_observer;
  context.optimize = options.optimize;
  context.precision = options.precision;
  context.evaluate = evaluate;
  return NetworkPipeline().Run(optimized, context);
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

std::string SetPrecision(DType precision, DeviceKind kind, NetworkOptions* options) {
  if (kind != DeviceKind::kCPU) {
    options->precision = precision;
    return "";
  }
  if (!CpuHasMatmulPrecision(precision))
    return precision == DType::kBF16 ? "bf16 has no effect on a processor without AVX2"
                                     : "matmuls and convolutions are computed in f16 on cuda only";
  options->matmul_precision = precision;
  return "";
}

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;

llvm::Expected<std::shared_ptr<const Network>> Network::Create(Graph graph, NetworkOptions options,
                                                               const OpRegistry& registry) {
  return WithOutOfMemory(
      "creating a network", [&]() -> llvm::Expected<std::shared_ptr<const Network>> {
        auto impl = std::make_unique<Impl>(std::move(graph), std::move(options), registry);
        const TraceSpan span("create the network");
        if (llvm::Error error = impl->weights.Load())
          return WithTexts(impl->graph, std::move(error));
        if (llvm::Error error = impl->Optimize()) return WithTexts(impl->graph, std::move(error));
        impl->MakeParts();
        return std::shared_ptr<const Network>(new Network(std::move(impl)));
      });
}

const Graph& Network::graph() const { return impl_->graph; }
const Graph& Network::optimized_graph() const { return impl_->optimized; }

uint64_t Network::RunCount(const Scope& scope) {
  const Variable* count = scope.Find(kRunCount);
  const uint64_t* runs = count ? count->Get<uint64_t>() : nullptr;
  return runs ? *runs : 0;
}

void Network::SetRunCount(Scope* scope, uint64_t count) {
  Variable* variable = scope->Create(kRunCount);
  // Changing a count allocates nothing; see NetworkRun::PrepareToStore.
  if (uint64_t* runs = variable->GetMutable<uint64_t>())
    *runs = count;
  else
    variable->Set(count);
}

llvm::Expected<Tensor> Network::InitialValue(llvm::StringRef name) const {
  const Value* value = impl_->graph.FindValue(name);
  if (!value || (value->kind() != ValueKind::kParameter && value->kind() != ValueKind::kState))
    return MakeUserError(Code::kUnknownName, "the network has no parameter or state '{0}'", name);
  return WithOutOfMemory("computing '" + name.str() + "'",
                         [&] { return impl_->weights.Initial(*value, NoSizes); });
}

llvm::Error Network::Run(Scope* scope, DeviceContext* context) const {
  return Run(scope, context, RunOptions());
}

llvm::Error Network::Run(Scope* scope, DeviceContext* context, const RunOptions& options) const {
  if (llvm::Error error = CheckRun(scope, context)) return error;
  return WithOutOfMemory("running a network", [&]() -> llvm::Error {
    const auto run = [&](const RunOptions& all) {
      return WithTexts(impl_->graph, impl_->Run(scope, context, all));
    };
    if (impl_->packed.empty()) return run(options);
    if (llvm::Error error = impl_->packed.Check(*scope)) return error;
    RunOptions expanded = options;
    expanded.outputs = impl_->packed.Expand(options.outputs);
    return run(expanded);
  });
}

llvm::Error Network::Impl::Run(Scope* scope, DeviceContext* context, const RunOptions& run) {
  if (!segments->empty()) return RunSegments(scope, context, run);
  llvm::Expected<ChosenPlan> chosen = [&] {
    std::lock_guard lock(mutex);
    return plans[0].Get(
        run.outputs, run, OverridesParameters(*scope), *context,
        [&](const SizeConditions& conditions) { return SizesIn(conditions, *scope); },
        [&](llvm::ArrayRef<Schedule::FixedState> states) {
          return HasInitialStates(*scope, states);
        });
  }();
  if (!chosen) return chosen.takeError();
  NetworkRun one(std::move(*chosen), *scope, nullptr, *context, weights, packed);
  if (llvm::Error error = one.Compute(packs, options.seed, run)) return error;
  if (llvm::Error error = one.ShowRemainingOutputs(run)) return error;
  one.PrepareToStore();
  if (llvm::Error error = one.RunStoringSteps()) return error;
  one.StoreOutputs();
  one.StoreUpdates();
  return llvm::Error::success();
}

llvm::Error Network::Impl::RunSegments(Scope* scope, DeviceContext* context,
                                       const RunOptions& run) {
  const RequestedOutputs* outputs = nullptr;
  bool overrides = false;
  {
    std::lock_guard lock(mutex);
    llvm::Expected<const RequestedOutputs*> found = RequestedOf(run.outputs);
    if (!found) return found.takeError();
    outputs = *found;
    overrides = OverridesParameters(*scope);
  }
  SegmentData data(graph, *scope);
  std::vector<std::unique_ptr<NetworkRun>> runs;
  for (size_t i = 0; i < segments->size(); ++i) {
    if ((*outputs)[i].empty()) continue;
    auto sizes_of = [&](const SizeConditions& conditions) {
      std::vector<int64_t> sizes = SizesIn(conditions, data.values);
      for (auto [symbol, size] : llvm::zip_equal(conditions.symbols(), sizes))
        if (auto known = data.sizes.find(symbol); known != data.sizes.end()) size = known->second;
      return sizes;
    };
    llvm::Expected<ChosenPlan> chosen = [&] {
      std::lock_guard lock(mutex);
      return plans[i].Get((*outputs)[i], run, overrides, *context, sizes_of,
                          [&](llvm::ArrayRef<Schedule::FixedState> states) {
                            return HasInitialStates(*scope, states);
                          });
    }();
    if (!chosen) return chosen.takeError();
    runs.push_back(
        std::make_unique<NetworkRun>(std::move(*chosen), *scope, &data, *context, weights, packed));
    if (llvm::Error error = runs.back()->Compute(packs, options.seed, run)) return error;
    for (const Segment::Size& size : (*segments)[i].sizes)
      if (llvm::Error error = CheckSize(size, data, *context)) return error;
  }
  for (const auto& one : runs)
    if (llvm::Error error = one->ShowRemainingOutputs(run)) return error;
  for (const auto& one : runs) one->PrepareToStore();
  for (const auto& one : runs)
    if (llvm::Error error = one->RunStoringSteps()) return error;
  for (const auto& one : runs) one->StoreOutputs();
  for (const auto& one : runs) one->StoreUpdates();
  return llvm::Error::success();
}

/// Reads a size that a segment has computed; it is missing if the run does not need it.
llvm::Error Network::Impl::CheckSize(const Segment::Size& size, SegmentData& data,
                                     DeviceContext& context) const {
  const Variable* variable = data.values.FindLocal(size.value);
  if (!variable) return llvm::Error::success();
  const Tensor& tensor = *variable->Get<Tensor>();
  int64_t count = 0;
  if (tensor.device().kind == DeviceKind::kCPU) {
    count = *tensor.data<int64_t>();
  } else if (llvm::Error error = context.CopyToHost(&count, tensor.raw(), sizeof(count))) {
    return error;
  }
  if (count < 0)
    return UserErrorAt(size.place, Code::kSizeCheck,
                       "the data give no valid size " + size.symbol + ": a length is negative");
  data.sizes[size.symbol] = count;
  return llvm::Error::success();
}

void Network::Impl::MakeParts() {
  segments = std::make_unique<const Segments>(optimized);
  for (size_t i = 0; i < std::max<size_t>(1, segments->size()); ++i)
    plans.emplace_back(part(i), given(i), packed, graph, options, registry, weights, constants);
}

llvm::Expected<const Network::Impl::RequestedOutputs*> Network::Impl::RequestedOf(
    llvm::ArrayRef<std::string> outputs) {
  auto found = requested.find(outputs.vec());
  if (found != requested.end()) return &found->second;
  for (const std::string& name : outputs)
    if (llvm::Error error = CheckOutput(optimized, name)) return error;
  return &requested.emplace(outputs.vec(), segments->Requested(outputs)).first->second;
}

llvm::Expected<std::string> Network::DescribePlan(DeviceContext* context, const RunOptions& options,
                                                  const llvm::StringMap<int64_t>& symbols) const {
  if (context == nullptr)
    return MakeUserError(Code::kOperatorUse, "the plan of a network needs a context, got none");
  return WithOutOfMemory("planning a network", [&] {
    return WithTexts(impl_->graph, impl_->Describe(*context, options, symbols));
  });
}

llvm::Expected<MemoryReport> Network::ReportMemory(DeviceContext* context,
                                                   const RunOptions& options,
                                                   const llvm::StringMap<int64_t>& symbols) const {
  if (context == nullptr)
    return MakeUserError(Code::kOperatorUse, "the memory of a network needs a context, got none");
  return WithOutOfMemory("planning a network", [&] {
    return WithTexts(impl_->graph, impl_->ReportMemory(*context, options, symbols));
  });
}

/// Fails unless the network has the symbols.
llvm::Error Network::Impl::CheckSymbols(const llvm::StringMap<int64_t>& symbols) const {
  std::vector<std::string> names = optimized.Symbols();
  llvm::append_range(names, given(plans.size() - 1));
  for (const auto& entry : symbols) {
    if (llvm::is_contained(names, entry.first())) continue;
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    llvm::StringRef near = NearestName(entry.first(), known);
    return MakeUserError(Code::kUnknownName, "the network has no symbol '{0}'{1}", entry.first(),
                         near.empty() ? std::string() : "; did you mean '" + near.str() + "'?");
  }
  return llvm::Error::success();
}

llvm::Expected<Network::Impl::RequestedOutputs> Network::Impl::OutputsByPart(
    llvm::ArrayRef<std::string> requested_outputs) {
  std::vector<std::string> outputs = packed.Expand(requested_outputs);
  if (segments->empty()) return RequestedOutputs{std::move(outputs)};
  std::lock_guard lock(mutex);
  llvm::Expected<const RequestedOutputs*> found = RequestedOf(outputs);
  if (!found) return found.takeError();
  return **found;
}

llvm::Expected<std::string> Network::Impl::Describe(DeviceContext& context,
                                                    const RunOptions& options,
                                                    const llvm::StringMap<int64_t>& symbols) {
  if (llvm::Error error = CheckSymbols(symbols)) return error;
  llvm::Expected<RequestedOutputs> outputs = OutputsByPart(options.outputs);
  if (!outputs) return outputs.takeError();
  if (segments->empty()) return DescribePart(0, outputs->front(), options, context, symbols);
  const size_t parts = plans.size();
  std::string text;
  for (unsigned i = 0; i < parts; ++i) {
    const Segment& segment = (*segments)[i];
    text += (i == 0 ? "" : "\n") + llvm::formatv("segment {0} of {1}", i + 1, parts).str();
    std::vector<std::string> sizes;
    for (const Segment::Size& size : segment.sizes)
      sizes.push_back(size.symbol + " = " + size.value + (size.place.empty() ? "" : "  # ") +
                      size.place);
    text += (*outputs)[i].empty() ? " is not needed\n" : "\n";
    if ((*outputs)[i].empty()) continue;
    llvm::Expected<std::string> part = DescribePart(i, (*outputs)[i], options, context, symbols);
    if (!part) return part.takeError();
    text += *part;
    for (const std::string& size : sizes) text += "  decides " + size + "\n";
  }
  return text;
}

llvm::Expected<ChosenPlan> Network::Impl::PlanOf(unsigned index,
                                                 llvm::ArrayRef<std::string> outputs,
                                                 const RunOptions& run, DeviceContext& context,
                                                 const llvm::StringMap<int64_t>& symbols) {
  std::lock_guard lock(mutex);
  return plans[index].Get(
      outputs, run, false, context,
      [&](const SizeConditions& conditions) { return LookUpSizes(conditions.symbols(), symbols); },
      [](llvm::ArrayRef<Schedule::FixedState>) { return true; });
}

llvm::Expected<std::string> Network::Impl::DescribePart(unsigned index,
                                                        llvm::ArrayRef<std::string> outputs,
                                                        const RunOptions& run,
                                                        DeviceContext& context,
                                                        const llvm::StringMap<int64_t>& symbols) {
  llvm::Expected<ChosenPlan> chosen = PlanOf(index, outputs, run, context, symbols);
  if (!chosen) return chosen.takeError();
  const MadePlan& made = *chosen->made;
  const Graph& described = made.graph ? *made.graph : part(index);
  std::vector<int64_t> sizes = LookUpSizes(made.plan->schedule().symbols, symbols);
  if (llvm::is_contained(sizes, -1))
    return PlanToString(described, made.plan->schedule(), nullptr, made.choices);
  llvm::Expected<std::shared_ptr<Binding>> binding = made.plan->Bind(sizes, context, packs);
  if (!binding) return binding.takeError();
  return PlanToString(described, made.plan->schedule(), binding->get(), made.choices);
}

llvm::Expected<MemoryReport> Network::Impl::ReportMemory(DeviceContext& context,
                                                         const RunOptions& options,
                                                         const llvm::StringMap<int64_t>& symbols) {
  if (llvm::Error error = CheckSymbols(symbols)) return error;
  llvm::Expected<RequestedOutputs> outputs = OutputsByPart(options.outputs);
  if (!outputs) return outputs.takeError();
  MemoryReport report;
  for (unsigned i = 0; i < plans.size(); ++i) {
    if (!segments->empty() && (*outputs)[i].empty()) continue;
    if (llvm::Error error = AddMemoryOfPart(i, (*outputs)[i], options, context, symbols, &report))
      return error;
  }
  return report;
}

llvm::Error Network::Impl::AddMemoryOfPart(unsigned index, llvm::ArrayRef<std::string> outputs,
                                           const RunOptions& run, DeviceContext& context,
                                           const llvm::StringMap<int64_t>& symbols,
                                           MemoryReport* report) {
  llvm::Expected<ChosenPlan> chosen = PlanOf(index, outputs, run, context, symbols);
  if (!chosen || llvm::is_contained(chosen->sizes, -1)) {
    llvm::consumeError(chosen.takeError());
    // Sizes that select a plan may not be given: describes the plan for generic ones.
    llvm::StringMap<int64_t> sizes = GenericSizes(part(index).Symbols(), 0);
    for (const auto& entry : symbols) sizes[entry.first()] = entry.second;
    chosen = PlanOf(index, outputs, run, context, sizes);
    if (!chosen) return chosen.takeError();
  }
  const MadePlan& made = *chosen->made;
  const Schedule& schedule = made.plan->schedule();
  llvm::Expected<std::vector<MemoryPart>> parts =
      AnalyzeMemory(made.graph ? *made.graph : part(index), schedule, context, packs, symbols);
  if (!parts) return parts.takeError();
  parts->front().choices = made.choices;
  if (!segments->empty())
    parts->front().title = llvm::formatv("segment {0} of {1}", index + 1, plans.size());
  llvm::move(*parts, std::back_inserter(report->parts));
  report->inputs = report->inputs + BytesOfSlots(schedule, {SlotKind::kInput});
  report->states = report->states + BytesOfSlots(schedule, {SlotKind::kState});
  report->parameters =
      report->parameters + BytesOfSlots(schedule, {SlotKind::kParameter, SlotKind::kConstant});
  return llvm::Error::success();
}

}  // namespace pdl
